"""The code objects of the project that have been seen, with the names they have in the record.

They are told apart by identity, and kept so that no identity is used again: asking a code object for its hash
reads all of it.
"""

import types

from .identity import identity

# Far more than a project has; a suite that compiles code for ever stops being followed.
LIMIT = 300_000


class Code:
    __slots__ = ("code", "path", "function", "file", "points", "events")

    def __init__(self, code, path):
        self.code = code
        self.path = path
        # Numbers in the trace's table, and what is sampled here, as soon as they are needed.
        self.function = self.file = self.points = None
        self.events = 0


class Codes:
    def __init__(self, sites):
        # The name of a file of the project, or None.
        self.path = sites.code
        self.known = {}

    def add(self, code):
        """The entry of a code object, or None if it is not the project's."""
        found = self.known.get(identity(code))
        if found is None:
            path = self.path(code.co_filename)
            if path is None or len(self.known) >= LIMIT:
                return None
            found = self.known[identity(code)] = Code(code, path)
        return found

    def add_all(self, code):
        """A code object of the project and all that are defined inside of it; those that were not known."""
        new, waiting = [], [code]
        while waiting:
            each = waiting.pop()
            if identity(each) in self.known:
                continue
            entry = self.add(each)
            if entry is None:
                break
            new.append(entry)
            waiting.extend(constant for constant in each.co_consts if type(constant) is types.CodeType)
        return new


def function_name(entry):
    code = entry.code
    # Python before 3.11 does not know it.
    name = getattr(code, "co_qualname", None)
    return "%s:%s" % (entry.path, name or "%s@%d" % (code.co_name, code.co_firstlineno))
