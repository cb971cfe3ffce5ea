//! Changed code is counted where it is executed, and pursued; points are told test by test.

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use flakelab_lab::Lab;
use flakelab_model::{
    Changed, CodeEdit, Ending, Isolation, Mutation, Order, Outcome, Pursued, Pursuit, RunRecord,
    RunRequest, TestIndex, Timeout,
};
use flakelab_runners::pytest::{Instrumented, Options, PytestLab, SandboxMode};
use support::options;

const CALC: &str = "\
import os
RATE = 2
def twice(x):
    return x * RATE
def down(n):
    while n > 0:
        n -= 1
    return n
";
const TESTS: &str = "\
import os
import calc
count = 0
def test_twice():
    assert calc.twice(2) == 4
def test_other():
    assert calc.RATE == 2
def test_third_time():
    global count
    count += 1
    if count == 3:
        assert calc.twice(0) == 0
def test_down():
    assert calc.down(3) == 0
def test_child():
    pid = os.fork()
    if pid == 0:
        calc.twice(1)
        os._exit(0)
    os.waitpid(pid, 0)
def test_import():
    assert calc.RATE == 2
";

const MINUTE: Timeout = Timeout {
    test: Duration::from_secs(60),
    run: Duration::from_secs(60),
};
const AGAIN: Pursuit = Pursuit {
    reruns: 4,
    immediate: true,
    first_kill: false,
};

fn open(dir: &tempfile::TempDir, instrumented: Option<Instrumented>) -> PytestLab {
    PytestLab::open(Options {
        instrumented,
        ..options(dir.path(), SandboxMode::Auto, Vec::new())
    })
    .expect("it opens")
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("tempdir");
    std::fs::write(dir.path().join("calc.py"), CALC).expect("written");
    std::fs::write(dir.path().join("test_calc.py"), TESTS).expect("written");
    dir
}

fn ask(lab: &mut PytestLab, names: &[&str], mutation: Option<Mutation>) -> RunRecord {
    let suite = lab.suite().clone();
    let order = names.iter().map(|name| {
        let id = format!("test_calc.py::test_{name}");
        suite.find(&id).expect("a test")
    });
    let isolation = match mutation.as_ref().map(|m| &m.code) {
        Some(Changed::Import { .. }) => Isolation::Fresh,
        _ => Isolation::Fork,
    };
    let request = RunRequest {
        mutation: mutation.map(Arc::new),
        ..RunRequest::new(Order(order.collect()), isolation, MINUTE)
    };
    let mut found = None;
    lab.run(&[request], &mut |record| {
        found = Some(record);
        ControlFlow::Continue(())
    })
    .expect("a run");
    found.expect("a record")
}

fn body(dir: &tempfile::TempDir, name: &str, line: u32, text: &str, pursuit: Pursuit) -> Mutation {
    Mutation {
        code: Changed::Body(CodeEdit {
            file: dir.path().join("calc.py").to_string_lossy().into_owned(),
            classes: Vec::new(),
            name: name.into(),
            first_line: line,
            line,
            text: text.into(),
            from_start: true,
            defaults: false,
        }),
        most_hits: 1_000,
        pursuit,
    }
}

fn told(record: &RunRecord) -> Vec<(u32, &str, bool, bool)> {
    let tell = |p: &Pursued| (p.test.0, p.outcome.word(), p.hit, p.earlier);
    record.pursued.iter().map(tell).collect()
}

#[test]
fn tests_are_executed_again_until_they_reach_the_change() {
    let dir = project();
    let mut lab = open(&dir, None);
    let text = "def twice(x):\n    return (__flakelab_hit__() or x + RATE)\n";
    let change = |pursuit| body(&dir, "twice", 3, text, pursuit);
    let record = ask(&mut lab, &["third_time", "twice"], Some(change(AGAIN)));
    assert_eq!(record.ending, Ending::Completed);
    // 2 + 2 is 4 as well; 0 + 2 is not 0.
    let expected = [
        (2, "passed", false, false),
        (2, "passed", false, false),
        (2, "failed", true, false),
        (0, "passed", true, true),
    ];
    assert_eq!(told(&record), expected);
    let later = Pursuit {
        immediate: false,
        first_kill: true,
        ..AGAIN
    };
    let record = ask(&mut lab, &["third_time", "twice"], Some(change(later)));
    let expected = [
        (2, "passed", false, false),
        (0, "passed", true, false),
        (2, "passed", false, true),
        (2, "failed", true, true),
    ];
    assert_eq!(told(&record), expected);
    let record = ask(&mut lab, &["child", "other"], Some(change(AGAIN)));
    assert_eq!(
        told(&record)[0],
        (4, "passed", true, false),
        "a forked child"
    );
    assert_eq!(record.pursued.len(), 6, "five tries of the other");
}

#[test]
fn what_changed_code_does_to_files_is_undone_before_the_next() {
    let dir = project();
    let mut lab = open(&dir, None);
    let text = "\
def down(n):
    __flakelab_hit__()
    folder = os.path.dirname(__file__)
    left = os.path.join(folder, 'left.txt')
    was_there = os.path.exists(left) or not os.path.exists(os.path.join(folder, 'calc.py'))
    open(left, 'w').close()
    os.remove(os.path.join(folder, 'calc.py'))
    return int(was_there)
";
    let change = body(&dir, "down", 5, text, AGAIN);
    for _ in 0..3 {
        let record = ask(&mut lab, &["down"], Some(change.clone()));
        assert_eq!(told(&record), [(3, "passed", true, false)]);
    }
    assert!(!dir.path().join("left.txt").exists());
    assert!(dir.path().join("calc.py").exists());
}

#[test]
fn a_change_that_goes_in_circles_is_ended() {
    let dir = project();
    let mut lab = open(&dir, None);
    let text =
        "def down(n):\n    while (__flakelab_hit__() or n > 0):\n        n += 1\n    return n\n";
    let change = body(&dir, "down", 5, text, AGAIN);
    let record = ask(&mut lab, &["down", "other"], Some(change));
    assert_eq!(told(&record), [(3, "timed_out", true, false)]);
    assert_eq!(record.ending, Ending::TimedOut);
}

/// Many changes, each for tests of its own, in one process.
fn in_turn(dir: &tempfile::TempDir, texts: &[(&str, u32, &str)], which: &[u32]) -> Mutation {
    let bodies = texts.iter().map(|(name, line, text)| {
        let Changed::Body(body) = body(dir, name, *line, text, AGAIN).code else {
            panic!("not a body");
        };
        body
    });
    Mutation {
        code: Changed::InTurn {
            bodies: bodies.collect(),
            which: which.to_vec(),
        },
        most_hits: 1_000,
        pursuit: AGAIN,
    }
}

fn places(record: &RunRecord) -> Vec<(u32, &str, bool)> {
    let tell = |p: &Pursued| (p.place, p.outcome.word(), p.hit);
    record.pursued.iter().map(tell).collect()
}

#[test]
fn changes_in_turn_are_in_place_for_their_own_tests_and_no_longer() {
    let dir = project();
    let mut lab = open(&dir, None);
    let texts = [
        (
            "twice",
            3,
            "def twice(x):\n    return (__flakelab_hit__() or x * RATE + 1)\n",
        ),
        (
            "twice",
            3,
            "def twice(x):\n    return (__flakelab_hit__() or RATE * x)\n",
        ),
        (
            "nowhere",
            3,
            "def nowhere(x):\n    return (__flakelab_hit__() or x)\n",
        ),
        (
            "down",
            5,
            "def down(n):\n    return (__flakelab_hit__() or 0)\n",
        ),
    ];
    let order = ["twice", "twice", "other", "down", "twice", "twice", "down"];
    let change = in_turn(&dir, &texts, &[0, 1, 2, 3, 0, 1, 1]);
    let record = ask(&mut lab, &order, Some(change));
    assert_eq!(record.ending, Ending::Completed);
    let expected = [
        (0, "failed", true),
        (1, "passed", true),
        // Nobody knows that function: its test does not run. The first change is through after its failure.
        (3, "passed", true),
        (5, "passed", true),
        (6, "passed", false),
    ];
    assert_eq!(places(&record), expected);
    let record = ask(&mut lab, &["twice", "down"], None);
    let words: Vec<&str> = record.executions.iter().map(|e| e.outcome.word()).collect();
    assert_eq!(words, ["passed", "passed"], "the suite is as it was");
}

#[test]
fn defaults_in_turn_are_evaluated_where_they_are_put_in_place() {
    let dir = project();
    let calc = "\
LIMIT = 3
def wrap(function):
    return lambda *args: function(*args)
@wrap
def add(a, b=LIMIT, *, c=1):
    return a + b + c
class Sum:
    def of(self, a, b=2):
        return a + b
";
    let tests = "\
import calc
def test_add():
    assert calc.add(1) == 5
def test_of():
    assert calc.Sum().of(1) == 3
def test_nothing():
    pass
";
    std::fs::write(dir.path().join("calc.py"), calc).expect("written");
    std::fs::write(dir.path().join("test_calc.py"), tests).expect("written");
    let mut lab = open(&dir, None);
    let add = |parameters: &str| format!("def add({parameters}):\n    return a + b + c\n");
    let texts = [
        (
            "add",
            4,
            add("a, b=(__flakelab_hit__() or LIMIT + 1), *, c=1"),
        ),
        ("add", 4, add("a, b=(__flakelab_hit__() or 1 / 0), *, c=1")),
        ("add", 4, add("a, b=LIMIT, *, c=(__flakelab_hit__() or 2)")),
        ("add", 4, add("a, b=(__flakelab_hit__() or 3), *, c=1")),
        ("add", 4, add("a, b=(__flakelab_hit__() or exit()), *, c=1")),
        (
            "of",
            8,
            "    def of(self, a, b=(__flakelab_hit__() or 3)):\n        return a + b\n".to_owned(),
        ),
        // A body, which its test does not reach.
        (
            "of",
            8,
            "    def of(self, a, b=2):\n        return (__flakelab_hit__() or a)\n".to_owned(),
        ),
    ];
    let texts = texts
        .each_ref()
        .map(|(name, line, text)| (*name, *line, text.as_str()));
    let mut change = in_turn(&dir, &texts, &[0, 1, 6, 2, 3, 4, 5, 3, 6]);
    if let Changed::InTurn { bodies, .. } = &mut change.code {
        bodies[..6].iter_mut().for_each(|body| body.defaults = true);
    }
    let order = [
        "add", "add", "nothing", "add", "add", "add", "of", "nothing", "of",
    ];
    let record = ask(&mut lab, &order, Some(change));
    assert_eq!(record.ending, Ending::Completed);
    let expected = [
        (0, "failed", true),
        // What cannot be evaluated is not tried.
        (2, "passed", false),
        (3, "failed", true),
        (4, "passed", true),
        (6, "failed", true),
        (7, "passed", true),
        (8, "failed", true),
    ];
    assert_eq!(places(&record), expected);
    // Evaluating it is part of its first test, whose time is limited.
    let endless = add("a, b=(__flakelab_hit__() or sum(iter(int, 1))), *, c=1");
    let texts = [texts[3], ("add", 4, endless.as_str())];
    let mut change = in_turn(&dir, &texts, &[0, 1, 0]);
    if let Changed::InTurn { bodies, .. } = &mut change.code {
        bodies.iter_mut().for_each(|body| body.defaults = true);
    }
    let timeout = Timeout {
        test: Duration::from_millis(400),
        run: Duration::from_secs(60),
    };
    let request = RunRequest {
        mutation: Some(Arc::new(change)),
        ..RunRequest::new(Order(vec![TestIndex(0); 3]), Isolation::Fork, timeout)
    };
    let mut found = None;
    lab.run(&[request], &mut |record| {
        found = Some(record);
        ControlFlow::Continue(())
    })
    .expect("a run");
    let expected = [(0, "passed", true), (1, "timed_out", true)];
    assert_eq!(places(&found.expect("a record")), expected);
}

#[test]
fn what_ends_the_process_of_changes_in_turn_is_known_by_its_place() {
    let dir = project();
    let mut lab = open(&dir, None);
    let endless =
        "def down(n):\n    while (__flakelab_hit__() or n > 0):\n        n += 1\n    return n\n";
    let texts = [
        (
            "twice",
            3,
            "def twice(x):\n    return (__flakelab_hit__() or RATE * x)\n",
        ),
        ("down", 5, endless),
    ];
    let change = in_turn(&dir, &texts, &[0, 1, 0]);
    let record = ask(&mut lab, &["twice", "down", "twice"], Some(change));
    assert_eq!(
        places(&record),
        [(0, "passed", true), (1, "timed_out", true)]
    );
    assert_eq!(record.ending, Ending::TimedOut);
}

#[test]
fn a_test_is_limited_in_cpu_time() {
    let dir = project();
    let mut lab = open(&dir, None);
    let text = "def down(n):\n    while True:\n        __flakelab_hit__(); pass\n        while n:\n            pass\n";
    let mutation = Some(Arc::new(body(&dir, "down", 5, text, AGAIN)));
    let asleep = "def down(n):\n    import time; __flakelab_hit__(); time.sleep(1.2); return 0\n";
    let sleeps = Some(Arc::new(body(&dir, "down", 5, asleep, AGAIN)));
    let timeout = Timeout {
        test: Duration::from_millis(400),
        run: Duration::from_secs(60),
    };
    let order = Order(vec![TestIndex(3)]);
    let batch = [mutation, sleeps].map(|mutation| RunRequest {
        mutation,
        ..RunRequest::new(order.clone(), Isolation::Fork, timeout)
    });
    let mut words = BTreeMap::new();
    lab.run(&batch, &mut |record| {
        words.insert(record.request, record.pursued[0].outcome.word());
        ControlFlow::Continue(())
    })
    .expect("runs");
    // Waiting costs no CPU time.
    assert_eq!(words, BTreeMap::from([(0, "timed_out"), (1, "passed")]));
}

#[test]
fn what_runs_at_import_is_changed_in_a_fresh_interpreter() {
    let dir = project();
    let mut lab = open(&dir, None);
    let file = dir.path().join("calc.py").to_string_lossy().into_owned();
    let change = |text: String| Mutation {
        code: Changed::Import {
            file: file.clone(),
            text,
        },
        most_hits: 1_000,
        pursuit: AGAIN,
    };
    let text = CALC.replace("RATE = 2", "RATE = (__flakelab_hit__() or 3)");
    let record = ask(&mut lab, &["other", "down"], Some(change(text)));
    assert_eq!(
        told(&record),
        [(1, "failed", true, true), (3, "passed", true, true)]
    );
    let text = CALC.replace("RATE = 2", "RATE = (__flakelab_hit__() or 1 / 0)");
    let record = ask(&mut lab, &["other", "down"], Some(change(text)));
    assert_eq!(told(&record), [(1, "errored", true, false)]);
    // Endless at import.
    let text = CALC.replace(
        "RATE = 2",
        "RATE = 2\nwhile (__flakelab_hit__() or RATE): pass",
    );
    let record = ask(&mut lab, &["other", "down"], Some(change(text)));
    assert_eq!(told(&record), [(1, "timed_out", true, false)]);
    // The project itself is as it was.
    let record = ask(&mut lab, &["other"], None);
    assert_eq!(record.executions[0].outcome, Outcome::Passed);
}

#[test]
fn points_are_told_test_by_test() {
    let dir = project();
    let text = "\
import os
RATE = (__flakelab_hit__(0,1) or 2)
def twice(x):
    return (__flakelab_hit__(1,1) or x * (__flakelab_hit__(2,1) or RATE))
def down(n):
    while (__flakelab_hit__(3,1) or n > 0):
        __flakelab_hit__(4,1); n -= 1
    return (__flakelab_hit__(5,1) or n)
";
    let instrumented = Instrumented {
        points: 6,
        texts: BTreeMap::from([(dir.path().join("calc.py"), text.to_owned())]),
    };
    let mut lab = open(&dir, Some(instrumented));
    for isolation in [Isolation::Fork, Isolation::Fresh, Isolation::Cold] {
        let order = Order([0, 1, 3, 4].map(TestIndex).to_vec());
        let request = RunRequest::new(order, isolation, MINUTE);
        let mut found = None;
        lab.run(&[request], &mut |record| {
            found = Some(record);
            ControlFlow::Continue(())
        })
        .expect("a run");
        let record = found.expect("a record");
        let words: Vec<&str> = record.executions.iter().map(|e| e.outcome.word()).collect();
        assert_eq!(words, ["passed"; 4], "{isolation:?}");
        let reached = record.reached.expect("points");
        assert_eq!(reached.import, [(0, 1)], "{isolation:?}");
        let tests = [vec![(1, 2)], vec![], vec![(3, 3)], vec![(1, 2)]];
        assert_eq!(reached.tests, tests, "{isolation:?}");
    }
}
