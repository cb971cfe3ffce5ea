"""Everything a process can leak, read before a polluter and compared before the target.

Owns the order of probes and what is said first. Each probe knows one part of the process and nothing of
the others. A probe that fails is noted and passed over: a leak that is not found must not cost the rest.
"""

from time import perf_counter

from .change import distinct
from .contexts import Decimals, Variables
from .descriptors import Descriptors
from .environ import Directory, Environ
from .files import Files
from .fixtures import Fixtures
from .layers import Layers
from .logs import Logging
from .loops import Loops
from .objects import Objects
from .origin import Origins, Project
from .process import Locale, Signals, Timers, Timezone, Umask
from .randomness import Randomness
from .streams import Streams
from .switches import Dialects, Switches
from .system import Modules, Paths
from .threads import Threads
from .warned import Warnings

# More than anybody reads, and still a bounded number of runs to try.
LIMIT = 300


class Watch:
    def __init__(
        self,
        session,
        project_root,
        directories,
        sandbox,
        scratch,
        limit_seconds=2.0,
        limit_nodes=400_000,
        limit_bytes=128 << 20,
    ):
        """`limit_bytes`: for the copies of containers together; those that do not fit are left out."""
        project = Project(project_root)
        origins = Origins(project)
        fixtures = Fixtures(session)
        self._fixtures = fixtures
        self._objects = None
        limits = limit_nodes, limit_seconds, limit_bytes
        self._make_objects = lambda: Objects(session, origins, fixtures.values(), *limits)
        layered = sandbox is not None and sandbox.views()
        files = Layers(project, sandbox) if layered else Files(project, directories, scratch)
        self._probes = [
            Environ(),
            Directory(),
            Paths(),
            Modules(origins),
            fixtures,
            files,
            Streams(session),
            Logging(),
            Warnings(),
            Locale(),
            Timezone(),
            Umask(),
            Signals(),
            Timers(),
            Switches(),
            Dialects(),
            Decimals(),
            Variables(),
            Loops(),
            Threads(),
            Descriptors(),
            Randomness(),
        ]
        self.notes = []
        self.size = {"objects": 0, "milliseconds": 0}

    def before(self, tee=False):
        start = perf_counter()
        for probe in self._probes:
            self._guarded(probe, probe.before)
        self._objects = self._make_objects()
        self._guarded(self._objects, lambda: self._objects.before(tee))
        for probe in [*self._probes, self._objects]:
            self.notes.extend(getattr(probe, "notes", ()))
        self.size = {
            "objects": self._objects.size,
            "milliseconds": int((perf_counter() - start) * 1000),
        }

    def changes(self):
        """What is not as it was, the most telling first."""
        found = []
        for probe in [*self._probes, self._objects]:
            found.extend(self._guarded(probe, probe.changes) or ())
        found.sort(key=lambda change: change.rank)
        if len(found) > LIMIT:
            self.notes.append("%d of %d changes are shown" % (LIMIT, len(found)))
        return distinct(found[:LIMIT])

    def probe(self, id):
        """A function of the present value behind the id of a change; None if it cannot be found yet."""
        kind, _, name = id.partition(":")
        for probe in [*self._probes, self._objects]:
            found = self._guarded(probe, lambda probe=probe: probe.probe(kind, name))
            if found is not None:
                return found
        return None

    def _guarded(self, probe, ask):
        try:
            return ask()
        except Exception as error:
            note = "%s could not be watched: %s" % (type(probe).__name__.lower(), type(error).__name__)
            if note not in self.notes:
                self.notes.append(note)
            return None
