//! What iPFlakies is known to get wrong, and `flakelab fix` must not: the code of a cleaner, where it goes.
//!
//! Each case is a few modules of one project; none shares state with another.

use crate::support::patches::{Case, judge_apart};

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
    judge_apart(VICTIMS, &["--strategy", "helper"]);
}
