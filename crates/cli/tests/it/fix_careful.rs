//! A patch puts back what was there, where it was, and nothing else: plain pytest judges.

use std::fs;

use crate::support::Project;
use crate::support::patches::{Case, QUICK, added, commit, diff_of, fix_of, judge, patched};

const STATE: &[Case] = &[
    Case {
        name: "a class method that subclasses have, replaced behind imports with a path between them",
        since: 8,
        files: &[
            (
                "lib/inner/stall.py",
                "class Stall:\n    @classmethod\n    def title(cls):\n        return cls.__name__\n\n\nclass Market(Stall):\n    pass\n\n\ndef close():\n    Stall.title = staticmethod(lambda: \"closed\")\n",
            ),
            (
                "test_stall.py",
                r#"import sys

sys.path.insert(0, "lib/inner")

import pytest
import stall


@pytest.mark.parametrize("name", ["Market"])
def test_name(name):
    assert stall.Market.title() == name


def test_closed():
    stall.close()
    assert stall.Market.title() == "closed"
"#,
            ),
        ],
        targets: &[(
            "test_stall.py::test_name[Market]",
            "test_stall.py::test_closed 'test_stall.py::test_name[Market]'",
        )],
    },
    Case {
        name: "an attribute of an object over one of its class",
        since: 8,
        files: &[
            (
                "app.py",
                "class App:\n    debug = False\n\n\nMAIN = App()\n\n\ndef enable():\n    MAIN.debug = True\n",
            ),
            (
                "test_app.py",
                "import app\n\n\ndef test_nothing_of_its_own():\n    assert vars(app.MAIN) == {}\n\n\ndef test_debug():\n    app.enable()\n    assert app.MAIN.debug\n",
            ),
        ],
        targets: &[(
            "test_app.py::test_nothing_of_its_own",
            "test_app.py::test_debug test_app.py::test_nothing_of_its_own",
        )],
    },
    Case {
        name: "what a class shares, and a setUp that it inherits",
        since: 8,
        files: &[(
            "test_till.py",
            r#"import unittest


class Base(unittest.TestCase):
    def setUp(self):
        self.most = 3


class TestTill(Base):
    @classmethod
    def setUpClass(cls):
        cls.coins = []

    def test_add(self):
        self.coins.append(1)
        self.assertLess(len(self.coins), self.most)

    def test_none(self):
        self.assertEqual(self.coins, [])
        self.assertEqual(self.most, 3)
"#,
        )],
        targets: &[(
            "test_till.py::TestTill::test_none",
            "test_till.py::TestTill::test_add test_till.py::TestTill::test_none",
        )],
    },
    Case {
        name: "a tuple without parentheses",
        since: 8,
        files: &[
            ("limits.py", "RANGE = (0, 5)\n"),
            (
                "test_limits.py",
                "import limits\n\n\ndef test_range():\n    assert limits.RANGE == (0, 5)\n\n\ndef test_narrow():\n    limits.RANGE = 1, 2\n    assert limits.RANGE[0] == 1\n",
            ),
        ],
        targets: &[(
            "test_limits.py::test_range",
            "test_limits.py::test_narrow test_limits.py::test_range",
        )],
    },
    Case {
        name: "arguments of the process, and a dictionary with numbers for keys",
        since: 8,
        files: &[
            (
                "rows.py",
                "import sys\n\nROWS = {7: 1, 8: 1}\n\n\ndef sell():\n    ROWS[7] = 0\n\n\ndef argue():\n    sys.argv.append(\"--cheap\")\n",
            ),
            (
                "test_rows.py",
                "import sys\n\nimport rows\n\n\ndef test_stock():\n    assert rows.ROWS == {7: 1, 8: 1}\n\n\ndef test_sold():\n    rows.sell()\n    assert rows.ROWS[7] == 0\n\n\ndef test_plain():\n    assert \"--cheap\" not in sys.argv\n\n\ndef test_cheap():\n    rows.argue()\n    assert \"--cheap\" in sys.argv\n",
            ),
        ],
        targets: &[
            (
                "test_rows.py::test_stock",
                "test_rows.py::test_sold test_rows.py::test_stock",
            ),
            (
                "test_rows.py::test_plain",
                "test_rows.py::test_cheap test_rows.py::test_plain",
            ),
        ],
    },
    Case {
        name: "a container of the standard library that is written in small letters",
        since: 8,
        files: &[
            (
                "codes.py",
                "import http.client\n\n\ndef teach():\n    http.client.responses[599] = \"Closed\"\n",
            ),
            (
                "test_codes.py",
                "import http.client\n\nimport codes\n\n\ndef test_known():\n    assert 599 not in http.client.responses\n\n\ndef test_taught():\n    codes.teach()\n    assert http.client.responses[599]\n",
            ),
        ],
        targets: &[(
            "test_codes.py::test_known",
            "test_codes.py::test_taught test_codes.py::test_known",
        )],
    },
    Case {
        name: "a setter that is given a mock",
        since: 8,
        files: &[
            (
                "desk.py",
                "OPEN = []\n\n\ndef pay():\n    raise OSError(\"no network here\")\n\n\ndef begin(count):\n    for number in range(count):\n        OPEN.append(number)\n    pay()\n",
            ),
            (
                "test_desk.py",
                "from unittest import mock\n\nimport desk\n\n\ndef test_sell():\n    assert desk.OPEN == [0, 1]\n\n\n@mock.patch(\"desk.pay\")\ndef test_begin(pay):\n    desk.OPEN.clear()\n    desk.begin(2)\n    assert pay.called\n",
            ),
        ],
        targets: &[("test_desk.py::test_sell", "test_desk.py::test_sell")],
    },
];

#[test]
fn what_was_there_is_put_back_where_it_was() {
    let (_, run) = judge(STATE, &[]);
    let lines = |id: &str| added(diff_of(fix_of(&run, id)));
    for (id, wanted) in [
        (
            "test_stall.py::test_name[Market]",
            "    monkeypatch.setattr(stall.Stall, \"title\", vars(stall.Stall)[\"title\"])",
        ),
        (
            "test_app.py::test_nothing_of_its_own",
            "    vars(app.MAIN).pop(\"debug\", None)",
        ),
        (
            "test_till.py::TestTill::test_none",
            "        super().setUp()",
        ),
        (
            "test_limits.py::test_range",
            "    monkeypatch.setattr(limits, \"RANGE\", (1, 2))",
        ),
        ("test_rows.py::test_plain", "    sys.argv[:] = saved_argv"),
        ("test_rows.py::test_stock", "    rows.ROWS.update(saved)"),
        (
            "test_codes.py::test_known",
            "    http.client.responses.update(saved)",
        ),
    ] {
        let lines = lines(id);
        assert!(lines.contains(&wanted), "{id}\n{}", lines.join("\n"));
    }
}

#[test]
fn files_of_the_user_stay_and_what_is_gone_is_not_called_fixed() {
    let test_gone = "SEEN = []\n\n\ndef test_nothing():\n    assert SEEN == []\n\n\ndef test_see():\n    SEEN.append(1)\n";
    let project = Project::new(&[
        (
            "settings.py",
            r#"import pathlib


def place():
    return pathlib.Path.home() / ".config" / "shop" / "rc"


def save():
    place().parent.mkdir(parents=True, exist_ok=True)
    place().write_text("cheap")
"#,
        ),
        (
            "test_settings.py",
            "import settings\n\n\ndef test_defaults():\n    assert not settings.place().exists()\n\n\ndef test_saved():\n    settings.save()\n    assert settings.place().exists()\n",
        ),
        ("test_gone.py", test_gone),
    ]);
    commit(&project);
    let (victim, gone) = (
        "test_settings.py::test_defaults",
        "test_gone.py::test_nothing",
    );
    project.explain(&[victim, gone, "--confirmations", "1"]);
    let renamed = test_gone.replace("def test_see", "def test_look");
    fs::write(project.path().join("test_gone.py"), renamed).expect("written");
    let run = project.fix(&QUICK);
    let stale = fix_of(&run, gone);
    assert_eq!(stale["status"], "none", "{stale:#}");
    let reason = stale["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("test_gone.py::test_see") && reason.contains("flakelab explain"),
        "{reason}"
    );
    let fix = fix_of(&run, victim);
    assert_eq!(fix["status"], "fixed", "{fix:#}");
    // A home of its own for each: what is there stays, and what is new is not left.
    let order = "pytest test_settings.py::test_saved test_settings.py::test_defaults";
    let commands = [
        format!("mkdir home && HOME=$PWD/home {order}"),
        format!(
            "mkdir -p home/.config/mine && HOME=$PWD/home {order} && test -d home/.config/mine"
        ),
    ];
    if let Err(said) = patched(&project, diff_of(fix), &commands) {
        panic!("{said}");
    }
}
