"""Finds the line of the project that wrote a value: compares it at every line while a test runs.

A write is charged to the project's line that ran last, also when the write itself happened in a library
that this line called. The last write wins, because it is the one the next test sees.
"""

import sys
import threading

from .origin import Project
from .sameness import same

_settrace, _gettrace = sys.settrace, sys.gettrace
_thread_settrace = threading.settrace
_get_ident = threading.get_ident


class Tracer:
    def __init__(self, probes, project_root):
        self._project = Project(project_root)
        self._probes = dict(probes)
        self._values = {}
        self._last = {}
        self.found = {}

    def start(self):
        for key, probe in list(self._probes.items()):
            try:
                self._values[key] = probe()
            except Exception:
                del self._probes[key]
        self._previous = _gettrace()
        self._previous_threads = threading._trace_hook
        _thread_settrace(self._call)
        _settrace(self._call)

    def stop(self):
        _settrace(self._previous)
        _thread_settrace(self._previous_threads)
        self._compare()

    def _call(self, frame, event, argument):
        """A new frame: traced line by line if it is the project's."""
        if self._project.relative(frame.f_code.co_filename) is None:
            return None
        self._compare()
        self._last[_get_ident()] = (frame.f_code.co_filename, frame.f_lineno)
        return self._step

    def _step(self, frame, event, argument):
        self._compare()
        if event == "return":
            self._last[_get_ident()] = self._caller(frame.f_back)
        else:
            self._last[_get_ident()] = (frame.f_code.co_filename, frame.f_lineno)
        return self._step

    def _caller(self, frame):
        """The line of the project that goes on after a return, or None if there is none."""
        while frame is not None:
            if self._project.relative(frame.f_code.co_filename) is not None:
                return (frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return None

    def _compare(self):
        for key, probe in list(self._probes.items()):
            try:
                value = probe()
            except Exception:
                continue
            if same(self._values[key], value):
                continue
            self._values[key] = value
            place = self._last.get(_get_ident())
            if place is None:
                # Written by what called the project; no line of it is to blame.
                self.found.pop(key, None)
            else:
                self.found[key] = "%s:%d" % (self._project.relative(place[0]), place[1])
