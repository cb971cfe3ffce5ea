"""One execution's outcome, from the reports pytest makes of it."""

import re

from .channel import clean
from .sealed import os

MESSAGE_LIMIT = 4_000
# Of a traceback that is cut: the test, and what it came to.
FIRST_FRAMES, LAST_FRAMES = 20, 60
# pytest colours the differences of values where colours are asked for.
_without_colours = re.compile("\x1b\\[[0-9;]*m").sub
# Where a virtual environment inside the project keeps what is not the project's.
FOREIGN = ("site-packages", "dist-packages")


class Recorder:
    """Collects the reports of the item that is running; asked once per item for the outcome."""

    def __init__(self):
        self._nodeid = None
        self._reports = []
        self._places = {}
        # Whether nobody will read how an exception came about.
        self.brief = False

    def start(self, nodeid):
        self._nodeid = nodeid
        self._reports = []
        self._places = {}

    def raising(self, excinfo):
        """An exception that pytest is about to describe. That takes time for every frame, and much more where they
        repeat; changed code often calls itself without end."""
        if self.brief:
            cut_out_the_middle(excinfo.tb)

    def raised(self, when, excinfo, root):
        """An exception on its way into the report of a phase."""
        self._places[when] = place_in(root, excinfo.tb)

    def see(self, report):
        if report.nodeid == self._nodeid:
            self._reports.append(report)

    def finish(self):
        """The fields of an outcome event; failing reports first, in the order of their phases."""
        reports, self._nodeid, self._reports = self._reports, None, []
        # A part that is skipped or expected to fail says nothing of the test, whose time is that of all its parts.
        own = [r for r in reports if not _is_of_a_part(r)]
        micros = int(sum(getattr(r, "duration", 0.0) or 0.0 for r in own) * 1_000_000)
        event = {"us": max(micros, 0)}
        failed = [r for r in reports if r.outcome == "failed"]
        if failed:
            # A failure of the test itself says more than the clean-up that then failed as well.
            first = next((r for r in failed if r.when == "call"), failed[0])
            event["o"] = "f" if first.when == "call" else "e"
            event.update(describe(first, self._places.get(first.when)))
            return event
        calls = [r for r in own if r.when == "call"]
        skipped = [r for r in own if r.outcome == "skipped"]
        if skipped:
            event["o"] = "xf" if hasattr(skipped[0], "wasxfail") else "s"
        elif any(hasattr(r, "wasxfail") for r in calls):
            event["o"] = "xp"
        elif calls:
            event["o"] = "p"
        else:
            event["o"] = "n"
        return event


def _is_of_a_part(report):
    """Whether it is of a subtest: of pytest since 9, or of the plugin for those before."""
    return any(kind.__name__ in ("SubtestReport", "SubTestReport") for kind in type(report).__mro__)


def cut_out_the_middle(traceback):
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    if len(frames) > FIRST_FRAMES + LAST_FRAMES:
        frames[FIRST_FRAMES - 1].tb_next = frames[-LAST_FRAMES]


def place_in(root, traceback):
    """The last line of the project that led to an exception: pytest names the last one of all, which for
    an assertion of `unittest` lies in the standard library."""
    found = ""
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        hidden = traceback.tb_frame.f_locals.get("__tracebackhide__") is True
        if path.startswith(root + os.sep) and not hidden and not any(part in path for part in FOREIGN):
            found = "%s:%d" % (path, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def describe(report, known_place=None):
    """Where and how a report failed, bounded; only text that pytest has already made."""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        message = crash.message
        place = "%s:%s" % (crash.path, crash.lineno)
    elif getattr(longrepr, "reprlocation_lines", None):
        place, message = describe_doctest(*longrepr.reprlocation_lines[0])
    else:
        message = longrepr if isinstance(longrepr, str) else str(longrepr)
        place = ""
        if isinstance(longrepr, tuple) and len(longrepr) == 3:
            place, message = "%s:%s" % longrepr[:2], longrepr[2]
    return {
        "ph": report.when if report.when in ("setup", "call", "teardown") else "call",
        "m": _without_colours("", clean(message, MESSAGE_LIMIT)),
        "at": clean(known_place or place, 500),
    }


def describe_doctest(location, lines):
    """(place, message) of an example: what it was to print and what it printed, not the lines that lead to it."""
    place = "%s:%s" % (location.path, location.lineno)
    unexpected = "UNEXPECTED EXCEPTION: "
    for at, line in enumerate(lines):
        if line.startswith(unexpected):
            return place, line[len(unexpected) :]
        if line.startswith(("Expected", "Differences")):
            return place, "%s: %s" % (location.message, " ".join(" ".join(lines[at:]).split()))
    return place, str(location.message)
