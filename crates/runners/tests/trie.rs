//! Orders merged into a trie and walked by fork, with real pytest: the same outcomes as runs that share
//! nothing, for a fraction of the executions.

mod support;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flakelab_lab::Lab;
use flakelab_model::{Experiment, Isolation, Order, RunRecord, RunRequest, TestIndex, Timeout};
use flakelab_runners::pytest::{PytestLab, SandboxMode};
use support::lab;

/// State in the process, in files, and in fixtures of every scope, whose teardown depends on what follows.
const SUITE: &str = "\
import os, pathlib, tempfile, pytest
STATE = []
MARK = pathlib.Path(tempfile.gettempdir()) / 'mark'
@pytest.fixture(scope='module')
def module_log():
    STATE.append('module up')
    yield STATE
    STATE.append('module down')
class TestA:
    @pytest.fixture(scope='class', autouse=True)
    def class_log(self):
        yield
        STATE.append('class down')
    def test_0(self): pass
    def test_1(self, module_log): STATE.append('polluted')
def test_2(module_log): STATE.clear()
def test_3(): assert 'class down' not in STATE
def test_4(): MARK.write_text('x')
def test_5(): assert not MARK.exists()
def test_6(): assert STATE.count('polluted') < 2
";
const OTHER: &str = "\
import test_a
def test_7(): assert 'module down' not in test_a.STATE
def test_8(): test_a.STATE.append('polluted')
";

fn project() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("test_a.py"), SUITE).expect("written");
    std::fs::write(dir.path().join("test_b.py"), OTHER).expect("written");
    std::fs::write(dir.path().join("pytest.ini"), "[pytest]\n").expect("written");
    let path = dir.path().canonicalize().expect("canonical");
    (dir, path)
}

/// After every test of an order, each of the others: the shape of a probe.
fn probes(tests: u32) -> Vec<Vec<u32>> {
    let order = [1, 4, 8, 0, 2, 6, 1, 3];
    let mut orders = Vec::new();
    for length in 0..order.len() {
        for probe in 0..tests {
            orders.push([&order[..length], &[probe]].concat());
        }
    }
    orders
}

fn request(order: &[u32], isolation: Isolation) -> RunRequest {
    let order = Order(order.iter().copied().map(TestIndex).collect());
    let minute = Duration::from_secs(60);
    let timeout = Timeout {
        test: minute,
        run: minute,
    };
    RunRequest::new(order, isolation, timeout)
}

fn run(lab: &mut PytestLab, orders: &[Vec<u32>], isolation: Isolation) -> Vec<RunRecord> {
    let batch: Vec<RunRequest> = orders
        .iter()
        .map(|order| request(order, isolation))
        .collect();
    run_batch(lab, &batch)
}

fn run_batch(lab: &mut PytestLab, batch: &[RunRequest]) -> Vec<RunRecord> {
    let mut records = Vec::new();
    lab.run(batch, &mut |record| {
        records.push(record);
        ControlFlow::Continue(())
    })
    .expect("it runs");
    records.sort_by_key(|record| record.request);
    assert_eq!(records.len(), batch.len());
    records
}

fn words(records: &[RunRecord]) -> Vec<Vec<&'static str>> {
    records
        .iter()
        .map(|r| r.executions.iter().map(|e| e.outcome.word()).collect())
        .collect()
}

fn compare(sandbox: SandboxMode) {
    let (_dir, path) = project();
    let mut lab = lab(&path, sandbox, Vec::new());
    let orders = probes(lab.suite().len() as u32);
    let executed = |lab: &PytestLab| lab.progress().executions.load(Ordering::Relaxed);
    let alone = run(&mut lab, &orders, Isolation::Fork);
    let apart = executed(&lab);
    let shared = run(&mut lab, &orders, Isolation::Shared);
    let together = executed(&lab) - apart;
    for ((order, a), b) in orders.iter().zip(words(&alone)).zip(words(&shared)) {
        assert_eq!(a, b, "{order:?}");
    }
    assert_eq!(apart, orders.iter().map(|o| o.len() as u64).sum::<u64>());
    // Every prefix once (twice where what follows decides about the teardown), every probe once.
    assert!(together < apart / 2, "{together} of {apart} executions");
    let failed = words(&shared)
        .iter()
        .flatten()
        .filter(|w| **w == "failed")
        .count();
    assert!(failed > 10, "the suite is order-dependent: {failed}");
}

#[test]
fn a_shared_prefix_changes_no_outcome_in_a_sandbox() {
    compare(SandboxMode::Auto);
}

/// One writes into the layer that its zygote lent to the prefix, one needs the mode that the prefix gave a directory.
#[test]
fn branches_find_what_their_prefix_left_and_nothing_of_each_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let suite = "import os, pathlib\nSTATE = pathlib.Path(os.environ['HOME']).parent\n\
         def test_0(): pass\n\
         def test_1(): (STATE / 'written').touch()\n\
         def test_2(): assert not (STATE / 'written').exists()\n\
         def test_3(): STATE.chmod(0o700)\n\
         def test_4(): assert STATE.stat().st_mode & 0o777 == 0o700\n";
    std::fs::write(dir.path().join("test_a.py"), suite).expect("written");
    let path = dir.path().canonicalize().expect("canonical");
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    let started = lab.start_cpu();
    let orders = [&[0, 1][..], &[0, 2], &[3, 4], &[3, 0], &[3, 0, 4], &[0, 4]];
    let orders = orders.map(<[u32]>::to_vec);
    for isolation in [Isolation::Shared, Isolation::Fork] {
        let records = run(&mut lab, &orders, isolation);
        let last: Vec<_> = words(&records).iter().map(|w| w[w.len() - 1]).collect();
        assert_eq!(last[5], "failed", "{isolation:?}: {last:?}");
        assert_eq!(last[..5], ["passed"; 5], "{isolation:?}");
    }
    assert_eq!(lab.start_cpu(), started, "no interpreter was lost");
}

#[test]
fn a_shared_prefix_changes_no_outcome_without_a_sandbox() {
    compare(SandboxMode::Off);
}

#[test]
fn fresh_and_cold_interpreters_agree_with_forks() {
    let (_dir, path) = project();
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    let orders = vec![
        vec![1, 8, 6],
        vec![0, 3],
        vec![4, 5],
        vec![0, 1, 2, 7],
        vec![3, 3],
    ];
    let fork = run(&mut lab, &orders, Isolation::Fork);
    assert_eq!(
        words(&run(&mut lab, &orders, Isolation::Fresh)),
        words(&fork)
    );
    assert_eq!(
        words(&run(&mut lab, &orders, Isolation::Cold)),
        words(&fork)
    );
}

#[test]
fn repeats_of_an_order_meet_different_hash_seeds() {
    let (_dir, path) = project();
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    for isolation in [Isolation::Fork, Isolation::Shared, Isolation::Fresh] {
        let mut batch = Vec::new();
        for order in [&[0, 2][..], &[4], &[6, 3]] {
            batch.extend((0..3).map(|attempt| RunRequest {
                attempt,
                ..request(order, isolation)
            }));
        }
        let seeds: Vec<u32> = run_batch(&mut lab, &batch)
            .iter()
            .map(|record| record.hash_seed)
            .collect();
        for repeats in seeds.chunks(3) {
            assert_ne!(repeats[0], repeats[1], "{isolation:?} {seeds:?}");
            assert_ne!(repeats[1], repeats[2], "{isolation:?} {seeds:?}");
        }
    }
}

#[test]
fn different_runs_go_to_one_interpreter_after_the_other_whatever_their_numbers() {
    let (_dir, path) = project();
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    let mut seeds = |batch: &[RunRequest]| -> Vec<u32> {
        let records = run_batch(&mut lab, batch);
        records.iter().map(|record| record.hash_seed).collect()
    };
    let numbered: Vec<RunRequest> = (0..4)
        .map(|number| RunRequest {
            attempt: 5 + number,
            ..request(&[number, 8], Isolation::Fork)
        })
        .collect();
    let watched: Vec<RunRequest> = (0..4)
        .map(|number| RunRequest {
            experiment: Some(Experiment {
                restore: vec![number.to_string()],
                ..Experiment::default()
            }),
            ..request(&[0, 8], Isolation::Fork)
        })
        .collect();
    for batch in [numbered, watched] {
        let seeds = seeds(&batch);
        assert!(seeds.windows(2).all(|pair| pair[0] != pair[1]), "{seeds:?}");
    }
}

/// Each leaves something that a fork of its process would not have, or would have in another state.
const RUNNING: &str = "\
import concurrent.futures, random, signal, subprocess, sys
POOL = concurrent.futures.ThreadPoolExecutor(1)
CHILD = []
def test_0(): assert POOL.submit(int, '7').result() == 7
def test_1(): assert POOL.submit(int, '8').result(5) == 8
def test_2(): CHILD.append(subprocess.Popen([sys.executable, '-c', 'raise SystemExit(3)']))
def test_3(): assert CHILD[0].wait() == 3
def test_4(): signal.setitimer(signal.ITIMER_REAL, 900)
def test_5(): assert signal.getitimer(signal.ITIMER_REAL)[0]
def test_6(): random.seed(7)
def test_7(): assert random.random() == random.Random(7).random()
def test_8(): pass
";

#[test]
fn branches_have_the_threads_children_timers_and_random_state_of_their_prefix() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("test_a.py"), RUNNING).expect("written");
    let path = dir.path().canonicalize().expect("canonical");
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    let orders = [
        &[0, 1][..],
        &[0, 8, 1],
        &[0, 8],
        &[2, 3],
        &[2, 8],
        &[4, 5],
        &[4, 8],
        &[6, 7],
        &[6, 8, 7],
        &[6, 8],
    ];
    let orders = orders.map(<[u32]>::to_vec);
    let records = run(&mut lab, &orders, Isolation::Shared);
    for (order, words) in orders.iter().zip(words(&records)) {
        assert_eq!(words, vec!["passed"; order.len()], "{order:?}");
    }
    // Seven orders share nothing behind what cannot be shared: three tests, and all of them again. The last three share theirs,
    // one of which is executed for the test that follows and for the end.
    let executed = lab.progress().executions.load(Ordering::Relaxed);
    assert_eq!(executed, 3 + (7 + 4 + 4) + 5);
}

#[test]
fn a_doctest_finds_the_names_of_its_module_whenever_it_runs() {
    let dir = tempfile::tempdir().expect("a directory");
    let module = "def double(x):\n    '''\n    >>> double(2)\n    4\n    >>> double = 5\n    '''\n    return 2 * x\n";
    std::fs::write(dir.path().join("a.py"), module).expect("written");
    let ini = "[pytest]\naddopts = --doctest-modules\n";
    std::fs::write(dir.path().join("pytest.ini"), ini).expect("written");
    let path = dir.path().canonicalize().expect("canonical");
    let mut lab = lab(&path, SandboxMode::Auto, Vec::new());
    let records = run(&mut lab, &[vec![0, 0, 0]], Isolation::Fork);
    assert_eq!(words(&records), [["passed"; 3]]);
}
