//! State that the body of one test does not reach: what a class sets up for all its tests, what a fixture meets before the
//! test starts, what only holds in several parts at once, or must not be set up twice.

use crate::support::patches::{Case, diff_of, fix_of, judge};

const FAR: &[Case] = &[
    Case {
        name: "a class leaves what it sets up for all its tests",
        since: 8,
        files: &[(
            "test_shelf.py",
            r#"import os
import unittest


class TestDefaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shelf = os.environ.get("SHELF", "oak")

    def test_shelf(self):
        self.assertEqual(self.shelf, "oak")


class TestOwn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["SHELF"] = "pine"

    def test_own(self):
        self.assertEqual(os.environ["SHELF"], "pine")
"#,
        )],
        targets: &[(
            "test_shelf.py::TestDefaults::test_shelf",
            "test_shelf.py::TestOwn test_shelf.py::TestDefaults",
        )],
    },
    Case {
        name: "a fixture of a module leaves what it changes",
        since: 8,
        files: &[
            ("lamps.py", "LAMPS = [1]\n"),
            (
                "test_lamps_defaults.py",
                "import lamps\n\n\ndef test_lamps():\n    assert lamps.LAMPS == [1]\n",
            ),
            (
                "test_lamps_many.py",
                r#"import pytest

import lamps


@pytest.fixture(scope="module")
def many():
    lamps.LAMPS.extend([2, 3])
    return lamps.LAMPS


def test_first(many):
    assert many[1] == 2


def test_second(many):
    assert many[2] == 3
"#,
            ),
        ],
        targets: &[(
            "test_lamps_defaults.py::test_lamps",
            "test_lamps_many.py test_lamps_defaults.py",
        )],
    },
    Case {
        name: "two parts of the state at once",
        since: 8,
        files: &[
            (
                "stove.py",
                "FUEL = {\"wood\": 0, \"coal\": 0}\n\n\ndef heat():\n    return FUEL[\"wood\"] * FUEL[\"coal\"]\n",
            ),
            (
                "test_stove.py",
                r#"import pytest

import stove


@pytest.fixture
def stoker():
    yield stove
    stove.FUEL["wood"] = 2
    stove.FUEL["coal"] = 3


def test_cold(stoker):
    assert stoker.FUEL


def test_warm():
    assert stove.heat() == 6
"#,
            ),
        ],
        targets: &[("test_stove.py::test_warm", "test_stove.py::test_warm")],
    },
    Case {
        name: "a fixture of the test needs the state",
        since: 8,
        files: &[
            ("pond/__init__.py", ""),
            (
                "pond/water.py",
                "class Water:\n    deep = True\n\n\nWATER = []\n\n\ndef fill():\n    WATER.append(Water())\n",
            ),
            ("pond/tests/__init__.py", ""),
            (
                "pond/tests/test_fill.py",
                "from .. import water\n\n\ndef test_fill():\n    water.fill()\n    assert water.WATER\n",
            ),
            ("pond/tests/fish/__init__.py", ""),
            (
                "pond/tests/fish/test_fish.py",
                r#"import pytest

from pond.water import WATER


@pytest.fixture
def water():
    return WATER[0]


def test_fish(water):
    assert water.deep
"#,
            ),
        ],
        targets: &[(
            "pond/tests/fish/test_fish.py::test_fish",
            "pond/tests/fish/test_fish.py",
        )],
    },
    Case {
        name: "what sets the state up does so once only",
        since: 8,
        files: &[
            (
                "kiln.py",
                r#"class Kiln:
    def __init__(self):
        self.shelves = {}

    def add(self, name):
        if name in self.shelves:
            raise ValueError(name)
        self.shelves[name] = object()


KILN = Kiln()
"#,
            ),
            (
                "test_kiln.py",
                r#"from kiln import KILN


def test_add():
    KILN.add("pot")
    assert "pot" in KILN.shelves


def test_empty():
    assert KILN.shelves.pop("pot")
"#,
            ),
        ],
        targets: &[("test_kiln.py::test_empty", "test_kiln.py::test_empty")],
    },
    Case {
        name: "a class of a module that something of its own name hides",
        since: 8,
        files: &[
            ("garden/__init__.py", "from .hedge import *\n"),
            (
                "garden/hedge.py",
                r#"class Hedge:
    @classmethod
    def height(cls):
        return getattr(cls, "_height", 2)


class Low(Hedge):
    pass


def hedge():
    return Hedge
"#,
            ),
            (
                "test_hedge_low.py",
                "from garden import Hedge, Low\n\n\ndef test_low():\n    assert Low.height() == 2\n",
            ),
            (
                "test_hedge_high.py",
                r#"import unittest

from garden import Hedge


class TestHigh(unittest.TestCase):
    def test_high(self):
        setattr(Hedge, "_height", 5)
        self.assertEqual(Hedge.height(), 5)
"#,
            ),
        ],
        targets: &[(
            "test_hedge_low.py::test_low",
            "test_hedge_high.py test_hedge_low.py",
        )],
    },
    Case {
        name: "an attribute of a class that is not the project's",
        since: 8,
        files: &[
            (
                "test_clay_raw.py",
                "from packaging.version import Version\n\n\ndef test_raw():\n    assert not hasattr(Version, \"glaze\")\n",
            ),
            (
                "test_clay_glazed.py",
                "from packaging.version import Version\n\n\ndef glaze():\n    Version.glaze = 1\n\n\ndef test_glazed():\n    glaze()\n    assert Version.glaze\n",
            ),
        ],
        targets: &[(
            "test_clay_raw.py::test_raw",
            "test_clay_glazed.py test_clay_raw.py",
        )],
    },
    Case {
        name: "tests that are the steps of one",
        since: 8,
        files: &[
            (
                "loom.py",
                r#"class Row:
    def __init__(self, colour):
        self.colour = colour


class Loom:
    def __init__(self):
        self.rows = []

    def add(self, colour):
        if colour in self.colours():
            raise ValueError(colour)
        self.rows.append(Row(colour))

    def colours(self):
        return [row.colour for row in self.rows]
"#,
            ),
            (
                "test_loom.py",
                r#"from loom import Loom


class TestLoom:
    loom = Loom()

    def test_first(self):
        self.loom.add("red")
        assert self.loom.colours() == ["red"]

    def test_second(self):
        self.loom.add("blue")
        assert self.loom.colours() == ["red", "blue"]

    def test_third(self):
        self.loom.add("green")
        assert self.loom.colours() == ["red", "blue", "green"]
"#,
            ),
        ],
        targets: &[
            (
                "test_loom.py::TestLoom::test_second",
                "test_loom.py::TestLoom::test_second",
            ),
            (
                "test_loom.py::TestLoom::test_third",
                "test_loom.py::TestLoom::test_third",
            ),
        ],
    },
];

#[test]
fn state_is_put_right_for_classes_for_fixtures_in_all_its_parts_and_once() {
    let (_, run) = judge(FAR, &[]);
    for (test, line) in [
        (
            "test_shelf.py::TestDefaults::test_shelf",
            "+        cls.addClassCleanup(environment.stop)",
        ),
        (
            "test_lamps_defaults.py::test_lamps",
            "+@pytest.fixture(scope=\"module\", autouse=True)",
        ),
        ("test_stove.py::test_warm", "+    stove.FUEL[\"coal\"] = 3"),
        (
            "test_kiln.py::test_empty",
            "+    if \"pot\" not in KILN.shelves:",
        ),
        (
            "test_loom.py::TestLoom::test_third",
            "+        self.loom = Loom()",
        ),
    ] {
        let diff = diff_of(fix_of(&run, test));
        assert!(diff.lines().any(|added| added == line), "{line}\n{diff}");
    }
}
