"""What `pytest.raises` and `pytest.warns` caught, taken down as their `with` blocks end.

The frame of the wrapper is hidden from tracebacks in the way pytest hides its own.
"""

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


def install(assertions, sites):
    for places, look in ((_RAISING, _raised), (_WARNING, _warned)):
        for module, name in places:
            kind = vars(sys.modules.get(module, sys)).get(name)
            if isinstance(kind, type) and "__exit__" in vars(kind):
                kind.__exit__ = watched(vars(kind)["__exit__"], look, assertions, sites)


def watched(original, look, assertions, sites):
    """`__exit__` of a context manager that also takes down what came out of its block."""

    @functools.wraps(original)
    def __exit__(self, exc_type, exc_val, exc_tb):
        __tracebackhide__ = True
        passed = False
        try:
            answer = original(self, exc_type, exc_val, exc_tb)
            passed = answer if exc_type is not None else True
            return answer
        finally:
            try:
                names, operands = look(self, exc_val)
                assertions.add(sites.caller(sys._getframe(1)), names, passed is not False, operands)
            except Exception as error:
                assertions.trouble(error)

    return __exit__


def _raised(context, exception):
    return _RAISED, (exception,)


def _warned(context, exception):
    recorded = instance_dict(context).get("_list")
    some = recorded[:_WARNINGS] if type(recorded) is list else ()
    return _WARNED, ([instance_dict(each).get("message") for each in some],)
