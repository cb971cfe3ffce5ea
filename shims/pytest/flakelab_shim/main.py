"""Entry point: one interpreter, as a zygote, a template, or a cold run of one order or of everything."""

import sys

from .channel import Channel, clean, moved_up
from .hidden import Hidden
from .sealed import os


def main(request_fd, event_fd):
    with Hidden():
        from .kernel import Kernel

        channel = Channel(request_fd, event_fd)
        kernel = Kernel()
    setup = channel.receive()
    if setup is None:
        os._exit(0)
    with Hidden():
        from .bombs import Guard

        guard = Guard(channel)
        descriptors = open_layers(setup)
        reach = instrument(setup, channel)
    sandbox, sandbox_error = enter_sandbox(kernel, setup)
    arguments, mode = setup["args"], setup["mode"]
    become_pytest(arguments, setup["module"])

    try:
        with Hidden():
            from .young import Young
        young = Young()
        if mode in ("zygote", "template", "ahead"):
            young.begin()
        import pytest

        # That leaves no garbage.
        young.age()
    except ImportError as error:
        channel.send({"k": "fatal", "kind": "no_pytest", "m": clean(str(error), 1_000)})
        os._exit(0)
    with Hidden():
        from . import described
        from .cold import ColdDriver
        from .forked import ForkRepair
        from .plugin import Plugin
        from .server import ForkServer
        from .surroundings import Surround
        from .template import Template
        from .whole import WholeDriver
        from .zygote import ZygoteDriver

        repair = ForkRepair(channel, setup["scratch"], sandbox)
        surround = Surround(channel, sandbox, setup["scratch"])
        layers = install_layers(setup, descriptors)
    if mode in ("cold", "twice"):
        driver = ColdDriver(channel, surround, setup, layers, reach)
    elif mode == "whole":
        driver = WholeDriver(channel, surround, setup, sandbox_error, layers)
    else:
        server = ForkServer(channel, kernel, repair, sandbox, guard, setup)
        if mode == "zygote":
            driver = ZygoteDriver(channel, server, repair, surround, sandbox_error, reach, young, setup)
        else:
            described.prepare()
            driver = Template(channel, server, surround, reach, young, setup)
    before = [getattr(driver, name, None) for name in ("before_parse", "before_conftests")]
    code = pytest.main(list(arguments), plugins=[Plugin(driver, *before)])
    cold = getattr(driver, "driver", driver)
    if getattr(cold, "wants_another_session", False):
        code = pytest.main(cold.arguments, plugins=[Plugin(cold)])
    # Only reached when pytest never came to its run loop.
    channel.send({"k": "fatal", "kind": "pytest", "exit": int(code), "m": ""})
    _flush()
    os._exit(0)


def open_layers(setup):
    """The trace and the directory of our bytecode, open before the sandbox hides where they are."""
    wanted = setup.get("layers")
    if not wanted:
        return None
    os.makedirs(wanted["cache"], exist_ok=True)
    trace = os.open(wanted["trace"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    return moved_up(trace), moved_up(os.open(wanted["cache"], os.O_RDONLY | os.O_DIRECTORY))


def instrument(setup, channel):
    """Instrumented texts for the project's files, read before the sandbox hides where they are."""
    if not setup.get("instrumented"):
        return None
    import json

    from . import sources
    from .reach import Reach

    with open(setup["instrumented"], encoding="utf-8") as file:
        wanted = json.load(file)
    sources.install({os.path.realpath(path): text for path, text in wanted["texts"].items()})
    return Reach(wanted["points"], channel)


def install_layers(setup, descriptors):
    if descriptors is None:
        return None
    from .layers import Layers

    layers = Layers(setup["layers"], *descriptors)
    layers.install()
    return layers


def enter_sandbox(kernel, setup):
    wanted = setup.get("sandbox")
    if not wanted:
        return None, None
    with Hidden():
        from .sandbox import Sandbox
    try:
        over, lasting = wanted.get("over", {}), wanted.get("lasting", False)
        mounted = wanted.get("mounted", ())
        sandbox = Sandbox(kernel, wanted["targets"], wanted["layers"], over, lasting, mounted)
        if setup.get("experiment") is not None:
            sandbox.keep_bottoms()
        sandbox.enter()
        return sandbox, None
    except OSError as error:
        kernel.disarm()
        return None, clean(str(error), 500)


def become_pytest(arguments, as_module):
    """`sys.argv` and `sys.path` as `pytest …` (or `python -m pytest …`) would have them."""
    scripts = os.path.dirname(sys.executable or "")
    sys.argv = [os.path.join(scripts, "pytest"), *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.getcwd() if as_module else scripts)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
