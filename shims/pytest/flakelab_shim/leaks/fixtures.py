"""Fixtures wider than a test that hold a value when the next test starts, and did not before.

Also what pytest runs as such: setUpClass, setup_module and their kin. To restore is to forget the value,
so that the fixture is set up anew; its clean-up is not run, and the old value is kept alive so that none
of it runs by the way either.
"""

from . import change as ranks
from .reading import MISSING, class_dict, class_mro, is_kind, type_module, type_name
from .render import show
from .table import Table

_WIDE = frozenset(["class", "module", "package", "session"])
_XUNIT = ("_unittest_", "_xunit_")
# Name -> definitions up to pytest 9.1; name -> node -> definitions since.
_TABLES = ("_arg2fixturedefs", "_arg2node2fixturedefs", "_arg2nodeid2fixturedefs")
_kept = []


class Fixtures(Table):
    kind = "fixture"
    rank = ranks.PROJECT + 1

    def __init__(self, session):
        self._session = session
        self._collectors = None

    def read(self):
        """Cached results by (name, place); also of what is not set up, as MISSING is not a state."""
        found = {}
        for definition in self._definitions():
            result = definition.cached_result
            if result is not None:
                found[self._key(definition)] = (definition, result)
        return found

    def values(self):
        """(kind, name, value) of what is cached now: roots of the object graph."""
        return [
            ("fixture", self.name(key), result[0]) for key, (_, result) in self.read().items() if result[0] is not None
        ]

    def _definitions(self):
        manager = getattr(self._session, "_fixturemanager", None)
        for attribute in _TABLES:
            for held in list(getattr(manager, attribute, {}).values()):
                lists = list(held.values()) if isinstance(held, dict) else [held]
                for definition in (each for definitions in lists for each in definitions):
                    if definition.scope in _WIDE and self._counts(definition):
                        yield definition

    def _counts(self, definition):
        name = definition.argname
        if name.startswith("_unittest_setUpClass"):
            return self._own_set_up(definition)
        if name.startswith(_XUNIT):
            return "_skip_" not in name
        module = getattr(definition.func, "__module__", None)
        return not (type(module) is str and module.startswith("_pytest."))

    def _own_set_up(self, definition):
        """Every TestCase inherits setUpClass; only one that somebody wrote is of interest."""
        cls = self._collected(definition.baseid)
        if cls is None or not is_kind(type(cls), type):
            return True
        for name in ("setUpClass", "tearDownClass"):
            for each in class_mro(cls):
                if name in class_dict(each):
                    if type_module(each) not in ("unittest.case", "unittest.async_case"):
                        return True
                    break
        return False

    def _collected(self, nodeid):
        if self._collectors is None:
            self._collectors = {}
            for item in getattr(self._session, "items", ()):
                for node in item.listchain()[:-1]:
                    self._collectors.setdefault(node.nodeid, node)
        node = self._collectors.get(nodeid)
        return vars(node).get("_obj") if node is not None else None

    def _key(self, definition):
        return (definition.argname, definition.baseid, definition.scope, id(definition))

    def name(self, key):
        name, place, scope, _ = key
        if name.startswith(_XUNIT):
            return "%s of %s" % (_function_of(name), self._readable(place))
        return "fixture %s (%s scope)" % (name, scope)

    def _readable(self, place):
        thing = self._collected(place)
        if thing is not None and is_kind(type(thing), type):
            return type_name(thing)
        path, _, inner = place.partition("::")
        path = path[:-3] if path.endswith(".py") else path
        return ".".join(filter(None, [path.replace("/", "."), inner.replace("::", ".")]))

    def key(self, key):
        name, place, _, _ = key
        return "%s@%s" % (name, place)

    def show(self, key, state):
        if state is MISSING:
            return "not set up"
        value, _, error = state[1]
        if error is not None:
            return "failed in its set-up"
        return "set up" if key[0].startswith(_XUNIT) else show(value)

    def same(self, key, before, after):
        # One that is gone was torn down in the usual way.
        return after is MISSING or (before is not MISSING and before[1] is after[1])

    def put(self, key, state):
        definition = next((each for each in self._definitions() if self._key(each) == key), None)
        if definition is None:
            return
        _kept.append((definition.cached_result, list(definition._finalizers)))
        definition.cached_result = None
        # Newer versions of pytest insist on a fresh definition having none.
        definition._finalizers.clear()

    def peek(self, key):
        state = self.read().get(key, MISSING)
        return state if state is MISSING else state[1]

    def candidates(self, name):
        return [self._key(each) for each in self._definitions()]


def _function_of(name):
    """`_xunit_setup_module_fixture_tests.test_x` is `setup_module` to people."""
    for prefix in _XUNIT:
        if name.startswith(prefix):
            name = name[len(prefix) :]
    return name.partition("_fixture_")[0]
