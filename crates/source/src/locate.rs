//! Where the code of a test stands: its own class, or one it inherits from, in whatever file.

use flakelab_model::Place;

use crate::python::{Class, Function, Source};

/// The project's files, relative to where ids start.
pub trait Tree {
    /// `None` if there is no such file, or it is no text.
    fn read(&self, path: &str) -> Option<String>;
}

/// Classes that inherit from classes, at most so many steps.
const DEEPEST: usize = 6;

/// A function in the file that has it.
#[derive(Debug)]
pub struct Located {
    pub file: String,
    pub source: Source,
    pub path: Vec<String>,
}

impl Located {
    pub fn function(&self) -> Option<Function<'_>> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        self.source.function(&path)
    }

    pub fn class(&self) -> Option<Class<'_>> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        self.source.class(path.split_last()?.1)
    }

    pub fn is_method(&self) -> bool {
        self.path.len() > 1
    }
}

/// The test's function.
pub fn test(place: &Place, tree: &dyn Tree) -> Option<Located> {
    find(&place.file, &place.classes, &place.function, tree, DEEPEST)
}

/// A method that the test's class has or inherits, e.g. `setUp`.
pub fn method(place: &Place, name: &str, tree: &dyn Tree) -> Option<Located> {
    if place.classes.is_empty() {
        return None;
    }
    find(&place.file, &place.classes, name, tree, DEEPEST)
}

/// A method that the test's class inherits, whether or not it has one of its own.
pub fn inherited(place: &Place, name: &str, tree: &dyn Tree) -> Option<Located> {
    let source = Source::parse(&tree.read(&place.file)?)?;
    let bases = source.class(&place.class_path())?.bases();
    bases.iter().find_map(|base| {
        let (file, classes) = home(&place.file, &source, &place.classes, base, tree)?;
        find(&file, &classes, name, tree, DEEPEST - 1)
    })
}

/// Whether all that the test's class may inherit is the project's, or has no set-up to speak of.
pub fn knows_bases(place: &Place, tree: &dyn Tree) -> bool {
    bases_known(&place.file, &place.classes, tree, DEEPEST)
}

fn bases_known(file: &str, classes: &[String], tree: &dyn Tree, depth: usize) -> bool {
    const PLAIN: [&str; 5] = [
        "object",
        "ABC",
        "TestCase",
        "SimpleTestCase",
        "IsolatedAsyncioTestCase",
    ];
    let Some(source) = tree.read(file).and_then(|text| Source::parse(&text)) else {
        return false;
    };
    let path: Vec<&str> = classes.iter().map(String::as_str).collect();
    let Some(class) = source.class(&path) else {
        return false;
    };
    class.bases().iter().all(|base| {
        let last = base.rsplit('.').next().unwrap_or(base);
        match home(file, &source, classes, base, tree) {
            Some((file, classes)) => depth > 0 && bases_known(&file, &classes, tree, depth - 1),
            None => PLAIN.contains(&last),
        }
    })
}

/// Whether the test's class is a `unittest` one, here or in a file that its bases come from.
pub fn is_unittest(place: &Place, tree: &dyn Tree) -> bool {
    unittest(&place.file, &place.classes, tree, DEEPEST)
}

fn unittest(file: &str, classes: &[String], tree: &dyn Tree, depth: usize) -> bool {
    let Some(source) = tree.read(file).and_then(|text| Source::parse(&text)) else {
        return false;
    };
    let path: Vec<&str> = classes.iter().map(String::as_str).collect();
    let Some(class) = source.class(&path) else {
        return false;
    };
    class.is_unittest()
        || (depth > 0
            && class.bases().iter().any(|base| {
                home(file, &source, classes, base, tree)
                    .is_some_and(|(file, classes)| unittest(&file, &classes, tree, depth - 1))
            }))
}

fn find(
    file: &str,
    classes: &[String],
    function: &str,
    tree: &dyn Tree,
    depth: usize,
) -> Option<Located> {
    let source = Source::parse(&tree.read(file)?)?;
    let path: Vec<String> = classes
        .iter()
        .cloned()
        .chain([function.to_owned()])
        .collect();
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    if source.function(&names).is_some() {
        return Some(Located {
            file: file.to_owned(),
            source,
            path,
        });
    }
    let depth = depth.checked_sub(1)?;
    let class: Vec<&str> = classes.iter().map(String::as_str).collect();
    for base in source.class(&class)?.bases() {
        let Some((file, classes)) = home(file, &source, classes, &base, tree) else {
            continue;
        };
        if let Some(found) = find(&file, &classes, function, tree, depth) {
            return Some(found);
        }
    }
    None
}

/// Where a base class is defined: beside the class, in the module, or in a module it is imported from.
fn home(
    file: &str,
    source: &Source,
    classes: &[String],
    base: &str,
    tree: &dyn Tree,
) -> Option<(String, Vec<String>)> {
    let names: Vec<String> = base.split('.').map(str::to_owned).collect();
    for outer in (0..classes.len()).rev() {
        let path: Vec<String> = classes[..outer]
            .iter()
            .cloned()
            .chain(names.clone())
            .collect();
        let here: Vec<&str> = path.iter().map(String::as_str).collect();
        if path != classes && source.class(&here).is_some() {
            return Some((file.to_owned(), path));
        }
    }
    let import = source.import_of(&names[0])?;
    let (module, classes) = match import.strip_prefix("from ") {
        Some(rest) => {
            let (module, thing) = rest.split_once(" import ")?;
            let thing = thing.split(" as ").next()?.trim().to_owned();
            let classes: Vec<String> = [thing].into_iter().chain(names[1..].to_vec()).collect();
            (module.to_owned(), classes)
        }
        None => {
            let module = names[..names.len() - 1].join(".");
            (module, names[names.len() - 1..].to_vec())
        }
    };
    Some((file_of(&module, file, tree)?, classes))
}

/// The project's file of a module, seen from another file.
fn file_of(module: &str, from: &str, tree: &dyn Tree) -> Option<String> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let path = module.trim_start_matches('.').replace('.', "/");
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    let bases: Vec<String> = if dots > 0 {
        folders.truncate(folders.len().checked_sub(dots - 1)?);
        vec![folders.join("/")]
    } else {
        vec![folders.join("/"), String::new(), "src".into()]
    };
    for base in bases {
        let start = if base.is_empty() {
            path.clone()
        } else {
            format!("{base}/{path}")
        };
        for file in [format!("{start}.py"), format!("{start}/__init__.py")] {
            if tree.read(&file).is_some() {
                return Some(file);
            }
        }
    }
    None
}

/// Whether Python takes it as a name.
fn is_identifier(word: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    word.chars().all(is_part) && word.chars().next().is_some_and(|c| !c.is_numeric())
}

/// What pytest calls the module of a test file: from the topmost folder that is a package.
pub fn module_name(file: &str, tree: &dyn Tree) -> Option<String> {
    let stem = file.strip_suffix(".py")?;
    let parts: Vec<&str> = stem.split('/').collect();
    let packages = (1..parts.len())
        .rev()
        .take_while(|count| {
            let folder = parts[..*count].join("/");
            tree.read(&format!("{folder}/__init__.py")).is_some()
        })
        .count();
    let parts = &parts[parts.len() - 1 - packages..];
    parts
        .iter()
        .all(|part| is_identifier(part))
        .then(|| parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files(&'static [(&'static str, &'static str)]);

    impl Tree for Files {
        fn read(&self, path: &str) -> Option<String> {
            let found = self.0.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        }
    }

    #[test]
    fn inherited_tests_are_found_where_they_are_written() {
        let tree = Files(&[
            (
                "tests/test_a.py",
                "from .base import Base as B\n\n\nclass Local:\n    def test_x(self):\n        pass\n\n\nclass TestA(Local, B):\n    class Inner(Local):\n        pass\n",
            ),
            (
                "tests/base.py",
                "import unittest\n\n\nclass Base(unittest.TestCase):\n    def test_y(self):\n        pass\n",
            ),
        ]);
        for (id, file, path) in [
            (
                "tests/test_a.py::TestA::test_x",
                "tests/test_a.py",
                "Local.test_x",
            ),
            (
                "tests/test_a.py::TestA::test_y",
                "tests/base.py",
                "Base.test_y",
            ),
            (
                "tests/test_a.py::TestA::Inner::test_x",
                "tests/test_a.py",
                "Local.test_x",
            ),
        ] {
            let place = Place::of(id).expect("an id");
            let found = test(&place, &tree).expect("found");
            assert_eq!(
                (found.file.as_str(), found.path.join(".")),
                (file, path.into())
            );
        }
        let place = Place::of("tests/test_a.py::TestA::test_y").expect("an id");
        assert!(is_unittest(&place, &tree));
    }

    #[test]
    fn modules_are_named_as_pytest_names_them() {
        let tree = Files(&[("a/b/__init__.py", ""), ("p/__init__.py", "")]);
        for (file, name) in [
            ("test_x.py", "test_x"),
            ("tests/test_x.py", "test_x"),
            ("a/b/test_x.py", "b.test_x"),
            ("p/test_x.py", "p.test_x"),
        ] {
            assert_eq!(module_name(file, &tree).as_deref(), Some(name));
        }
    }
}
