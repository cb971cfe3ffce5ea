//! What leaks is put back where it leaks, in the words that a maintainer of such a file would use.

use std::fs;

use crate::support::Project;
use crate::support::patches::{
    Case, added, diff_of, files, fix_of, git, judge, patched, removed, save,
};

/// A raw statement, and what it is to become.
struct Idiom {
    test: &'static str,
    polluter: &'static str,
    raw: &'static str,
    call: &'static str,
}

const MONKEYPATCHED: &[Case] = &[
    Case {
        name: "an environment variable is set",
        since: 8,
        files: &[(
            "test_set.py",
            r#"import os


def test_default_currency():
    assert os.environ.get("SHOP_CURRENCY", 'EUR') == "EUR"


def test_currency():
    os.environ["SHOP_CURRENCY"] = 'CHF'
    # Francs from here on.
    assert os.environ["SHOP_CURRENCY"] == 'CHF'
"#,
        )],
        targets: &[(
            "test_set.py::test_default_currency",
            "test_set.py::test_currency test_set.py::test_default_currency",
        )],
    },
    Case {
        name: "an environment variable is deleted",
        since: 8,
        files: &[
            (
                "conftest.py",
                "import os\n\nos.environ[\"SHOP_HOME\"] = \"/srv\"\n",
            ),
            (
                "test_deleted.py",
                r#"import os


def test_home():
    assert os.environ["SHOP_HOME"] == "/srv"


def test_homeless(capsys):
    del os.environ["SHOP_HOME"]
    print(os.environ.get("SHOP_HOME"))
    assert capsys.readouterr().out == "None\n"
"#,
            ),
        ],
        targets: &[(
            "test_deleted.py::test_home",
            "test_deleted.py::test_homeless test_deleted.py::test_home",
        )],
    },
    Case {
        name: "the working directory is changed",
        since: 8,
        files: &[
            ("shop.txt", "tea\n"),
            (
                "test_directory.py",
                r#"import os
from pathlib import Path


def test_file():
    assert Path("shop.txt").read_text() == "tea\n"


def test_elsewhere(tmp_path):
    os.chdir(tmp_path)
    assert not Path("shop.txt").exists()
"#,
            ),
        ],
        targets: &[(
            "test_directory.py::test_file",
            "test_directory.py::test_elsewhere test_directory.py::test_file",
        )],
    },
    Case {
        name: "an attribute of a module is replaced",
        since: 8,
        files: &[
            (
                "tax.py",
                "RATE = 20\n\n\ndef rate():\n    return RATE\n\n\ndef gross(net):\n    return net + net * rate() // 100\n",
            ),
            (
                "test_attribute.py",
                r#"import tax


def test_gross():
    assert tax.gross(100) == 120


class TestReduced:
    def test_reduced(self):
        tax.rate = lambda: 7
        assert tax.gross(100) == 107
"#,
            ),
        ],
        targets: &[(
            "test_attribute.py::test_gross",
            "test_attribute.py::TestReduced test_attribute.py::test_gross",
        )],
    },
    Case {
        name: "an item of a dictionary is replaced",
        since: 8,
        files: &[
            ("prices.py", "PRICES = {\"tea\": 3, \"coffee\": 4}\n"),
            (
                "test_item.py",
                r#"from prices import PRICES


def test_total():
    assert sum(PRICES.values()) == 7


def test_discount():
    before = dict(PRICES)
    PRICES["tea"] = 2
    assert PRICES["tea"] < before["tea"]
"#,
            ),
        ],
        targets: &[(
            "test_item.py::test_total",
            "test_item.py::test_discount test_item.py::test_total",
        )],
    },
    Case {
        name: "a directory is put on sys.path",
        since: 8,
        files: &[
            ("extras/surcharge.py", "AMOUNT = 1\n"),
            (
                "test_path.py",
                r#"import importlib.util
import sys


def test_no_extras():
    assert importlib.util.find_spec("surcharge") is None


def test_extras():
    sys.path.insert(0, "extras")
    assert importlib.util.find_spec("surcharge")
"#,
            ),
        ],
        targets: &[(
            "test_path.py::test_no_extras",
            "test_path.py::test_extras test_path.py::test_no_extras",
        )],
    },
];

const IDIOMS: &[Idiom] = &[
    Idiom {
        test: "test_set.py::test_default_currency",
        polluter: "def test_currency(monkeypatch):",
        raw: "os.environ[\"SHOP_CURRENCY\"] = 'CHF'",
        call: "monkeypatch.setenv(",
    },
    Idiom {
        test: "test_deleted.py::test_home",
        polluter: "def test_homeless(capsys, monkeypatch):",
        raw: "del os.environ[\"SHOP_HOME\"]",
        call: "monkeypatch.delenv(",
    },
    Idiom {
        test: "test_directory.py::test_file",
        polluter: "def test_elsewhere(tmp_path, monkeypatch):",
        raw: "os.chdir(tmp_path)",
        call: "monkeypatch.chdir(",
    },
    Idiom {
        test: "test_attribute.py::test_gross",
        polluter: "def test_reduced(self, monkeypatch):",
        raw: "tax.rate = lambda: 7",
        call: "monkeypatch.setattr(",
    },
    Idiom {
        test: "test_item.py::test_total",
        polluter: "def test_discount(monkeypatch):",
        raw: "PRICES[\"tea\"] = 2",
        call: "monkeypatch.setitem(",
    },
    Idiom {
        test: "test_path.py::test_no_extras",
        polluter: "def test_extras(monkeypatch):",
        raw: "sys.path.insert(0, \"extras\")",
        call: "monkeypatch.syspath_prepend(",
    },
];

#[test]
fn a_raw_statement_of_the_polluter_becomes_monkeypatch() {
    let (project, run) = judge(MONKEYPATCHED, &[]);
    let mut complaints = Vec::new();
    let set = "test_set.py::test_default_currency";
    let command = keeps_what_was("SHOP_CURRENCY", "test_set.py::test_currency");
    if let Err(said) = patched(&project, diff_of(fix_of(&run, set)), &[command]) {
        complaints.push(said);
    }
    for idiom in IDIOMS {
        let fix = fix_of(&run, idiom.test);
        let diff = diff_of(fix);
        let (news, olds) = (added(diff), removed(diff));
        let right = fix["patches"][0]["strategy"] == "restore"
            && fix["patches"][0]["site"] == "polluter"
            && olds.iter().any(|line| line.trim() == idiom.raw)
            && news.iter().any(|line| line.trim().starts_with(idiom.call))
            && same_parameters(&news, idiom.polluter)
            // The signature and the statement; `import os` or `sys` may have become useless.
            && news.len() == 2
            && olds.len() <= 4;
        if !right {
            complaints.push(format!("{}\n{diff}", idiom.test));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A run of one test in an environment in which somebody had set the variable already.
fn keeps_what_was(variable: &str, test: &str) -> String {
    format!(
        "{variable}=mine python -c 'import os, pytest; assert pytest.main([\"{test}\"]) == 0; \
         assert os.environ[\"{variable}\"] == \"mine\"'"
    )
}

/// Whether a line defines the test with these parameters, in any order.
fn same_parameters(lines: &[&str], wanted: &str) -> bool {
    let parts = |line: &str| -> Vec<String> {
        let mut parts: Vec<String> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        parts.sort();
        parts
    };
    lines.iter().any(|line| parts(line) == parts(wanted))
}

const UNITTESTS: &[Case] = &[
    Case {
        name: "a class without any set-up",
        since: 8,
        files: &[(
            "test_mode.py",
            r#"import os
import unittest


class TestMode(unittest.TestCase):
    def test_debug(self):
        os.environ["SHOP_MODE"] = "debug"
        self.assertEqual(os.environ["SHOP_MODE"], "debug")

    def test_default(self):
        self.assertNotIn("SHOP_MODE", os.environ)
"#,
        )],
        targets: &[(
            "test_mode.py::TestMode::test_default",
            "test_mode.py::TestMode::test_debug test_mode.py::TestMode::test_default",
        )],
    },
    Case {
        name: "a class with setUp and tearDown of its own",
        since: 8,
        files: &[
            ("stock.py", "STOCK = {\"tea\": 5}\n"),
            (
                "test_stock.py",
                r#"import unittest

import stock


class TestStock(unittest.TestCase):
    def setUp(self):
        self.stock = stock.STOCK

    def tearDown(self):
        del self.stock

    def test_sell(self):
        self.stock["tea"] -= 1
        self.assertEqual(self.stock["tea"], 4)


class TestFresh(unittest.TestCase):
    def test_full(self):
        self.assertEqual(stock.STOCK, {"tea": 5})
"#,
            ),
        ],
        targets: &[(
            "test_stock.py::TestFresh::test_full",
            "test_stock.py::TestStock test_stock.py::TestFresh",
        )],
    },
    Case {
        name: "an attribute of a module, in an async class",
        since: 8,
        files: &[
            (
                "delivery.py",
                "def days():\n    return 3\n\n\nasync def when():\n    return days()\n",
            ),
            (
                "test_delivery.py",
                r#"import unittest

import delivery


class TestExpress(unittest.IsolatedAsyncioTestCase):
    async def test_express(self):
        delivery.days = lambda: 1
        self.assertEqual(await delivery.when(), 1)


class TestPost(unittest.IsolatedAsyncioTestCase):
    async def test_post(self):
        self.assertEqual(await delivery.when(), 3)
"#,
            ),
        ],
        targets: &[(
            "test_delivery.py::TestPost::test_post",
            "test_delivery.py::TestExpress test_delivery.py::TestPost",
        )],
    },
    Case {
        name: "the working directory",
        since: 8,
        files: &[
            ("stock.txt", "tea\n"),
            (
                "test_place.py",
                r#"import os
import tempfile
import unittest


class TestPlace(unittest.TestCase):
    def test_away(self):
        os.chdir(tempfile.gettempdir())
        self.assertFalse(os.path.exists("stock.txt"))

    def test_here(self):
        self.assertTrue(os.path.exists("stock.txt"))
"#,
            ),
        ],
        targets: &[(
            "test_place.py::TestPlace::test_here",
            "test_place.py::TestPlace::test_away test_place.py::TestPlace::test_here",
        )],
    },
];

#[test]
fn a_unittest_class_is_not_made_a_pytest_one() {
    let (project, run) = judge(UNITTESTS, &[]);
    let mut complaints = Vec::new();
    let mode = "test_mode.py::TestMode::test_default";
    let command = keeps_what_was("SHOP_MODE", "test_mode.py::TestMode::test_debug");
    if let Err(said) = patched(&project, diff_of(fix_of(&run, mode)), &[command]) {
        complaints.push(said);
    }
    for (test, _) in UNITTESTS.iter().flat_map(|case| case.targets) {
        let fix = fix_of(&run, test);
        let diff = diff_of(fix);
        let code = added(diff).join("\n");
        let right = if test.starts_with("test_stock") {
            // Both are there already; a second one would replace the first.
            !code.contains("def setUp(") && !code.contains("def tearDown(")
        } else {
            UNITTEST_WORDS.iter().any(|word| code.contains(word))
        };
        if !right || code.contains("pytest") || fix["patches"][0]["site"] != "polluter" {
            complaints.push(format!("{test}\n{diff}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Any of these is at home in a `TestCase`.
const UNITTEST_WORDS: [&str; 5] = ["addCleanup", "tearDown", "setUp", "patch", "enterContext"];

const CACHED: &[Case] = &[
    Case {
        name: "a cached function, filled by a function",
        since: 8,
        files: &[
            (
                "rates.py",
                r#"import functools

SOURCE = {"CHF": 1}


@functools.lru_cache(maxsize=None)
def rate(name):
    return SOURCE.get(name)
"#,
            ),
            (
                "test_cache.py",
                r#"from unittest import mock

import rates


def test_rate():
    assert rates.rate("CHF") == 1


def test_crash():
    with mock.patch.dict(rates.SOURCE, CHF=0):
        assert rates.rate("CHF") in (0, 1)
"#,
            ),
        ],
        targets: &[(
            "test_cache.py::test_rate",
            "test_cache.py::test_crash test_cache.py::test_rate",
        )],
    },
    Case {
        name: "a cached function, filled by a unittest method",
        since: 8,
        files: &[
            (
                "names.py",
                r#"from functools import lru_cache

USERS = {1: "Ada"}


@lru_cache
def name(number):
    return USERS[number]
"#,
            ),
            (
                "test_names.py",
                r#"import unittest
from unittest.mock import patch

from names import USERS, name


class TestNames(unittest.TestCase):
    def test_ada(self):
        self.assertEqual(name(1), "Ada")

    def test_eve(self):
        with patch.dict(USERS, {1: "Eve"}):
            self.assertTrue(name(1))
"#,
            ),
        ],
        targets: &[(
            "test_names.py::TestNames::test_ada",
            "test_names.py::TestNames::test_eve test_names.py::TestNames::test_ada",
        )],
    },
];

#[test]
fn a_cache_is_cleared() {
    let (_project, run) = judge(CACHED, &[]);
    let mut complaints = Vec::new();
    for (test, _) in CACHED.iter().flat_map(|case| case.targets) {
        let diff = diff_of(fix_of(&run, test));
        let code = added(diff).join("\n");
        let foreign = test.contains("TestNames") && code.contains("pytest");
        if !code.contains(".cache_clear") || foreign || added(diff).len() > 10 {
            complaints.push(format!("{test}\n{diff}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

const LEAK: &str = r#"import pytest

import settings


@pytest.mark.parametrize("number", range(3))
def test_debug_is_off(number):
    assert not settings.VALUES.get("debug")
"#;

#[test]
fn one_polluter_of_many_victims_is_fixed_once() {
    let project = Project::new(&[
        ("settings.py", "VALUES = {}\n"),
        (
            "test_polluter.py",
            r#"import settings


def test_debug():
    settings.VALUES["debug"] = True
    assert settings.VALUES["debug"]
"#,
        ),
        ("test_one.py", LEAK),
        ("test_two.py", LEAK),
        ("shop/test_three.py", LEAK),
    ]);
    let victims: Vec<String> = ["shop/test_three.py", "test_one.py", "test_two.py"]
        .iter()
        .flat_map(|file| (0..3).map(move |n| format!("{file}::test_debug_is_off[{n}]")))
        .collect();
    let mut args: Vec<&str> = victims.iter().map(String::as_str).collect();
    args.extend(["--confirmations", "1"]);
    project.explain(&args);
    let folder = tempfile::tempdir().expect("a directory");
    let output = save(&project, folder.path());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("9 of 9 tests fixed, by 1 patch"), "{said}");
    assert_eq!(said.matches("diff --git").count(), 1, "{said}");
    let patches: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .map(|entry| fs::read_to_string(entry.path()).expect("a patch"))
        .collect();
    let [patch] = &patches[..] else {
        panic!("{patches:#?}");
    };
    assert_eq!(files(patch), ["test_polluter.py"], "{patch}");
    let (applied, why) = git(&project, &["apply", "-"], Some(patch));
    assert!(applied, "{why}\n{patch}");
    let plain = project.shell("", "pytest test_polluter.py test_one.py test_two.py shop");
    assert_eq!(plain.code, Some(0), "{patch}\n{}", plain.said);
}
