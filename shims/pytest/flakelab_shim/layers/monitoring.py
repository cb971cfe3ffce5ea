"""Follows the code of the project through `sys.monitoring`, the interpreter's own hook since Python 3.12.

Events are switched on for single code objects of the project, so everything else runs as if nobody looked. They
are found where they come from: an audit hook sees every module as it is executed, and all functions of
a module are constants of it. Each event is switched off at its first hit and on again before
the next test. Code that is made from other code (`code.replace`) comes by no such way; once a suite does that,
the start of every function is looked at.
"""

import sys
import types

# The identities 0, 1, 2 and 5 are meant for debuggers, coverage, profilers and optimizers.
_IDENTITIES = (4, 3, 5, 2)


class Monitor:
    def __init__(self, executed, note):
        self._executed = executed
        self._codes = executed.codes
        self._behaviour = executed.behaviour
        self._note = note
        self._identity = None
        self._everywhere = False

    def install(self):
        monitoring = sys.monitoring
        for identity in _IDENTITIES:
            if monitoring.get_tool(identity) is None:
                monitoring.use_tool_id(identity, "flakelab")
                self._identity = identity
                break
        else:
            self._note("executed code is not recorded: other tools use all of sys.monitoring")
            return
        self._register()
        for code in _loaded_before(self._codes):
            self._adopt(code)
        sys.addaudithook(self._audit_hook())

    def start(self):
        if self._identity is not None:
            sys.monitoring.restart_events()

    def finish(self):
        pass

    def _register(self):
        monitoring, events = sys.monitoring, sys.monitoring.events
        off = monitoring.DISABLE
        executed, behaviour = self._executed, self._behaviour
        hit, hit_line = executed.functions.add, executed.lines.add

        def started(code, offset):
            hit(id(code))
            return off

        def line(code, number):
            hit_line((id(code), number))
            return off

        callbacks = {events.PY_START: started, events.PY_RESUME: started}
        if executed.wants_lines:
            callbacks[events.LINE] = line
        if behaviour is not None:
            callbacks[events.PY_START] = _sampling_start(executed, off)
            callbacks[events.PY_RETURN] = _sampling_return(executed, off)
        for event, callback in callbacks.items():
            monitoring.register_callback(self._identity, event, callback)

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
            wanted = self._events(entry)
            if wanted:
                sys.monitoring.set_local_events(self._identity, entry.code, wanted)

    def _audit_hook(self):
        adopt, look_everywhere, code_type, note = self._adopt, self._look_everywhere, types.CodeType, self._note

        def hook(event, arguments):
            if event == "exec" or event == "code.__new__":
                try:
                    if event != "exec":
                        look_everywhere(arguments[1])
                    elif type(arguments[0]) is code_type:
                        adopt(arguments[0])
                except Exception as error:
                    note("some executed code is not recorded: %s" % type(error).__name__)

        return hook

    def _look_everywhere(self, filename):
        """A code object with this file is about to be made out of another one."""
        if self._everywhere or self._codes.path(filename) is None:
            return
        self._everywhere = True
        monitoring, events = sys.monitoring, sys.monitoring.events
        known, path, adopt = self._codes.known, self._codes.path, self._adopt
        hit, first = self._executed.functions.add, monitoring.register_callback
        usual = first(self._identity, events.PY_START, None)

        def started(code, offset):
            if id(code) not in known:
                if path(code.co_filename) is None:
                    return monitoring.DISABLE
                adopt(code)
                hit(id(code))
            return usual(code, offset)

        first(self._identity, events.PY_START, started)
        monitoring.set_events(self._identity, events.PY_START)


def _sampling_start(executed, off):
    hit, known, entry_of = executed.functions.add, executed.codes.known, executed.behaviour.at_entry
    frame_of = sys._getframe

    def started(code, offset):
        hit(id(code))
        entry = known.get(id(code))
        return None if entry is not None and entry_of(entry, frame_of(1)) else off

    return started


def _sampling_return(executed, off):
    known, exit_of, frame_of = executed.codes.known, executed.behaviour.at_exit, sys._getframe

    def returned(code, offset, value):
        entry = known.get(id(code))
        return None if entry is not None and exit_of(entry, frame_of(1), value) else off

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
