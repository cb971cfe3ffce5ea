//! Edits that could help, the best first: what a maintainer would write comes before what merely works.

mod anew;
mod block;
mod cleanup;
mod guard;
mod helper;
mod isolate;
mod names;
mod reset;
mod restore;
mod rewrite;
mod set_up;

use flakelab_model::{Class, Place};
use flakelab_source::{Tree, locate};

use crate::case::Case;
use crate::patch::{Patch, Site};

pub(crate) use helper::Recipe;

/// A patch to try.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) patch: Patch,
    /// How to make smaller ones, if there are any.
    pub(crate) recipe: Option<Recipe>,
}

impl From<Patch> for Candidate {
    fn from(patch: Patch) -> Self {
        Self {
            patch,
            recipe: None,
        }
    }
}

/// Why some strategies have nothing to offer.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Vec<String>);

impl Refusals {
    fn add(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.0.contains(&why) {
            self.0.push(why);
        }
    }

    pub(crate) fn text(&self) -> String {
        self.0.join("; ")
    }
}

/// What candidates are made from, beside the case.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) tree: &'a dyn Tree,
    /// Ids of the suite in their order.
    pub(crate) suite: &'a [String],
    pub(crate) site: Option<Site>,
    /// Whether other tests of its file fail for the same cause.
    pub(crate) shared: bool,
    /// Every test that is to be fixed.
    pub(crate) cases: &'a [Case],
}

/// Candidates for one test. None of them is known to work.
pub(crate) fn candidates(case: &Case, around: Around<'_>) -> (Vec<Candidate>, Refusals) {
    let tree = around.tree;
    let mut refused = Refusals::default();
    let isolated = isolate::propose(case, tree);
    let anew = anew::propose(case, tree);
    // A state-setter that runs first for every test must not meet what another test left.
    let both: Vec<Patch> = isolated
        .iter()
        .chain(&anew)
        .flat_map(|patch| on_top(patch, case, around))
        .collect();
    let plain = |patches: Vec<Patch>| patches.into_iter().map(Candidate::from);
    let mut found: Vec<Candidate> = plain(isolated).collect();
    found.extend(rewrite::propose(case, tree).map(Candidate::from));
    found.extend(plain(cleanup::propose(case, tree)));
    found.extend(plain(restore::propose(case, around)));
    let resets = plain(reset::propose(case, tree, around.shared));
    let helpers = helper::propose(case, around, &mut refused);
    if case.class == Class::Brittle {
        found.extend(helpers);
        found.extend(resets);
    } else {
        found.extend(resets);
        found.extend(helpers);
    }
    found.extend(plain(anew));
    found.extend(plain(helper::calls(case, around)));
    found.extend(plain(both));
    let mut seen: Vec<Candidate> = Vec::new();
    for candidate in found {
        let patch = &candidate.patch;
        // Ids are a suite's text: nothing above the project is ever written.
        let inside = patch.changes.iter().all(|change| is_inside(&change.path));
        let changes = patch
            .changes
            .iter()
            .any(|c| c.before.as_ref() != Some(&c.after));
        let wanted = around.site.is_none_or(|site| site == patch.site);
        let known = seen.iter().any(|k| k.patch.changes == patch.changes);
        let mut paths = patch.changes.iter().map(|change| &change.path);
        if let Some(path) = paths.find(|path| has_only_doctests(path, around.suite, tree)) {
            refused.add(format!(
                "`{path}` has doctests only: what tests share is not put back in code of the project"
            ));
        } else if inside && changes && wanted && !known {
            seen.push(candidate);
        }
    }
    (seen, refused)
}

/// Whether all that the suite has of a file are doctests: it is code that others import, in which no fixture belongs.
fn has_only_doctests(file: &str, ids: &[String], tree: &dyn Tree) -> bool {
    let stem = file.rsplit('/').next().unwrap_or(file);
    let stem = stem.strip_suffix(".py").unwrap_or(stem);
    let is_doctest = |place: &Place| {
        let named = place.function.contains('.') || place.function == stem;
        named && place.classes.is_empty() && locate::test(place, tree).is_none()
    };
    let places = ids.iter().filter_map(|id| Place::of(id));
    let mut places = places.filter(|place| place.file == file).peekable();
    places.peek().is_some() && places.all(|place| is_doctest(&place))
}

fn is_inside(path: &str) -> bool {
    path.split('/')
        .all(|part| !matches!(part, "" | "." | "..") && !part.contains('\0'))
}

/// Calls of helpers on top of a patch.
pub(crate) fn on_top(patch: &Patch, case: &Case, around: Around<'_>) -> Vec<Patch> {
    let over = Patched {
        tree: around.tree,
        patch,
    };
    let over = Around {
        tree: &over,
        ..around
    };
    helper::calls(case, over)
        .into_iter()
        .map(|mut more| {
            let mut changes = patch.changes.clone();
            for change in more.changes {
                match changes.iter_mut().find(|known| known.path == change.path) {
                    Some(known) => known.after = change.after,
                    None => changes.push(change),
                }
            }
            more.changes = changes;
            more.reason = format!("{}; {}", patch.reason, more.reason);
            if patch.site == Site::Shared {
                (more.site, more.strategy) = (patch.site, patch.strategy);
            }
            more
        })
        .collect()
}

/// The project with a patch in place.
struct Patched<'a> {
    tree: &'a dyn Tree,
    patch: &'a Patch,
}

impl Tree for Patched<'_> {
    fn read(&self, path: &str) -> Option<String> {
        let changed = self.patch.changes.iter().find(|c| c.path == path);
        changed.map_or_else(|| self.tree.read(path), |c| Some(c.after.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flakelab_model::Class;

    use super::*;
    use crate::case::Leak;
    use crate::patch::Strategy;

    struct Files(BTreeMap<&'static str, &'static str>);

    impl Tree for Files {
        fn read(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }
    }

    fn case(class: Class, test: &str, culprit: &str, leak: (&str, &str, &str)) -> Case {
        Case {
            test: test.into(),
            class,
            culprits: vec![vec![culprit.into()]],
            cleaners: Vec::new(),
            causes: vec![vec![Leak {
                kind: leak.0.into(),
                name: leak.1.into(),
                before: leak.2.into(),
                left_by: vec![culprit.into()],
                ..Leak::default()
            }]],
            idle: Vec::new(),
        }
    }

    fn all(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
        let around = Around {
            tree,
            suite: &[],
            site: None,
            shared: false,
            cases: &[],
        };
        let found = candidates(case, around).0.into_iter();
        found.map(|candidate| candidate.patch).collect()
    }

    /// A candidate's text of the file must contain the lines.
    #[track_caller]
    fn check(files: &[(&'static str, &'static str)], case: &Case, strategy: Strategy, lines: &str) {
        let tree = Files(files.iter().copied().collect());
        let found = all(case, &tree);
        let fits = found
            .iter()
            .filter(|patch| patch.strategy == strategy)
            .any(|patch| patch.changes[0].after.contains(lines));
        assert!(fits, "{lines}\nis not in one of\n{found:#?}");
    }

    #[test]
    fn state_of_the_test_module_itself_is_put_back_in_place() {
        check(
            &[(
                "test_a.py",
                "DATA = [1]\n\n\ndef test_p():\n  DATA.clear()\n\n\ndef test_v():\n  assert DATA\n",
            )],
            &case(
                Class::Victim,
                "test_a.py::test_v",
                "test_a.py::test_p",
                ("global", "test_a.DATA", "[1]"),
            ),
            Strategy::Restore,
            "@pytest.fixture(autouse=True)\ndef restore_data():\n  saved = DATA.copy()\n  yield\n  DATA[:] = saved\n",
        );
    }

    #[test]
    fn a_bound_value_is_put_back_with_monkeypatch_under_the_name_the_file_uses() {
        check(
            &[
                (
                    "tests/test_a.py",
                    "from shop import config as c\n\n\ndef test_p():\n    c.rate = 2\n",
                ),
                ("tests/test_b.py", ""),
                ("shop/config.py", "rate = 1\n"),
            ],
            &case(
                Class::Victim,
                "tests/test_b.py::test_v",
                "tests/test_a.py::test_p",
                ("global", "shop.config.rate", "1"),
            ),
            Strategy::Restore,
            "def restore_rate(monkeypatch):\n    monkeypatch.setattr(c, \"rate\", c.rate)\n",
        );
    }

    #[test]
    fn a_setter_with_a_fixture_is_called_with_it() {
        check(
            &[(
                "test_a.py",
                "def test_s(box):\n    box.fill()\n\n\ndef test_b(other):\n    \"\"\"Doc.\"\"\"\n    assert other\n",
            )],
            &case(
                Class::Brittle,
                "test_a.py::test_b",
                "test_a.py::test_s",
                ("thread", "x", ""),
            ),
            Strategy::Helper,
            "def test_b(other, box):\n    \"\"\"Doc.\"\"\"\n    test_s(box)\n    assert other\n",
        );
    }

    #[test]
    fn loggers_and_attributes_that_should_not_be_there_are_put_right() {
        let file = ("test_a.py", "def test_b():\n    assert 1\n");
        let brittle = case(
            Class::Brittle,
            "test_a.py::test_b",
            "test_p.py::test_p",
            ("logging", "logger shop: handlers", "[]"),
        );
        check(
            &[file],
            &brittle,
            Strategy::Reset,
            "    monkeypatch.setattr(logging.getLogger(\"shop\"), \"handlers\", [logging.NullHandler()])\n",
        );
        let victim = case(
            Class::Victim,
            "test_a.py::test_b",
            "test_p.py::test_p",
            ("class_attribute", "shop.Shop.open", "(not there)"),
        );
        check(
            &[file, ("shop.py", "class Shop:\n    pass\n")],
            &victim,
            Strategy::Reset,
            "    if \"open\" in vars(shop.Shop):\n        del shop.Shop.open\n",
        );
    }

    #[test]
    fn state_that_a_class_meets_is_put_right_before_the_class() {
        let text = "class TestA:\n    def setup_class(cls):\n        pass\n\n    def test_b(self):\n        pass\n";
        let leak = ("environ", "os.environ[\"X\"]", "(not there)");
        let both = case(
            Class::Victim,
            "test_a.py::TestA::test_b",
            "test_a.py::TestA::test_p",
            leak,
        );
        check(
            &[("test_a.py", text)],
            &both,
            Strategy::Reset,
            "@pytest.fixture(scope=\"class\", autouse=True)\ndef reset_state():\n    with pytest.MonkeyPatch.context() as monkeypatch:\n        monkeypatch.delenv(\"X\", raising=False)\n        yield\n",
        );
        check(
            &[("test_a.py", text)],
            &both,
            Strategy::Restore,
            "@pytest.fixture(scope=\"class\", autouse=True)\ndef restore_environment():\n    with mock.patch.dict(os.environ):\n        yield\n",
        );
    }

    #[test]
    fn what_a_class_or_module_of_tests_makes_is_made_anew() {
        let of = |text: &'static str, name: &str, lines: &str| {
            let leak = ("attribute", name, "(not there)");
            let victim = case(
                Class::Victim,
                "test_a.py::TestA::test_b",
                "test_a.py::TestA::test_p",
                leak,
            );
            check(&[("test_a.py", text)], &victim, Strategy::Isolate, lines);
        };
        of(
            "class TestA:\n    cart = Cart()\n\n    def test_b(self):\n        assert self.cart\n",
            "test_a.TestA.cart.rows[\"a\"]",
            "    def setup_method(self):\n        self.cart = Cart()\n",
        );
        of(
            "from unittest import TestCase\n\n\nclass TestA(TestCase):\n    cart = Cart()\n\n    def setUp(self):\n        TestA.cart.open()\n",
            "test_a.TestA.cart.rows[\"a\"]",
            "    def setUp(self):\n        type(self).cart = Cart()\n        TestA.cart.open()\n",
        );
        of(
            "CART = Cart(1)\n\n\nclass TestA:\n    def test_b(self):\n        assert CART\n",
            "test_a.CART.rows[\"a\"]",
            "@pytest.fixture(autouse=True)\ndef fresh_cart():\n    global CART\n    CART = Cart(1)\n",
        );
    }

    #[test]
    fn what_one_test_needs_is_not_done_before_every_test_of_its_file() {
        let leak = ("environ", "os.environ[\"X\"]", "(not there)");
        let victim = case(
            Class::Victim,
            "test_a.py::test_b",
            "test_p.py::test_p",
            leak,
        );
        let text = "def test_b(box):\n    assert 1\n";
        let marked = "@pytest.mark.usefixtures(\"reset_state\")\ndef test_b(box):\n";
        check(&[("test_a.py", text)], &victim, Strategy::Reset, marked);
        let brittle = case(
            Class::Brittle,
            "test_a.py::test_b",
            "test_a.py::test_s",
            leak,
        );
        let text = "def test_s():\n    fill()\n\n\ndef test_b(box):\n    assert 1\n";
        let fixture = "@pytest.fixture\ndef prepare_test_b():\n    if \"X\" not in os.environ:\n        test_s()\n";
        check(&[("test_a.py", text)], &brittle, Strategy::Helper, fixture);
        let tree = Files([("test_a.py", text)].into_iter().collect());
        for patch in all(&brittle, &tree) {
            let text = &patch.changes[0].after;
            assert!(!text.contains("autouse"), "{text}");
            assert_eq!(
                text.contains("def prepare_"),
                text.contains("usefixtures"),
                "{text}"
            );
        }
    }

    #[test]
    fn mocks_that_a_helper_is_given_are_no_fixtures_and_fixtures_it_does_not_need_are_left_out() {
        let text = "class A(TestCase):\n    def test_b(self):\n        assert 1\n\n\n@mock.patch(\"x\")\ndef test_s(get, box):\n    y = get.z\n    use(y)\n    fill()\n    box.shut()\n\n\ndef test_c():\n    assert 1\n";
        let of = |test: &str, lines: &str| {
            let leak = ("thread", "x", "");
            let brittle = case(Class::Brittle, test, "test_a.py::test_s", leak);
            check(&[("test_a.py", text)], &brittle, Strategy::Helper, lines);
        };
        of(
            "test_a.py::A::test_b",
            "    def test_b(self):\n        fill()\n        assert 1\n",
        );
        of(
            "test_a.py::test_c",
            "def test_c(box):\n    fill()\n    box.shut()\n    assert 1\n",
        );
        of(
            "test_a.py::test_c",
            "def test_c(box):\n    test_s(box=box)\n    assert 1\n",
        );
        let text = "class A(TestCase):\n    @mock.patch(\"x\")\n    def test_s(self, get):\n        fill()\n\n    def test_b(self):\n        assert 1\n";
        let leak = ("thread", "x", "");
        let brittle = case(
            Class::Brittle,
            "test_a.py::A::test_b",
            "test_a.py::A::test_s",
            leak,
        );
        check(
            &[("test_a.py", text)],
            &brittle,
            Strategy::Helper,
            "    def test_b(self):\n        self.test_s()\n",
        );
    }

    #[test]
    fn a_setter_runs_only_where_the_state_is_missing() {
        for (leak, condition) in [
            (
                ("environ", "os.environ[\"X\"]", "(not there)"),
                "\"X\" not in os.environ",
            ),
            (
                ("global", "shop.OPEN[\"x\"]", "(not there)"),
                "\"x\" not in shop.OPEN",
            ),
            (("global", "shop.OPEN", "None"), "shop.OPEN is None"),
            (("global", "shop.OPEN", "[]"), "not shop.OPEN"),
            (
                ("attribute", "shop.BOX.lid", "(not there)"),
                "\"lid\" not in vars(shop.BOX)",
            ),
            (
                ("logging", "logger root: filters", "[]"),
                "not logging.getLogger().filters",
            ),
        ] {
            let brittle = case(
                Class::Brittle,
                "test_a.py::test_b",
                "test_a.py::test_s",
                leak,
            );
            let text = "def test_s():\n    fill()\n\n\ndef test_b():\n    assert 1\n";
            check(
                &[("test_a.py", text), ("shop.py", "")],
                &brittle,
                Strategy::Helper,
                &format!("    if {condition}:\n        test_s()\n"),
            );
        }
    }

    #[test]
    fn helpers_of_classes_are_called_the_way_their_class_is_run() {
        let text = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_s(self):\n        pass\n\n    def test_b(self):\n        pass\n\n\nclass B(unittest.TestCase):\n    def test_b(self):\n        pass\n";
        let leak = ("thread", "x", "");
        check(
            &[("test_a.py", text)],
            &case(
                Class::Brittle,
                "test_a.py::A::test_b",
                "test_a.py::A::test_s",
                leak,
            ),
            Strategy::Helper,
            "        self.test_s()\n",
        );
        check(
            &[("test_a.py", text)],
            &case(
                Class::Brittle,
                "test_a.py::B::test_b",
                "test_a.py::A::test_s",
                leak,
            ),
            Strategy::Helper,
            "        A(\"test_s\").debug()\n",
        );
    }

    #[test]
    fn a_shared_fixture_in_a_conftest_above_becomes_one_for_every_test() {
        check(
            &[
                ("tests/unit/test_a.py", "def test_v(box):\n    pass\n"),
                (
                    "tests/conftest.py",
                    "import pytest\n\n\n@pytest.fixture(scope=\"session\")\ndef box():\n    return []\n",
                ),
            ],
            &case(
                Class::Victim,
                "tests/unit/test_a.py::test_v",
                "tests/unit/test_a.py::test_p",
                ("fixture", "fixture box (session scope)", "not set up"),
            ),
            Strategy::Isolate,
            "@pytest.fixture\ndef box():\n",
        );
    }

    #[test]
    fn nothing_above_the_project_is_touched() {
        for file in ["../other/test_p.py", "/etc/test_p.py", "a//test_p.py"] {
            let polluter = format!("{file}::test_p");
            let leak = ("environ", "os.environ[\"X\"]", "(not there)");
            let case = case(Class::Victim, "test_v.py::test_v", &polluter, leak);
            let tree = Files([("test_v.py", "")].into_iter().collect());
            assert!(all(&case, &tree).is_empty(), "{file}");
        }
    }

    #[test]
    fn polluters_of_several_modules_get_a_fixture_in_the_conftest_above_or_each_its_own() {
        let mut case = case(
            Class::Victim,
            "tests/a/test_v.py::test_v",
            "tests/a/test_p.py::test_p",
            ("environ", "os.environ[\"X\"]", "(not there)"),
        );
        case.culprits.push(vec!["tests/b/test_q.py::test_q".into()]);
        let fixture = "import os\nfrom unittest import mock\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef restore_environment():\n    with mock.patch.dict(os.environ):\n        yield\n";
        let mut files = BTreeMap::from([("tests/a/test_p.py", ""), ("tests/b/test_q.py", "")]);
        let each = &all(&case, &Files(files.clone()))[0].changes;
        let paths: Vec<&str> = each.iter().map(|c| c.path.as_str()).collect();
        assert_eq!(paths, ["tests/a/test_p.py", "tests/b/test_q.py"]);
        assert!(each.iter().all(|change| change.after == fixture));
        files.insert("tests/conftest.py", "");
        let one = &all(&case, &Files(files))[0].changes;
        assert_eq!(one[0].path, "tests/conftest.py");
        assert_eq!((one.len(), one[0].after.as_str()), (1, fixture));
    }
}
