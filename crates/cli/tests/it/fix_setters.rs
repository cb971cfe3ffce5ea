//! What iPFlakies is known to get wrong, and `flakelab fix` must not: the state that a brittle test needs.
//!
//! Each case is a few modules of one project; none shares state with another.

use crate::support::patches::{Case, judge_apart};

const BRITTLES: &[Case] = &[
    Case {
        name: "a parameter that matters",
        since: 8,
        files: &[
            (
                "palette.py",
                r#"CURRENT = None


class Theme:
    def __init__(self, name, dark):
        self.name = name
        self.dark = dark

    def __eq__(self, other):
        return self.name == other.name and self.dark == other.dark
"#,
            ),
            (
                "test_palette_setter.py",
                r#"import pytest

import palette


@pytest.mark.parametrize(
    "name, dark", [("red", False), pytest.param("blue", True, id="night"), ("green", False)]
)
def test_choose(name, dark):
    palette.CURRENT = palette.Theme(name, dark)
    assert palette.CURRENT.name == name
"#,
            ),
            (
                "test_palette_brittle.py",
                "import palette\n\n\ndef test_night():\n    assert palette.CURRENT == palette.Theme(\"blue\", True)\n",
            ),
        ],
        targets: &[(
            "test_palette_brittle.py::test_night",
            "test_palette_brittle.py",
        )],
    },
    Case {
        name: "setUpModule of another module",
        since: 8,
        files: &[
            (
                "db.py",
                r#"CONNECTION = None


class Connection:
    def query(self):
        return 1


def connect():
    global CONNECTION
    CONNECTION = Connection()
"#,
            ),
            (
                "test_db_setter.py",
                r#"import unittest

import db


def setUpModule():
    db.connect()


class TestConnection(unittest.TestCase):
    def test_connected(self):
        self.assertIsNotNone(db.CONNECTION)
"#,
            ),
            (
                "test_db_brittle.py",
                r#"import unittest

import db


class TestQuery(unittest.TestCase):
    def test_query(self):
        self.assertEqual(db.CONNECTION.query(), 1)
"#,
            ),
        ],
        targets: &[(
            "test_db_brittle.py::TestQuery::test_query",
            "test_db_brittle.py",
        )],
    },
    Case {
        name: "setUpClass of another class of the module",
        since: 8,
        files: &[
            (
                "language.py",
                "LOADED = {}\n\n\ndef load(**words):\n    LOADED.update(words)\n",
            ),
            (
                "test_language.py",
                r#"import unittest

import language


class TestLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        language.load(yes="ja", no="nein")

    def test_loaded(self):
        self.assertTrue(language.LOADED)


class TestWords(unittest.TestCase):
    def setUp(self):
        self.word = "yes"

    def test_word(self):
        self.assertEqual(language.LOADED[self.word], "ja")
"#,
            ),
        ],
        targets: &[(
            "test_language.py::TestWords::test_word",
            "test_language.py::TestWords",
        )],
    },
    Case {
        name: "async tests and asyncSetUp",
        since: 8,
        files: &[
            (
                "bus.py",
                r#"HANDLER = None


async def start(answer):
    global HANDLER

    async def handle():
        return answer

    HANDLER = handle


async def ask():
    return await HANDLER()
"#,
            ),
            (
                "test_bus_setter.py",
                r#"import unittest

import bus


class TestStart(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        await bus.start("pong")

    async def test_started(self):
        self.assertIsNotNone(bus.HANDLER)
"#,
            ),
            (
                "test_bus_brittle.py",
                r#"import unittest

import bus


class TestAsk(unittest.IsolatedAsyncioTestCase):
    async def test_pong(self):
        self.assertEqual(await bus.ask(), "pong")
"#,
            ),
        ],
        targets: &[(
            "test_bus_brittle.py::TestAsk::test_pong",
            "test_bus_brittle.py",
        )],
    },
    Case {
        name: "asyncio.run in functions",
        since: 8,
        files: &[
            (
                "feed.py",
                r#"READY = None


async def open():
    global READY
    READY = lambda: "news"


async def read():
    return READY()
"#,
            ),
            (
                "test_feed.py",
                r#"import asyncio

import feed


def test_open():
    asyncio.run(feed.open())
    assert callable(feed.READY)


def test_read():
    assert asyncio.run(feed.read()) == "news"
"#,
            ),
        ],
        targets: &[("test_feed.py::test_read", "test_feed.py::test_read")],
    },
    Case {
        name: "a decorated brittle",
        since: 8,
        files: &[
            (
                "clock.py",
                r#"TICK = 1
HAND = None


class Hand:
    def turn(self):
        return TICK * 2
"#,
            ),
            (
                "test_clock_setter.py",
                r#"import clock


def setup_function(function):
    clock.HAND = clock.Hand()


def test_hand():
    assert clock.HAND
"#,
            ),
            (
                "test_clock_brittle.py",
                r#"from unittest.mock import patch

import pytest

import clock


@pytest.mark.parametrize("by", [5, 6])
@patch("clock.TICK", 5)
def test_turn(by):
    assert clock.HAND.turn() == 10 and by
"#,
            ),
        ],
        targets: &[(
            "test_clock_brittle.py::test_turn[5]",
            "\"test_clock_brittle.py::test_turn[5]\"",
        )],
    },
    Case {
        name: "a setter that takes fixtures",
        since: 8,
        files: &[
            (
                "catalog.py",
                r#"DATA = {}


def load(path):
    for line in path.read_text().splitlines():
        key, value = line.split("=")
        DATA[key] = value
"#,
            ),
            (
                "test_catalog_setter.py",
                r#"import pytest

import catalog


@pytest.fixture
def loaded(tmp_path):
    path = tmp_path / "catalog"
    path.write_text("tea=3\n")
    catalog.load(path)
    return catalog.DATA


def test_load(loaded):
    assert "tea" in loaded
"#,
            ),
            (
                "test_catalog_brittle.py",
                "import catalog\n\n\ndef test_tea():\n    assert catalog.DATA[\"tea\"] == \"3\"\n",
            ),
        ],
        targets: &[(
            "test_catalog_brittle.py::test_tea",
            "test_catalog_brittle.py",
        )],
    },
    Case {
        name: "state of the test module, and of a class that is nested",
        since: 8,
        files: &[
            (
                "test_client.py",
                r#"client = None


class Client:
    def ping(self):
        return True


def test_create():
    global client
    client = Client()
    assert client


def test_use():
    assert client.ping()
"#,
            ),
            (
                "test_flow.py",
                r#"class Item:
    def __init__(self, name):
        self.name = name


class TestFlow:
    class TestItem:
        item = None

        def test_create(self):
            type(self).item = Item("tea")
            assert self.item

        def test_use(self):
            assert self.item.name == "tea"
"#,
            ),
        ],
        targets: &[
            ("test_client.py::test_use", "test_client.py::test_use"),
            (
                "test_flow.py::TestFlow::TestItem::test_use",
                "test_flow.py::TestFlow::TestItem::test_use",
            ),
        ],
    },
    Case {
        name: "a brittle that is inherited",
        since: 8,
        files: &[
            (
                "plugs.py",
                r#"PLUGS = []


class Plug:
    on = True


class Checks:
    def test_plug(self):
        assert PLUGS[0].on
"#,
            ),
            (
                "test_plugs_setter.py",
                "import plugs\n\n\ndef test_plug_in():\n    plugs.PLUGS.append(plugs.Plug())\n",
            ),
            (
                "test_plugs_brittle.py",
                "from plugs import Checks\n\n\nclass TestPlug(Checks):\n    pass\n",
            ),
        ],
        targets: &[(
            "test_plugs_brittle.py::TestPlug::test_plug",
            "test_plugs_brittle.py",
        )],
    },
];

#[test]
fn brittles_are_given_the_state_that_their_setters_leave() {
    judge_apart(BRITTLES, &[]);
}
