//! Names: whatever a test is called, it is found, classified, and the printed command runs it.

use crate::support::Project;
use crate::support::order::{FEW, ORDER, VICTIM, beside_a_victim};

// -- names ------------------------------------------------------------------------------------------

#[test]
fn unittest_classes_are_classified() {
    let project = Project::new(&[(
        "test_unit.py",
        "
import unittest

class Shared:
    items = []

class TestCart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ready = True

    def setUp(self):
        self.one = 1

    def test_1_setter(self):
        Shared.done = True

    def test_2_brittle(self):
        self.assertTrue(getattr(Shared, 'done', False))

    def test_3_victim(self):
        with self.subTest('empty'):
            self.assertEqual(Shared.items, [])
        self.assertEqual(Shared.items, [])

    @unittest.skip('later')
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

class TestOther(unittest.TestCase):
    def test_polluter(self):
        Shared.items.append(1)
",
    )]);
    let run = project.detect(&FEW);
    let (brittle, victim) = (
        "test_unit.py::TestCart::test_2_brittle",
        "test_unit.py::TestCart::test_3_victim",
    );
    run.expect(&[(brittle, "brittle"), (victim, "victim")]);
    // Not where unittest raised it.
    assert_eq!(run.test(brittle)["failure"]["at"], "test_unit.py:19");
    project.reproduces_brittle(&run, brittle);
    project.reproduces_victim(&run, victim);
}

#[test]
fn nested_classes_are_classified() {
    let project = Project::new(&[(
        "test_nested.py",
        "
state = []

class TestOuter:
    def test_a(self):
        assert True

    class TestInner:
        def test_victim(self):
            assert state == []

        class TestInmost:
            def test_polluter(self):
                state.append(1)
",
    )]);
    let run = project.detect(&FEW);
    let victim = "test_nested.py::TestOuter::TestInner::test_victim";
    run.expect(&[(victim, "victim")]);
    assert_eq!(
        run.test(victim)["reproduce"]["order"][0],
        "test_nested.py::TestOuter::TestInner::TestInmost::test_polluter"
    );
    project.reproduces_victim(&run, victim);
}

/// Names of parameters (a Python literal), and what pytest makes of them.
const NAMES: [(&str, &str); 5] = [
    // Spaces and quotes.
    (
        r#"'it\'s "a  b" $HOME `ls` \t'"#,
        r#"it's "a  b" $HOME `ls` \t"#,
    ),
    // Brackets and separators.
    ("'a[0]::b]/c[::TestX'", "a[0]::b]/c[::TestX"),
    // pytest itself escapes what is not ASCII, unless the project asks it not to.
    ("'naïve-日本-🦀'", r"na\xefve-\u65e5\u672c-\U0001f980"),
    // Newlines and backslashes.
    (r"'a\nb\\c\\'", r"a\nb\\c\\"),
    // Hashes and dashes.
    ("'#2 --x=1; rm -rf'", "#2 --x=1; rm -rf"),
];

#[test]
fn whatever_parameters_are_called_survives() {
    let long = "x".repeat(5000);
    let all: Vec<(&str, &str)> = NAMES.into_iter().chain([("'x' * 5000", &*long)]).collect();
    let files: Vec<(String, String)> = all
        .iter()
        .enumerate()
        .map(|(number, (literal, _))| {
            let text = format!(
                "
import pytest

state = []

@pytest.mark.parametrize('x', [pytest.param(1, id={literal}), pytest.param(2, id='plain')])
def test_victim(x):
    assert x == 2 or state == []

@pytest.mark.parametrize('x', [pytest.param(1, id={literal})])
def test_polluter(x):
    state.append(1)
"
            );
            (format!("test_names_{number}.py"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let project = Project::new(&files);
    let run = project.detect(&FEW);
    let victims: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(number, (_, id))| format!("test_names_{number}.py::test_victim[{id}]"))
        .collect();
    let expected: Vec<(&str, &str)> = victims.iter().map(|id| (id.as_str(), "victim")).collect();
    run.expect(&expected);
    for victim in &victims {
        project.reproduces_victim(&run, victim);
    }
}

#[test]
fn unescaped_unicode_in_ids_survives() {
    let project = Project::new(&[
        (
            "pytest.ini",
            "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n",
        ),
        (
            "test_names.py",
            "
import pytest

state = []

@pytest.mark.parametrize('x', ['naïve 日本 🦀'])
def test_victim(x):
    assert state == []

def test_polluter():
    state.append(1)
",
        ),
    ]);
    let run = project.detect(&FEW);
    let victim = "test_names.py::test_victim[naïve 日本 🦀]";
    run.expect(&[(victim, "victim")]);
    project.reproduces_victim(&run, victim);
}

#[test]
fn numbers_that_look_like_those_of_duplicates_are_names() {
    let project = Project::new(&[(
        "test_names.py",
        "
import pytest

state = []

@pytest.mark.parametrize('x', ['a', 'a#2', 'a'])
def test_victim(x):
    assert x != 'a#2' or state == []

def test_polluter():
    state.append(1)
",
    )]);
    let run = project.detect(&FEW);
    run.expect(&[("test_names.py::test_victim[a#2]", "victim")]);
    project.reproduces_victim(&run, "test_names.py::test_victim[a#2]");
}

#[test]
fn directories_with_hostile_names_survive() {
    let project = Project::new(&[("my tests/it's [x]/test_order.py", ORDER)]);
    let run = project.detect(&FEW);
    run.expect(&[("my tests/it's [x]/test_order.py::test_b", "victim")]);
}

#[test]
fn doctests_are_classified() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n"),
        (
            "shop.py",
            "
items = []

def add():
    '''
    >>> items.append(1)
    '''

def count():
    '''
    >>> len(items)
    0
    '''

class Cart:
    '''
    >>> Cart().total
    0
    '''
    total = 0
",
        ),
        ("test_plain.py", "def test_plain():\n    assert True\n"),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[("shop.py::shop.count", "victim")]);
    project.reproduces_victim(&run, "shop.py::shop.count");
    let failure = &run.test("shop.py::shop.count")["failure"];
    assert_eq!(failure["message"], "DocTestFailure: Expected: 0 Got: 1");
    assert_eq!(failure["at"], "shop.py:11");
}

#[test]
fn text_file_doctests_are_classified() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --doctest-glob=*.rst\n"),
        ("shop.py", "items = []\n"),
        ("conftest.py", ""),
        (
            "a.rst",
            "
>>> import shop
>>> shop.items
[]
",
        ),
        (
            "b.rst",
            "
>>> import shop
>>> shop.items.append(1)
",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[("a.rst::a.rst", "victim")]);
    project.reproduces_victim(&run, "a.rst::a.rst");
}

#[test]
fn duplicate_ids_are_told_apart() {
    let project = Project::new(&[("test_order.py", ORDER)]);
    let mut args = FEW.to_vec();
    args.extend(["--", "--keep-duplicates", "test_order.py", "test_order.py"]);
    let run = project.detect(&args);
    let classes = run.classes();
    assert_eq!(
        classes.get(VICTIM).map(String::as_str),
        Some("victim"),
        "{classes:?}\n{}",
        run.stderr
    );
    let ids: Vec<String> = run.document["tests"]
        .as_array()
        .expect("tests")
        .iter()
        .map(|t| t["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(
        ids,
        [
            "test_order.py::test_b",
            "test_order.py::test_z",
            "test_order.py::test_b#2",
            "test_order.py::test_z#2"
        ]
    );
}

#[test]
fn ids_given_twice_by_a_hook_are_told_apart() {
    let project = Project::new(&[
        (
            "conftest.py",
            "
def pytest_collection_modifyitems(items):
    for item in items:
        item._nodeid = item.nodeid.split('[')[0]
",
        ),
        (
            "test_same.py",
            "
import pytest

state = []

@pytest.mark.parametrize('x', [1, 2])
def test_same(x):
    assert x == 1 or state == []

def test_z():
    state.append(1)
",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[("test_same.py::test_same#2", "victim")]);
    // No plain command can name the second one: it must not be said that one was seen to work.
    assert_eq!(
        run.test("test_same.py::test_same#2")["reproduce"]["verified"],
        false
    );
}

#[test]
fn items_that_are_no_python_functions_are_classified() {
    let project = Project::new(&[
        (
            "conftest.py",
            "
import pytest

done = []

def pytest_collect_file(parent, file_path):
    if file_path.suffix == '.steps':
        return Steps.from_parent(parent, path=file_path)

class Steps(pytest.File):
    def collect(self):
        for line in self.path.read_text().splitlines():
            yield Step.from_parent(self, name=line)

class Step(pytest.Item):
    def runtest(self):
        if self.name == 'make a mess':
            done.append(1)
        if self.name == 'look around':
            assert not done
",
        ),
        ("test_all.steps", "look around\nwait\nmake a mess\n"),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[("test_all.steps::look around", "victim")]);
    project.reproduces_victim(&run, "test_all.steps::look around");
}

#[test]
fn a_failing_subtest_fails_its_test() {
    let project = Project::new(&[(
        "test_sub.py",
        "
import unittest

state = []

def test_victim(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1 or state == []

class TestUnit(unittest.TestCase):
    def test_victim(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertTrue(number != 1 or state == [])

def test_polluter():
    state.append(1)
",
    )])
    .with("pytest9");
    let run = project.detect(&FEW);
    let victims = [
        "test_sub.py::TestUnit::test_victim",
        "test_sub.py::test_victim",
    ];
    run.expect(&victims.map(|id| (id, "victim")));
    for victim in victims {
        project.reproduce("", &run, victim);
    }
}

// -- what is collected ------------------------------------------------------------------------------

fn finds_unstable(values: &str, tests: usize) {
    let project = Project::new(&[
        ("test_order.py", ORDER),
        (
            "test_unstable.py",
            &format!(
                "
import os, time, uuid
import pytest

@pytest.mark.parametrize('x', {values})
def test_unstable(x):
    assert x

def test_stable():
    assert True
"
            ),
        ),
    ]);
    let run = project.detect(&FEW);
    let classes = run.classes();
    let (unstable, rest): (Vec<_>, Vec<_>) = classes
        .iter()
        .partition(|(id, _)| id.starts_with("test_unstable.py::test_unstable["));
    assert_eq!(unstable.len(), tests, "{classes:?}");
    assert!(
        unstable
            .iter()
            .all(|(_, class)| *class == "unstable_parametrisation"),
        "{classes:?}\n{}",
        run.stdout
    );
    assert_eq!(rest.len(), 1, "{classes:?}");
    assert_eq!(classes[VICTIM], "victim");
    assert_eq!(run.code, 1);
    project.reproduces_victim(&run, VICTIM);
}

#[test]
fn ids_made_by_chance_are_unstable_parametrisation() {
    finds_unstable("[str(uuid.uuid4()), str(uuid.uuid4())]", 2);
}

#[test]
fn ids_made_from_the_clock_are_unstable_parametrisation() {
    finds_unstable("[time.time_ns()]", 1);
}

#[test]
fn ids_numbered_by_the_order_of_a_set_are_stable_names() {
    // The same names in another order: nothing is unstable about them.
    let project = Project::new(&[
        ("test_order.py", ORDER),
        (
            "test_set.py",
            "
import pytest

@pytest.mark.parametrize('x', {'ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu'})
def test_set(x):
    assert x
",
        ),
    ]);
    let run = project.detect(&FEW);
    run.expect(&[(VICTIM, "victim")]);
}

#[test]
fn more_ids_may_be_given_than_fit_into_a_packet() {
    let project = beside_a_victim(&[(
        "test_long.py",
        "
import pytest

@pytest.mark.parametrize('name', ['x' * 1000 + str(n) for n in range(150)])
def test_long(name):
    pass
",
    )]);
    let long = |n| format!("test_long.py::test_long[{}{n}]", "x".repeat(1000));
    let ids: Vec<String> = (0..150).map(long).collect();
    let mut args = vec!["--orders", "4", "--isolated-runs", "2", "--", "-k", "test"];
    args.push("test_order.py");
    args.extend(ids.iter().map(String::as_str));
    let run = project.detect(&args);
    run.expect(&[(VICTIM, "victim")]);
    assert_eq!(
        run.test(VICTIM)["reproduce"]["command"],
        "pytest -k test test_order.py::test_z test_order.py::test_b"
    );
    project.reproduces_victim(&run, VICTIM);
}
