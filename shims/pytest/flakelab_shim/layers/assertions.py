"""The values that assertions saw, one entry for each operand, verdict and margin of the running test.

A site that is passed again and again in one test is told apart by number at first, then rolled into one
hash, so that a loop of a million assertions costs time but no space.
"""

import hashlib

from .margins import comparison
from .trace import TEXT_LIMIT

ENTRIES = 5_000
TIMES = 32
# Operands beyond this many, of an assertion method that takes any number.
_OPERANDS = 10
_VALUE = (" value",)
_NAMES = (" left", " right", *(" operand %d" % number for number in range(2, _OPERANDS)))
_OVERFLOW = "…"
# Beside the name: `:line:column left#32`.
_NAME_LIMIT = TEXT_LIMIT - 60


def site_name(path, line, column):
    return "%s:%d:%d" % (path[-_NAME_LIMIT:], line, column)


class Place:
    """One assertion in the source."""

    __slots__ = ("name", "test", "times", "elements", "rolled", "worst", "margin")

    def __init__(self, name):
        self.name = name
        self.test = None
        # (operand names, time) -> numbers of elements.
        self.elements = {}
        self.begin(None)

    def begin(self, test):
        self.test = test
        self.times = 0
        self.rolled = None
        self.worst = True
        self.margin = None


class Assertions:
    def __init__(self, trace, digest, sites, behaviour):
        self._trace = trace
        self._number = trace.number
        self._text = digest.text
        self._sites = sites
        # Samples of operands, for who wants them; values, for who wants these.
        self._behaviour = behaviour
        self._verdicts = {True: trace.number("pass"), False: trace.number("fail")}
        self._places = {}
        self._test = None
        self._used = []
        self.record_values = True
        self._clear()

    def start(self, test):
        self._clear()
        self._test = test

    def _clear(self):
        self._values, self._passed, self._margins = [], [], []
        self._used, self._overflow, self._dropped = [], None, 0

    def saw(self, site, operators, verdict, *operands):
        """Called by rewritten assertions. In place of a verdict, parts of an assertion give the site of the whole."""
        if self._test is None:
            return
        try:
            if type(verdict) is tuple:
                verdict = None
            self.add(site, None, verdict, operands, margins_of(operators, operands))
        except Exception as error:
            self.trouble(error)

    def trouble(self, error):
        self._trace.note("some values were not recorded: %s" % type(error).__name__)

    def place(self, site):
        """The place of a site; False where assertions are not recorded."""
        found = self._places.get(site)
        return self._find(site) if found is None else found

    def element(self, place):
        """What the verdict of the assertion that was passed last at a place is called."""
        return rolled_name(place) if place.times > TIMES else named(place, "", max(place.times, 1))

    def add(self, site, names, verdict, operands, margins=()):
        """`names` of the operands, or None for the usual ones; margins as (number of the operator, margin)."""
        test = self._test
        if test is None:
            return
        place = self.place(site)
        if place is False:
            return
        if names is None:
            operands, names = usual(operands)
        if self._behaviour is not None and operands:
            self._behaviour.at_assertion(place.name, names, operands)
        if not self.record_values:
            return
        if place.test is not test:
            place.begin(test)
        place.times = times = place.times + 1
        if times > TIMES or len(self._values) + len(self._passed) >= ENTRIES:
            self._roll(place, times, verdict, operands, margins)
            return
        elements = place.elements.get((names, times))
        if elements is None:
            elements = self._elements(place, names, times)
        self._put(place, elements, times, verdict, map(self._text, operands), margins)

    def _put(self, place, elements, times, verdict, texts, margins):
        for element, text in zip(elements[1:], texts):
            self._values.append((element, self._number(text)))
        if verdict is not None:
            self._passed.append((elements[0], self._verdicts[verdict]))
        for number, margin in margins:
            element = elements[0] if number == 0 else self._number(named(place, " pair %d" % (number + 1), times))
            self._margins.append((element, margin))

    def _find(self, site):
        filename, line, column = site
        name = self._sites.assertions(filename)
        if name is None:
            found = False
        else:
            found = Place(site_name(name, line, column))
        self._places[site] = found
        return found

    def _elements(self, place, names, times):
        elements = [self._number(named(place, name, times)) for name in ("", *names)]
        place.elements[(names, times)] = elements
        return elements

    def _roll(self, place, times, verdict, operands, margins):
        rolled = place.rolled if times > TIMES else self._overflow
        if rolled is None:
            rolled = hashlib.blake2b(digest_size=8)
            if times > TIMES:
                place.rolled = rolled
                self._used.append(place)
            else:
                self._overflow = rolled
        if times <= TIMES:
            self._dropped += 1
            rolled.update(place.name.encode("utf-8", "backslashreplace"))
            if verdict is False and len(self._passed) < 2 * ENTRIES:
                # What a test failed with is its last assertion.
                self._passed.append((self._number(place.name), self._verdicts[False]))
        for operand in operands:
            rolled.update(self._text(operand).encode("utf-8", "backslashreplace"))
            rolled.update(b"\n")
        place.worst = place.worst and verdict is not False
        for _, margin in margins:
            place.margin = margin if place.margin is None else min(place.margin, margin)

    def finish(self):
        """The fields of the test's record."""
        self._test = None
        for place in self._used:
            element = self._number(rolled_name(place))
            more = "%d more %s" % (place.times - TIMES, place.rolled.hexdigest())
            self._values.append((element, self._number(more)))
            self._passed.append((element, self._verdicts[place.worst]))
            if place.margin is not None:
                self._margins.append((element, place.margin))
        if self._overflow is not None:
            more = "%d more %s" % (self._dropped, self._overflow.hexdigest())
            self._values.append((self._number(_OVERFLOW), self._number(more)))
        found = {"a": self._values, "v": self._passed, "m": self._margins}
        self._clear()
        return found


def usual(operands):
    """Those of any number of operands that are recorded, and their names."""
    operands = operands[:_OPERANDS]
    return operands, _VALUE if len(operands) == 1 else _NAMES[: len(operands)]


def margins_of(operators, operands):
    margins = ()
    for number, operator in enumerate(operators):
        margin = comparison(operator, operands[number], operands[number + 1])
        if margin is not None:
            margins += ((number, margin),)
    return margins


def rolled_name(place):
    return "%s#%d…" % (place.name, TIMES + 1)


def named(place, name, times):
    return place.name + name if times == 1 else "%s%s#%d" % (place.name, name, times)
