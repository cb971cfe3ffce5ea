//! What tests share is made one for every test: the scope of a fixture, a class-wide or module-wide set-up.

use std::collections::BTreeMap;

use flakelab_model::Place;
use flakelab_source::{Edit, Function, Piece, Source, Tree, apply, locate};

use super::block::{conftests, free_name};
use super::set_up::SetUp;
use crate::case::Case;
use crate::patch::{Change, Patch, Site, Strategy};

/// How what a class or module has set up is made anew for a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Set up before every test and torn down after it.
    Each,
    /// What is there is torn down, and set up once more: the last one is left for the end of the class or module.
    Renewed,
    /// Set up over what is there.
    Over,
}

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    let Some(place) = Place::of(&case.test) else {
        return Vec::new();
    };
    let mut found: Vec<Patch> = Vec::new();
    let ways = case.causes.iter().flat_map(|cause| {
        let all = [Way::Each, Way::Renewed, Way::Over];
        all.map(|way| (cause, way))
    });
    for (cause, way) in ways {
        let mut changed = Changed {
            tree,
            texts: BTreeMap::new(),
        };
        let mut names = Vec::new();
        for leak in cause.iter().filter(|leak| leak.kind == "fixture") {
            let made = if let Some(rest) = leak.name.strip_prefix("fixture ") {
                let name = rest.split(' ').next().unwrap_or_default();
                scope(name, &place, &changed)
            } else {
                let (word, _) = leak.name.split_once(" of ").unwrap_or((&leak.name, ""));
                set_up(word, &place, &changed, way)
            };
            let made = made.and_then(|(path, edits)| {
                let after = apply(&changed.read(&path)?, &edits)?;
                Some((path, after))
            });
            if let Some((path, after)) = made {
                names.push(leak.name.clone());
                changed.texts.insert(path, after);
            }
        }
        if names.is_empty() {
            continue;
        }
        let changes = changed.texts.into_iter();
        let changes: Vec<Change> = changes
            .map(|(path, after)| Change {
                before: tree.read(&path),
                path,
                after,
            })
            .collect();
        // All ways are the same where nothing is torn down.
        if found.iter().any(|patch| patch.changes == changes) {
            continue;
        }
        found.push(Patch {
            strategy: Strategy::Isolate,
            site: Site::Shared,
            reason: format!(
                "every test gets its own {}, because tests change it",
                names.join(" and ")
            ),
            changes,
        });
    }
    found
}

/// The project with what was changed for the leaks before: two of them may change the same place.
struct Changed<'a> {
    tree: &'a dyn Tree,
    texts: BTreeMap<String, String>,
}

impl Tree for Changed<'_> {
    fn read(&self, path: &str) -> Option<String> {
        let changed = self.texts.get(path).cloned();
        changed.or_else(|| self.tree.read(path))
    }
}

/// The fixture's definition: in the test's file, its class, or a conftest file above.
fn scope(name: &str, place: &Place, tree: &dyn Tree) -> Option<(String, Vec<Edit>)> {
    for file in [place.file.clone()]
        .into_iter()
        .chain(conftests(&place.file))
    {
        let Some(source) = tree.read(&file).and_then(|text| Source::parse(&text)) else {
            continue;
        };
        let classes = place.class_path();
        let in_class: Vec<&str> = classes.iter().copied().chain([name]).collect();
        let function = source
            .function(&[name])
            .or_else(|| source.function(&in_class));
        if let Some(edits) = function.and_then(Function::drop_scope) {
            return Some((file, edits));
        }
    }
    None
}

/// `setUpClass`, `setup_class` or `setup_module`, with what tears it down.
fn set_up(word: &str, place: &Place, tree: &dyn Tree, way: Way) -> Option<(String, Vec<Edit>)> {
    let source = Source::parse(&tree.read(&place.file)?)?;
    let pairs = [
        ("setUpClass", "setUp", "tearDownClass", "tearDown"),
        (
            "setup_class",
            "setup_method",
            "teardown_class",
            "teardown_method",
        ),
    ];
    if word == "setup_module" || word == "setUpModule" {
        return each_test(word, place, &source, way, tree);
    }
    let (from, to, end, end_to) = pairs.into_iter().find(|(from, ..)| *from == word)?;
    let class = source.class(&place.class_path())?;
    let shared = class.method(from)?;
    let torn_down = class.method(end);
    // Under its new name it would hide what the class has or inherits under that name, and uncover what it inherits under
    // the old one.
    let is_inherited = |name: &str| locate::inherited(place, name, tree).is_some();
    let hides = class.method(to).is_some() || [from, to, end, end_to].into_iter().any(is_inherited);
    if hides || !locate::knows_bases(place, tree) {
        // The class sets up as before, and each test does so once more. What is torn down at the end is then what the last
        // test has set up, so that each test has to tear down what is there before it sets up its own.
        let torn_down = torn_down.is_some() || is_inherited(end);
        let again = Piece::line(&format!("self.{from}()"));
        let body = match (way, torn_down) {
            (_, false) => vec![again],
            (Way::Renewed, true) => vec![Piece::line(&format!("self.{end}()")), again],
            (Way::Each | Way::Over, true) => return None,
        };
        let edit = SetUp::of(class, place, tree).ok()?.add(&body).ok()?;
        return Some((place.file.clone(), vec![edit]));
    }
    if torn_down.is_some() && class.method(end_to).is_some() {
        return None;
    }
    let mut edits = shared.to_method(from, to);
    if let Some(method) = torn_down {
        edits.extend(method.to_method(end, end_to));
    }
    Some((place.file.clone(), edits))
}

/// A module's set-up called again for every test.
fn each_test(
    word: &str,
    place: &Place,
    source: &Source,
    way: Way,
    tree: &dyn Tree,
) -> Option<(String, Vec<Edit>)> {
    let arguments = |function: Option<Function<'_>>| match function {
        Some(function) if !function.parameters().is_empty() => "request.module",
        // Imported ones mostly take nothing.
        _ => "",
    };
    let has = |name: &str| source.function(&[name]).is_some() || source.imports_name(name);
    if !has(word) {
        return None;
    }
    let down = if word == "setUpModule" {
        "tearDownModule"
    } else {
        "teardown_module"
    };
    let set_up = format!("{word}({})", arguments(source.function(&[word])));
    let tear_down = has(down).then(|| format!("{down}({})", arguments(source.function(&[down]))));
    let body = match (way, tear_down) {
        (Way::Each, Some(tear_down)) => vec![set_up, "yield".into(), tear_down],
        (Way::Renewed, Some(tear_down)) => vec![tear_down, set_up],
        (_, None) | (Way::Over, _) => vec![set_up],
    };
    let indent = source.indent();
    let asks = body.iter().any(|line| line.contains("request"));
    let parameters = if asks { "request" } else { "" };
    let name = free_name(source, "set_up_each_test", &place.file, tree);
    let mut block = format!("@pytest.fixture(autouse=True)\ndef {name}({parameters}):\n");
    for line in body {
        block.push_str(&format!("{indent}{line}\n"));
    }
    Some((
        place.file.clone(),
        vec![source.add_block(&["pytest"], &block)],
    ))
}

#[cfg(test)]
mod tests {
    use flakelab_source::apply;

    use super::*;

    struct Only(&'static str);

    impl Tree for Only {
        fn read(&self, _: &str) -> Option<String> {
            Some(self.0.to_owned())
        }
    }

    fn changed(text: &'static str) -> Option<String> {
        changed_by(Way::Each, "setUpClass", text)
    }

    fn changed_by(way: Way, word: &str, text: &'static str) -> Option<String> {
        let place = Place::of("test_a.py::TestA::test_a").expect("a place");
        let (_, edits) = set_up(word, &place, &Only(text), way)?;
        apply(text, &edits)
    }

    #[test]
    fn a_class_that_has_both_makes_again_what_it_shares() {
        let text = "class TestA(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n\n    def setUp(self):\n        self.y = 1\n";
        let expected = text.replace("(self):\n", "(self):\n        self.setUpClass()\n");
        assert_eq!(changed(text), Some(expected));
    }

    #[test]
    fn a_set_up_that_a_class_inherits_is_not_hidden() {
        let head = "class Base(TestCase):\n    def setUp(self):\n        self.y = 1\n\n\nclass TestA(Base):\n";
        let own = "    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n";
        let text: &'static str = Box::leak(format!("{head}{own}").into_boxed_str());
        let new = "    def setUp(self):\n        super().setUp()\n        self.setUpClass()\n\n";
        assert_eq!(changed(text), Some(format!("{head}{new}{own}")));
        // Nor is one of the class uncovered.
        let text = "class Base(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.y = 1\n\n\nclass TestA(Base):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n";
        let out = changed(text).expect("a change");
        assert!(out.contains(new), "{out}");
        assert_eq!(out.matches("def setUpClass").count(), 2);
        let unknown = "class TestA(Other):\n    def setup_class(cls):\n        cls.x = []\n";
        assert_eq!(changed_by(Way::Each, "setup_class", unknown), None);
    }

    #[test]
    fn a_class_that_ends_what_it_shares_ends_the_last_one_where_methods_are_taken() {
        let text = "class TestA(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n\n    @classmethod\n    def tearDownClass(cls):\n        cls.x.clear()\n\n    def setUp(self):\n        self.y = 1\n";
        assert_eq!(changed(text), None);
        assert_eq!(changed_by(Way::Over, "setUpClass", text), None);
        let expected = text.replace(
            "setUp(self):\n",
            "setUp(self):\n        self.tearDownClass()\n        self.setUpClass()\n",
        );
        assert_eq!(changed_by(Way::Renewed, "setUpClass", text), Some(expected));
    }

    #[test]
    fn a_module_is_set_up_for_each_test_in_three_ways() {
        let text = "import pytest\n\nfrom base import setup_module, teardown_module\n\n\ndef test_a():\n    pass\n";
        let body = |way| {
            let changed = changed_by(way, "setup_module", text)?;
            let (_, rest) = changed.split_once("set_up_each_test():\n")?;
            let lines = rest.lines().map_while(|line| line.strip_prefix("    "));
            Some(lines.collect::<Vec<_>>().join(", "))
        };
        let each = "setup_module(), yield, teardown_module()";
        assert_eq!(body(Way::Each).as_deref(), Some(each));
        let renewed = "teardown_module(), setup_module()";
        assert_eq!(body(Way::Renewed).as_deref(), Some(renewed));
        assert_eq!(body(Way::Over).as_deref(), Some("setup_module()"));
        let only_up = "def setup_module(module):\n    pass\n";
        let over = changed_by(Way::Over, "setup_module", only_up).expect("a change");
        assert_eq!(
            changed_by(Way::Renewed, "setup_module", only_up),
            Some(over.clone())
        );
        let block = "def set_up_each_test(request):\n    setup_module(request.module)\n";
        assert!(over.contains(block), "{over}");
    }
}
