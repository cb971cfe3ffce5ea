//! Which files of tests another text may import: those whose module it names, wherever it does.
//!
//! Any word counts, not only what stands in an import: a name can be imported by a string, and what is found too much is run
//! once more, while what is overlooked is a verdict that no longer holds.

use std::collections::{BTreeMap, BTreeSet};

/// Files by the last part of their modules' names.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<String, Vec<String>>);

impl Modules {
    pub fn new<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in files {
            let path = file.strip_suffix(".py").unwrap_or(file);
            // A package is called like its folder.
            let path = path.strip_suffix("/__init__").unwrap_or(path);
            let name = path.rsplit('/').next().unwrap_or(path);
            all.entry(name.to_owned())
                .or_default()
                .push(file.to_owned());
        }
        Self(all)
    }

    /// Those that a text names.
    pub fn in_text(&self, text: &str) -> BTreeSet<&str> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let files = words.filter_map(|word| self.0.get(word));
        files.flatten().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_in_imports_of_any_form() {
        let modules = Modules::new([
            "t/test_a.py",
            "test_b.py",
            "u/test_a.py",
            "deep/__init__.py",
        ]);
        let all = |text: &str| -> Vec<String> {
            modules
                .in_text(text)
                .into_iter()
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(all("from .test_a import x"), ["t/test_a.py", "u/test_a.py"]);
        assert_eq!(all("import t.test_b as b\n"), ["test_b.py"]);
        assert_eq!(all("import_module('test_b')"), ["test_b.py"]);
        assert_eq!(all("from deep import y"), ["deep/__init__.py"]);
        assert!(all("test_a_2, my_test_b, x = test_ab").is_empty());
    }
}
