"""What Python and pytest compile while they collect, kept for the zygotes and fresh interpreters that follow.

Runs write no bytecode. A project that was never tested on this machine, as on most CI machines, would be compiled,
and its assertions rewritten, in each of them: that takes longer than many suites. Code is found again by the text
it came from, so it is always that of the file as it is. While tests run, nothing of this is in place.
"""

import _frozen_importlib_external as _importing
import _imp
import marshal

from .sealed import os

# Files that are kept: a suite that imports other text each time must not fill the disk.
MOST_KEPT = 4_000

_Loader = _importing.SourceFileLoader


class Compiled:
    def __init__(self, folder):
        self._folder = folder
        self._room = None
        self._put_back = []

    def install(self):
        """To be called in a process that is about to collect."""
        from _pytest.assertion import rewrite

        compile_source, rewrite_test = _Loader.source_to_code, getattr(rewrite, "_rewrite_test", None)

        def source_to_code(loader, data, path, *arguments, **options):
            if arguments or options or type(loader) is not _Loader or type(data) is not bytes:
                return compile_source(loader, data, path, *arguments, **options)
            return self._code(data, str(path), "plain", lambda: compile_source(loader, data, path))

        def rewritten(fn, config):
            information, data = os.stat(fn), fn.read_bytes()
            how = "rewritten %s" % config.getini("enable_assertion_pass_hook")
            return information, self._code(data, str(fn), how, lambda: rewrite_test(fn, config)[1])

        self._replace(_Loader, "source_to_code", source_to_code)
        if rewrite_test is not None:
            self._replace(rewrite, "_rewrite_test", rewritten)

    def remove(self):
        while self._put_back:
            self._put_back.pop()()

    def _replace(self, owner, name, new):
        if name in vars(owner):
            old = vars(owner)[name]
            self._put_back.append(lambda: setattr(owner, name, old))
        else:
            self._put_back.append(lambda: delattr(owner, name))
        setattr(owner, name, new)

    def _code(self, data, path, how, make):
        name = self._name(data, path, how)
        try:
            with open(name, "rb") as kept:
                return marshal.loads(kept.read())
        except (OSError, EOFError, ValueError, TypeError):
            pass
        code = make()
        self._keep(name, code)
        return code

    def _name(self, data, path, how):
        whose = ("%s %s" % (how, path)).encode("utf-8", "surrogateescape")
        return os.path.join(self._folder, "%s-%s" % (_digest(data), _digest(whose)))

    def _keep(self, name, code):
        try:
            if self._room is None:
                self._room = MOST_KEPT - len(os.listdir(self._folder))
            if self._room > 0:
                self._room -= 1
                being_written = "%s.%d" % (name, os.getpid())
                with open(being_written, "wb") as file:
                    file.write(marshal.dumps(code))
                os.rename(being_written, name)
        except (OSError, ValueError):
            pass


def _digest(data):
    return _imp.source_hash(len(data), data).hex()
