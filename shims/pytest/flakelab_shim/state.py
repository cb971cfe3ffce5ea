"""HOME and TMPDIR of a lane, put back in place between lineages where no overlay does it.

Restoring happens in place (the directories keep their inodes) because paths and open directories of the
interpreter that will be forked again must stay valid.
"""

import shutil
import stat

from .sealed import os


class State:
    def __init__(self, root, saved_root):
        self._root = root
        self._saved_root = saved_root
        self._count = 0

    def save(self):
        """A copy of the present content, to be handed to `restore`."""
        self._count += 1
        copy = os.path.join(self._saved_root, "%d-%d" % (os.getpid(), self._count))
        _copy(self._root, copy)
        return copy

    def restore(self, copy):
        _sync(copy, self._root)

    def forget(self, copy):
        _remove(copy)


def _sync(source, target):
    wanted = {entry.name: entry for entry in os.scandir(source)}
    for entry in list(os.scandir(target)):
        want = wanted.get(entry.name)
        both_directories = (
            want is not None and want.is_dir(follow_symlinks=False) and entry.is_dir(follow_symlinks=False)
        )
        if both_directories:
            _writable(entry.path)
            _sync(want.path, entry.path)
            del wanted[entry.name]
        elif entry.is_dir(follow_symlinks=False):
            _remove(entry.path)
        else:
            os.unlink(entry.path)
    for name, entry in wanted.items():
        path = os.path.join(target, name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), path)
        elif entry.is_dir():
            _copy(entry.path, path)
        else:
            shutil.copy2(entry.path, path)


def _copy(source, target):
    """Sockets and pipes have no content to copy."""

    def special(folder, names):
        return [n for n in names if not _plain(os.lstat(os.path.join(folder, n)).st_mode)]

    shutil.copytree(source, target, symlinks=True, ignore=special)


def _plain(mode):
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _writable(path):
    try:
        os.chmod(path, 0o700)
    except OSError:
        pass


def _remove(path):
    """Tests leave read-only directories behind."""
    _writable(path)
    for entry in list(os.scandir(path)):
        if entry.is_dir(follow_symlinks=False):
            _remove(entry.path)
        else:
            os.unlink(entry.path)
    os.rmdir(path)
