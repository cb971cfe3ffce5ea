"""Values of failing assertions only: of one that passes nothing is kept but that it was passed.

Elements are numbered as in a record of all assertions, so that the two can be compared. The parts of an assertion
are seen before it is known whether the whole holds; what they were is forgotten once it does.
"""

from .assertions import ENTRIES, TIMES, Assertions, margins_of, named, usual

# Parts that wait for an assertion that never came to its verdict, because another part raised.
_WAITING = 100


class FailingAssertions(Assertions):
    def __init__(self, *parts):
        super().__init__(*parts)
        # Site of an assertion -> what its parts were.
        self._waiting = {}
        # Place -> failures written down in this test.
        self._failures = {}

    def _clear(self):
        super()._clear()
        self._waiting, self._failures = {}, {}

    def saw(self, site, operators, verdict, *operands):
        test = self._test
        if test is None:
            return
        if verdict is True:
            place = self._places.get(site)
            if place is None:
                place = self.place(site)
            if place is not False:
                if place.test is not test:
                    place.begin(test)
                place.times += 1
            if self._waiting:
                self._waiting.pop(site, None)
            return
        try:
            if verdict is False:
                parts = self._waiting.pop(site, ())
                if self.add(site, None, False, operands, margins_of(operators, operands)):
                    for part in parts:
                        self._write(*part)
            else:
                self._wait(verdict, site, operators, operands)
        except Exception as error:
            self.trouble(error)

    def add(self, site, names, verdict, operands, margins=()):
        """Whether it was written down."""
        place = self._pass(site)
        if place is False or verdict is not False:
            return False
        times = self._failures[place] = self._failures.get(place, 0) + 1
        if times > TIMES:
            return False
        if names is None:
            operands, names = usual(operands)
        self._write(place, names, place.times, False, list(map(self._text, operands)), margins)
        return True

    def element(self, place):
        return named(place, "", max(place.times, 1))

    def _pass(self, site):
        test = self._test
        place = False if test is None else self.place(site)
        if place is not False:
            if place.test is not test:
                place.begin(test)
            place.times += 1
        return place

    def _wait(self, whole, site, operators, operands):
        place = self._pass(site)
        if place is False:
            return
        margins = margins_of(operators, operands)
        operands, names = usual(operands)
        parts = self._waiting.setdefault(whole, [])
        if len(parts) < _WAITING:
            parts.append((place, names, place.times, None, list(map(self._text, operands)), margins))

    def _write(self, place, names, times, verdict, texts, margins):
        if len(self._values) + len(self._passed) >= ENTRIES:
            # What a test failed with is its last assertion.
            if verdict is None or len(self._passed) >= 2 * ENTRIES:
                return
            texts, margins = (), ()
        elements = place.elements.get((names, times))
        if elements is None:
            elements = self._elements(place, names, times)
        self._put(place, elements, times, verdict, texts, margins)
