//! Command lines for pytest: the user's own options with other tests in place of their selection.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use flakelab_model::{Suite, TestId, TestIndex, shell_word};

/// Beyond this many ids a cold run collects the user's whole selection and picks from it: matching
/// ids costs pytest time for each, and nobody reads such a command line.
const MOST_IDS: usize = 200;

/// The user's arguments, taken apart by pytest's own parser.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub options: Vec<String>,
    /// The options for a plain command, in which no plugin may shuffle, distribute or repeat.
    plain: Vec<String>,
    pub positionals: Vec<String>,
    /// From the invocation directory to the root that ids are relative to; empty where they agree.
    prefix: PathBuf,
    /// Where modules lie whose ids are not paths from that root, from the invocation directory.
    places: BTreeMap<String, String>,
    /// Whether the suite needs `python -m pytest`, which puts the directory on `sys.path`.
    pub as_module: bool,
}

impl Arguments {
    pub(super) fn new(
        options: Vec<String>,
        plain: Vec<String>,
        positionals: Vec<String>,
        rootdir: &Path,
        invocation_dir: &Path,
        as_module: bool,
    ) -> Self {
        Self {
            options,
            plain,
            positionals,
            prefix: relative(rootdir, invocation_dir),
            places: BTreeMap::new(),
            as_module,
        }
    }

    pub(super) fn with_places(mut self, places: BTreeMap<String, String>) -> Self {
        self.places = places;
        self
    }

    /// Everything the user gave: the whole selection.
    pub(super) fn all(&self) -> Vec<String> {
        self.options
            .iter()
            .chain(&self.positionals)
            .cloned()
            .collect()
    }

    /// Arguments that select just these tests in this order, if a command line can say it.
    pub fn selecting(&self, suite: &Suite, order: &[TestIndex]) -> Option<Vec<String>> {
        if order.len() > MOST_IDS || order.iter().any(|t| suite.is_repeat(*t)) {
            return None;
        }
        let ids = order.iter().map(|test| self.name(suite.id(*test)));
        Some(self.options.iter().cloned().chain(ids).collect())
    }

    /// An id as it is written on the command line.
    fn name(&self, id: &TestId) -> String {
        let module = id.module();
        if let Some(place) = self.places.get(module) {
            return format!("{place}{}", &id.as_str()[module.len()..]);
        }
        if self.prefix.as_os_str().is_empty() {
            return id.as_str().to_owned();
        }
        let path = normal(&self.prefix.join(module));
        format!("{}{}", path.display(), &id.as_str()[module.len()..])
    }

    /// The plain command that runs these tests in this order, quoted for a shell; `None` selects
    /// what the user selected.
    pub fn command(
        &self,
        suite: &Suite,
        order: Option<&[TestIndex]>,
        hash_seed: Option<u32>,
    ) -> String {
        let mut words = Vec::new();
        if let Some(seed) = hash_seed {
            words.push(format!("PYTHONHASHSEED={seed}"));
        }
        words.push(
            if self.as_module {
                "python -m pytest"
            } else {
                "pytest"
            }
            .to_owned(),
        );
        words.extend(self.plain.iter().map(|word| shell_word(word)));
        match order {
            Some(order) => words.extend(order.iter().map(|t| shell_word(&self.name(suite.id(*t))))),
            None => words.extend(self.positionals.iter().map(|word| shell_word(word))),
        }
        words.join(" ")
    }
}

impl Arguments {
    /// Two sessions in one process: how plain pytest runs one test twice.
    pub fn command_twice(&self, suite: &Suite, test: TestIndex) -> String {
        let ids = [self.name(suite.id(test))];
        let words: Vec<&String> = self.plain.iter().chain(&ids).collect();
        // A JSON list of strings is a Python list of strings.
        let list = serde_json::to_string(&words).unwrap_or_default();
        let path = if self.as_module {
            ""
        } else {
            "sys.path.pop(0); "
        };
        let program = format!(
            "import sys; {path}import pytest; a = {list}; pytest.main(a); sys.exit(pytest.main(a))"
        );
        format!("python -c {}", shell_word(&program))
    }
}

/// The path from `base` to `path`.
fn relative(path: &Path, base: &Path) -> PathBuf {
    let (mut ours, mut theirs) = (path.components().peekable(), base.components().peekable());
    while let (Some(a), Some(b)) = (ours.peek(), theirs.peek())
        && a == b
    {
        ours.next();
        theirs.next();
    }
    theirs.map(|_| Component::ParentDir).chain(ours).collect()
}

/// Resolves `..` after a normal component, textually.
fn normal(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            (Component::CurDir, _) => {}
            _ => parts.push(part),
        }
    }
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        Suite::new(
            [
                "sub/a.py::test_x[it's a b]",
                "sub/a.py::test_y",
                "other/b.py::test_z",
            ]
            .map(String::from),
        )
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let arguments = Arguments::new(
            vec!["-k".into(), "a or b".into()],
            ["-k", "a or b", "-n0"].map(String::from).to_vec(),
            vec!["sub".into()],
            "/p".as_ref(),
            "/p".as_ref(),
            false,
        );
        assert_eq!(
            arguments.command(&suite(), Some(&[TestIndex(0), TestIndex(1)]), Some(7)),
            r"PYTHONHASHSEED=7 pytest -k 'a or b' -n0 'sub/a.py::test_x[it'\''s a b]' sub/a.py::test_y"
        );
        assert_eq!(
            arguments.command(&suite(), None, None),
            "pytest -k 'a or b' -n0 sub"
        );
    }

    #[test]
    fn ids_are_written_relative_to_where_the_user_stands() {
        let arguments = Arguments::new(
            vec![],
            vec![],
            vec![],
            "/p".as_ref(),
            "/p/sub".as_ref(),
            true,
        );
        assert_eq!(
            arguments.command(&suite(), Some(&[TestIndex(1), TestIndex(2)]), None),
            "python -m pytest ../sub/a.py::test_y ../other/b.py::test_z"
        );
        let below = Arguments::new(
            vec![],
            vec![],
            vec![],
            "/p/sub".as_ref(),
            "/p".as_ref(),
            false,
        );
        assert_eq!(
            below.command(&suite(), Some(&[TestIndex(1)]), None),
            "pytest sub/sub/a.py::test_y"
        );
    }
}
