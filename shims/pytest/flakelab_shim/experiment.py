"""A watched run: a snapshot before the first test, and what differs right before the last.

What is asked for is undone there, so that the last test shows whether it mattered; or the tests before it
are traced, to find the line that wrote it.
"""

from .channel import clean
from .hidden import Hidden
from .sealed import os


class Experiment:
    def __init__(self, wanted, channel, session, sandbox, scratch):
        with Hidden():
            from .leaks.tracer import Tracer
            from .leaks.watch import Watch

        self._wanted = wanted
        self._channel = channel
        self._tracer_type = Tracer
        self._root = root = str(session.config.rootpath)
        places = [root, os.environ.get("HOME", ""), os.environ.get("TMPDIR", "")]
        self._watch = Watch(session, root, [p for p in places if p], sandbox, scratch)
        self._tracer = None

    def before_first(self):
        self._watch.before(tee=self._wanted.get("tee", False))
        probes = {id: self._watch.probe(id) for id in self._wanted.get("trace", ())}
        probes = {id: probe for id, probe in probes.items() if probe is not None}
        if probes:
            self._tracer = self._tracer_type(probes, self._root)
            self._tracer.start()

    def before_last(self):
        if self._tracer is not None:
            self._tracer.stop()
        changes = self._watch.changes()
        for change in changes:
            self._channel.send(
                {
                    "k": "leak",
                    "id": clean(change.id, 1_000),
                    "kind": change.kind,
                    "name": clean(change.name, 500),
                    "before": clean(change.before, 300),
                    "after": clean(change.after, 300),
                    "restorable": bool(change.restorable),
                    **({"module": clean(change.module, 300)} if change.module else {}),
                }
            )
        for id, place in (self._tracer.found if self._tracer else {}).items():
            self._channel.send({"k": "wrote", "id": clean(id, 1_000), "at": clean(place, 500)})
        wanted = set(self._wanted.get("restore", ()))
        notes = list(self._watch.notes)
        for change in changes:
            if clean(change.id, 1_000) in wanted and not change.restore():
                self._channel.send({"k": "stuck", "id": clean(change.id, 1_000)})
                notes.append("%s could not be put back" % change.name)
        self._channel.send(
            {
                "k": "watched",
                "notes": [clean(note, 300) for note in notes[:20]],
                "objects": self._watch.size["objects"],
                "ms": self._watch.size["milliseconds"],
            }
        )
