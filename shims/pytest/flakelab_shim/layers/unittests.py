"""What the assertion methods of `unittest.TestCase` were given, and whether they were content; filtered ones return.

`unittest` may not be loaded when the run begins, so it is looked for before every test. Deprecated aliases are
left alone, because their warnings name the frame above them.
"""

import functools
import sys
import threading

from .margins import comparison, within

# unittest and pytest leave frames out whose module has this.
__unittest = True

# How many positional arguments are operands; the one after them is the message.
_OPERANDS = {
    "assertTrue": 1,
    "assertFalse": 1,
    "assertIsNone": 1,
    "assertIsNotNone": 1,
    "fail": 0,
}
_TWO = 2
_ORDER = {"assertLess": "<", "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">="}
_CONTEXTS = ("assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs")
_CAUGHT = ("_AssertRaisesContext", "_AssertWarnsContext")


class UnitTests:
    def __init__(self, assertions, filtered, contexts, sites):
        self._assertions = assertions
        self._filtered = filtered
        self._contexts = contexts
        self._sites = sites
        self._installed = False
        self._inside = threading.local()

    def look(self):
        """Called before every test."""
        module = sys.modules.get("unittest.case")
        if self._installed or module is None:
            return
        self._installed = True
        case = vars(module).get("TestCase")
        if not isinstance(case, type):
            return
        for name, method in list(vars(case).items()):
            wanted = name.startswith("assert") or name == "fail"
            if wanted and name not in _CONTEXTS and getattr(method, "__name__", "") == name:
                setattr(case, name, self._watched(name, method))
        for name in _CAUGHT:
            self._contexts.watch(vars(module).get(name), _caught)

    def _watched(self, name, original):
        inside, record, passes_over = self._inside, self._record, self._filtered.passes_over

        @functools.wraps(original)
        def method(*args, **kwargs):
            __tracebackhide__ = True
            if getattr(inside, "now", False):
                return original(*args, **kwargs)
            inside.now = True
            try:
                answer = original(*args, **kwargs)
            except BaseException as error:
                inside.now = False
                site = record(name, args[1:], kwargs, False, sys._getframe(1))
                if site is not None and isinstance(error, AssertionError) and passes_over(site, error):
                    return None
                raise
            inside.now = False
            record(name, args[1:], kwargs, True, sys._getframe(1))
            return answer

        return method

    def _record(self, name, arguments, keywords, passed, frame):
        try:
            site = self._sites.caller(frame)
            operands = arguments[: _OPERANDS.get(name, _TWO)]
            if not operands:
                operands = tuple(each for key, each in keywords.items() if key not in ("msg", "places", "delta"))[:2]
            margin = _margin(name, arguments, keywords)
            margins = ((0, margin),) if margin is not None else ()
            self._assertions.add(site, None, passed, operands, margins)
            return site
        except Exception as error:
            self._assertions.trouble(error)
            return None


def _margin(name, arguments, keywords):
    if len(arguments) < 2:
        return None
    if name in _ORDER:
        return comparison(_ORDER[name], arguments[0], arguments[1])
    if name in ("assertAlmostEqual", "assertNotAlmostEqual"):
        return _almost(name, arguments, keywords)
    return None


def _almost(name, arguments, keywords):
    """The two are equal if their difference, rounded to so many places, is zero; or within delta."""
    first, second, *more = arguments
    places = keywords.get("places", more[0] if more else None)
    delta = keywords.get("delta", more[2] if len(more) > 2 else None)
    if delta is None:
        if places is None:
            places = 7
        if type(places) is not int or not 0 <= places <= 300:
            return None
        delta = 0.5 * 10.0**-places
    margin = within(first, second, delta)
    return -margin if margin is not None and name == "assertNotAlmostEqual" else margin


def _caught(context, exception):
    return (" raised",), (exception,)
