//! What iPFlakies is known to get wrong, and `flakelab fix` must not: names that are missing where the
//! code goes, copies patched instead of modules, parameters lost, files reformatted.
//!
//! Each case is a few modules of one project; none shares state with another.

mod support;

use std::fs;

use support::patches::{Case, added, commit, diff_of, files, fix_of, git, judge, removed, verdict};
use support::{Project, Run};

const VICTIMS: &[Case] = &[
    Case {
        name: "imports of a helper from another module, one name of which means something else here",
        since: 8,
        files: &[
            (
                "registry.py",
                "ITEMS = {}\n\n\ndef wipe():\n    ITEMS.clear()\n",
            ),
            (
                "test_imports_cleaner.py",
                r#"import json as codec

from registry import ITEMS as items, wipe


def test_wipe():
    wipe()
    assert codec.dumps(items) == "{}"
"#,
            ),
            (
                "test_imports_polluter.py",
                r#"import registry


def test_fill():
    registry.ITEMS["a"] = 1
    assert registry.ITEMS
"#,
            ),
            (
                "test_imports_victim.py",
                r#"import registry

codec = "plain"


def wipe():
    raise RuntimeError("not this one")


def test_nothing_registered():
    assert registry.ITEMS == {}
    assert codec == "plain"
"#,
            ),
        ],
        targets: &[(
            "test_imports_victim.py::test_nothing_registered",
            "test_imports_polluter.py test_imports_victim.py",
        )],
    },
    Case {
        name: "a global of the test module, which a copy of the code would set elsewhere",
        since: 8,
        files: &[
            (
                "test_counter.py",
                r#"COUNT = 0


def test_bump():
    global COUNT
    COUNT += 1
    assert COUNT


def test_zero():
    global COUNT
    COUNT = 0
    assert not COUNT
"#,
            ),
            (
                "test_counter_reader.py",
                r#"import test_counter


def test_reader():
    assert test_counter.COUNT == 0
"#,
            ),
        ],
        targets: &[(
            "test_counter_reader.py::test_reader",
            "test_counter.py::test_bump test_counter_reader.py",
        )],
    },
    Case {
        name: "a cleaner of one statement, and victims of one statement or one line",
        since: 8,
        files: &[
            ("slots.py", "USED = []\n"),
            (
                "test_slots.py",
                r#"import slots


def test_take():
    slots.USED.append(1)


def test_clear():
    slots.USED.clear()


def test_free():
    assert slots.USED == []


def test_free_too(): assert slots.USED == []
"#,
            ),
        ],
        targets: &[
            (
                "test_slots.py::test_free",
                "test_slots.py::test_take test_slots.py::test_free",
            ),
            (
                "test_slots.py::test_free_too",
                "test_slots.py::test_take test_slots.py::test_free_too",
            ),
        ],
    },
    Case {
        name: "setup_function cleans, and the victim's module has its own",
        since: 8,
        files: &[
            ("jobs.py", "QUEUE = []\n"),
            (
                "test_jobs_cleaner.py",
                r#"import jobs


def setup_function(function):
    jobs.QUEUE.clear()


def test_idle():
    assert jobs.QUEUE == []
"#,
            ),
            (
                "test_jobs_polluter.py",
                "import jobs\n\n\ndef test_push():\n    jobs.QUEUE.append(1)\n",
            ),
            (
                "test_jobs_victim.py",
                r#"import jobs

SEEN = []


def setup_function(function):
    SEEN.append(function.__name__)


def test_no_job():
    assert SEEN
    assert len(jobs.QUEUE) == 0
"#,
            ),
        ],
        targets: &[(
            "test_jobs_victim.py::test_no_job",
            "test_jobs_polluter.py test_jobs_victim.py",
        )],
    },
    Case {
        name: "setUp cleans through self, which a function has not and another class must not lose",
        since: 8,
        files: &[
            (
                "ledger.py",
                "PAGES = {}\n\n\ndef book():\n    return PAGES\n",
            ),
            (
                "test_ledger_cleaner.py",
                r#"import unittest

import ledger


class TestLedger(unittest.TestCase):
    def setUp(self):
        self.book = ledger.book()
        self.book.clear()

    def tearDown(self):
        del self.book

    def test_blank(self):
        self.assertEqual(self.book, {})
"#,
            ),
            (
                "test_ledger_polluter.py",
                "import ledger\n\n\ndef test_write():\n    ledger.PAGES[1] = \"ink\"\n",
            ),
            (
                "test_ledger_function.py",
                "import ledger\n\n\ndef test_blank_book():\n    assert not ledger.PAGES\n",
            ),
            (
                "test_ledger_class.py",
                r#"import unittest

import ledger


class TestPages(unittest.TestCase):
    def setUp(self):
        self.book = "mine"

    def test_no_page(self):
        self.assertEqual((self.book, len(ledger.PAGES)), ("mine", 0))
"#,
            ),
        ],
        targets: &[
            (
                "test_ledger_function.py::test_blank_book",
                "test_ledger_polluter.py test_ledger_function.py",
            ),
            (
                "test_ledger_class.py::TestPages::test_no_page",
                "test_ledger_polluter.py test_ledger_class.py",
            ),
        ],
    },
    Case {
        name: "an async cleaner, for an async method and for a function that runs its own loop",
        since: 8,
        files: &[
            (
                "channel.py",
                "MESSAGES = []\n\n\nasync def drain():\n    MESSAGES.clear()\n\n\nasync def count():\n    return len(MESSAGES)\n",
            ),
            (
                "test_channel_cleaner.py",
                r#"import unittest

import channel


class TestChannel(unittest.IsolatedAsyncioTestCase):
    async def test_drain(self):
        await channel.drain()
        self.assertEqual(channel.MESSAGES, [])
"#,
            ),
            (
                "test_channel_polluter.py",
                "import channel\n\n\ndef test_send():\n    channel.MESSAGES.append(\"hi\")\n",
            ),
            (
                "test_channel_method.py",
                r#"import unittest

import channel


class TestSilence(unittest.IsolatedAsyncioTestCase):
    async def test_silence(self):
        self.assertEqual(await channel.count(), 0)
"#,
            ),
            (
                "test_channel_function.py",
                r#"import asyncio

import channel


def test_quiet():
    async def ask():
        return await channel.count()

    assert asyncio.run(ask()) == 0
"#,
            ),
        ],
        targets: &[
            (
                "test_channel_method.py::TestSilence::test_silence",
                "test_channel_polluter.py test_channel_method.py",
            ),
            (
                "test_channel_function.py::test_quiet",
                "test_channel_polluter.py test_channel_function.py",
            ),
        ],
    },
    Case {
        name: "nested classes",
        since: 8,
        files: &[
            ("table.py", "ROWS = []\n"),
            (
                "test_table.py",
                r#"import table


class TestTable:
    class TestWriting:
        def test_insert(self):
            table.ROWS.append({})

    class TestTruncate:
        def setup_method(self):
            self.rows = table.ROWS

        def test_truncate(self):
            self.rows.clear()
            assert self.rows == []

    class TestReading:
        class TestEmpty:
            def test_no_row(self):
                assert table.ROWS == []
"#,
            ),
        ],
        targets: &[(
            "test_table.py::TestTable::TestReading::TestEmpty::test_no_row",
            "test_table.py::TestTable::TestWriting test_table.py::TestTable::TestReading",
        )],
    },
    Case {
        name: "a cleaner and a victim that are both inherited from another module",
        since: 8,
        files: &[
            (
                "shelf.py",
                r#"BOOKS = []


class Cleaning:
    def empty(self):
        BOOKS.clear()

    def test_empties(self):
        self.empty()
        assert BOOKS == []


class Reading:
    def test_no_book(self):
        assert BOOKS == []
"#,
            ),
            (
                "test_shelf_cleaner.py",
                "from shelf import Cleaning\n\n\nclass TestCleaning(Cleaning):\n    pass\n",
            ),
            (
                "test_shelf_polluter.py",
                "import shelf\n\n\ndef test_add():\n    shelf.BOOKS.append(\"Emma\")\n",
            ),
            (
                "test_shelf_victim.py",
                "from shelf import Reading\n\n\nclass TestReading(Reading):\n    pass\n",
            ),
        ],
        targets: &[(
            "test_shelf_victim.py::TestReading::test_no_book",
            "test_shelf_polluter.py test_shelf_victim.py",
        )],
    },
    Case {
        name: "a cleaner that takes fixtures",
        since: 8,
        files: &[
            ("vault.py", "KEYS = {}\n"),
            (
                "test_vault_cleaner.py",
                r#"import pytest

import vault


@pytest.fixture
def opened():
    vault.KEYS.clear()
    yield vault.KEYS
    vault.KEYS.clear()


def test_open(opened, tmp_path):
    (tmp_path / "log").write_text("open")
    assert opened == {}
"#,
            ),
            (
                "test_vault_polluter.py",
                "import vault\n\n\ndef test_key():\n    vault.KEYS[1] = 2\n",
            ),
            (
                "test_vault_victim.py",
                "import vault\n\n\ndef test_no_key():\n    assert len(vault.KEYS) == 0\n",
            ),
        ],
        targets: &[(
            "test_vault_victim.py::test_no_key",
            "test_vault_polluter.py test_vault_victim.py",
        )],
    },
    Case {
        name: "newer syntax, and the globals and functions of the cleaner's module",
        since: 11,
        files: &[
            ("store.py", "ITEMS = []\n"),
            (
                "test_store_cleaner.py",
                r#"import store

LIMIT = 0


def reset(kind, /, *, deep=True):
    match kind, deep:
        case "all", True:
            del store.ITEMS[LIMIT:]
        case _:
            raise NotImplementedError


def test_reset():
    try:
        if (n := len(store.ITEMS)) >= LIMIT:
            raise ExceptionGroup("full", [ValueError(f"{n:>{LIMIT + 1}}")])
    except* ValueError:
        reset("all")
    assert not store.ITEMS
"#,
            ),
            (
                "test_store_polluter.py",
                "import store\n\n\ndef test_put(value=1, /):\n    store.ITEMS.append(value)\n",
            ),
            (
                "test_store_victim.py",
                r#"import store

LIMIT = 10


def test_room():
    match (n := len(store.ITEMS)):
        case 0:
            assert LIMIT == 10
        case _:
            assert not n
"#,
            ),
        ],
        targets: &[(
            "test_store_victim.py::test_room",
            "test_store_polluter.py test_store_victim.py",
        )],
    },
    Case {
        name: "decorators, of which the cleaner needs one",
        since: 8,
        files: &[
            (
                "pool.py",
                "KEY = 0\nOPEN = []\n\n\ndef close(key):\n    if key == KEY == 3:\n        OPEN.clear()\n",
            ),
            (
                "test_pool_cleaner.py",
                r#"import functools
from unittest import mock

import pool


def twice(test):
    @functools.wraps(test)
    def both():
        test()
        test()

    return both


@twice
@mock.patch("pool.KEY", 3)
def test_close():
    pool.close(3)
    assert not pool.OPEN
"#,
            ),
            (
                "test_pool_polluter.py",
                "import pool\n\n\ndef test_open():\n    pool.OPEN.append(1)\n",
            ),
            (
                "test_pool_victim.py",
                r#"from unittest import mock

import pytest

import pool


@pytest.mark.filterwarnings(
    "ignore",
)
@mock.patch("pool.KEY", 7)  # closes nothing
@mock.patch("pool.print", create=True)
def test_all_closed(printed):
    """Nobody has left anything open."""
    assert pool.OPEN == [] and not printed.called
"#,
            ),
        ],
        targets: &[(
            "test_pool_victim.py::test_all_closed",
            "test_pool_polluter.py test_pool_victim.py",
        )],
    },
];

#[test]
fn the_code_of_a_cleaner_comes_with_what_it_needs() {
    judge(VICTIMS, &["--strategy", "helper"]);
}

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
    judge(BRITTLES, &[]);
}

/// A victim of its own module, a comment and quotes beside everything, and a last test that is no business
/// of anybody.
const PLAIN: &str = r#"'''Prices, in cents.'''
import  sys   # two spaces too many

PRICES = {'tea': 3}  # kept as it is


def test_total():
    # Twice the price.
    assert PRICES["tea"]*2 == 6


def test_discount():
    PRICES['tea'] = 2
    assert PRICES['tea']<3 # no space


class TestMore:
    def test_class(self):
        '''Looks at nothing.'''
        assert sys.path


def test_last():
    assert len( sys.argv )"#;

/// The same in another dress, by the name of the module.
fn dressed() -> Vec<(&'static str, Vec<u8>)> {
    let with = |indent: &str| PLAIN.replace("    ", indent) + "\n";
    let latin = format!("# -*- coding: latin-1 -*-\n{PLAIN}\n")
        .replace("in cents", "en caf\u{e9}s")
        .replace("kept as it is", "gard\u{e9} tel quel")
        .replace("Twice the price", "Le prix doubl\u{e9}");
    let latin: Vec<u8> = latin
        .chars()
        .map(|c| u8::try_from(c).expect("latin-1"))
        .collect();
    vec![
        ("test_two.py", with("  ").into_bytes()),
        ("test_tabs.py", with("\t").into_bytes()),
        (
            "test_crlf.py",
            with("    ").replace('\n', "\r\n").into_bytes(),
        ),
        ("test_latin.py", latin),
        ("test_bom.py", format!("\u{feff}{PLAIN}\n").into_bytes()),
        ("test_end.py", PLAIN.as_bytes().to_vec()),
    ]
}

#[test]
fn a_patch_keeps_the_dress_of_a_file() {
    let project = Project::new(&[]);
    let modules = dressed();
    for (name, bytes) in &modules {
        fs::write(project.path().join(name), bytes).expect("written");
    }
    commit(&project);
    let ids: Vec<String> = modules
        .iter()
        .map(|(name, _)| format!("{name}::test_total"))
        .collect();
    let mut args: Vec<&str> = ids.iter().map(String::as_str).collect();
    args.extend(["--confirmations", "1"]);
    project.explain(&args);

    // As files for git, which takes bytes.
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path().to_str().expect("utf-8");
    let python = project.python();
    let python = python.to_str().expect("utf-8");
    let base = ["fix", "--seed", "1", "--python", python];
    let saved = project
        .flakelab(&[&base[..], &["-o", place]].concat())
        .output()
        .expect("it runs");
    let saved = Run::of(saved, folder.path());
    let mut patches: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    patches.sort();
    let mut complaints = Vec::new();
    for patch in &patches {
        let (applied, said) = git(&project, &["apply", patch.to_str().expect("utf-8")], None);
        if !applied {
            complaints.push(format!("{}: {said}", patch.display()));
        }
    }
    let by_git = project.tree();
    git(&project, &["checkout", "-q", "."], None);

    let written = project
        .flakelab(&[&base[..], &["--apply"]].concat())
        .output()
        .expect("it runs");
    let written = Run::of(written, folder.path());
    for (name, before) in &modules {
        let after = fs::read(project.path().join(name)).expect("a module");
        if by_git.get(std::path::Path::new(name)) != Some(&after) {
            complaints.push(format!("{name}: git and --apply disagree"));
        }
        if let Err(said) = dress(name, before, &after) {
            complaints.push(format!(
                "{name}: {said}\n{}",
                String::from_utf8_lossy(&after)
            ));
            continue;
        }
        for order in [
            format!("{name}::test_total"),
            format!("{name}::test_discount {name}::test_total"),
            (*name).to_owned(),
        ] {
            let plain = project.shell("", &format!("pytest {order}"));
            if plain.code != Some(0) {
                complaints.push(plain.said);
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{}\n{}\n{}\n{}",
        complaints.join("\n"),
        saved.stdout,
        saved.stderr,
        written.stderr
    );
}

/// What is new is dressed as the rest; what was there is there, but for the statement that leaks and
/// the signature of its test.
fn dress(name: &str, before: &[u8], after: &[u8]) -> Result<(), String> {
    if before == after {
        return Err("nothing was changed".into());
    }
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (old, new) = (lines(before), lines(after));
    let mut own: Vec<&Vec<u8>> = Vec::new();
    let mut rest = old.iter().peekable();
    for line in &new {
        while rest.peek().is_some_and(|old| may_go(old) && *old != line) && !old.contains(line) {
            rest.next();
        }
        if rest.peek().is_some_and(|old| *old == line) {
            rest.next();
        } else {
            own.push(line);
        }
    }
    if let Some(lost) = rest.find(|line| !may_go(line)) {
        return Err(format!("`{}` is lost", String::from_utf8_lossy(lost)));
    }
    let texts: Vec<String> = own
        .iter()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let ends = |end: &str| texts.iter().all(|text| text.ends_with(end));
    let indent = |text: &str| text[..text.len() - text.trim_start().len()].to_owned();
    let right = match name {
        "test_crlf.py" => ends("\r\n"),
        _ => ends("\n") && !texts.concat().contains('\r'),
    };
    if !right {
        return Err(format!("line ends of {texts:?}"));
    }
    let unit = match name {
        "test_two.py" => "  ",
        "test_tabs.py" => "\t",
        _ => "    ",
    };
    for pair in texts.windows(2) {
        let deeper = format!("{}{unit}", indent(&pair[0]));
        if pair[0].trim_end().ends_with(':') && indent(&pair[1]) != deeper {
            return Err(format!("indentation of {pair:?}"));
        }
    }
    if name == "test_tabs.py" && texts.iter().any(|text| indent(text).contains(' ')) {
        return Err(format!("spaces among tabs: {texts:?}"));
    }
    Ok(())
}

fn may_go(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let line = line.trim();
    line == "PRICES['tea'] = 2" || line == "def test_discount():" || line.is_empty()
}

const BASKET: &[(&str, &str)] = &[
    ("basket.py", "ITEMS = {}\n"),
    (
        "test_cleaner.py",
        r#"import basket


def test_inventory():
    lines = []
    for name in sorted(basket.ITEMS):
        lines.append(name)
    text = ", ".join(lines)
    basket.ITEMS.clear()
    basket.ITEMS.update({})
    assert basket.ITEMS == {}
    assert isinstance(text, str)
"#,
    ),
    (
        "test_polluter.py",
        "import basket\n\n\ndef test_put():\n    basket.ITEMS[\"tea\"] = 1\n    assert len(basket.ITEMS) == 1\n",
    ),
    (
        "test_victim.py",
        "import basket\n\n\ndef test_nothing():\n    \"\"\"As it comes from the shop.\"\"\"\n    assert len(basket.ITEMS) == 0\n",
    ),
];

#[test]
fn helper_code_is_cut_down_and_goes_to_the_site_that_is_asked_for() {
    let project = Project::new(BASKET);
    let victim = "test_victim.py::test_nothing";
    project.explain(&[victim]);
    let mut complaints = Vec::new();
    for (site, file) in [
        ("victim", "test_victim.py"),
        ("polluter", "test_polluter.py"),
    ] {
        let run = project.fix(&["--strategy", "helper", "--site", site]);
        if run.document.is_null() {
            complaints.push(format!("{site}: {}", run.stderr));
            continue;
        }
        let fix = fix_of(&run, victim);
        let diff = diff_of(fix);
        let orders = [victim, "test_polluter.py test_victim.py", ""];
        if let Err(said) = verdict(&project, fix, &orders) {
            complaints.push(said);
            continue;
        }
        let code: Vec<&str> = added(diff)
            .into_iter()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if fix["patches"][0]["site"] != site || files(diff) != [file] {
            complaints.push(format!("not at the {site}\n{fix:#}"));
        }
        let minimal = code.len() <= 3
            && code.iter().any(|line| line.contains("ITEMS.clear()"))
            && !code.concat().contains("lines")
            && removed(diff).is_empty();
        if !minimal {
            complaints.push(format!("not minimal\n{diff}"));
        }
    }
    // Where the strategy that is asked for has nothing to offer, that is said.
    let run = project.fix(&["--strategy", "isolate"]);
    let fix = fix_of(&run, victim);
    if fix["status"] != "none" || fix["reason"].as_str().is_none_or(str::is_empty) {
        complaints.push(format!("no reason\n{fix:#}"));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
