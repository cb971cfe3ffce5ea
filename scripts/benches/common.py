"""What all benches use: environments, CPU time of commands, real projects to try things on."""

import json
import os
import resource
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FLAKELAB = ROOT / "target/release/flakelab"


def venv(name, *packages):
    """The folder of an environment; who downloads with it names pip."""
    subprocess.run([ROOT / "scripts/venv", name, *packages], check=True)
    return ROOT / ".venvs" / name


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_of(command, **options):
    """CPU seconds of a command and everything it waited for."""
    before = children_cpu()
    subprocess.run(command, stdin=subprocess.DEVNULL, **options)
    return children_cpu() - before


def detect(project, python, scratch, *options):
    """Runs detect; returns (CPU seconds, document, store)."""
    store, output = Path(scratch, "store"), Path(scratch, "detect.json")
    command = [FLAKELAB, "detect", project, "--python", python, "--seed", "1", "--quiet"]
    command += ["--store", store, "--format", "json", "-o", output, *options]
    spent = cpu_of(command)
    return spent, json.loads(output.read_text()), store / "store.sqlite"


def sdist(python, name, scratch):
    """(the unpacked sources of the version that an interpreter has, that version)"""
    ask = f"from importlib.metadata import version; print(version({name!r}))"
    version = subprocess.check_output([python, "-c", ask], text=True).strip()
    subprocess.run(
        [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"]
        + ["-d", scratch, f"{name}=={version}"],
        check=True,
    )
    archive = next(Path(scratch).glob(f"{name}-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(scratch)
    return next(p for p in Path(scratch).glob(f"{name}-*") if p.is_dir()), version


def click_project(scratch):
    """(click's sources, an interpreter that has it, its version)"""
    python = venv("click", "pip", "pytest", "click") / "bin/python"
    sources, version = sdist(python, "click", scratch)
    return sources, python, version


def own_usage(command):
    """(CPU seconds of a command and its children, CPU seconds of itself alone, its own peak memory in MB)"""
    own = {"cpu": 0.0, "memory": 0.0}

    def watch(process):
        ticks = os.sysconf("SC_CLK_TCK")
        while process.poll() is None:
            try:
                fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                own["cpu"] = (int(fields[11]) + int(fields[12])) / ticks
                status = Path(f"/proc/{process.pid}/status").read_text()
                own["memory"] = int(status.split("VmHWM:")[1].split()[0]) / 1024
            except (OSError, IndexError):
                pass
            time.sleep(0.05)

    before = children_cpu()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    watcher = threading.Thread(target=watch, args=(process,))
    watcher.start()
    process.wait()
    watcher.join()
    return children_cpu() - before, own["cpu"], own["memory"]


def newest_python():
    """The newest Python there is, from 3.12 on if possible: it can watch code run at little cost."""
    candidates = [f"python3.{minor}" for minor in (15, 14, 13, 12)]
    try:
        root = Path(subprocess.check_output(["pyenv", "root"], text=True).strip())
        candidates += sorted(map(str, root.glob("versions/3.1[2-9]*/bin/python")), reverse=True)
    except (OSError, subprocess.CalledProcessError):
        pass
    for candidate in candidates:
        try:
            subprocess.run([candidate, "-c", ""], check=True, stderr=subprocess.DEVNULL)
            return candidate
        except (OSError, subprocess.CalledProcessError):
            continue
    return sys.executable
