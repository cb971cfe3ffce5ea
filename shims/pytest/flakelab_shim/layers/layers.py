"""The parts of a measured run, around every test: who records what, and one line of the trace for each test."""

import sys

from . import rewriting
from .assertions import Assertions
from .behaviour import Behaviour
from .digest import Digest
from .failing import FailingAssertions
from .filtered import Filtered
from .functions import Executed
from .raises import Contexts
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
        self._assertions = self._unittests = self._filtered = self._behaviour = self._executed = None

    def install(self):
        """Once, after pytest is imported and before it starts."""
        wanted = self._wanted
        if wanted.get("behaviour"):
            self._behaviour = Behaviour(self._trace, self._digest)
        if wanted.get("functions") or wanted.get("lines") or wanted.get("behaviour"):
            self._guarded("executed code is not recorded", self._install_executed)
        if wanted.get("assertions") or wanted.get("behaviour") or wanted.get("filtered"):
            self._guarded("assertion values are not recorded", self._install_assertions)
        else:
            rewrite = sys.modules.get("_pytest.assertion.rewrite")
            self._guarded("bytecode is not kept", lambda: rewriting.keep_bytecode(rewrite, self._cache))
        self._flush()

    def _install_executed(self):
        executed = Executed(self._trace, self._sites, self._wanted, self._behaviour)
        executed.install()
        self._executed = executed

    def _install_assertions(self):
        wanted, parts = self._wanted, (self._trace, self._digest, self._sites, self._behaviour)
        assertions = (FailingAssertions if self._records_failing_only() else Assertions)(*parts)
        assertions.record_values = bool(wanted.get("assertions"))
        filtered = Filtered(wanted.get("filtered"), self._trace, self._digest, assertions)
        contexts = Contexts(assertions, filtered, self._sites)
        contexts.install()
        rewrite = sys.modules["_pytest.assertion.rewrite"]
        rewriting.install(rewrite, assertions.saw, filtered.goes_on, self._cache)
        self._unittests = UnitTests(assertions, filtered, contexts, self._sites)
        self._assertions, self._filtered = assertions, filtered

    def _records_failing_only(self):
        wanted = self._wanted
        return bool(wanted.get("failing_only") and wanted.get("assertions") and not wanted.get("behaviour"))

    def start(self, number, test):
        """Right before a test, with its id."""
        full = self._trace.full
        if self._filtered is not None:
            # What can no longer be written down is not passed over.
            self._filtered.start(None if full else test)
        if full:
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
            found.update(self._filtered.finish())
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
