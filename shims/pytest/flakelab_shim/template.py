"""A template: an interpreter that has loaded pytest and nothing of the project.

It waits where pytest is about to read its arguments: before configuration files, entry-point plugins,
conftest files and tests. Where plugins may be loaded ahead (ahead.py) it waits behind them. A child forked there is a
fresh interpreter for all that a suite can see, for a fraction of the cost of starting one.
"""

import sys

from . import ahead
from .cold import ColdDriver
from .compiled import Compiled
from .sealed import os


class Template:
    def __init__(self, channel, server, surround, reach, young, setup):
        self._compiled = Compiled(setup["compiled"])
        self._channel = channel
        self._surround = surround
        self._server = server
        self._reach = reach
        self._young = young
        self._plugins_ahead = setup["mode"] == "ahead"
        self._arguments = list(setup["args"])
        self.driver = None

    def before_parse(self, pluginmanager, args):
        """Called in pytest's own start-up."""
        if self._plugins_ahead or self.driver is not None:
            return
        config = pluginmanager.get_plugin("pytestconfig")
        args[:] = self._begin(config)

    def before_conftests(self, config, args):
        """Called in pytest's own start-up, after plugins were loaded."""
        if not self._plugins_ahead or self.driver is not None:
            return
        if args[len(args) - len(self._arguments) :] != self._arguments:
            # Somebody has rewritten them: runs are started one by one instead.
            os._exit(0)
        ahead.name_tests(config, args, self._arguments, self._begin(config))

    def _begin(self, config):
        """Goes on in every child, with that child's arguments."""
        # pytest's own configuration imports these before any code of the project.
        import faulthandler  # noqa: F401
        import pdb  # noqa: F401

        # Plugins as well: forks search only what they collect.
        self._young.age()
        self._channel.send({"k": "template", "cpu_us": int(sum(os.times()[:2]) * 1_000_000)})
        request = self._server.serve(_prepare)
        sys.argv[1:] = request["args"]
        given = config.invocation_params
        config.invocation_params = type(given)(args=tuple(request["args"]), plugins=given.plugins, dir=given.dir)
        self.driver = ColdDriver(self._channel, self._surround, request, reach=self._reach)
        self._compiled.install()
        return request["args"]

    def __call__(self, session, plugin):
        self._compiled.remove()
        self._young.end()
        self.driver(session, plugin)


def _prepare(request):
    if request.get("mutation"):
        from . import mutation  # noqa: F401
