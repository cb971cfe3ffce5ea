//! Tests that do things to their process: end it, hang it, fork it, close its descriptors, leave others
//! running.

use crate::support::order::{FEW, FEWEST, VICTIM, beside_a_victim, notes};
use crate::support::reproduce::{processes_in, processes_with};
use crate::support::{Project, Run};

// -- ends of the process --------------------------------------------------------------------------

/// A victim whose failure is the end of the process.
fn crashing_victim(crash: &str) -> Project {
    Project::new(&[(
        "test_crash.py",
        &format!(
            "
import ctypes, os, signal

state = []

def test_a():
    assert True

def test_victim():
    if state:
        {crash}

def test_polluter():
    state.append(1)
"
        ),
    )])
}

fn finds_the_crash(crash: &str, message: &str) -> (Project, Run) {
    let project = crashing_victim(crash);
    let run = project.detect(&FEW);
    let victim = "test_crash.py::test_victim";
    run.expect(&[(victim, "victim")]);
    assert_eq!(run.code, 1);
    let said = run.test(victim)["failure"]["message"].to_string();
    assert!(said.contains(message), "{said}");
    (project, run)
}

fn reproduces_the_crash(crash: &str, message: &str, codes: [Option<i32>; 2]) {
    let (project, run) = finds_the_crash(crash, message);
    let plain = project.reproduce("", &run, "test_crash.py::test_victim");
    assert!(codes.contains(&plain.code), "{plain:?}");
}

#[test]
fn a_victim_that_exits_the_process_is_a_victim() {
    reproduces_the_crash("os._exit(3)", "exited with code 3", [Some(3); 2]);
}

#[test]
fn a_victim_that_exits_with_success_is_a_victim() {
    // No plain command can show this by its exit code.
    finds_the_crash("os._exit(0)", "exited with code 0");
}

#[test]
fn a_victim_that_segfaults_is_a_victim() {
    reproduces_the_crash("ctypes.string_at(0)", "signal 11", [None, Some(139)]);
}

#[test]
fn a_victim_that_kills_itself_is_a_victim() {
    reproduces_the_crash(
        "os.kill(os.getpid(), signal.SIGKILL)",
        "signal 9",
        [None, Some(137)],
    );
}

#[test]
fn a_victim_that_kills_its_process_group_is_a_victim() {
    reproduces_the_crash(
        "os.killpg(0, signal.SIGKILL)",
        "signal 9",
        [None, Some(137)],
    );
}

/// A test that always ends the process: said so, and the others are classified all the same.
fn sets_aside(crash: &str) {
    let project = beside_a_victim(&[(
        "test_crash.py",
        &format!("import ctypes, os, signal, sys, pytest\n\ndef test_crash():\n    {crash}\n"),
    )]);
    let run = project.detect(&FEW);
    run.expect(&[
        ("test_crash.py::test_crash", "always_failing"),
        (VICTIM, "victim"),
    ]);
    assert_eq!(run.code, 1);
    assert!(notes(&run).contains("set aside"), "{}", notes(&run));
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn a_test_that_always_exits_is_set_aside() {
    sets_aside("os._exit(0)");
}

#[test]
fn a_test_that_always_segfaults_is_set_aside() {
    sets_aside("ctypes.string_at(0)");
}

#[test]
fn a_test_that_always_kills_itself_is_set_aside() {
    sets_aside("os.kill(os.getpid(), signal.SIGKILL)");
}

#[test]
fn a_test_that_always_ends_the_session_is_set_aside() {
    sets_aside("pytest.exit('enough')");
}

#[test]
fn a_test_that_is_always_interrupted_is_set_aside() {
    sets_aside("raise KeyboardInterrupt");
}

#[test]
fn a_test_that_calls_sys_exit_fails_and_nothing_more() {
    let project = beside_a_victim(&[(
        "test_exit.py",
        "import sys\n\ndef test_exit():\n    sys.exit(3)\n",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[
        ("test_exit.py::test_exit", "always_failing"),
        (VICTIM, "victim"),
    ]);
    assert_eq!(notes(&run), "[]");
}

#[test]
fn a_victim_that_ends_the_session_is_a_victim() {
    let project = crashing_victim("raise KeyboardInterrupt");
    let run = project.detect(&FEW);
    let victim = "test_crash.py::test_victim";
    run.expect(&[(victim, "victim")]);
    let plain = project.reproduce("", &run, victim);
    assert_eq!(plain.code, Some(2), "{plain:?}");
}

// -- hangs ----------------------------------------------------------------------------------------

const HANGS: [&str; 6] = [
    "--orders",
    "4",
    "--isolated-runs",
    "2",
    "--test-timeout",
    "2s",
];

#[test]
fn a_test_that_hangs_after_another_is_a_victim() {
    let project = Project::new(&[(
        "test_hang.py",
        "
import time

state = []

def test_a():
    assert True

def test_victim():
    while state:
        time.sleep(1)

def test_polluter():
    state.append(1)
",
    )]);
    let run = project.detect(&HANGS);
    let victim = "test_hang.py::test_victim";
    run.expect(&[(victim, "victim")]);
    let said = run.test(victim)["failure"]["message"].to_string();
    assert!(said.contains("no end after 2"), "{said}");
    // Plain pytest would hang as well: the command is looked at, not executed.
    assert_eq!(
        run.test(victim)["reproduce"]["command"],
        "pytest test_hang.py::test_polluter test_hang.py::test_victim"
    );
}

#[test]
fn a_test_that_always_hangs_is_set_aside() {
    let project = beside_a_victim(&[(
        "test_hang.py",
        "
import signal, time

def test_hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    while True:
        time.sleep(1)
",
    )]);
    let run = project.detect(&HANGS);
    run.expect(&[
        ("test_hang.py::test_hang", "always_failing"),
        (VICTIM, "victim"),
    ]);
    assert!(notes(&run).contains("set aside"), "{}", notes(&run));
}

#[test]
fn a_test_that_hangs_in_another_process_group_is_ended() {
    let project = Project::new(&[(
        "test_hang.py",
        "
import os, time

state = []

def test_victim():
    if state:
        os.setpgid(0, os.getpgid(os.getppid()))
        while True:
            time.sleep(1)

def test_polluter():
    state.append(1)
",
    )]);
    let run = project.detect(&HANGS);
    run.expect(&[("test_hang.py::test_victim", "victim")]);
}

#[test]
fn a_run_that_takes_longer_than_its_limit_is_ended() {
    let project = beside_a_victim(&[(
        "test_hang.py",
        "
import time

def test_hang():
    while True:
        time.sleep(1)
",
    )]);
    let run = project.detect(&[
        "--orders",
        "4",
        "--isolated-runs",
        "2",
        "--test-timeout",
        "1h",
        "--run-timeout",
        "4s",
    ]);
    let hang = "test_hang.py::test_hang";
    run.expect(&[(hang, "always_failing"), (VICTIM, "victim")]);
    let said = run.test(hang)["failure"]["message"].to_string();
    assert!(said.contains("the run was ended after"), "{said}");
    assert!(notes(&run).contains("set aside"), "{}", notes(&run));
    project.reproduces_victim(&run, VICTIM);
}

// -- memory ---------------------------------------------------------------------------------------

/// Half a GiB, which it gives back.
const HUNGRY: &str = "
def test_hungry():
    assert len(bytearray(512 << 20)) == 512 << 20
";

#[test]
fn a_test_that_takes_too_much_memory_fails_alone() {
    let project = beside_a_victim(&[("test_hungry.py", HUNGRY)]);
    let mut args = FEW.to_vec();
    args.extend(["--memory", "300"]);
    let run = project.detect(&args);
    let hungry = "test_hungry.py::test_hungry";
    run.expect(&[(hungry, "always_failing"), (VICTIM, "victim")]);
    assert_eq!(run.test(hungry)["failure"]["message"], "MemoryError");
    assert_eq!(notes(&run), "[]");
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn memory_is_not_limited_to_less_than_the_machine_has() {
    let project = beside_a_victim(&[("test_hungry.py", HUNGRY)]);
    project.detect(&FEWEST).expect(&[(VICTIM, "victim")]);
}

/// Collecting looks for it less often.
#[test]
fn garbage_is_looked_for_as_usual_while_tests_run() {
    let project = beside_a_victim(&[(
        "test_garbage.py",
        "
import gc

def test_threshold():
    assert gc.isenabled() and 0 < gc.get_threshold()[0] < 10_000
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    // In forks as well, or they would not be used.
    assert_eq!(notes(&run), "[]");
}

// -- descriptors and streams ----------------------------------------------------------------------

/// Something a test does to its process that must disturb neither flakelab nor the tests after it.
fn is_harmless(body: &str) {
    let project = beside_a_victim(&[(
        "test_rude.py",
        &format!("import os, signal, subprocess, sys, threading, time\n\ndef test_rude():\n{body}"),
    )]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(run.code, 1);
    assert_eq!(notes(&run), "[]");
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn the_standard_descriptors_may_be_replaced() {
    is_harmless(
        "
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
",
    );
}

#[test]
fn descriptors_above_the_standard_ones_may_be_closed() {
    // As daemons do; pytest's own capture files are among them, so only those a test can have opened.
    is_harmless(
        "
    for fd in range(20, 256):
        try:
            os.close(fd)
        except OSError:
            pass
",
    );
}

#[test]
fn the_standard_streams_may_be_replaced() {
    is_harmless("    sys.stdout = sys.stderr = sys.stdin = None\n");
}

#[test]
fn the_standard_descriptors_may_be_closed() {
    is_harmless(
        "
    for fd in (0, 1, 2):
        os.close(fd)
",
    );
}

#[test]
fn a_test_that_only_a_silent_pytest_survives_is_set_aside() {
    // Without capture plain pytest dies of this as soon as it prints; a fork prints nothing.
    let project = beside_a_victim(&[
        ("pytest.ini", "[pytest]\naddopts = -s\n"),
        (
            "test_a_rude.py",
            "
import os

def test_rude():
    for fd in (0, 1, 2):
        os.close(fd)
",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[
        ("test_a_rude.py::test_rude", "always_failing"),
        (VICTIM, "victim"),
    ]);
    assert!(notes(&run).contains("set aside"), "{}", notes(&run));
    // The orders leave it out, so that all of them reach the tests behind it.
    assert_eq!(run.test(VICTIM)["failure_rate"]["of"], 8);
}

#[test]
fn a_flood_of_output_is_bounded() {
    let project = beside_a_victim(&[
        ("pytest.ini", "[pytest]\naddopts = -s\n"),
        (
            "test_rude.py",
            "
import os, sys

def test_rude():
    block = b'x' * (1 << 20)
    for _ in range(200):
        os.write(1, block)
",
        ),
    ]);
    let run = project.detect(&FEWEST);
    run.expect(&[(VICTIM, "victim")]);
    assert!(run.stderr.len() + run.stdout.len() < 100_000);
}

#[test]
fn a_captured_flood_of_output_is_bounded() {
    let project = beside_a_victim(&[(
        "test_rude.py",
        "
def test_rude():
    block = 'x' * (1 << 20)
    for _ in range(200):
        print(block)
",
    )]);
    project.detect(&FEWEST).expect(&[(VICTIM, "victim")]);
}

// -- directories, signals, threads, processes -------------------------------------------------------

#[test]
fn the_directory_may_be_changed() {
    is_harmless("    os.chdir('/')\n");
}

#[test]
fn the_directory_may_be_removed() {
    is_harmless(
        "
    import tempfile
    place = tempfile.mkdtemp()
    os.chdir(place)
    os.rmdir(place)
",
    );
}

#[test]
fn signals_may_be_handled_and_ignored() {
    is_harmless(
        "
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
",
    );
}

#[test]
fn a_child_that_falls_out_of_its_test_does_not_run_the_rest() {
    // With plain pytest it does, and the parent finds the shared byte written.
    let project = beside_a_victim(&[(
        "test_fork.py",
        "
import mmap, os

shared = []

def test_returns():
    shared.append(mmap.mmap(-1, 1))
    pid = os.fork()
    if pid == 0:
        return
    os.waitpid(pid, 0)

def test_raises():
    shared.append(mmap.mmap(-1, 1))
    pid = os.fork()
    if pid == 0:
        raise SystemExit(1)
    os.waitpid(pid, 0)

def test_rest():
    for memory in shared:
        assert memory[0] == 0
        memory[0] = 1
    shared.clear()
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(notes(&run), "[]");
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn threads_may_be_left_running() {
    is_harmless(
        "
    for daemon in (True, False):
        threading.Thread(target=time.sleep, args=(100_000,), daemon=daemon).start()
",
    );
}

#[test]
fn no_process_a_test_started_outlives_flakelab() {
    let project = beside_a_victim(&[(
        "test_rude.py",
        "
import os, subprocess, sys

def test_child():
    subprocess.Popen(['sleep', '1000.1234'])

def test_session_leader():
    subprocess.Popen(['sleep', '1000.1235'], start_new_session=True)

def test_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', '1000.1236'])
        os._exit(0)
    os.wait()
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(processes_with("1000.123"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn process_pools_may_be_used_and_left_open() {
    let project = beside_a_victim(&[(
        "test_rude.py",
        "
import concurrent.futures
import multiprocessing

def double(x):
    return 2 * x

def test_pool():
    pool = multiprocessing.get_context('fork').Pool(2)
    assert pool.map(double, [1, 2, 3]) == [2, 4, 6]
    globals()['kept'] = pool

def test_executor():
    executor = concurrent.futures.ProcessPoolExecutor(2)
    assert list(executor.map(double, [1, 2, 3])) == [2, 4, 6]
    globals()['kept_too'] = executor

def test_spawned():
    process = multiprocessing.get_context('spawn').Process(target=double, args=(1,))
    process.start()
    process.join()
    assert process.exitcode == 0
",
    )]);
    let run = project.detect(&["--orders", "4", "--isolated-runs", "2"]);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(notes(&run), "[]");
}

#[test]
fn functions_left_replaced_are_a_finding_and_no_crash() {
    let project = Project::new(&[(
        "test_mock.py",
        "
import json, os, time

pid = os.getpid()

def broken(*args, **kwargs):
    raise RuntimeError('left replaced')

def test_victim():
    assert os.getpid() != 4 and json.loads(json.dumps([1])) == [1] and time.time() > 1

def test_polluter():
    os.getpid = lambda: 4
    os.write = os.read = os._exit = os.fork = os.kill = os.killpg = os.waitpid = os.wait4 = broken
    json.dumps = json.loads = broken
    time.time = lambda: 0

def test_other():
    assert True
",
    )]);
    let run = project.detect(&FEW);
    let victim = "test_mock.py::test_victim";
    run.expect(&[(victim, "victim")]);
    assert_eq!(run.test(victim)["failure"]["phase"], "call");
    let said = run.test(victim)["failure"]["message"].to_string();
    assert!(said.contains("assert"), "{said}");
    project.reproduces_victim(&run, victim);
}

#[test]
fn every_descriptor_of_a_daemon_may_be_closed() {
    // Without capture, plain pytest survives this: its own files are 0 to 2.
    let project = beside_a_victim(&[
        ("pytest.ini", "[pytest]\naddopts = -s\n"),
        (
            "test_rude.py",
            "
import os

def test_rude():
    os.closerange(3, 256)
",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(notes(&run), "[]");
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn forks_that_do_not_start_are_done_without() {
    let project = beside_a_victim(&[(
        "conftest.py",
        "
import os, time

os.register_at_fork(after_in_child=lambda: time.sleep(1e6))
",
    )]);
    let run = project.detect(&HANGS);
    run.expect(&[(VICTIM, "victim")]);
    assert!(
        notes(&run).contains("a forked process did not start"),
        "{}",
        notes(&run)
    );
    project.reproduces_victim(&run, VICTIM);
}

/// A victim that hits its parent process once it is polluted, and then waits.
fn hits_its_parent(signal: &str) -> Run {
    let project = beside_a_victim(&[(
        "test_rude.py",
        &format!(
            "
import os, signal, time

state = []

def test_rude():
    if state:
        os.kill(os.getppid(), signal.{signal})
        while True:
            time.sleep(1)

def test_polluter():
    state.append(1)
"
        ),
    )]);
    let run = project.detect(&HANGS);
    let place = project.path().to_string_lossy().into_owned();
    assert_eq!(processes_in(&place), Vec::<std::path::PathBuf>::new());
    run.expect(&[(VICTIM, "victim"), ("test_rude.py::test_rude", "victim")]);
    project.reproduces_victim(&run, VICTIM);
    run
}

#[test]
fn a_test_that_kills_its_parent_ends_neither_flakelab_nor_the_campaign() {
    let run = hits_its_parent("SIGKILL");
    let said = run.test("test_rude.py::test_rude")["failure"]["message"].to_string();
    assert!(said.contains("killed by signal 9"), "{said}");
}

#[test]
fn a_test_that_stops_its_parent_stops_neither_flakelab_nor_the_campaign() {
    let run = hits_its_parent("SIGSTOP");
    let said = run.test("test_rude.py::test_rude")["failure"]["message"].to_string();
    assert!(said.contains("no end after"), "{said}");
}

#[test]
fn a_test_that_always_kills_its_parent_is_set_aside() {
    sets_aside(
        "os.kill(os.getppid(), signal.SIGKILL)
    while True:
        signal.pause()",
    );
}
