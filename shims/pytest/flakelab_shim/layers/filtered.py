"""Assertions whose failures do not count: they are written down, and the test goes on.

Asked only by assertions that have failed. What cannot be written down is not passed over: it fails the test.
"""

from .assertions import site_name

# Failures of one test that are written down; those beyond them are passed over like the rest.
FAILURES = 100
_arguments = BaseException.__dict__["args"].__get__


class Filtered:
    def __init__(self, wanted, trace, digest, assertions):
        self._wanted = {
            test: frozenset(site_name(*site) for site in sites) for test, sites in (wanted or {}).items() if sites
        }
        self._trace = trace
        self._digest = digest
        self._assertions = assertions
        # Of the test that runs.
        self._sites = None
        self._failures = []

    def start(self, test):
        self._failures = []
        self._sites = self._of(test) if test and self._wanted else None

    def finish(self):
        self._sites = None
        failures, self._failures = self._failures, []
        return {"q": failures}

    def _of(self, test):
        """The sites of a test, and those of its function with any parameters, of its class or file."""
        names = [test] + [test[:at] for at, letter in enumerate(test) if letter in "[:"]
        return frozenset().union(*(self._wanted.get(name, ()) for name in names))

    def goes_on(self, site, message):
        """Whether the assertion that has just failed there is to be passed over."""
        if not self._sites:
            return False
        try:
            place = self._assertions.place(site)
            if place is False or place.name not in self._sites:
                return False
            if len(self._failures) < FAILURES:
                number = self._trace.number
                self._failures.append((number(self._assertions.element(place)), number(message)))
            return True
        except Exception as error:
            self._assertions.trouble(error)
            return False

    def passes_over(self, site, error):
        """The same for an assertion that is a call, and has raised."""
        if not self._sites:
            return False
        try:
            return self.goes_on(site, self._message(error))
        except Exception as trouble:
            self._assertions.trouble(trouble)
            return False

    def _message(self, error):
        """What the exception says, without asking a class of the suite."""
        arguments = _arguments(error)
        if len(arguments) == 1 and type(arguments[0]) is str:
            return arguments[0]
        return self._digest.text(error)
