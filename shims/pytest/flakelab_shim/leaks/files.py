"""Files below the watched directories: created, changed, deleted since the first scan.

Owns a scan and one blob in the scratch area with the content of files that are small enough to be put back.
For runs without a sandbox; with one, `layers` tells the same at less cost.
"""

import re
import stat

from ..sealed import os
from . import change as ranks
from .change import Change

ENTRIES = 50_000
FILE_BYTES = 1 << 20
ALL_BYTES = 64 << 20
SKIPPED = frozenset([".git", ".hg", ".flakelab", "__pycache__", ".pytest_cache", "node_modules", ".tox", ".nox"])
# Names that `tempfile` makes up differ in every run.
RANDOM = re.compile(r"(?<![^/])tmp[a-z0-9_]{8}(?![^/.])")


class Entry:
    __slots__ = ("info", "place", "link")

    def __init__(self, info, link=None):
        self.info = info
        self.place = None
        self.link = link

    def token(self):
        i = self.info
        if stat.S_ISDIR(i.st_mode):
            return (i.st_mode, i.st_uid, i.st_gid)
        if self.link is not None:
            return (i.st_mode, self.link)
        return (i.st_mode, i.st_size, i.st_mtime_ns, i.st_ino)


class Files:
    def __init__(self, project, directories, scratch):
        self._project = project
        self._scratch = os.path.abspath(scratch)
        self._tops = _outermost([os.path.abspath(each) for each in [*directories]])
        self._place = Place(project.root)
        self._blob = os.path.join(self._scratch, "leaks-%d.blob" % os.getpid())
        self.notes = []

    def before(self):
        self._before = self._scan()
        self._save()

    # -- reading -------------------------------------------------------------------------------------

    def _scan(self):
        found, waiting = {}, list(self._tops)
        while waiting:
            directory = waiting.pop()
            try:
                entries = list(os.scandir(directory))
            except OSError:
                continue
            for entry in entries:
                if entry.name in SKIPPED or entry.path == self._scratch:
                    continue
                if len(found) >= ENTRIES:
                    note = f"more than {ENTRIES:,} files: the rest was not watched"
                    if note not in self.notes:
                        self.notes.append(note)
                    return found
                self._enter(found, waiting, entry.path)
        return found

    def _enter(self, found, waiting, path):
        try:
            info = os.lstat(path)
            link = os.readlink(path) if stat.S_ISLNK(info.st_mode) else None
        except OSError:
            return
        if stat.S_ISDIR(info.st_mode):
            if os.path.exists(os.path.join(path, "pyvenv.cfg")):
                return
            waiting.append(path)
        found[path] = Entry(info, link)

    def _save(self):
        """One file for all contents: thousands of small copies would cost a directory entry each."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        blob, position = os.open(self._blob, flags, 0o600), 0
        try:
            for path, entry in self._before.items():
                size = entry.info.st_size
                if not stat.S_ISREG(entry.info.st_mode) or size > FILE_BYTES or position + size > ALL_BYTES:
                    continue
                content = read(path)
                if content is not None and len(content) <= FILE_BYTES:
                    _write_all(blob, content)
                    entry.place = (position, len(content))
                    position += len(content)
        finally:
            os.close(blob)

    def _content(self, entry):
        descriptor = os.open(self._blob, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, entry.place[1], entry.place[0])
        finally:
            os.close(descriptor)

    # -- comparing -----------------------------------------------------------------------------------

    def changes(self):
        now = self._scan()
        found = []
        if len(now) >= ENTRIES:
            # Which ones were reached is chance: only what is known to have existed can be compared.
            now = {path: entry for path, entry in now.items() if path in self._before}
        for path in sorted({*self._before, *now}):
            before, after = self._before.get(path), now.get(path)
            if before is not None and after is not None:
                if before.token() != after.token() and not self._untouched(path, before, after):
                    found.append(self._change(path, before, after))
            elif os.path.dirname(path) in (now if after is None else self._before) or self._is_top(path):
                if after is None and os.path.lexists(path):
                    continue
                found.append(self._change(path, before, after))
        return found

    def _is_top(self, path):
        return os.path.dirname(path) in self._tops

    def _untouched(self, path, before, after):
        """Written again with what it held before."""
        if before.info.st_mode != after.info.st_mode or before.place is None:
            return False
        return before.info.st_size == after.info.st_size and read(path) == self._content(before)

    def _change(self, path, before, after):
        name = self._place.shown(path)
        restore = (lambda: self._restore(path, before)) if self._can(path, before) else None
        texts = _texts(before, after)
        key = RANDOM.sub("tmp*", name)
        return Change("file", name, texts[0], texts[1], restore, ranks.FILE, key=key)

    # -- putting back --------------------------------------------------------------------------------

    def _can(self, path, before):
        if before is None or before.link is not None:
            return True
        if stat.S_ISDIR(before.info.st_mode):
            inner = [each for each in self._before if each.startswith(path + "/")]
            return all(self._can(each, self._before[each]) for each in inner if not _is_directory(self._before[each]))
        return before.place is not None

    def _restore(self, path, before):
        if before is None:
            remove(path)
        elif _is_directory(before):
            self._restore_directory(path, before)
        elif before.link is not None:
            remove(path)
            os.symlink(before.link, path)
        else:
            self._restore_file(path, before)

    def _restore_directory(self, path, before):
        if not os.path.isdir(path) or os.path.islink(path):
            remove(path)
            os.mkdir(path)
            for each in sorted(each for each in self._before if each.startswith(path + "/")):
                self._restore(each, self._before[each])
        os.chmod(path, stat.S_IMODE(before.info.st_mode))

    def _restore_file(self, path, before):
        info = before.info
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                remove(path)
            else:
                os.chmod(path, 0o600)
        except OSError:
            pass
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_all(descriptor, self._content(before))
            os.fchmod(descriptor, stat.S_IMODE(info.st_mode))
        finally:
            os.close(descriptor)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))

    # -- tracing -------------------------------------------------------------------------------------

    def probe(self, kind, name):
        return self._place.probe(kind, name)


class Place:
    """Paths as people read them: relative to the project, HOME and TMPDIR by name, because their paths differ
    between processes."""

    def __init__(self, root):
        self._root = root
        found = [(root, "")]
        for name in ("HOME", "TMPDIR"):
            path = os.environ.get(name)
            if path and path.startswith("/") and path != "/":
                found.append((os.path.normpath(path), "$" + name))
        self._names = sorted(found, key=lambda pair: -len(pair[0]))

    def shown(self, path):
        for top, name in self._names:
            if path.startswith(top + "/"):
                return (name + "/" if name else "") + path[len(top) + 1 :]
        return path

    def probe(self, kind, name):
        """A function of what is at the path behind a name."""
        if kind != "file" or "tmp*" in name:
            return None
        path = name
        for top, shown in self._names:
            if shown and name.startswith(shown + "/"):
                path = top + name[len(shown) :]
        path = os.path.join(self._root, path)

        def token():
            try:
                info = os.lstat(path)
            except OSError:
                return None
            return (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ino)

        return token


def _outermost(directories):
    tops = []
    for each in sorted(set(directories), key=len):
        if os.path.isdir(each) and not any(each.startswith(top.rstrip("/") + "/") for top in tops):
            tops.append(each)
    return tops


def _is_directory(entry):
    return stat.S_ISDIR(entry.info.st_mode)


def read(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return os.read(descriptor, FILE_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _write_all(descriptor, content):
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        for entry in list(os.scandir(path)):
            remove(entry.path)
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def describe(original, present):
    """Two paths in words; either may be None."""
    return _texts(*(None if path is None else _entry(path) for path in (original, present)))


def _entry(path):
    info = os.lstat(path)
    return Entry(info, os.readlink(path) if stat.S_ISLNK(info.st_mode) else None)


def _texts(before, after):
    if before is None:
        return "(not there)", _text(after)
    if after is None:
        return _text(before), "(not there)"
    if before.info.st_mode != after.info.st_mode:
        return (
            "%s, mode %o" % (_text(before), stat.S_IMODE(before.info.st_mode)),
            "%s, mode %o" % (_text(after), stat.S_IMODE(after.info.st_mode)),
        )
    return _text(before), _text(after)


def _text(entry):
    if _is_directory(entry):
        return "directory"
    if entry.link is not None:
        return "link to " + entry.link
    return "%d bytes" % entry.info.st_size
