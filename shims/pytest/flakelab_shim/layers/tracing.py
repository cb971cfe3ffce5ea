"""Follows the code of the project with a trace function, for Python before 3.12.

Only calls are reported for functions outside of the project. Who traces already (a debugger, coverage) is left
alone, and then nothing is recorded.
"""

import sys
import threading
from opcode import opmap

from .identity import identity

_RETURN = opmap["RETURN_VALUE"]
# The last instruction of a generator that begins: none, or those that make one of it.
_FIRST = 6 if sys.version_info >= (3, 11) else -1
TAKEN = "executed code is not recorded where another tool traces, such as a debugger or coverage"


class Tracer:
    def __init__(self, executed, note):
        self._executed = executed
        self._note = note
        self._hook = _hook(executed, note)

    def install(self):
        pass

    def start(self):
        self._executed.forget()
        if sys.gettrace() is None:
            threading.settrace(self._hook)
            sys.settrace(self._hook)
        else:
            self._note(TAKEN)

    def finish(self):
        if sys.gettrace() is self._hook:
            sys.settrace(None)
        else:
            self._note(TAKEN)
        if getattr(threading, "_trace_hook", None) is self._hook:
            threading.settrace(None)


def _hook(executed, note):
    codes, behaviour, wants_lines = executed.codes, executed.behaviour, executed.wants_lines
    known, add, path_of = codes.known, codes.add, codes.path
    functions, hit_line = executed.functions, executed.lines.add

    def called(frame, event, argument):
        code = frame.f_code
        key = identity(code)
        entry = known.get(key)
        if entry is None:
            if path_of(code.co_filename) is None:
                return None
            entry = add(code)
            if entry is None:
                return None
        functions[key] = 1
        inside = None
        if behaviour is not None and behaviour.is_sampled(entry):
            # A generator that goes on is called as well.
            if behaviour.has_exit(entry):
                behaviour.at_entry(entry, frame)
                inside = sampled
            elif frame.f_lasti <= _FIRST:
                behaviour.at_entry(entry, frame)
        if wants_lines:
            return inside or line
        if inside is not None:
            frame.f_trace_lines = False
        return inside

    def line(frame, event, argument):
        if event == "line":
            hit_line((identity(frame.f_code), frame.f_lineno))
        return line

    def sampled(frame, event, argument):
        if event == "line":
            if wants_lines:
                hit_line((identity(frame.f_code), frame.f_lineno))
        elif event == "return" and frame.f_code.co_code[frame.f_lasti] == _RETURN:
            # Anything else is an exception on its way out.
            entry = known.get(identity(frame.f_code))
            if entry is not None:
                behaviour.at_exit(entry, frame, argument)
        return sampled

    return called
