"""How failures of changed code are described."""

from flakelab_shim.outcome import FIRST_FRAMES, LAST_FRAMES, Recorder


def lines(traceback):
    found = []
    while traceback is not None:
        found.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def endless(depth):
    if depth == 0:
        raise RecursionError
    endless(depth - 1)


class Info:
    def __init__(self, depth):
        try:
            endless(depth)
        except RecursionError as error:
            self.tb = error.__traceback__


def test_a_traceback_without_end_keeps_its_first_and_last_frames_where_nobody_reads_it():
    recorder = Recorder()
    whole = Info(500)
    recorder.raising(whole)
    assert len(lines(whole.tb)) == 502, "somebody may read it"
    recorder.brief = True
    before = lines(whole.tb)
    recorder.raising(whole)
    assert lines(whole.tb) == before[:FIRST_FRAMES] + before[-LAST_FRAMES:]


def test_a_short_traceback_stays_whole():
    recorder = Recorder()
    recorder.brief = True
    short = Info(FIRST_FRAMES + LAST_FRAMES - 2)
    recorder.raising(short)
    assert len(lines(short.tb)) == FIRST_FRAMES + LAST_FRAMES


class Report:
    nodeid = "test_a.py::test"
    longrepr = "boom"

    def __init__(self, outcome, when="call", **more):
        self.outcome, self.when, self.duration = outcome, when, 0.5
        self.__dict__.update(more)


class SubtestReport(Report):
    """As pytest calls it since 9."""


class SubTestReport(Report):
    """As pytest-subtests calls it."""


def told(*reports):
    recorder = Recorder()
    recorder.start(Report.nodeid)
    for report in reports:
        recorder.see(report)
    return recorder.finish()


def test_what_subtests_skip_or_expect_is_not_the_outcome_of_their_test():
    for kind in (SubtestReport, SubTestReport):
        assert told(kind("skipped"), kind("passed"), Report("passed")) == {"o": "p", "us": 500_000}
        assert told(kind("skipped", wasxfail=""), Report("passed"))["o"] == "p"
        assert told(kind("passed", wasxfail=""), Report("passed"))["o"] == "p"
        assert told(kind("passed"), Report("skipped"))["o"] == "s"


def test_a_subtest_that_fails_fails_its_test():
    event = told(SubtestReport("failed"), SubtestReport("skipped"), Report("passed"))
    assert (event["o"], event["us"], event["m"]) == ("f", 500_000, "boom")
