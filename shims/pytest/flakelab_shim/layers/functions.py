"""Which functions and lines of the project a test executed.

From Python 3.12 on the interpreter's own monitoring tells. Before that its profiler tells functions, and the tracer
of coverage.py lines, where there is one; both are written in C. Everything else takes a trace function.
"""

import sys

from .codes import Codes, function_name

FUNCTIONS = 20_000
LINES = 200_000
# Ratios that `scripts/bench lines` printed.
_SLOW = (
    "lines are told by a trace function in Python, which makes a run about 4 times as long; "
    "about 1.4 times with coverage installed in the environment of the tests"
)


class Executed:
    def __init__(self, trace, sites, wanted, behaviour):
        self._trace = trace
        self.codes = Codes(sites)
        self.behaviour = behaviour
        self.wants_functions = bool(wanted.get("functions"))
        self.wants_lines = bool(wanted.get("lines"))
        # Identities of code objects, with how often they were called or less; pairs of one and a line.
        self.functions, self.lines = {}, set()
        # The names of files, with lines, where no code object is known.
        self.files = {}
        self._watcher = self._choose()

    def _choose(self):
        """The cheapest that tells what is wanted."""
        if sys.version_info >= (3, 12):
            from .monitoring import Monitor

            return Monitor(self, self._trace.note)
        from .tracing import Tracer

        if self.behaviour is not None:
            return Tracer(self, self._trace.note)
        try:
            return self._native()
        except Exception:  # no CPython, no coverage, one that is not known
            if self.wants_lines:
                self._trace.note(_SLOW)
            return Tracer(self, self._trace.note)

    def _native(self):
        if self.wants_lines:
            from .native import NativeTracer

            return NativeTracer(self, self._trace.note)
        from .profiling import Profiler

        return Profiler(self, self._trace.note)

    def install(self):
        self._watcher.install()

    def start(self):
        self._watcher.start()

    def forget(self):
        """Forgets what was executed so far, and returns the lines."""
        self.functions.clear()
        lines = list(self.lines)
        self.lines.difference_update(lines)
        return lines

    def finish(self):
        self._watcher.finish()
        return {"f": self._functions() if self.wants_functions else [], "l": self._lines()}

    def _functions(self):
        known, found = self.codes.known, []
        for each in list(self.functions):
            entry = known.get(each)
            if entry is None:
                continue
            if entry.function is None:
                entry.function = self._trace.number(function_name(entry))
            found.append(entry.function)
        # Two functions may have one name: one defined twice, lambdas of one function.
        found = sorted(set(found))
        if len(found) > FUNCTIONS:
            self._trace.note("a test executed more than %d functions: the rest is not recorded" % FUNCTIONS)
        return found[:FUNCTIONS]

    def _lines(self):
        known, count = self.codes.known, 0
        files = {self._trace.number(path): set(lines) for path, lines in self.files.items()}
        for each, line in list(self.lines):
            entry = known.get(each)
            if entry is None or line is None:
                continue
            if entry.file is None:
                entry.file = self._trace.number(entry.path)
            found = files.get(entry.file)
            if found is None:
                found = files[entry.file] = set()
            found.add(line)
        answer = []
        for name, lines in sorted(files.items()):
            room = LINES - count
            if len(lines) > room:
                self._trace.note("a test executed more than %d lines: the rest is not recorded" % LINES)
            if room <= 0:
                break
            lines = sorted(lines)[:room]
            count += len(lines)
            answer.append((name, lines))
        return answer
