"""What flakelab is told about the collected suite."""

import sys

import pytest

from .channel import clean
from .forked import rng_digests
from .sealed import os


def tell(channel, session, plugin, obstacle, sandbox_error, ahead=False):
    config = session.config
    channel.send_list("tests", [clean(item.nodeid, 20_000) for item in session.items])
    channel.send_list("collection_errors", plugin.collection_errors)
    options, positionals = split_arguments(config)
    channel.send_list("options", options)
    channel.send_list("plain_options", plugin.rivals.plain_options(session, options))
    channel.send_list("positionals", positionals)
    channel.send(
        {
            "k": "hello",
            "python": "%d.%d.%d" % sys.version_info[:3],
            "pytest": pytest.__version__,
            "rootdir": clean(str(config.rootpath), 4_000),
            "invocation_dir": clean(str(config.invocation_params.dir), 4_000),
            "inifile": clean(str(config.inipath or ""), 4_000),
            "plugins": sorted(
                {
                    clean("%s-%s" % (d.project_name, d.version), 200)
                    for _, d in config.pluginmanager.list_plugin_distinfo()
                }
            )[:200],
            "silenced": plugin.rivals.silenced[:50],
            "places": places(session),
            "rng": rng_digests(),
            "obstacle": obstacle,
            "ahead": ahead,
            "sandbox_error": sandbox_error,
            "cpu_us": int(sum(os.times()[:2]) * 1_000_000),
        }
    )


def places(session):
    """Where modules lie whose ids are not paths from the root: those outside it. Bounded, for one packet."""
    config, found = session.config, {}
    for item in session.items:
        module = item.nodeid.split("::", 1)[0]
        if module in found or len(found) == 100:
            continue
        path = str(item.path)
        if path != os.path.normpath(os.path.join(str(config.rootpath), module)):
            found[clean(module, 200)] = clean(os.path.relpath(path, str(config.invocation_params.dir)), 200)
    return found


def split_arguments(config):
    """The user's arguments as (options, positionals), so that positionals can be replaced by test ids."""
    given = [str(argument) for argument in config.invocation_params.args]
    named = set(map(str, getattr(config.option, "file_or_dir", None) or []))
    candidates = [at for at, argument in enumerate(given) if argument in named]
    paths = _paths(config, given, candidates)
    if paths is None:
        # One of them is the value of an option that takes no such word.
        paths = {at for at in candidates if _paths(config, given, [at])}
    options = [argument for at, argument in enumerate(given) if at not in paths]
    return options, [given[at] for at in sorted(paths)]


def _paths(config, given, candidates):
    """Which of these pytest's own parser takes for paths: `tests` may be the value of `-k` too."""
    marks = {at: "flakelab-looks-for-this-%d" % at for at in candidates}
    try:
        parsed = config._parser.parse([marks.get(at, argument) for at, argument in enumerate(given)])
    except Exception:
        return None
    found = set(getattr(parsed, "file_or_dir", None) or [])
    return {at for at in candidates if marks[at] in found}
