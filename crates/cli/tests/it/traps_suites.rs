//! Suites and selections: partly broken, empty, masked, in odd places, selected by the user.

use std::fmt::Write as _;

use crate::support::Project;
use crate::support::order::{FEW, ORDER, VICTIM};

#[test]
fn a_module_that_fails_to_import_is_left_out_and_said_so() {
    let project = Project::new(&[
        ("test_broken.py", "import no_such_module\n"),
        ("test_order.py", ORDER),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert!(
        run.stderr.contains("`test_broken.py` does not collect"),
        "{}",
        run.stderr
    );
    assert_eq!(
        run.document["campaign"]["collection_errors"][0]["id"],
        "test_broken.py"
    );
    project.reproduces_victim(&run, VICTIM);
}

/// What is left may be stable; nobody may take that for a clean suite.
#[test]
fn a_suite_that_collects_in_part_is_not_clean() {
    let project = Project::new(&[
        ("test_broken.py", "import no_such_module\n"),
        ("test_fine.py", "def test_fine(): pass\n"),
    ]);
    let beside = tempfile::tempdir().expect("a directory");
    let junit = beside.path().join("flaky.xml");
    let run = project.detect(&["--orders", "8", "--junit", &junit.to_string_lossy()]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let junit = std::fs::read_to_string(junit).expect("JUnit XML");
    assert!(
        junit.contains("<error") && junit.contains("no_such_module"),
        "{junit}"
    );
    let python = project.python();
    let quiet = ["detect", "--quiet", "--orders", "8", "--python"];
    let output = project
        .flakelab(&[&quiet[..], &[&*python.to_string_lossy()]].concat())
        .output()
        .expect("flakelab runs");
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("does not collect test_broken.py"), "{text}");
}

#[test]
fn a_suite_that_does_not_collect_at_all_is_broken() {
    let project = Project::new(&[("test_broken.py", "import no_such_module\n")]);
    let run = project.detect(&FEW);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("no_such_module"), "{}", run.stderr);
}

#[test]
fn a_suite_without_tests_is_broken() {
    let project = Project::new(&[("test_none.py", "x = 1\n")]);
    let run = project.detect(&FEW);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("no tests"), "{}", run.stderr);
}

#[test]
fn a_selection_without_tests_is_broken() {
    let project = Project::new(&[("test_order.py", ORDER)]);
    let run = project.detect(&["--orders", "8", "--", "-k", "nothing_like_this"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("no tests"), "{}", run.stderr);
}

#[test]
fn tests_that_always_fail_are_no_flakes() {
    let mut text = String::new();
    for number in 0..5 {
        let _ = write!(text, "def test_{number}():\n    assert False\n\n");
    }
    let project = Project::new(&[("test_red.py", &text)]);
    let run = project.detect(&FEW);
    let classes = run.classes();
    assert_eq!(classes.len(), 5, "{classes:?}");
    assert!(
        classes.values().all(|class| class == "always_failing"),
        "{classes:?}"
    );
    assert_eq!(run.code, 0);
}

#[test]
fn a_test_that_is_skipped_in_some_orders_is_masked() {
    let project = Project::new(&[(
        "test_masked.py",
        "
import pytest

state = []

def test_a():
    assert True

def test_skips():
    if state:
        pytest.skip('no longer clean')

def test_expected():
    if state:
        pytest.xfail('known')

def test_z():
    state.append(1)
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[
        ("test_masked.py::test_expected", "masked"),
        ("test_masked.py::test_skips", "masked"),
    ]);
    let why = run.test("test_masked.py::test_skips")["why"].to_string();
    assert!(why.contains("passed") && why.contains("skipped"), "{why}");
}

#[test]
fn a_strict_expected_failure_that_passes_in_some_orders_is_brittle_or_victim() {
    let project = Project::new(&[(
        "test_strict.py",
        "
import pytest

state = []

@pytest.mark.xfail(strict=True)
def test_strict():
    assert state

def test_z():
    state.append(1)
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[("test_strict.py::test_strict", "victim")]);
    project.reproduces_victim(&run, "test_strict.py::test_strict");
}

// -- where the project is -----------------------------------------------------------------------------

#[test]
fn commands_work_in_a_subdirectory_of_the_root() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\n"),
        ("sub/tests/test_order.py", ORDER),
        (
            "other/test_other.py",
            "def test_other():\n    assert True\n",
        ),
    ]);
    let mut args = FEW.to_vec();
    args.push("sub");
    let run = project.detect(&args);
    let victim = "sub/tests/test_order.py::test_b";
    run.expect(&[(victim, "victim")]);
    assert_eq!(run.document["tests"].as_array().map(Vec::len), Some(2));
    project.reproduces_victim_in("sub", &run, victim);
}

#[test]
fn commands_work_where_the_tests_lie_beside_the_directory() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\n"),
        ("sub/tool.py", ""),
        ("tests/test_order.py", ORDER),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["sub", "--", "../tests"]);
    let run = project.detect(&args);
    let victim = "tests/test_order.py::test_b";
    run.expect(&[(victim, "victim")]);
    project.reproduces_victim_in("sub", &run, victim);
}

#[test]
fn commands_work_where_the_configuration_lies_beside_the_tests() {
    // The root is `conf`, and ids of tests outside it are not paths from it.
    let project = Project::new(&[
        ("conf/pytest.ini", "[pytest]\n"),
        ("checks/test_order.py", ORDER),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["--", "-c", "conf/pytest.ini", "checks"]);
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    let command = run.test(VICTIM)["reproduce"]["command"].as_str();
    let plain = project.shell("", command.expect("a command"));
    let words: Vec<&str> = plain.outcomes.iter().map(|(_, word)| *word).collect();
    assert_eq!(words, ["passed", "failed"], "{plain:?}");
}

#[test]
fn a_project_reached_by_a_symbolic_link_works() {
    let project = Project::new(&[("test_order.py", ORDER)]);
    let place = tempfile::tempdir().expect("a directory");
    let link = place.path().join("link");
    std::os::unix::fs::symlink(project.path(), &link).expect("a link");
    let mut args = FEW.to_vec();
    args.push(link.to_str().expect("utf-8"));
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn a_project_that_needs_python_m_pytest_gets_it() {
    let project = Project::new(&[
        ("shop/__init__.py", "items = []\n"),
        (
            "tests/test_order.py",
            "
import shop

def test_b():
    assert shop.items == []

def test_z():
    shop.items.append(1)
",
        ),
    ]);
    let run = project.detect(&FEW);
    let victim = "tests/test_order.py::test_b";
    run.expect(&[(victim, "victim")]);
    let command = run.test(victim)["reproduce"]["command"].to_string();
    assert!(command.contains("python -m pytest"), "{command}");
    project.reproduces_victim(&run, victim);
}

#[test]
fn modules_that_shadow_the_standard_library_are_not_ours() {
    let project = Project::new(&[
        ("json.py", "raise RuntimeError('not that json')\n"),
        ("select.py", "raise RuntimeError('not that select')\n"),
        ("socket.py", "raise RuntimeError('not that socket')\n"),
        ("tests/test_order.py", ORDER),
    ]);
    let run = project.detect(&FEW);
    let victim = "tests/test_order.py::test_b";
    run.expect(&[(victim, "victim")]);
    project.reproduces_victim(&run, victim);
}

#[test]
fn the_src_layout_with_a_configured_path_works() {
    let project = Project::new(&[
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npythonpath = ['src']\ntestpaths = ['tests']\n",
        ),
        ("src/shop/__init__.py", "items = []\n"),
        (
            "tests/unit/test_order.py",
            "
import shop

def test_b():
    assert shop.items == []

def test_z():
    shop.items.append(1)
",
        ),
    ]);
    let run = project.detect(&FEW);
    let victim = "tests/unit/test_order.py::test_b";
    run.expect(&[(victim, "victim")]);
    project.reproduces_victim(&run, victim);
}

#[test]
fn an_order_that_a_conftest_forbids_is_not_said_to_be_plain() {
    let project = Project::new(&[
        (
            "conftest.py",
            "
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.name)
",
        ),
        ("test_order.py", ORDER),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(run.test(VICTIM)["reproduce"]["verified"], false);
}

// -- selections -----------------------------------------------------------------------------------------

#[test]
fn a_selection_by_expression_is_kept() {
    let project = Project::new(&[
        ("test_order.py", ORDER),
        ("test_red.py", "def test_red():\n    assert False\n"),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["--", "-k", "test_b or test_z"]);
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(run.document["tests"].as_array().map(Vec::len), Some(2));
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn a_selection_by_id_is_replaced() {
    let project = Project::new(&[
        ("test_order.py", ORDER),
        ("test_red.py", "def test_red():\n    assert False\n"),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["--", "test_order.py::test_b", "test_order.py::test_z", "-v"]);
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(
        run.test(VICTIM)["reproduce"]["command"],
        "pytest -v test_order.py::test_z test_order.py::test_b"
    );
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn a_selection_by_path_leaves_the_rest_alone() {
    let project = Project::new(&[
        ("tests/test_order.py", ORDER),
        ("slow/test_red.py", "def test_red():\n    assert False\n"),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["--", "tests"]);
    let run = project.detect(&args);
    run.expect(&[("tests/test_order.py::test_b", "victim")]);
    project.reproduces_victim(&run, "tests/test_order.py::test_b");
}

#[test]
fn an_option_with_the_value_of_a_path_is_no_selection() {
    let project = Project::new(&[
        ("tests/test_order.py", ORDER),
        ("slow/test_red.py", "def test_red():\n    assert False\n"),
    ]);
    let mut args = FEW.to_vec();
    args.extend(["--", "tests", "--ignore", "slow", "-k", "tests"]);
    let run = project.detect(&args);
    run.expect(&[("tests/test_order.py::test_b", "victim")]);
    project.reproduces_victim(&run, "tests/test_order.py::test_b");
}

#[test]
fn paths_in_addopts_are_kept() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = tests\n"),
        ("tests/test_order.py", ORDER),
        ("slow/test_red.py", "def test_red():\n    assert False\n"),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[("tests/test_order.py::test_b", "victim")]);
}
