"""A template: an interpreter that has loaded pytest and nothing of the project.

It waits where pytest is about to read its arguments: before configuration files, entry-point plugins,
conftest files and tests. A child forked there is a fresh interpreter for all that a suite can see, for a
fraction of the cost of starting one.
"""

import sys

from .cold import ColdDriver
from .compiled import Compiled
from .sealed import os


class Template:
    def __init__(self, channel, server, surround, reach, scratch):
        self._compiled = Compiled(os.path.join(scratch, "compiled"))
        self._channel = channel
        self._surround = surround
        self._server = server
        self._reach = reach
        self.driver = None

    def before_parse(self, pluginmanager, args):
        """Called once, in pytest's own start-up; goes on in every child with that child's arguments."""
        if self.driver is not None:
            return
        # pytest's own configuration imports these before any code of the project.
        import faulthandler  # noqa: F401
        import pdb  # noqa: F401

        self._channel.send({"k": "template", "cpu_us": int(sum(os.times()[:2]) * 1_000_000)})
        request = self._server.serve(_prepare)
        args[:] = request["args"]
        sys.argv[1:] = request["args"]
        config = pluginmanager.get_plugin("pytestconfig")
        given = config.invocation_params
        config.invocation_params = type(given)(args=tuple(args), plugins=given.plugins, dir=given.dir)
        self.driver = ColdDriver(self._channel, self._surround, request, reach=self._reach)
        self._compiled.install()

    def __call__(self, session, plugin):
        self._compiled.remove()
        self.driver(session, plugin)


def _prepare(request):
    if request.get("mutation"):
        from . import mutation  # noqa: F401
