"""The parts of a measured run, around every test: who records what, and one line of the trace for each test."""

import sys

from . import raises, rewriting
from .assertions import Assertions
from .behaviour import Behaviour
from .digest import Digest
from .functions import Executed
from .sites import Sites
from .trace import Trace
from .unittests import UnitTests


class Layers:
    def __init__(self, wanted, descriptor, cache_descriptor=None):
        self._wanted = wanted
        self._cache = wanted["cache"] if cache_descriptor is None else "/proc/self/fd/%d" % cache_descriptor
        self._trace = Trace(descriptor)
        self._sites = Sites(wanted)
        self._digest = Digest(wanted.get("unmasked", ()), wanted.get("fields"))
        self._number = None
        self._assertions = self._unittests = self._behaviour = self._executed = None

    def install(self):
        """Once, after pytest is imported and before it starts."""
        wanted = self._wanted
        if wanted.get("behaviour"):
            self._behaviour = Behaviour(self._trace, self._digest)
        if wanted.get("functions") or wanted.get("lines") or wanted.get("behaviour"):
            self._guarded("executed code is not recorded", self._install_executed)
        if wanted.get("assertions") or wanted.get("behaviour"):
            self._guarded("assertion values are not recorded", self._install_assertions)
        self._flush()

    def _install_executed(self):
        executed = Executed(self._trace, self._sites, self._wanted, self._behaviour)
        executed.install()
        self._executed = executed

    def _install_assertions(self):
        self._assertions = Assertions(self._trace, self._digest, self._sites, self._behaviour)
        self._assertions.record_values = bool(self._wanted.get("assertions"))
        self._unittests = UnitTests(self._assertions, self._sites)
        raises.install(self._assertions, self._sites)
        rewriting.install(sys.modules["_pytest.assertion.rewrite"], self._assertions.saw, self._cache)

    def start(self, number):
        """Right before a test."""
        if self._trace.full:
            return
        self._number = number
        self._guarded("the start of a test was not recorded", self._start)

    def _start(self):
        if self._assertions is not None:
            self._unittests.look()
            self._assertions.start(self._number)
        if self._behaviour is not None:
            self._behaviour.start(self._number)
        if self._executed is not None:
            self._executed.start()

    def finish(self):
        """Right after it."""
        if self._number is None:
            return
        self._guarded("the record of a test is not complete", self._finish)
        self._number = None

    def _finish(self):
        found = {}
        if self._executed is not None:
            found.update(self._executed.finish())
        if self._assertions is not None:
            found.update(self._assertions.finish())
        if self._behaviour is not None:
            found.update(self._behaviour.finish())
        record = {"n": self._number}
        record.update((key, value) for key, value in found.items() if value)
        self._trace.write(record)

    def _flush(self):
        self._guarded("a note was not written", self._trace.write)

    def _guarded(self, what, action):
        try:
            action()
        except Exception as error:
            reason = str(error) if type(error) in (LookupError, ImportError, SyntaxError) else type(error).__name__
            self._trace.note("%s: %s" % (what, reason))
