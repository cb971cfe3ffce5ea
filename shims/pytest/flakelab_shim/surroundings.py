"""What a run asked for besides its order: factors, other code, and a watch over the process."""


class Surround:
    """What every run of this interpreter needs for that."""

    def __init__(self, channel, sandbox, scratch):
        self._parts = (channel, sandbox, scratch)
        self._factors = None

    def begin(self, request):
        """To be called where nothing of the project was imported yet, if there is such a place."""
        self._factors = _factors(request)
        if self._factors is not None:
            self._factors.apply()

    def __call__(self, request, session, last):
        """For a run whose tests are numbered up to `last`."""
        return Surroundings(request, session, last, self._factors or _factors(request), *self._parts)


def _factors(request):
    if not request.get("factors"):
        return None
    from .factors import Factors

    return Factors(request["factors"])


class Surroundings:
    """Called before every test of a chain of tests; does nothing where nothing was asked for."""

    def __init__(self, request, session, last, factors, channel, sandbox, scratch):
        self._last = last
        self._factors = factors
        self._experiment = self._edits = None
        if request.get("edits"):
            from .edits import Edits

            self._edits = Edits(request["edits"], session.config)
        if request.get("experiment") is not None:
            from .experiment import Experiment

            self._experiment = Experiment(request["experiment"], channel, session, sandbox, scratch)

    def before(self, number):
        if self._factors is not None:
            if number == 0:
                self._factors.apply()
            self._factors.before_test()
        if self._experiment is not None:
            if number == 0:
                self._experiment.before_first()
            if number == self._last:
                self._experiment.before_last()
        if self._edits is not None:
            self._edits.before(number)
