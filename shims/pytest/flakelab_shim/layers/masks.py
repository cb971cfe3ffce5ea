"""What is another one in every run and says nothing: addresses, temporary paths, UUIDs, the present time.

A date is masked only when it lies close to the clock of this process, so that the constant dates of test
data stay what they are. A bare time of day is never masked: every one of them is close.
"""

import datetime
import re
import time

from ..sealed import os

ADDRESS, PATH, UUID, TIMESTAMP = "address", "path", "uuid", "timestamp"
NOW = "<timestamp>"

# How far from the start of the run a moment counts as the present.
_DAYS = 2
_SECONDS = _DAYS * 86_400
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_MOMENT = re.compile(
    r"(?<!\d)(\d{4}-\d\d-\d\d)"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?(?!\d)"
)
_PYTEST_PATH = r"(?:/[^\s'\"/]+)*/pytest-of-[^\s'\"/]+"
# Numbers, and the names that `tempfile` makes up.
_MADE_UP = re.compile(r"\btmp[a-z0-9_]{8}\b|\d+")


class Masks:
    def __init__(self, unmasked=()):
        self._address = ADDRESS not in unmasked
        self._uuid = UUID not in unmasked
        self._path = _paths() if PATH not in unmasked else None
        self._timestamp = TIMESTAMP not in unmasked
        now = time.time()
        today = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).date()
        # One day more on either side: a local date may be a day away from the one of UTC.
        days = range(-_DAYS - 1, _DAYS + 2)
        self._days = {(today + datetime.timedelta(days=each)).isoformat() for each in days}
        # Seconds, milliseconds, microseconds, nanoseconds.
        self._ranges = tuple(((now - _SECONDS) * unit, (now + _SECONDS) * unit) for unit in (1, 1e3, 1e6, 1e9))
        # No smaller number is a moment of the present.
        self.first_moment = self._ranges[0][0] if self._timestamp else float("inf")
        self.masks_uuids = self._uuid

    def text(self, text):
        if "0x" in text and self._address:
            text = _ADDRESS.sub("0x…", text)
        if "-" in text:
            if self._uuid:
                text = _UUID.sub("<uuid>", text)
            if self._timestamp:
                text = _MOMENT.sub(self._moment, text)
        if "/" in text and self._path is not None:
            text = self._path.sub(_masked_path, text)
        return text

    def number(self, value):
        """Whether an int or float is a moment of the present."""
        return self._timestamp and any(first <= value <= last for first, last in self._ranges)

    def day(self, year, month, day):
        """Whether a date is one of these days."""
        return self._timestamp and "%04d-%02d-%02d" % (year, month, day) in self._days

    def _moment(self, found):
        return NOW if found.group(1) in self._days else found.group(0)


def _paths():
    roots = {"/tmp", "/var/tmp"}
    for name in ("TMPDIR", "HOME"):
        value = os.environ.get(name, "").rstrip("/")
        if value.startswith("/"):
            roots.add(value)
    alternatives = "|".join(re.escape(each) for each in sorted(roots, key=len, reverse=True))
    return re.compile(r"(?<![\w.])(?:%s|%s)(?![\w.-])(/[^\s'\"<>|:;,)\]}]*)?" % (_PYTEST_PATH, alternatives))


def _masked_path(found):
    return "<tmp>" + _MADE_UP.sub("#", found.group(1) or "")
