//! Plugins and options that decide about order, repetition and distribution: in `addopts` or merely
//! installed, they must neither hide a finding nor break the command that shows it.

use crate::support::order::SAVED_BY_A_RETRY;
use crate::support::{Project, Run};

/// `test_b` fails after `test_z`; pytest's own order hides it.
const VICTIM: &str = "
state = []

def test_a():
    assert True

def test_b():
    assert state == []

def test_c():
    assert True

def test_z():
    state.append(1)
";

const VICTIM_ID: &str = "test_order.py::test_b";

/// Enough for suites of a few tests; interpreters with many plugins start slowly.
const FEW: [&str; 6] = [
    "--orders",
    "6",
    "--isolated-runs",
    "2",
    "--confirmations",
    "2",
];

fn suite(ini: &str) -> Project {
    Project::new(&[
        ("pytest.ini", &format!("[pytest]\n{ini}\n")),
        ("test_order.py", VICTIM),
    ])
    .with("plugins")
}

fn finds_the_victim(project: &Project) -> Run {
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    assert_eq!(run.code, 1);
    project.reproduces_victim(&run, VICTIM_ID);
    run
}

#[test]
fn colours_are_no_part_of_a_message() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --color=yes\n"),
        (
            "test_order.py",
            "NAME = ['tea']\n\n\ndef test_b():\n    assert NAME[0] == 'tea'\n\n\ndef test_z():\n    NAME[0] = 'ten'\n",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    let message = run.document["tests"].to_string();
    assert!(message.contains("+ ten"), "{message}");
    assert!(!message.contains("u001b"), "{message}");
}

#[test]
fn who_has_no_terminal_reporter_has_no_trouble() {
    let project = Project::new(&[("test_order.py", VICTIM)]);
    let run = project.detect(&[&FEW[..], &["--", "-p", "no:terminal"]].concat());
    run.expect(&[(VICTIM_ID, "victim")]);
}

#[test]
fn xdist_workers_in_addopts_are_not_used() {
    finds_the_victim(&suite("addopts = -n 2"));
}

#[test]
fn xdist_distribution_by_file_in_addopts_is_not_used() {
    finds_the_victim(&suite("addopts = -n 2 --dist loadfile"));
}

#[test]
fn xdist_fixtures_stay_usable() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = -p xdist -n 2\n"),
        (
            "test_order.py",
            "
state = []

def test_b(worker_id):
    assert worker_id
    assert state == []

def test_z(testrun_uid):
    state.append(testrun_uid)
",
        ),
    ])
    .with("plugins");
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    project.reproduces_victim(&run, VICTIM_ID);
}

#[test]
fn a_conftest_may_implement_hooks_of_xdist() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = -n 2\n"),
        (
            "conftest.py",
            "
def pytest_configure_node(node):
    node.workerinput['x'] = 1

def pytest_xdist_auto_num_workers(config):
    return 2

def pytest_testnodedown(node, error):
    pass
",
        ),
        ("test_order.py", VICTIM),
    ])
    .with("plugins");
    finds_the_victim(&project);
}

#[test]
fn randomly_does_not_shuffle_when_it_is_merely_installed() {
    let run = finds_the_victim(&suite(""));
    let silenced = run.document["campaign"]["silenced_plugins"].to_string();
    assert!(silenced.contains("randomly"), "{silenced}");
}

#[test]
fn randomly_with_a_seed_in_addopts_does_not_shuffle() {
    finds_the_victim(&suite("addopts = --randomly-seed=5"));
}

#[test]
fn random_order_in_addopts_does_not_shuffle() {
    finds_the_victim(&suite("addopts = --random-order"));
}

#[test]
fn random_order_by_module_in_addopts_does_not_shuffle() {
    finds_the_victim(&suite(
        "addopts = --random-order-bucket=module --random-order-seed=3",
    ));
}

#[test]
fn reruns_in_addopts_hide_no_victim() {
    finds_the_victim(&suite("addopts = --reruns 2"));
}

/// Passes the second time in one process, and by chance otherwise: what reruns are used for.
const CHANCE: &str = "
import os
import pytest

@pytest.mark.flaky(reruns=3)
def test_chance():
    assert os.urandom(1)[0] < 128

def test_other():
    assert True
";

#[test]
fn a_test_marked_flaky_is_still_reported() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --strict-markers\n"),
        ("test_chance.py", CHANCE),
    ])
    .with("plugins");
    let run = project.detect(&["--orders", "10"]);
    run.expect(&[("test_chance.py::test_chance", "non_deterministic")]);
    assert_eq!(run.code, 1);
}

#[test]
fn a_victim_marked_flaky_is_still_a_victim() {
    let marked = VICTIM.replace(
        "def test_b",
        "import pytest\n\n@pytest.mark.flaky(reruns=2)\ndef test_b",
    );
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --strict-markers\n"),
        ("test_order.py", &marked),
    ])
    .with("plugins");
    finds_the_victim(&project);
}

#[test]
fn a_victim_that_a_rerun_would_save_is_reproduced() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --reruns 2\n"),
        ("test_order.py", SAVED_BY_A_RETRY),
    ])
    .with("plugins");
    finds_the_victim(&project);
}

#[test]
fn coverage_in_addopts_leaves_no_data_file() {
    // The harness compares the tree.
    finds_the_victim(&suite(
        "addopts = --cov=. --cov-branch --cov-report=xml --cov-fail-under=99",
    ));
}

#[test]
fn quiet_in_addopts_changes_nothing() {
    finds_the_victim(&suite("addopts = -q -q"));
}

#[test]
fn verbose_without_capture_in_addopts_changes_nothing() {
    finds_the_victim(&suite("addopts = -vv -s --tb=no"));
}

/// `test_z` fails as well as polluting: `-x` would end every order there.
const FAILING_POLLUTER: &str = "
state = []

def test_b():
    assert state == []

def test_c():
    assert True

def test_z():
    state.append(1)
    assert False
";

fn sees_past_the_first_failure(addopts: &str) {
    let project = Project::new(&[
        ("pytest.ini", &format!("[pytest]\naddopts = {addopts}\n")),
        ("test_order.py", FAILING_POLLUTER),
    ])
    .with("plugins");
    let run = project.detect(&FEW);
    run.expect(&[
        (VICTIM_ID, "victim"),
        ("test_order.py::test_z", "always_failing"),
    ]);
    let plain = project.reproduce("", &run, VICTIM_ID);
    let words: Vec<&str> = plain.outcomes.iter().map(|(_, word)| *word).collect();
    assert_eq!(words, ["failed", "failed"], "{plain:?}");
}

#[test]
fn stopping_at_the_first_failure_hides_nothing_behind_it() {
    sees_past_the_first_failure("-x");
}

#[test]
fn a_limit_of_failures_hides_nothing_behind_it() {
    sees_past_the_first_failure("--maxfail=1");
}

#[test]
fn stepwise_in_addopts_hides_nothing() {
    finds_the_victim(&suite("addopts = --stepwise"));
}

#[test]
fn failed_first_in_addopts_hides_nothing() {
    finds_the_victim(&suite("addopts = --failed-first"));
}

#[test]
fn a_project_without_a_cache_is_fine() {
    finds_the_victim(&suite("addopts = -p no:cacheprovider"));
}

#[test]
fn an_exit_on_the_first_failure_given_by_hand_hides_nothing() {
    let project = Project::new(&[("test_order.py", FAILING_POLLUTER)]);
    let run = project.detect(&["--orders", "10", "--", "-x"]);
    run.expect(&[
        (VICTIM_ID, "victim"),
        ("test_order.py::test_z", "always_failing"),
    ]);
    let plain = project.reproduce("", &run, VICTIM_ID);
    assert_eq!(plain.outcomes.len(), 2, "{plain:?}");
}

#[test]
fn async_tests_are_classified_like_others() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\nasyncio_mode = auto\n"),
        (
            "test_async.py",
            "
import asyncio
import pytest

state = []
ready = []

@pytest.fixture
async def resource():
    await asyncio.sleep(0)
    yield 'r'
    await asyncio.sleep(0)

async def test_setter(resource):
    await asyncio.sleep(0)
    ready.append(1)

async def test_brittle():
    await asyncio.sleep(0)
    assert ready

async def test_victim(resource):
    await asyncio.sleep(0)
    assert state == []

async def test_polluter():
    await asyncio.sleep(0)
    state.append(1)
",
        ),
    ])
    .with("plugins");
    let run = project.detect(&FEW);
    run.expect(&[
        ("test_async.py::test_brittle", "brittle"),
        ("test_async.py::test_victim", "victim"),
    ]);
    project.reproduces_victim(&run, "test_async.py::test_victim");
    project.reproduces_brittle(&run, "test_async.py::test_brittle");
}

#[test]
fn async_fixtures_of_wider_scope_survive_forks() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\nasyncio_mode = auto\n"),
        (
            "test_async.py",
            "
import asyncio
import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio(loop_scope='module')
state = []

@pytest_asyncio.fixture(scope='module', loop_scope='module')
async def queue():
    yield asyncio.Queue()

async def test_a(queue):
    await queue.put(1)
    assert await asyncio.wait_for(queue.get(), 5) == 1

async def test_victim(queue):
    assert state == []

async def test_polluter(queue):
    state.append(1)
",
        ),
    ])
    .with("plugins");
    let run = project.detect(&FEW);
    run.expect(&[("test_async.py::test_victim", "victim")]);
    project.reproduces_victim(&run, "test_async.py::test_victim");
}

#[test]
fn a_timeout_plugin_reports_a_failure_and_is_no_crash() {
    let project = Project::new(&[
        (
            "pytest.ini",
            "[pytest]\ntimeout = 1\ntimeout_method = signal\n",
        ),
        (
            "test_slow.py",
            "
import time

state = []

def test_victim():
    while state:
        time.sleep(0.05)

def test_polluter():
    state.append(1)
",
        ),
    ])
    .with("plugins");
    let run = project.detect(&FEW);
    run.expect(&[("test_slow.py::test_victim", "victim")]);
    let message = run.test("test_slow.py::test_victim")["failure"]["message"].to_string();
    assert!(message.contains("Timeout"), "{message}");
    project.reproduces_victim(&run, "test_slow.py::test_victim");
}

/// Warnings are errors, and garbage is collected in a test: nothing of ours may warn.
fn warns_of_nothing(environment: &'static str) {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\nfilterwarnings = error\n"),
        (
            "test_order.py",
            &format!("import gc\n{VICTIM}\ndef test_gc():\n    gc.collect()\n"),
        ),
    ])
    .with(environment);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    project.reproduces_victim(&run, VICTIM_ID);
}

#[test]
fn warnings_may_be_errors_with_pytest_7() {
    warns_of_nothing("pytest7");
}

#[test]
fn warnings_may_be_errors_with_pytest_9() {
    warns_of_nothing("pytest9");
}

#[test]
fn tests_that_run_pytest_themselves_are_undisturbed() {
    let project = Project::new(&[
        (
            "pytest.ini",
            "[pytest]\naddopts = -p pytester --basetemp=scratch\n",
        ),
        (
            "test_order.py",
            &format!(
                "{VICTIM}
def test_inside(pytester):
    pytester.makepyfile('def test_b(): assert 0')
    pytester.runpytest_inprocess().assert_outcomes(failed=1)

def test_beside(pytester):
    pytester.makepyfile('def test_b(): pass')
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
"
            ),
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    project.reproduces_victim(&run, VICTIM_ID);
}

#[test]
fn a_time_limit_of_the_session_is_none_of_the_campaign() {
    // Over before the first run begins.
    let project = suite("session_timeout = 0.001\naddopts = --session-timeout=0.001");
    project.detect(&FEW).expect(&[(VICTIM_ID, "victim")]);
}

#[test]
fn a_skipped_subtest_does_not_hide_that_its_test_fails() {
    let project = Project::new(&[(
        "test_order.py",
        "
import pytest

state = []

def test_b(subtests):
    with subtests.test('elsewhere'):
        pytest.skip('not here')
    assert state == []

def test_z():
    state.append(1)
",
    )])
    .with("pytest9");
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM_ID, "victim")]);
    project.reproduces_victim(&run, VICTIM_ID);
}
