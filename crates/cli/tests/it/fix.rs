//! `flakelab fix` on real suites: patches are applied with git and judged by plain pytest.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use crate::support::order::FEW;
use crate::support::patches::{QUICK, added, commit, diff_of, fix_of, git, holds, save};
use crate::support::{Project, Run, is_root};

#[test]
fn the_shop_is_fixed_by_patches_that_git_applies() {
    let (project, _) = Project::explained_shop();
    let run = project.fix(&[]);
    assert_eq!(run.code, 1, "{}\n{}", run.stdout, run.stderr);
    for (test, polluter) in [
        (
            "test_pricing.py::test_default_rate",
            "test_pricing.py::test_tax_override",
        ),
        (
            "test_config.py::test_currency_default",
            "test_config.py::test_currency_from_environment",
        ),
        (
            "test_events.py::TestEvents::test_nobody_listens",
            "test_events.py::TestEvents::test_subscribe",
        ),
    ] {
        let id = format!("tests/{test}");
        let order = format!("tests/{polluter} tests/{test}");
        holds(&project, fix_of(&run, &id), &[&id, &order]);
    }
    let brittle = "tests/test_inventory.py::test_take";
    holds(&project, fix_of(&run, brittle), &[brittle]);
}

#[test]
fn what_tests_share_is_made_one_for_every_test() {
    let project = Project::new(&[
        (
            "test_a.py",
            "import pytest\n\n\n@pytest.fixture(scope=\"module\")\ndef box():\n    return []\n\n\n\
             def test_fill(box):\n    box.append(1)\n\n\ndef test_empty(box):\n    assert box == []\n",
        ),
        (
            "test_b.py",
            "import unittest\n\n\nclass TestBasket(unittest.TestCase):\n\t@classmethod\n\tdef setUpClass(cls):\n\t\tcls.items = []\n\n\
             \tdef test_add(self):\n\t\tself.items.append(1)\n\n\tdef test_none(self):\n\t\tself.assertEqual(self.items, [])\n",
        ),
        (
            "test_d.py",
            "import unittest\n\n\nclass TestShelf(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.books = []\n\n\
             \x20   def setUp(self):\n        self.most = 3\n\n\
             \x20   def test_put(self):\n        self.books.append(1)\n\n    def test_none(self):\n        self.assertEqual(self.books, [])\n",
        ),
        (
            // Set up once only, unless it was torn down; and torn down once only.
            "test_e.py",
            "import os\n\n\ndef setup_module():\n    open(\"box.txt\", \"x\").close()\n\n\n\
             def teardown_module():\n    os.remove(\"box.txt\")\n\n\n\
             def test_write():\n    with open(\"box.txt\", \"w\") as box:\n        box.write(\"1\")\n\n\n\
             def test_nothing():\n    with open(\"box.txt\") as box:\n        assert box.read() == \"\"\n",
        ),
    ]);
    // Ids that are others in every collection are no reason to refuse patches of others.
    std::fs::write(
        project.path().join("test_c.py"),
        "import uuid\n\nimport pytest\n\n\n@pytest.mark.parametrize(\"x\", [str(uuid.uuid4())])\ndef test_any(x):\n    pass\n",
    )
    .expect("written");
    project.explain(&[
        "test_a.py::test_empty",
        "test_b.py::TestBasket::test_none",
        "test_d.py::TestShelf::test_none",
        "test_e.py::test_nothing",
        "--confirmations",
        "1",
    ]);
    let run = project.fix(&QUICK);
    let fixture = fix_of(&run, "test_a.py::test_empty");
    assert_eq!(fixture["patches"][0]["strategy"], "isolate", "{fixture:#}");
    holds(
        &project,
        fixture,
        &["test_a.py::test_fill test_a.py::test_empty"],
    );
    let class = fix_of(&run, "test_b.py::TestBasket::test_none");
    holds(
        &project,
        class,
        &["test_b.py::TestBasket::test_add test_b.py::TestBasket::test_none"],
    );
    let both = fix_of(&run, "test_d.py::TestShelf::test_none");
    assert_eq!(
        added(diff_of(both)),
        ["        self.setUpClass()"],
        "{both:#}"
    );
    holds(
        &project,
        both,
        &["test_d.py::TestShelf::test_put test_d.py::TestShelf::test_none"],
    );
    let module = fix_of(&run, "test_e.py::test_nothing");
    let renewed = ["    teardown_module()", "    setup_module()"];
    assert!(
        added(diff_of(module)).windows(2).any(|two| two == renewed),
        "{module:#}"
    );
    holds(
        &project,
        module,
        &["test_e.py::test_write test_e.py::test_nothing", "test_e.py"],
    );
}

#[test]
fn only_apply_touches_the_tree_and_never_what_is_not_committed() {
    let project = Project::example("tiny");
    commit(&project);
    project.explain(&["test_prices.py", "--confirmations", "1"]);
    let before = project.tree();
    let run = project.fix(&QUICK);
    assert_eq!(project.tree(), before);
    let diff = run.document["fixes"][0]["patches"][0]["diff"].as_str();
    assert!(
        diff.is_some_and(|d| d.contains("+    monkeypatch.setitem(PRICES, \"tea\", 2)")),
        "{diff:?}"
    );

    let python = project.python();
    let python = python.to_str().expect("utf-8");
    let file = project.path().join("test_prices.py");
    let code = std::fs::read_to_string(&file).expect("code");
    std::fs::write(&file, format!("{code}# mine\n")).expect("written");
    let apply = |more: &[&str]| {
        let mut args = vec!["fix", "--apply", "--seed", "1", "--python", python];
        args.extend(QUICK.iter().chain(more));
        project.flakelab(&args).output().expect("it runs")
    };
    let refused = apply(&[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("not committed"), "{said}");
    let done = apply(&["--force"]);
    assert_eq!(done.status.code(), Some(1));
    let after = std::fs::read_to_string(&file).expect("code");
    assert!(
        after.contains("monkeypatch.setitem") && after.ends_with("# mine\n"),
        "{after}"
    );
}

#[test]
fn patches_can_be_saved_and_nothing_explained_is_said_so() {
    let project = Project::example("tiny");
    let run = project.fix(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("flakelab detect"), "{}", run.stderr);
    project.explain(&["test_prices.py", "--confirmations", "1"]);
    let folder = tempfile::tempdir().expect("a directory");
    let output = save(&project, folder.path());
    assert_eq!(output.status.code(), Some(1));
    let patch = std::fs::read_to_string(folder.path().join("001-restore.patch")).expect("a patch");
    let (applied, said) = git(&project, &["apply", "-"], Some(&patch));
    assert!(applied, "{said}");
}

#[test]
fn without_a_sandbox_a_copy_is_patched_and_what_is_done_is_not_done_again() {
    let project = Project::example("tiny");
    project.explain(&["test_prices.py", "--confirmations", "1"]);
    let before = project.tree();
    let off = [&["--sandbox", "off"][..], &QUICK].concat();
    let run = project.fix(&off);
    assert_eq!(run.code, 1, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(project.tree(), before);
    let order = "test_prices.py::test_discount test_prices.py::test_total";
    holds(
        &project,
        fix_of(&run, "test_prices.py::test_total"),
        &[order],
    );
    let again = project.fix(&[&off[..], &["--resume"]].concat());
    assert_eq!(again.document["fixes"], run.document["fixes"]);
}

#[test]
fn a_patch_against_some_culprits_is_partial_and_all_that_hold_can_be_shown() {
    let project = Project::new(&[
        (
            "box.py",
            "ITEMS = []\n\n\ndef seen(known=[]):\n    return known\n",
        ),
        (
            "test_a.py",
            "import box\n\n\ndef test_item():\n    box.ITEMS.append(1)\n",
        ),
        (
            "test_b.py",
            "import box\n\n\ndef test_default():\n    box.seen().append(1)\n",
        ),
        (
            "test_v.py",
            "import box\n\n\ndef test_nothing():\n    assert not box.ITEMS and not box.seen()\n",
        ),
        (
            "test_w.py",
            "import box\n\n\ndef test_no_item():\n    assert not box.ITEMS\n",
        ),
    ]);
    let (some, all) = ("test_v.py::test_nothing", "test_w.py::test_no_item");
    project.explain(&[some, all, "--all", "--confirmations", "1"]);
    let run = project.fix(&["--patch-mode", "all"]);
    assert_eq!(run.code, 4, "{}\n{}", run.stdout, run.stderr);
    let partial = fix_of(&run, some);
    assert_eq!(partial["status"], "partial", "{partial:#}");
    let claims = run.stdout.matches("in the default order").count();
    let shown = fix_of(&run, all)["patches"].as_array().map(Vec::len);
    assert_eq!(Some(claims), shown, "{}", run.stdout);
    let reason = partial["reason"].as_str().expect("a reason");
    assert!(reason.contains("test_b.py::test_default"), "{reason}");
    let patches = fix_of(&run, all)["patches"].as_array().expect("patches");
    assert!(patches.len() > 1, "{patches:#?}");
    for patch in patches {
        assert_eq!(patch["verified"]["alone"], serde_json::json!([3, 3]));
        assert_eq!(patch["verified"]["assertions_untouched"], true);
    }
}

/// What the budget cut short is explained again, not taken for all there is to know.
#[test]
fn an_explanation_that_the_budget_cut_short_is_no_last_word() {
    let project = Project::example("tiny");
    let found = project.detect(&["--orders", "20", "--seed", "1"]);
    assert_eq!(found.code, 1, "{}", found.stderr);
    let cut = project.explain(&["--budget", "1ms"]);
    let explanation = &cut.document["explanations"][0];
    assert_eq!(explanation["unfinished"], true, "{explanation}");
    let run = project.fix(&QUICK);
    let said = "is not explained yet: that comes first";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(
        run.document["fixes"][0]["status"], "fixed",
        "{}",
        run.stdout
    );
}

/// A library whose doctest leaves something behind, and a test that must not find it.
fn documented(more: &[(&str, &str)]) -> Project {
    let mut files = vec![
        (
            "library.py",
            "STATE = {}\n\n\ndef fill():\n    \"\"\"\n    >>> STATE['b'] = 2\n    >>> STATE['b']\n    2\n    \"\"\"\n",
        ),
        (
            "checks.py",
            "import library\n\n\ndef test_empty():\n    assert 'b' not in library.STATE\n",
        ),
    ];
    files.extend(more);
    Project::new(&files)
}

#[test]
fn code_that_only_has_doctests_gets_no_fixture_and_verbs_go_on_with_the_arguments_of_detect() {
    let arguments = ["--", "--doctest-modules", "library.py", "checks.py"];
    let said = "pytest gets what the last `flakelab detect` was given: `-- --doctest-modules library.py checks.py`";
    for conftest in [&[][..], &[("conftest.py", "")]] {
        let project = documented(conftest);
        let found = project.detect(&[&FEW[..], &arguments].concat());
        found.expect(&[("checks.py::test_empty", "victim")]);
        let run = project.fix(&QUICK);
        assert!(run.stderr.contains(said), "{}", run.stderr);
        let fix = fix_of(&run, "checks.py::test_empty");
        assert_eq!(fix["status"], "fixed", "{fix:#}");
        let diff = fix["patches"][0]["diff"].as_str().expect("a diff");
        let changed = if conftest.is_empty() {
            "+++ b/checks.py"
        } else {
            "+++ b/conftest.py"
        };
        assert!(
            diff.contains(changed) && !diff.contains("library.py"),
            "{diff}"
        );
    }
}

/// Its class sets up what two of its tests change, so a test of it has no patch of its own; that of a later test cures both.
#[test]
fn a_patch_for_a_later_test_is_tried_for_those_before_it() {
    let project = Project::new(&[
        ("config.py", "SETTINGS = {'format': 'yml', 'path': ''}\n"),
        (
            "test_b.py",
            "\
import unittest
from importlib import reload

import config


class TestFormat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reload(config)
        config.SETTINGS['path'] = 'res'

    def setUp(self):
        config.SETTINGS['x'] = 1

    def test_basic(self):
        self.assertEqual(config.SETTINGS['format'] + config.SETTINGS['path'], 'ymlres')

    def test_json(self):
        config.SETTINGS['format'] = 'json'
        self.assertEqual(config.SETTINGS['format'], 'json')

    def test_other(self):
        config.SETTINGS['path'] = 'other'
        self.assertEqual(config.SETTINGS['path'], 'other')
",
        ),
        (
            "test_c.py",
            "import config\n\n\ndef test_default():\n    assert config.SETTINGS['format'] == 'yml'\n",
        ),
    ]);
    project.detect(&FEW);
    let run = project.fix(&QUICK);
    let first = "test_b.py::TestFormat::test_basic";
    for polluter in ["test_json", "test_other"] {
        let order = format!("test_b.py::TestFormat::{polluter} {first}");
        holds(&project, fix_of(&run, first), &[first, &order]);
    }
}

const TWO: &str = "\
A = {'k': 0}
B = {'k': 0}


def test_a():
    assert A['k'] == 0


def test_b():
    assert B['k'] == 0


def test_pa():
    A['k'] = 1
    assert A['k']


def test_pb():
    B['k'] = 1
    assert B['k']
";

/// Two patches of one file are written as one, which was seen to hold; what is fixed then needs no patch.
#[test]
fn all_patches_of_a_file_are_written_at_once_and_not_again() {
    let project = Project::new(&[("test_m.py", TWO)]);
    project.explain(&["test_m.py::test_a", "test_m.py::test_b"]);
    let python = project.python();
    let document = tempfile::tempdir().expect("a directory");
    let document = document.path().join("d.json");
    let apply = || {
        let mut args = vec!["fix", "--apply", "--seed", "1"];
        args.extend([
            "--python",
            python.to_str().expect("utf-8"),
            "--format",
            "json",
        ]);
        args.extend(QUICK);
        let output = project.flakelab(&args).arg("-o").arg(&document).output();
        Run::of(output.expect("flakelab runs"), &document)
    };
    let run = apply();
    assert_eq!(run.code, 1, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.document["written"], serde_json::json!(["test_m.py"]));
    assert!(
        run.stdout.contains("written to test_m.py"),
        "{}",
        run.stdout
    );
    let written = std::fs::read_to_string(project.path().join("test_m.py")).expect("there");
    for line in [
        "monkeypatch.setitem(A, 'k', 1)",
        "monkeypatch.setitem(B, 'k', 1)",
    ] {
        assert!(written.contains(line), "{written}");
    }
    let again = apply();
    assert_eq!(again.code, 0, "{}\n{}", again.stdout, again.stderr);
    for test in ["test_m.py::test_a", "test_m.py::test_b"] {
        assert_eq!(fix_of(&again, test)["status"], "passing");
    }
    let file = project.path().join("test_m.py");
    let kept = std::fs::read_to_string(&file).expect("there");
    assert_eq!(kept, written);

    // What is written is said, whatever comes of the rest; and a link stays one, with the mode of its file.
    let real = project.path().join("real.py");
    std::fs::write(&real, TWO).expect("written");
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).expect("changed");
    // Only root can give a file away.
    let owner = if is_root() {
        65534
    } else {
        real.metadata().expect("there").uid()
    };
    chown(&real, Some(owner), None).expect("given");
    std::fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("real.py", &file).expect("linked");
    let patches = tempfile::tempdir().expect("a directory");
    for strategy in ["isolate", "restore", "reset", "helper"] {
        let taken = patches.path().join(format!("001-{strategy}.patch"));
        std::fs::create_dir(taken).expect("made");
    }
    let mut args = vec![
        "fix",
        "--apply",
        "--python",
        python.to_str().expect("utf-8"),
    ];
    args.extend(QUICK);
    let output = project
        .flakelab(&args)
        .arg("-o")
        .arg(patches.path())
        .output();
    let output = output.expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("patches were written to test_m.py"), "{said}");
    assert!(file.is_symlink());
    assert_eq!(std::fs::read_to_string(&real).expect("there"), written);
    let now = real.metadata().expect("there");
    assert_eq!(
        (now.permissions().mode() & 0o777, now.uid()),
        (0o640, owner)
    );
}

#[test]
fn a_test_that_is_expected_to_fail_gets_no_patch() {
    let text = "import pytest\nSEEN = []\ndef test_first():\n    SEEN.append(1)\n    assert SEEN\n\
                @pytest.mark.xfail(strict=True)\ndef test_known(): assert SEEN\n\
                def test_victim(): assert not SEEN\n";
    let project = Project::new(&[("test_x.py", text)]);
    project.explain(&["test_x.py::test_known", "test_x.py::test_victim"]);
    // Not even one that is found for a later test and would change it as well.
    let polluter: Vec<&str> = ["--site", "polluter"].into_iter().chain(QUICK).collect();
    let run = project.fix(&polluter);
    let victim = fix_of(&run, "test_x.py::test_victim");
    assert_eq!(victim["status"], "fixed", "{victim:#}");
    let fix = fix_of(&run, "test_x.py::test_known");
    assert_eq!((run.code, &fix["status"]), (4, &"none".into()), "{fix:#}");
    let reason = fix["reason"].as_str().expect("a reason");
    assert!(reason.contains("expected to fail"), "{reason}");
}

#[test]
fn what_says_that_it_may_fail_has_not_passed() {
    let text = "import pytest\nOPEN = []\ndef finish(): pytest.xfail('later')\n\
                def test_set():\n    OPEN.append(object())\n    finish()\n\
                def test_open(): assert OPEN\n";
    let project = Project::new(&[("test_x.py", text)]);
    project.explain(&["test_x.py::test_open"]);
    let run = project.fix(&QUICK);
    let fix = fix_of(&run, "test_x.py::test_open");
    let diff = diff_of(fix);
    let whole = diff.contains("+    test_set()") || diff.contains("+    finish()");
    assert!(!whole, "{fix:#}");
}

#[test]
fn patches_are_not_saved_in_a_file() {
    let project = Project::example("tiny");
    let output = project
        .flakelab(&["fix", "-o", "test_prices.py/patches"])
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`test_prices.py` is a file"), "{said}");
    // Nor beside those of another time.
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("001-reset.patch"), "old").expect("written");
    let output = project.flakelab(&["fix", "-o"]).arg(folder.path()).output();
    let output = output.expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("has patches already"), "{said}");
}
