//! What tests share is made one for every test: the scope of a fixture, a class-wide or module-wide set-up.

use flakelab_model::Place;
use flakelab_source::{Edit, Function, Source, Tree, apply};

use crate::case::Case;
use crate::patch::{Change, Patch, Site, Strategy};

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    let Some(place) = Place::of(&case.test) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // With what tears it down for every test, or left to the end of the module.
    let ways = case
        .causes
        .iter()
        .flat_map(|cause| [(cause, true), (cause, false)]);
    for (cause, down) in ways {
        let mut edits: Vec<(String, Vec<Edit>)> = Vec::new();
        let mut names = Vec::new();
        for leak in cause.iter().filter(|leak| leak.kind == "fixture") {
            let made = if let Some(rest) = leak.name.strip_prefix("fixture ") {
                let name = rest.split(' ').next().unwrap_or_default();
                scope(name, &place, tree)
            } else {
                let (word, _) = leak.name.split_once(" of ").unwrap_or((&leak.name, ""));
                set_up(word, &place, tree, down)
            };
            if let Some((path, more)) = made {
                names.push(leak.name.clone());
                match edits.iter_mut().find(|(known, _)| *known == path) {
                    Some((_, all)) => all.extend(more),
                    None => edits.push((path, more)),
                }
            }
        }
        if edits.is_empty() {
            continue;
        }
        let changes = edits
            .into_iter()
            .filter_map(|(path, edits)| {
                let before = tree.read(&path)?;
                let after = apply(&before, &edits);
                Some(Change {
                    path,
                    before: Some(before),
                    after,
                })
            })
            .collect();
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

/// The fixture's definition: in the test's file, its class, or a conftest file above.
fn scope(name: &str, place: &Place, tree: &dyn Tree) -> Option<(String, Vec<Edit>)> {
    let mut files = vec![place.file.clone()];
    let mut folder = place.file.as_str();
    while let Some((above, _)) = folder.rsplit_once('/') {
        files.push(format!("{above}/conftest.py"));
        folder = above;
    }
    files.push("conftest.py".into());
    for file in files {
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
fn set_up(word: &str, place: &Place, tree: &dyn Tree, down: bool) -> Option<(String, Vec<Edit>)> {
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
        return each_test(word, place, &source, down);
    }
    let (from, to, end, end_to) = pairs.into_iter().find(|(from, ..)| *from == word)?;
    let class = source.class(&place.class_path())?;
    let shared = class.method(from)?;
    let torn_down = class.method(end);
    if let Some(method) = class.method(to) {
        // What is made for the class is made again for each test; what ends it would end it once only.
        let again = format!("self.{from}()");
        let edit = method.prepend(&[again]).filter(|_| torn_down.is_none());
        return Some((place.file.clone(), vec![edit?]));
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
    with_down: bool,
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
    let mut body = vec![format!("{word}({})", arguments(source.function(&[word])))];
    if with_down && has(down) {
        body.push("yield".into());
        body.push(format!("{down}({})", arguments(source.function(&[down]))));
    }
    let indent = source.indent();
    let mut block = "@pytest.fixture(autouse=True)\ndef set_up_each_test(request):\n".to_owned();
    for line in body {
        block.push_str(&format!("{indent}{line}\n"));
    }
    Some((place.file.clone(), source.add_block(&["pytest"], &block)))
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
        let place = Place::of("test_a.py::TestA::test_a").expect("a place");
        let (_, edits) = set_up("setUpClass", &place, &Only(text), true)?;
        Some(apply(text, &edits))
    }

    #[test]
    fn a_class_that_has_both_makes_again_what_it_shares() {
        let text = "class TestA(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n\n    def setUp(self):\n        self.y = 1\n";
        let expected = text.replace("(self):\n", "(self):\n        self.setUpClass()\n");
        assert_eq!(changed(text), Some(expected));
    }

    #[test]
    fn a_class_that_ends_what_it_shares_is_left_alone_where_methods_are_taken() {
        let text = "class TestA(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = []\n\n    @classmethod\n    def tearDownClass(cls):\n        cls.x.clear()\n\n    def setUp(self):\n        self.y = 1\n";
        assert_eq!(changed(text), None);
    }
}
