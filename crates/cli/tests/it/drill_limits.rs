//! Suites that take all they can get: processes, memory. Limits hold, others are judged as usual, and nothing is left.

use crate::support::order::{FEW, FEWEST, VICTIM, beside_a_victim, notes};
use crate::support::reproduce::processes_in;
use crate::support::{Project, Run};

/// A bomb that stops itself should nobody else do it: each fork takes a byte out of a pipe.
const BOMB: &str = "
import os, time

def explode():
    fuse = os.pipe()
    os.write(fuse[1], bytes(700))
    os.set_blocking(fuse[0], False)
    try:
        while os.read(fuse[0], 1):
            os.fork()
    except BlockingIOError:
        time.sleep(30)
";
fn leaves_nothing(project: &Project) {
    let place = project.path().to_string_lossy().into_owned();
    assert_eq!(processes_in(&place), Vec::<std::path::PathBuf>::new());
}

fn message(run: &Run, id: &str) -> String {
    let message = &run.test(id)["failure"]["message"];
    message.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_fork_bomb_is_ended_and_set_aside() {
    let bomb = format!("{BOMB}\n\ndef test_bomb():\n    explode()\n");
    let project = beside_a_victim(&[("test_bomb.py", &bomb)]);
    let run = project.detect(&FEWEST);
    let id = "test_bomb.py::test_bomb";
    run.expect(&[(id, "always_failing"), (VICTIM, "victim")]);
    let said = message(&run, id);
    assert!(said.starts_with("the test forked without end: "), "{said}");
    assert!(notes(&run).contains("set aside"), "{}", notes(&run));
    project.reproduces_victim(&run, VICTIM);
    leaves_nothing(&project);
}

#[test]
fn a_fork_bomb_whose_processes_leave_their_group_is_ended() {
    let bomb = BOMB.replace("os.fork()", "os.fork() or os.setsid()");
    assert_ne!(bomb, BOMB);
    let bomb = format!("{bomb}\n\ndef test_bomb():\n    explode()\n");
    let project = beside_a_victim(&[("test_bomb.py", &bomb)]);
    let run = project.detect(&FEWEST);
    let id = "test_bomb.py::test_bomb";
    assert_eq!(run.test(id)["class"], "always_failing", "{}", run.stderr);
    let said = message(&run, id);
    assert!(said.starts_with("the test forked without end: "), "{said}");
    leaves_nothing(&project);
}

#[test]
fn a_fork_bomb_during_collection_is_an_error_with_a_hint() {
    let project = Project::new(&[
        ("conftest.py", &format!("{BOMB}\n\nexplode()\n")),
        ("test_a.py", "def test_a(): pass\n"),
    ]);
    let run = project.detect(&[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("collection forked without end: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("\nhint: "), "{}", run.stderr);
    leaves_nothing(&project);
}

/// More than may be alive at once, and so many more (32) that one of those is sure to count them; and a large pool.
#[test]
fn many_processes_one_after_the_other_are_no_bomb() {
    let project = beside_a_victim(&[(
        "test_forks.py",
        "
import os

def test_forks():
    for _ in range(290):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

def test_pool():
    pids = []
    for _ in range(64):
        pids.append(os.fork())
        if pids[-1] == 0:
            os.read(os.pipe()[0], 1)
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
",
    )]);
    let run = project.detect(&FEWEST);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(notes(&run), "[]");
}

#[test]
fn a_test_that_fills_memory_step_by_step_fails_alone() {
    // It gets as far as the limit lets it, and neither it nor pytest must be what the system kills.
    let project = beside_a_victim(&[(
        "test_hungry.py",
        "
def test_hungry():
    kept = []
    try:
        while len(kept) < 4_000:
            kept.append(bytearray(1 << 20))
    finally:
        # pytest keeps the traceback, and that its frames.
        kept.clear()

def test_modest():
    assert len(bytearray(1 << 20)) == 1 << 20
",
    )]);
    let mut args = FEW.to_vec();
    args.extend(["--memory", "300"]);
    let run = project.detect(&args);
    let id = "test_hungry.py::test_hungry";
    run.expect(&[(id, "always_failing"), (VICTIM, "victim")]);
    assert_eq!(message(&run, id), "MemoryError");
    leaves_nothing(&project);
}

#[test]
fn a_mutant_that_forks_without_end_is_ended() {
    let calc = format!(
        "{BOMB}\n\ndef spread(rounds):\n    if rounds > 2:\n        explode()\n    return rounds\n"
    );
    let project = Project::new(&[
        ("calc.py", &calc),
        (
            "test_calc.py",
            "import calc\n\n\ndef test_spread():\n    assert calc.spread(2) == 2\n",
        ),
    ]);
    let output = project
        .flakelab(&["mutate", "--seed", "1", "--format", "json", "--python"])
        .arg(project.python())
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}\n{said}"));
    // `True`, `rounds >= 2` and `rounds > 1`; what comes after a bomb is judged as usual.
    let totals = &document["totals"];
    assert_eq!(totals["timeout"], 3, "{document:#}");
    assert_eq!(totals["error"], 0, "{document:#}");
    leaves_nothing(&project);
}
