"""Files created, changed or deleted, read off the sandbox: what a run wrote lies in a layer of its own.

Costs what was written, whatever the size of the project, and sees all that the sandbox covers. Owns the rules
of overlay layers: whiteouts, opaque directories, lower layers from the newest to the oldest.
"""

import shutil
import stat

from ..sealed import os
from . import change as ranks
from .change import Change
from .files import RANDOM, SKIPPED, Place, describe, read, remove

# What a run may have written before its changes are no longer listed one by one.
ENTRIES = 5_000


class Layers:
    def __init__(self, project, sandbox):
        self._place = Place(project.root)
        self._views = sandbox.views()
        self.notes = []

    def before(self):
        """What was written while the suite was collected is no leak of a test."""
        self._known = {path: token for path, token in self._written()}

    def _written(self):
        for target, upper, _ in self._views:
            for relative, info in self._walk(upper):
                yield os.path.join(target, relative), _token(info)

    def _walk(self, upper):
        """Paths in a layer, parents first; a directory that is new is not looked into."""
        waiting, seen = [""], 0
        while waiting:
            folder = waiting.pop()
            try:
                names = sorted(os.listdir(os.path.join(upper, folder)))
            except OSError:
                continue
            for name in names:
                if name in SKIPPED:
                    continue
                seen += 1
                if seen > ENTRIES:
                    self._say("more than %d files were written: the rest was not looked at" % ENTRIES)
                    return
                relative = os.path.join(folder, name)
                try:
                    info = os.lstat(os.path.join(upper, relative))
                except OSError:
                    continue
                yield relative, info
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(relative)

    def _say(self, note):
        if note not in self.notes:
            self.notes.append(note)

    # -- comparing -----------------------------------------------------------------------------------

    def changes(self):
        found, covered = [], []
        for target, upper, lower in self._views:
            for relative, info in self._walk(upper):
                path = os.path.join(target, relative)
                if self._known.get(path) == _token(info) or any(path.startswith(c) for c in covered):
                    continue
                original = _original(lower, relative)
                if stat.S_ISDIR(info.st_mode) and original is not None and not _opaque(os.path.join(upper, relative)):
                    if stat.S_IMODE(info.st_mode) == stat.S_IMODE(os.lstat(original).st_mode):
                        continue
                elif stat.S_ISDIR(info.st_mode):
                    covered.append(path + "/")
                change = self._change(path, original, None if _whiteout(info) else os.path.join(upper, relative))
                if change is not None:
                    found.append(change)
        return found

    def _change(self, path, original, present):
        if original is None and present is None:
            return None
        if original is not None and present is not None and _same(original, present):
            return None
        name = self._place.shown(path)
        texts = describe(original, present)
        return Change("file", name, *texts, lambda: _restore(path, original), ranks.FILE, key=RANDOM.sub("tmp*", name))

    def probe(self, kind, name):
        return self._place.probe(kind, name)


def _token(info):
    if stat.S_ISDIR(info.st_mode):
        return (info.st_mode,)
    return (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ino)


def _whiteout(info):
    return stat.S_ISCHR(info.st_mode) and info.st_rdev == 0


def _opaque(directory):
    for name in ("trusted.overlay.opaque", "user.overlay.opaque"):
        try:
            if os.getxattr(directory, name, follow_symlinks=False) == b"y":
                return True
        except OSError:
            pass
    return False


def _original(lower, relative):
    """The path below which a lower layer has it, or None if there was nothing before."""
    for layer in lower:
        place = layer
        for part in relative.split("/"):
            place = os.path.join(place, part)
            try:
                info = os.lstat(place)
            except OSError:
                place = None
                break
            if _whiteout(info):
                return None
        if place is not None:
            return place
    return None


def _same(original, present):
    a, b = os.lstat(original), os.lstat(present)
    if a.st_mode != b.st_mode or stat.S_ISDIR(a.st_mode):
        return False
    if stat.S_ISLNK(a.st_mode):
        return os.readlink(original) == os.readlink(present)
    return a.st_size == b.st_size and read(original) == read(present)


def _restore(path, original):
    remove(path)
    if original is None:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = os.lstat(original).st_mode
    if stat.S_ISDIR(mode):
        shutil.copytree(original, path, symlinks=True)
    else:
        shutil.copy2(original, path, follow_symlinks=False)
