"""Which lines of the project run, told by the tracer of coverage.py, which is written in C: for Python before 3.12,
where the environment has coverage.

Of coverage only that one extension module is loaded, and a copy of it, from memory: it keeps its state in static
variables, can be set up once, and belongs to the suite. It keeps a stack of files beside the stack of frames. Who
switches tracing on and off inside of a test, or switches stacks (greenlet), puts that out of step; such tests are
passed over. Who traces already is left alone, and then nothing is recorded.
"""

import importlib.machinery
import importlib.util
import re
import sys
import threading
from threading import get_ident

from ..sealed import os
from .tracing import TAKEN, Tracer

# Those that were compared with our own tracer, line by line.
_MAJORS = (5, 6, 7)
_UNSURE = "lines of tests that set a trace function are not recorded"
_STACKS = "lines of a test that imports greenlet are not recorded"
_SIZE_LIMIT = 1 << 24


class NativeTracer:
    def __init__(self, executed, note):
        self._executed = executed
        self._note = note
        self._extension = load(executed.codes.path)
        if not is_sound(self._extension):
            raise ImportError("the tracer of coverage tells other lines")
        # For suites that switch stacks.
        self._slow = Tracer(executed, note)
        self._is_slow = False
        self._functions = None
        if executed.wants_functions:
            from .profiling import Profiler

            self._functions = Profiler(executed, note)
        # File names to sets of lines (before coverage 6: dictionaries). They stay: frames that still run add to them.
        self._data = {}
        self._dispositions = {}
        self._tracer = None
        # Of other threads, by their number.
        self._elsewhere = {}
        self._thread_hook = self._begin_thread
        self._switched = 0

    def install(self):
        sys.addaudithook(self._audit_hook())

    def start(self):
        self._forget()
        self._is_slow = "greenlet" in sys.modules
        if self._is_slow:
            self._slow.start()
            return
        self._executed.forget()
        if self._functions is not None:
            self._functions.start()
        self._tracer = None
        if sys.gettrace() is not None:
            self._note(TAKEN)
            return
        threading.settrace(self._thread_hook)
        # A new one for each test: whatever the last one went through, its stack is empty.
        self._tracer = self._make()
        self._switched = 0
        self._tracer.start()

    def finish(self):
        if self._is_slow:
            self._slow.finish()
            return
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        if sys.gettrace() is tracer:
            sys.settrace(None)
        else:
            self._switched += 1
        # One that is started ends the tracing of whoever lets go of it.
        tracer.stop()
        if getattr(threading, "_trace_hook", None) is self._thread_hook:
            threading.settrace(None)
        if self._functions is not None:
            self._functions.finish()
        if self._switched:
            self._note(_UNSURE)
        elif "greenlet" in sys.modules:
            self._note(_STACKS)
        else:
            self._keep()

    def _keep(self):
        path_of, files = self._executed.codes.path, self._executed.files
        for name, lines in list(self._data.items()):
            if lines:
                path = path_of(name)
                files.setdefault(path, set()).update(lines)

    def _forget(self):
        self._executed.files.clear()
        for lines in list(self._data.values()):
            lines.clear()
        if self._elsewhere:
            running = sys._current_frames()
            for thread in [each for each in list(self._elsewhere) if each not in running]:
                self._elsewhere.pop(thread).stop()

    def _make(self):
        return make(self._extension.CTracer, self._data, self._dispositions, self._should_trace)

    def _should_trace(self, name, frame):
        return disposition(self._extension, name, self._executed.codes.path(name) is not None)

    def _begin_thread(self, frame, event, argument):
        """The trace function of a new thread, called once."""
        sys.settrace(None)
        tracer = self._elsewhere[get_ident()] = self._make()
        tracer.start()
        return tracer(frame, event, argument)

    def _audit_hook(self):
        frame_of = sys._getframe

        def hook(event, arguments):
            if event == "sys.settrace" and frame_of(1).f_code.co_filename not in ours:
                self._switched += 1

        # A thread that begins sets what `threading.settrace` was given.
        ours = (hook.__code__.co_filename, threading.Thread.run.__code__.co_filename)
        return hook


def load(path_of):
    """A copy of the extension module `coverage.tracer`."""
    spec = importlib.util.find_spec("coverage")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for place in places:
        if path_of(os.path.join(place, "__init__.py")) is not None:
            raise ImportError("coverage is the project")
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = os.path.join(place, "tracer" + suffix)
            if os.path.isfile(path):
                if _major(place) not in _MAJORS:
                    raise ImportError("this version of coverage is not known")
                return _load_copy(path)
    raise ImportError("there is no tracer of coverage")


def _major(place):
    with open(os.path.join(place, "version.py"), encoding="utf-8", errors="replace") as file:
        found = re.search(r"^version_info\b[^=]*=\s*\((\d+),", file.read(1 << 16), re.MULTILINE)
    return int(found.group(1)) if found else None


def _load_copy(path):
    with open(path, "rb") as file:
        content = file.read(_SIZE_LIMIT)
    descriptor = os.memfd_create("tracer", os.MFD_CLOEXEC)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
        name, path = __package__ + ".coverage.tracer", "/proc/self/fd/%d" % descriptor
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    finally:
        os.close(descriptor)
        sys.modules.pop(__package__ + ".coverage.tracer", None)


def make(kind, data, dispositions, should_trace):
    """What coverage's collector sets; no plugins, no contexts, lines only."""
    tracer = kind()
    tracer.data = data
    tracer.should_trace_cache = dispositions
    tracer.should_trace = should_trace
    tracer.trace_arcs = False
    tracer.file_tracers = {}
    tracer.concur_id_func = tracer.should_start_context = tracer.switch_context = None
    tracer.check_include = tracer.disable_plugin = tracer.warn = _never
    if hasattr(kind, "lock_data"):
        # Threads take turns in one interpreter anyway; this is the cheapest thing to call.
        tracer.lock_data = tracer.unlock_data = bool
    return tracer


def disposition(extension, name, is_traced):
    answer = extension.CFileDisposition()
    answer.original_filename = answer.canonical_filename = answer.source_filename = name
    answer.trace, answer.reason = is_traced, ""
    answer.file_tracer, answer.has_dynamic_filename = None, False
    return answer


def _never(*arguments):
    return False


_SAMPLE = """
def numbers(n):
    for each in range(n):
        try:
            yield each
        finally:
            n += 1

def all_of():
    found = [
        each
        for each in numbers(2)
    ]
    try:
        raise ValueError(
            found
        )
    except ValueError:
        pass
    next(numbers(1))
    return (lambda:
            found)()

all_of()
"""


def is_sound(extension):
    """Whether this tracer tells what a trace function in Python tells, of a few lines."""
    name, seen, data = "<flakelab>", set(), {}
    code = compile(_SAMPLE, name, "exec")

    def trace(frame, event, argument):
        if event == "line":
            seen.add(frame.f_lineno)
        return trace if frame.f_code.co_filename == name else None

    if sys.gettrace() is not None:
        return True
    tracer = make(extension.CTracer, data, {}, lambda file, frame: disposition(extension, file, file == name))
    try:
        sys.settrace(trace)
        exec(code, {})
        sys.settrace(None)
        tracer.start()
        exec(code, {})
        tracer.stop()
    finally:
        sys.settrace(None)
    return list(data) == [name] and set(data[name]) == seen
