"""Loggers: levels, handlers, filters, switches; the class of loggers to come, and the names of levels."""

import sys

from . import change as ranks
from .reading import MISSING, instance_dict, is_kind, type_module
from .render import show
from .sameness import same
from .table import Table

_FIELDS = {"level": 0, "handlers": (), "filters": (), "disabled": False, "propagate": True}
_LEVELS = {0: "NOTSET", 10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}
_CLASS = ("", "class of new loggers")
_DISABLE = ("", "disable")
_NAMES = ("", "names of levels")


class Logging(Table):
    """Nothing where `logging` has not been imported. pytest's own handlers come and go, and do not count."""

    kind = "logging"
    rank = ranks.SYSTEM

    def read(self):
        logging = sys.modules.get("logging")
        if logging is None:
            return {}
        manager = instance_dict(logging.Logger.manager)
        found = {_CLASS: logging._loggerClass, _DISABLE: manager.get("_disable", manager.get("disable", 0))}
        found[_NAMES] = tuple(tuple(dict.items(table)) for table in _names(logging))
        for name, logger in _loggers(logging):
            state = instance_dict(logger)
            for field, usual in _FIELDS.items():
                value = state.get(field, usual)
                if type(value) is list:
                    value = tuple(each for each in value if not type_module(type(each)).startswith("_pytest"))
                if not same(value, usual):
                    found[(name, field)] = value
        return found

    def name(self, key):
        name, field = key
        if not name:
            return "logging: %s" % field
        return "logger %s: %s" % (name, field)

    def candidates(self, name):
        """Also loggers that have nothing unusual about them yet."""
        logger, _, field = name.rpartition(": ")
        return [*self._before, (logger[len("logger ") :], field)] if logger.startswith("logger ") else [*self._before]

    def show(self, key, state):
        if key == _NAMES:
            return show({level: name for level, name in state[0] if _LEVELS.get(level) != name} or "as usual")
        if state is MISSING:
            state = _FIELDS.get(key[1], state)
        if key[1] in ("level", "disable") and type(state) is int:
            return "%s (%d)" % (_LEVELS[state], state) if state in _LEVELS else str(state)
        return show(list(state) if type(state) is tuple else state)

    def put(self, key, state):
        logging = sys.modules["logging"]
        name, field = key
        if key == _CLASS:
            logging._loggerClass = state
        elif key == _NAMES:
            for table, items in zip(_names(logging), state):
                dict.clear(table)
                dict.update(table, items)
        elif key == _DISABLE:
            manager = instance_dict(logging.Logger.manager)
            manager["_disable" if "_disable" in manager else "disable"] = state
        else:
            for each, logger in _loggers(logging):
                if each == name:
                    _write(instance_dict(logger), field, _FIELDS[field] if state is MISSING else state)
        # A logger remembers what was enabled.
        for _, logger in _loggers(logging):
            cache = instance_dict(logger).get("_cache")
            if type(cache) is dict:
                cache.clear()


def _write(state, field, value):
    if type(value) is tuple:
        held = state.get(field)
        theirs = [each for each in held if type_module(type(each)).startswith("_pytest")]
        held[:] = [*theirs, *value]
    else:
        state[field] = value


def _names(logging):
    """By level, and levels by name."""
    return logging._levelToName, logging._nameToLevel


def _loggers(logging):
    found = [("root", logging.Logger.manager.root)]
    known = instance_dict(logging.Logger.manager).get("loggerDict")
    for name, logger in dict.items(known) if type(known) is dict else ():
        if type(name) is str and is_kind(type(logger), logging.Logger):
            found.append((name, logger))
    return found
