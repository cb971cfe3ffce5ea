"""A pytest plugin that drives `Watch` around the first tests of a session, as flakelab does.

The last collected item is the target; every one before it is a polluter. What to do is read from the file
named by LEAKS_JOB, and the answer is written beside it.
"""

import json
import os
import sys

import pytest

# Tests replace it, and the answer is written after them.
_open = open
with open(os.environ.pop("LEAKS_JOB")) as _file:
    _job = json.load(_file)
sys.path.insert(0, _job["shim"])
from flakelab_shim.hidden import Hidden  # noqa: E402

with Hidden():
    from flakelab_shim.leaks.tracer import Tracer
    from flakelab_shim.leaks.watch import Watch
sys.path.remove(_job["shim"])


class Driver:
    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        if report.failed or report.when == "call":
            self.outcomes.setdefault(report.nodeid, report.outcome)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        answer = {}
        items = session.items
        limits = _job.get("limits", {})
        watch = Watch(session, _job["root"], _job["directories"], None, _job["scratch"], **limits)
        watch.before(**({"tee": True} if _job.get("tee") else {}))
        tracer = None
        if _job.get("trace"):
            probes = {each: watch.probe(each) for each in _job["trace"]}
            answer["unknown"] = [each for each, probe in probes.items() if probe is None]
            tracer = Tracer({each: probe for each, probe in probes.items() if probe is not None}, _job["root"])
            tracer.start()
        for item, following in zip(items, items[1:]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if tracer is not None:
            tracer.stop()
            answer["found"] = tracer.found
        changes = watch.changes()
        wanted = _job.get("restore")
        answer["changes"] = [
            {
                "id": change.id,
                "kind": change.kind,
                "name": change.name,
                "module": change.module,
                "before": change.before,
                "after": change.after,
                "restorable": change.restorable,
            }
            for change in changes
        ]
        answer["restored"] = [
            [change.id, change.restore()] for change in changes if wanted == "all" or change.id in (wanted or ())
        ]
        answer["left"] = [change.id for change in watch.changes()] if wanted else []
        session.config.hook.pytest_runtest_protocol(item=items[-1], nextitem=None)
        answer["outcomes"] = self.outcomes
        answer["target"] = self.outcomes.get(items[-1].nodeid)
        answer["notes"] = watch.notes
        answer["size"] = watch.size
        with _open(_job["answer"], "w") as file:
            json.dump(answer, file)
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        # All is said. pytest would look for garbage five times, among all that was kept.
        sys.__stdout__.flush()
        os._exit(0)


def pytest_configure(config):
    config.pluginmanager.register(Driver(), "leaks-driver")
