//! What a suite sets up at import is the run's own: threads, event loops, files, databases, generators; and
//! what tests do to the project's files.

use crate::support::Project;
use crate::support::order::{FEW, VICTIM, beside_a_victim, notes};

// -- what happens at import ---------------------------------------------------------------------------

#[test]
fn threads_started_at_import_are_named_and_runs_are_not_forked() {
    let project = beside_a_victim(&[(
        "conftest.py",
        "
import threading

class Cache:
    def __init__(self):
        self.event = threading.Event()
        threading.Thread(target=self.event.wait, name='refresher', daemon=True).start()

cache = Cache()
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(run.document["campaign"]["isolation"], "cold");
    assert!(run.stderr.contains("refresher"), "{}", run.stderr);
    assert!(
        run.stderr.contains("interpreter of its own"),
        "{}",
        run.stderr
    );
    project.reproduces_victim(&run, VICTIM);
}

/// Something the suite sets up at import and its tests use: the same in every run.
fn stays_stable(module: &str) {
    let project = beside_a_victim(&[("test_import.py", module)]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
}

#[test]
fn an_event_loop_made_at_import_works_in_forks() {
    stays_stable(
        "
import asyncio, threading

loop = asyncio.new_event_loop()

async def work():
    future = loop.create_future()
    threading.Thread(target=loop.call_soon_threadsafe, args=(future.set_result, 7)).start()
    return await asyncio.wait_for(future, 10)

def test_loop():
    assert loop.run_until_complete(work()) == 7

def test_loop_again():
    assert loop.run_until_complete(work()) == 7
",
    );
}

#[test]
fn a_file_opened_at_import_is_the_runs_own() {
    stays_stable(
        "
import os, tempfile

scratch = tempfile.TemporaryFile('w+')
scratch.write('start')
scratch.flush()
here = open(os.path.join(os.path.dirname(__file__), 'log.txt'), 'w+')

def test_scratch():
    scratch.seek(0)
    assert scratch.read() == 'start'

def test_log():
    here.seek(0)
    here.truncate()
    here.write('one')
    here.flush()
    with open(here.name) as again:
        assert again.read() == 'one'
",
    );
}

#[test]
fn a_file_written_by_one_run_is_empty_in_the_next() {
    stays_stable(
        "
import os

log = open(os.path.join(os.path.dirname(__file__), 'log.txt'), 'a+')

def test_log():
    log.seek(0)
    assert log.read() == ''

def teardown_module():
    log.write('left behind')
    log.flush()
",
    );
}

#[test]
fn a_database_opened_at_import_is_the_runs_own() {
    stays_stable(
        "
import os, sqlite3

db = sqlite3.connect(os.path.join(os.path.dirname(__file__), 'test.db'))
db.execute('create table if not exists t (x)')
db.execute('delete from t')
db.commit()

def test_insert():
    with db:
        db.execute('delete from t')
        db.execute('insert into t values (1)')
    assert db.execute('select count(*) from t').fetchone() == (1,)

def test_insert_two():
    with db:
        db.execute('delete from t')
        db.executemany('insert into t values (?)', [(1,), (2,)])
    assert db.execute('select count(*) from t').fetchone() == (2,)
",
    );
}

#[test]
fn a_generator_seeded_at_import_keeps_its_state_in_forks() {
    stays_stable(
        "
import random

random.seed(42)
state = random.getstate()

def test_seeded():
    random.setstate(random.getstate())
    assert random.getstate() == state
",
    );
}

#[test]
fn numpy_seeded_at_import_keeps_its_state_in_forks() {
    let project = beside_a_victim(&[(
        "test_import.py",
        "
import numpy

numpy.random.seed(42)

def test_seeded():
    before = numpy.random.get_state()
    assert numpy.random.randint(1000) == 102
    numpy.random.set_state(before)
",
    )])
    .with("clock");
    let run = project.detect(&["--orders", "4", "--isolated-runs", "2"]);
    run.expect(&[(VICTIM, "victim")]);
}

// -- the project's files ----------------------------------------------------------------------------

const VANDAL: &str = "
import os, shutil

here = os.path.dirname(__file__)

def read():
    with open(os.path.join(here, 'data', 'value.txt')) as file:
        return file.read()

def test_reader():
    assert read() == 'good'

def test_editor():
    with open(os.path.join(here, 'data', 'value.txt'), 'w') as file:
        file.write('bad')

def test_remover():
    shutil.rmtree(os.path.join(here, 'data'), ignore_errors=True)
    os.makedirs(os.path.join(here, 'data'))
    with open(os.path.join(here, 'data', 'value.txt'), 'w') as file:
        file.write('worse')

def test_author():
    with open(os.path.join(here, 'new.py'), 'w') as file:
        file.write('x = 1')
";

#[test]
fn what_tests_do_to_the_project_reaches_neither_the_tree_nor_the_next_run() {
    // The harness compares the tree.
    let project = Project::new(&[("test_files.py", VANDAL), ("data/value.txt", "good")]);
    let run = project.detect(&FEW);
    assert_eq!(run.document["campaign"]["sandbox"], "overlay");
    run.expect(&[("test_files.py::test_reader", "victim")]);
    project.reproduces_victim(&run, "test_files.py::test_reader");
}

#[test]
fn without_a_sandbox_clean_suites_are_still_judged() {
    let project = beside_a_victim(&[]);
    let mut args = FEW.to_vec();
    args.extend(["--sandbox", "off"]);
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(run.document["campaign"]["sandbox"], "off");
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn home_and_temporary_files_are_fresh_for_every_run_even_without_a_sandbox() {
    let project = beside_a_victim(&[(
        "test_home.py",
        "
import os, tempfile

def test_home():
    for place in (os.path.expanduser('~'), tempfile.gettempdir()):
        path = os.path.join(place, 'marker-of-a-test')
        assert not os.path.exists(path)
        open(path, 'w').close()
",
    )]);
    let mut args = FEW.to_vec();
    args.extend(["--sandbox", "off"]);
    let run = project.detect(&args);
    run.expect(&[
        ("test_home.py::test_home", "non_idempotent"),
        (VICTIM, "victim"),
    ]);
}

// -- what another file imports ------------------------------------------------------------------------

const PLUGINS: [(&str, &str); 5] = [
    ("app/__init__.py", "REG = {}\n"),
    ("app/plugins.py", "import app\n\napp.REG['x'] = 1\n"),
    (
        "test_a.py",
        "
import app

def test_needs_early():
    assert 'x' in app.REG

def test_other():
    pass
",
    ),
    (
        "test_m.py",
        "
import app.plugins

def test_registers():
    assert app.REG
",
    ),
    (
        "test_z.py",
        "
import app

def test_needs_late():
    assert 'x' in app.REG
",
    ),
];

#[test]
fn a_test_that_needs_what_another_file_imports_is_brittle() {
    let project = beside_a_victim(&PLUGINS);
    let run = project.detect(&FEW);
    let needy = ["test_a.py::test_needs_early", "test_z.py::test_needs_late"];
    run.expect(&[
        (VICTIM, "victim"),
        (needy[0], "brittle"),
        (needy[1], "brittle"),
    ]);
    for id in needy {
        project.reproduces_brittle(&run, id);
        let why = run.test(id)["why"].as_str().unwrap_or_default();
        let ending = "with `test_m.py::test_registers` collected, before or after it";
        assert!(why.ends_with(ending), "{why}");
    }
    let run = project.explain(&["--no-state", needy[0]]);
    let explanation = run.explanation(needy[0]);
    assert_eq!(explanation["class"], "brittle", "{explanation:#}");
    let setters = &explanation["state_setters"];
    assert_eq!(
        *setters,
        serde_json::json!([["test_m.py::test_registers"]]),
        "{explanation:#}"
    );
    assert!(
        explanation["notes"]
            .to_string()
            .contains("it passes before them as well"),
        "{explanation:#}"
    );
}

#[test]
fn a_process_number_kept_at_import_takes_forks_from_one_test_only() {
    let project = beside_a_victim(&[
        (
            "test_pid.py",
            "import os\n\nPID = os.getpid()\n\ndef test_pid():\n    assert os.getpid() == PID\n",
        ),
        (
            "test_many.py",
            "import pytest\n\n@pytest.mark.parametrize('n', range(60))\ndef test_many(n):\n    pass\n",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
    let notes = notes(&run);
    assert!(
        notes.contains("1 test behaves differently in forked processes"),
        "{notes}"
    );
    assert!(!notes.contains("every run gets an interpreter"), "{notes}");
}
