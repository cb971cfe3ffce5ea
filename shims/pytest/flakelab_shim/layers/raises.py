"""What `pytest.raises` and `pytest.warns` caught, taken down as their `with` blocks end.

A filtered one that found nothing to catch, or the wrong message, is passed over; what it does not expect is not.
The frame of the wrapper is hidden from tracebacks in the way pytest hides its own.
"""

import builtins
import functools
import sys

from ..leaks.reading import instance_dict

# unittest and pytest leave frames out whose module has this.
__unittest = True

_RAISED = (" raised",)
_WARNED = (" warned",)
# Warnings of one block that are taken down.
_WARNINGS = 20
# Module and class, by all the names they have had.
_RAISING = (
    ("_pytest.python_api", "RaisesContext"),
    ("_pytest.raises", "RaisesExc"),
    ("_pytest.raises", "RaisesGroup"),
)
_WARNING = (("_pytest.recwarn", "WarningsChecker"),)


class Contexts:
    """Puts its own `__exit__` around those of context managers that are assertions."""

    def __init__(self, assertions, filtered, sites):
        self._assertions = assertions
        self._filtered = filtered
        self._sites = sites
        failed = vars(sys.modules.get("_pytest.outcomes", sys)).get("Failed")
        self._failures = (AssertionError, failed) if isinstance(failed, type) else (AssertionError,)

    def install(self):
        for places, look in ((_RAISING, _raised), (_WARNING, _warned)):
            for module, name in places:
                self.watch(vars(sys.modules.get(module, sys)).get(name), look)

    def watch(self, kind, look):
        if isinstance(kind, type) and "__exit__" in vars(kind):
            kind.__exit__ = self._around(vars(kind)["__exit__"], look)

    def _around(self, original, look):
        take_down, passes_over = self._take_down, self._passes_over

        @functools.wraps(original)
        def __exit__(self, exc_type, exc_val, exc_tb):
            __tracebackhide__ = True
            try:
                answer = original(self, exc_type, exc_val, exc_tb)
            except BaseException as error:
                site = take_down(look, self, exc_val, False, sys._getframe(1))
                if passes_over(site, error, self, exc_type):
                    # Of the exception only what was expected but for its message ends here.
                    return look is not _warned and _fill(self, exc_type, exc_val, exc_tb)
                raise
            take_down(look, self, exc_val, exc_type is None or answer is not False, sys._getframe(1))
            return answer

        return __exit__

    def _take_down(self, look, context, exception, passed, frame):
        try:
            names, operands = look(context, exception)
            site = self._sites.caller(frame)
            self._assertions.add(site, names, passed, operands)
            return site
        except Exception as error:
            self._assertions.trouble(error)
            return None

    def _passes_over(self, site, error, context, exc_type):
        """Whether this is a failure of the context manager itself, and filtered."""
        if site is None or not isinstance(error, self._failures):
            return False
        if exc_type is not None and type(context).__name__ == "RaisesGroup" and not is_group(exc_type):
            # It says so of exceptions of every other type.
            return False
        traceback = error.__traceback__
        while traceback is not None:
            if self._sites.assertions(traceback.tb_frame.f_code.co_filename) is not None:
                # Raised by a function of the project that was to have a look at the exception.
                return False
            traceback = traceback.tb_next
        return self._filtered.passes_over(site, error)


def is_group(kind):
    """Whether a class of exceptions is one of groups of them: Python's own, or that of the package for older ones."""
    found = [vars(module).get("BaseExceptionGroup") for module in (builtins, sys.modules.get("exceptiongroup", sys))]
    return any(isinstance(each, type) and issubclass(kind, each) for each in found)


def _fill(context, exc_type, exc_val, exc_tb):
    """Whoever reads the exception afterwards finds it, as if its message had been right."""
    info = instance_dict(context).get("excinfo")
    if exc_type is not None and info is not None and getattr(info, "_excinfo", True) is None:
        info.fill_unfilled((exc_type, exc_val, exc_tb))
    return True


def _raised(context, exception):
    return _RAISED, (exception,)


def _warned(context, exception):
    recorded = instance_dict(context).get("_list")
    some = recorded[:_WARNINGS] if type(recorded) is list else ()
    return _WARNED, ([instance_dict(each).get("message") for each in some],)
