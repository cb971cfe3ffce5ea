"""How far a numeric assertion is from its bound: positive while it holds.

Only plain numbers count; a comparison of anything else may be anybody's code. `pytest.approx` is read field
by field, with the tolerances that pytest documents.
"""

import math

from ..leaks.reading import instance_dict, type_name

# The defaults of `pytest.approx`.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-12
_APPROX = ("_pytest.python_api.ApproxScalar", "_pytest.approx.ApproxScalar")


def comparison(operator, left, right):
    """The margin of `left operator right`, or None; an operator with `!` before it is negated."""
    if operator.startswith("!"):
        margin = comparison(operator[1:], left, right)
        return None if margin is None else -margin
    if operator == "==":
        return _approximate(left, right)
    if not (is_number(left) and is_number(right)):
        return None
    if operator in ("<", "<="):
        return _finite(right, left)
    if operator in (">", ">="):
        return _finite(left, right)
    return None


def within(left, right, tolerance):
    """The margin of `abs(left - right) <= tolerance`."""
    if not (is_number(left) and is_number(right) and is_number(tolerance)):
        return None
    distance = _finite(left, right)
    return None if distance is None else _finite(tolerance, abs(distance))


def is_number(value):
    kind = type(value)
    return kind is int or kind is float


def _finite(minuend, subtrahend):
    try:
        margin = float(minuend - subtrahend)
    except OverflowError:
        return None
    return margin if math.isfinite(margin) else None


def _approximate(left, right):
    if _is_approx(left):
        left, right = right, left
    elif not _is_approx(right):
        return None
    fields = instance_dict(right)
    expected, relative, absolute = fields.get("expected"), fields.get("rel"), fields.get("abs")
    if not is_number(expected):
        return None
    if relative is None and absolute is not None:
        tolerance = absolute
    elif is_number(relative if relative is not None else _RELATIVE):
        bound = absolute if absolute is not None else _ABSOLUTE
        if not is_number(bound):
            return None
        tolerance = max((relative if relative is not None else _RELATIVE) * abs(expected), bound)
    else:
        return None
    return within(left, expected, tolerance)


def _is_approx(value):
    return type_name(type(value)) in _APPROX
