"""Follows the code of the project through `sys.monitoring`, the interpreter's own hook since Python 3.12.

Events are switched on for single code objects of the project, so everything else runs as if nobody looked. They
are found where they come from: an audit hook sees every module as it is executed, and all functions of a module
are constants of it; it also sees code that somebody makes a function of. An event is switched off once it has
told enough, and on again before the next test.
"""

import sys
import types

from .identity import identity

# The numbers 0, 1, 2 and 5 are meant for debuggers, coverage, profilers and optimizers.
_TOOLS = (4, 3, 5, 2)
# Calls of a function in one test before its event is switched off. Switching it off and on costs about as much as
# this many calls back, so that at most twice the best possible is paid.
_CALLS = 20


class Monitor:
    def __init__(self, executed, note):
        self._executed = executed
        self._codes = executed.codes
        self._behaviour = executed.behaviour
        self._note = note
        self._tool = None
        # Identities of code objects with an event that is switched off, besides those of lines.
        self._off = set()

    def install(self):
        monitoring = sys.monitoring
        for tool in _TOOLS:
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "flakelab")
                self._tool = tool
                break
        else:
            self._note("executed code is not recorded: other tools use all of sys.monitoring")
            return
        self._register()
        for code in _loaded_before(self._codes):
            self._adopt(code)
        sys.addaudithook(self._audit_hook())

    def start(self):
        # Forgotten first, switched on afterwards: what a thread hits in between must not be lost for good.
        lines, off = self._executed.forget(), list(self._off)
        self._off.difference_update(off)
        if self._tool is None:
            return
        # Not `restart_events`: after that every function of the process is looked at by the interpreter again.
        tool, known, set_events = self._tool, self._codes.known, sys.monitoring.set_local_events
        for each in {*off, *(each for each, _ in lines)}:
            entry = known.get(each)
            if entry is not None and entry.events:
                set_events(tool, entry.code, 0)
                set_events(tool, entry.code, entry.events)

    def finish(self):
        pass

    def _register(self):
        monitoring, events = sys.monitoring, sys.monitoring.events
        disable, switched_off = monitoring.DISABLE, self._off.add
        executed, behaviour = self._executed, self._behaviour
        functions, hit_line = executed.functions, executed.lines.add
        times_before, calls = functions.get, 1 if executed.wants_lines else _CALLS

        def started(code, offset):
            key = identity(code)
            times = functions[key] = times_before(key, 0) + 1
            if times < calls:
                return None
            switched_off(key)
            return disable

        def line(code, number):
            hit_line((identity(code), number))
            return disable

        callbacks = {events.PY_START: started, events.PY_RESUME: started}
        if executed.wants_lines:
            callbacks[events.LINE] = line
        if behaviour is not None:
            callbacks[events.PY_START] = _sampling_start(executed, switched_off)
            callbacks[events.PY_RETURN] = _sampling_return(executed, switched_off)
        for event, callback in callbacks.items():
            monitoring.register_callback(self._tool, event, callback)

    def _events(self, entry):
        events = sys.monitoring.events
        wanted = 0
        if self._executed.wants_functions:
            wanted |= events.PY_START | events.PY_RESUME
        if self._executed.wants_lines:
            wanted |= events.LINE
        if self._behaviour is not None and self._behaviour.is_sampled(entry):
            wanted |= events.PY_START
            if self._behaviour.has_exit(entry):
                wanted |= events.PY_RETURN
        return wanted

    def _adopt(self, code):
        for entry in self._codes.add_all(code):
            entry.events = self._events(entry)
            if entry.events:
                sys.monitoring.set_local_events(self._tool, entry.code, entry.events)

    def _audit_hook(self):
        adopt, code_type, note = self._adopt, types.CodeType, self._note

        def hook(event, arguments):
            if event == "exec" or event == "function.__new__" or event == "object.__setattr__":
                try:
                    # Setting an attribute is an event only for a few of them; `__code__` of a function is one.
                    code = arguments[-1]
                    if type(code) is code_type:
                        adopt(code)
                except Exception as error:
                    note("some executed code is not recorded: %s" % type(error).__name__)

        return hook


def _sampling_start(executed, switched_off):
    functions, known, sample = executed.functions, executed.codes.known, executed.behaviour.at_entry
    frame_of, disable = sys._getframe, sys.monitoring.DISABLE

    def started(code, offset):
        key = identity(code)
        functions[key] = 1
        entry = known.get(key)
        if entry is not None and sample(entry, frame_of(1)):
            return None
        switched_off(key)
        return disable

    return started


def _sampling_return(executed, switched_off):
    known, sample = executed.codes.known, executed.behaviour.at_exit
    frame_of, disable = sys._getframe, sys.monitoring.DISABLE

    def returned(code, offset, value):
        key = identity(code)
        entry = known.get(key)
        if entry is not None and sample(entry, frame_of(1), value):
            return None
        switched_off(key)
        return disable

    return returned


def _loaded_before(codes):
    """Code of the project that was imported before us, such as a package that pytest needs itself."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    if not any(codes.path(each) is not None for each in files if type(each) is str):
        return
    import gc

    for each in gc.get_objects():
        if type(each) is types.FunctionType:
            yield each.__code__
