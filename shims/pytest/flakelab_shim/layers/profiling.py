"""Which functions of the project run, told by the interpreter's own profiler, which is written in C: for Python
before 3.12, where nothing but functions is asked for.

Who profiles already is left alone, and then nothing is recorded.
"""

import _lsprof
import sys
import threading
import types

from .identity import identity

_TAKEN = "executed functions are not recorded where another tool profiles"


class Profiler:
    def __init__(self, executed, note):
        self._executed = executed
        self._note = note
        self._profiler = _lsprof.Profiler(subcalls=False, builtins=False)
        self._elsewhere = _hook(executed)

    def install(self):
        pass

    def start(self):
        self._executed.forget()
        self._profiler.clear()
        if sys.getprofile() is not None:
            self._note(_TAKEN)
            return
        # The profiler follows one thread.
        threading.setprofile(self._elsewhere)
        self._profiler.enable(subcalls=False, builtins=False)

    def finish(self):
        if sys.getprofile() is self._profiler:
            self._profiler.disable()
        else:
            self._note(_TAKEN)
        if getattr(threading, "_profile_hook", None) is self._elsewhere:
            threading.setprofile(None)
        functions, add = self._executed.functions, self._executed.codes.add
        for entry in self._profiler.getstats():
            if type(entry.code) is types.CodeType and add(entry.code) is not None:
                functions[identity(entry.code)] = 1


def _hook(executed):
    functions, add = executed.functions, executed.codes.add

    def called(frame, event, argument):
        if event == "call" and add(frame.f_code) is not None:
            functions[identity(frame.f_code)] = 1

    return called
