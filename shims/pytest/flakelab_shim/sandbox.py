"""A private copy-on-write view of the project for every run: overlay mounts in a mount namespace.

Each lineage writes into its own upper layer. A fork that starts a new lineage stacks a fresh layer on
what its parent had written, so files written by one run reach neither the user's tree nor the next run.
Sound because a parent never writes while a child of its lineage is alive. Where a parent has written nothing, its
child writes into the parent's layer, which is thrown away if that child has written: most write nothing.
"""

from .sealed import os

# Without it a directory that lies below cannot be renamed. It takes attributes that only root may write.
_RENAMING = b",redirect_dir=on"
# Inside a user namespace overlayfs keeps its marks in user.* attributes.
_FOR_USERS = b",userxattr"


class Sandbox:
    def __init__(self, kernel, targets, layers, over, lasting=False, mounted=()):
        self._kernel = kernel
        self._targets = targets
        self._layers = layers
        # A later run goes on in the layers of this one.
        self._lasting = lasting
        # Files of `over` take the place of the target's own.
        self._lower = {target: [over[target]] if target in over else [] for target in targets}
        self._upper = {}
        self._untouched = {}
        # What is mounted below each target, and with that hidden by a mount over the target.
        self._mounted = {t: [m for m in mounted if m.startswith(t.rstrip("/") + "/")] for t in targets}
        # Ways to mount, the best first; from the first mount on the one that the kernel takes.
        self._extras = ([_RENAMING] if os.geteuid() == 0 else []) + [b"", _FOR_USERS]
        self._renewed = 0
        # What lies below each mount, kept open only for runs that want to compare with it.
        self._bottoms = None

    def enter(self):
        """Mounts the first layer; raises OSError where the system does not allow it."""
        self._kernel.arm()
        self._kernel.unshare_mounts()
        self._kernel.keep_mounts_private()
        cwd = os.getcwd()
        for number, target in enumerate(self._targets):
            self._mount(number, target)
        os.chdir(cwd)
        self._kernel.disarm()

    def split(self):
        """Called in a forked child: its writes go to a layer of its own from now on."""
        self._kernel.arm()
        self._kernel.unshare_mounts()
        self._push(self._targets)

    def part(self):
        """Called in a forked child that writes to the layer of its parent: what it leaves running does not see the
        parent's next layer."""
        self._kernel.arm()
        self._kernel.unshare_mounts()
        self._kernel.disarm()

    def settle(self):
        """What was written so far becomes a layer below: this process has written nothing any more."""
        self._kernel.arm()
        self._renewed += 1
        self._push([target for target in self._targets if self._is_touched(target)])

    def _push(self, targets):
        modes = {target: os.stat(target).st_mode & 0o7777 for target in targets}
        for target in targets:
            if os.listdir(self._upper[target]):
                self._lower[target].insert(0, self._upper[target])
        self._replace(targets)
        for target, mode in modes.items():
            # A layer begins with the mode of what lies at the bottom.
            if os.stat(target).st_mode & 0o7777 != mode:
                os.chmod(target, mode)
                self._untouched[target] = _seen(self._upper[target])

    def is_untouched(self):
        """Whether this lineage has written nothing: then a child that ends before it goes on may share its layer."""
        return not any(map(self._is_touched, self._targets))

    def _is_touched(self, target):
        upper = self._upper[target]
        return _seen(upper) != self._untouched[target] or bool(os.listdir(upper))

    def renew(self, everything):
        """Throws away layers that only a child has written to, or all if what it left running may still do so."""
        self._kernel.arm()
        self._renewed += 1
        targets = [target for target in self._targets if everything or self._is_touched(target)]
        old = [os.path.dirname(self._upper[target]) for target in targets]
        self._replace(targets)
        for base in map(os.path.basename, old):
            # One that was lent is thrown away by its owner. Under a name that is nobody's flakelab removes it.
            if base.startswith("%d-" % os.getpid()):
                os.rename(os.path.join(self._layers, base), os.path.join(self._layers, "old-" + base))

    def _replace(self, targets):
        """Fresh layers in place of these mounts; the working directory is looked up again in them."""
        cwd = _cwd()
        for target in targets:
            self._kernel.detach(os.fsencode(target))
            self._mount(self._targets.index(target), target)
        self._kernel.disarm()
        if cwd is not None:
            try:
                os.chdir(cwd)
            except OSError:
                pass

    def keep_bottoms(self):
        """To be called before a mount whose run will ask for `views`."""
        self._bottoms = {}

    def views(self):
        """(target, the layer of this lineage, layers below from the newest to the oldest) of every mount."""
        if self._bottoms is None:
            return []
        return [(t, self._upper[t], [*self._lower[t], "/proc/self/fd/%d" % self._bottoms[t]]) for t in self._targets]

    def covers(self, path):
        return any(path == t or path.startswith(t.rstrip("/") + "/") for t in self._targets)

    def _mount(self, number, target):
        name = "last-%d" % number if self._lasting else "%d-%d-%d" % (os.getpid(), number, self._renewed)
        base = os.path.join(self._layers, name)
        upper, work = os.path.join(base, "u"), os.path.join(base, "w")
        os.makedirs(upper, exist_ok=self._lasting)
        os.makedirs(work, exist_ok=self._lasting)
        mode = os.stat(target).st_mode & 0o7777
        if self._bottoms is not None:
            self._bottoms[target] = self._kernel.keep_open(target)
        os.chmod(upper, mode)
        self._upper[target] = upper
        lower = ":".join(_escape(p) for p in [*self._lower[target], target])
        data = "lowerdir=%s,upperdir=%s,workdir=%s,index=off" % (lower, _escape(upper), _escape(work))
        hidden = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in self._mounted[target]]
        try:
            self._lay_over(target, os.fsencode(data))
            for path, descriptor in hidden:
                self._kernel.bind(b"/proc/self/fd/%d" % descriptor, os.fsencode(path))
        finally:
            for _, descriptor in hidden:
                os.close(descriptor)
        self._untouched[target] = _seen(upper)

    def _lay_over(self, target, data):
        while True:
            try:
                self._kernel.mount(b"overlay", os.fsencode(target), b"overlay", 0, data + self._extras[0])
                del self._extras[1:]
                return
            except OSError:
                if len(self._extras) == 1:
                    raise
                del self._extras[0]


def _seen(upper):
    """What tells a directory that was changed itself, as to its mode or its times."""
    now = os.stat(upper)
    return now.st_mode, now.st_uid, now.st_gid, now.st_ctime_ns


def _cwd():
    try:
        return os.getcwd()
    except OSError:
        return None


def _escape(path):
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
