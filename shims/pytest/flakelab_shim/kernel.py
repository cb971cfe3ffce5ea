"""The few Linux calls that Python has no function for."""

from .sealed import os

CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CAPABILITY_VERSION_3 = 0x20080522
# CAP_DAC_OVERRIDE and CAP_SYS_ADMIN: what an overlay mount takes.
MOUNT_CAPABILITIES = (1 << 1) | (1 << 21)
SIGKILL = 9


class Kernel:
    """Loaded once, before the suite; `ctypes` itself is hidden again (see hidden.py)."""

    def __init__(self):
        import ctypes

        self._ctypes = ctypes
        self._libc = ctypes.CDLL(None, use_errno=True)

    def _call(self, name, *args):
        if getattr(self._libc, name)(*args) != 0:
            code = self._ctypes.get_errno()
            raise OSError(code, "%s: %s" % (name, os.strerror(code)))

    def arm(self):
        """May mount from here on. Root is left as it is."""
        if os.geteuid() != 0:
            self._capabilities(MOUNT_CAPABILITIES)

    def disarm(self):
        """Tests run without privileges; what they execute cannot get them back."""
        if os.geteuid() != 0:
            self._libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
            self._capabilities(0)

    def _capabilities(self, effective):
        words = self._ctypes.c_uint32
        header = (words * 2)(CAPABILITY_VERSION_3, 0)
        data = (words * 6)(effective, MOUNT_CAPABILITIES, 0, 0, 0, 0)
        self._call("capset", header, data)

    def unshare_mounts(self):
        self._call("unshare", CLONE_NEWNS)

    def keep_mounts_private(self):
        """What is mounted from here on is seen by nobody outside; mounts that are unshared stay as they are here."""
        self.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)

    def mount(self, source, target, kind, flags, data):
        self._call("mount", source, target, kind, self._ctypes.c_ulong(flags), data)

    def bind(self, source, target):
        """Shows what is mounted at one place at another, where it can be read only."""
        self.mount(source, target, None, MS_BIND, None)
        # A bind takes no other flags when it is made.
        self.mount(None, target, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None)

    def keep_open(self, directory):
        """A descriptor of a directory, among those that tests do not close."""
        from fcntl import F_DUPFD_CLOEXEC, fcntl

        low = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return fcntl(low, F_DUPFD_CLOEXEC, 710)
        finally:
            os.close(low)

    def detach(self, target):
        self._call("umount2", target, MNT_DETACH)

    def adopt_orphans(self):
        """Descendants whose parent has ended become children of this process."""
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def die_with_parent(self):
        """A lineage must not outlive the process that forked it."""
        self._libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
