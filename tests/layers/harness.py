"""Starts the shim as `crates/runners/src/pytest/shim.rs` does, for one cold run, and reads what it wrote."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

SHIM = Path(__file__).resolve().parents[2] / "shims" / "pytest"
_PROGRAM = (
    "import sys; sys.path[:] = [%s] + [p for p in sys.path if p]; "
    "from flakelab_shim.main import main; sys.path.pop(0); main(%d, %d)"
)


class Run:
    """The events of a run and its trace, with the numbers of texts replaced by the texts."""

    def __init__(self, events, output, trace):
        self.events, self.output = events, output
        self.notes, self.tests, self.points = [], {}, []
        texts = []
        for line in trace.decode("ascii").splitlines():
            entry = json.loads(line)
            texts.extend(entry.get("x", ()))
            if "p" in entry:
                name, variables = entry["p"]
                self.points.append((texts[name], [texts[each] for each in variables]))
            if "note" in entry:
                self.notes.append(entry["note"])
            if "n" in entry:
                self.tests[entry["n"]] = Test(entry, texts, self.points)
        self.texts = texts
        self.outcomes = {event["n"]: event for event in events if event["k"] == "o"}


class Test:
    __test__ = False

    def __init__(self, entry, texts, points):
        self.keys = set(entry)
        self.values = {texts[element]: texts[value] for element, value in entry.get("a", ())}
        self.verdicts = {texts[element]: texts[value] for element, value in entry.get("v", ())}
        self.margins = {texts[element]: margin for element, margin in entry.get("m", ())}
        self.filtered = [(texts[element], texts[message]) for element, message in entry.get("q", ())]
        self.functions = [texts[each] for each in entry.get("f", ())]
        self.lines = {texts[name]: lines for name, lines in entry.get("l", ())}
        self.samples = [
            (points[point][0], dict(zip(points[point][1], [_sample(each, texts) for each in values])))
            for point, values in entry.get("b", ())
        ]


def _sample(value, texts):
    if isinstance(value, list) and value[0] in ("s", "c", "o"):
        return [value[0], texts[value[1]], *value[2:]]
    return value


def run(root, order, arguments=(), layers=None, mode="cold", environment=(), python=sys.executable, base=None):
    base = Path(base or root.parent)
    setup = {"mode": mode, "args": list(arguments), "module": False, "order": list(order), "scratch": str(base)}
    trace = base / "trace"
    if trace.exists():
        trace.unlink()
    if layers is not None:
        setup["layers"] = {"trace": str(trace), "cache": str(base / "bytecode"), "names": str(root), **layers}
        setup["layers"].setdefault("sources", [str(root)])
    request_read, request_write = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    values = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    values.update(PYTHONDONTWRITEBYTECODE="1", HOME=str(base), **dict(environment))
    program = _PROGRAM % (json.dumps(str(SHIM)), request_read, theirs.fileno())
    with open(str(base / "output"), "wb") as output:
        process = subprocess.Popen(
            [python, "-c", program],
            cwd=str(root),
            env=values,
            pass_fds=(request_read, theirs.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    os.close(request_read)
    theirs.close()
    # The second line is what a whole run waits for; no other one reads it.
    os.write(request_write, json.dumps(setup).encode() + b"\n{}\n")
    events = []
    while True:
        packet = ours.recv(1 << 18)
        if not packet:
            break
        events.append(json.loads(packet.decode()))
    process.wait()
    os.close(request_write)
    ours.close()
    text = (base / "output").read_bytes().decode("utf-8", "replace")
    return Run(events, text, trace.read_bytes() if trace.exists() else b"")
