//! A patch: whole new texts of a few files, and why.

use std::collections::BTreeSet;

use flakelab_source::{merge, unified};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// What leaks is put back after the tests that leak it.
    Restore,
    /// What tests share is made one for every test.
    Isolate,
    /// The test itself puts the state right before it starts.
    Reset,
    /// The code of a cleaner or state-setter runs first.
    Helper,
}

impl Strategy {
    pub fn word(self) -> &'static str {
        match self {
            Strategy::Restore => "restore",
            Strategy::Isolate => "isolate",
            Strategy::Reset => "reset",
            Strategy::Helper => "helper",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Site {
    Polluter,
    Victim,
    Shared,
}

impl Site {
    pub fn word(self) -> &'static str {
        match self {
            Site::Polluter => "polluter",
            Site::Victim => "victim",
            Site::Shared => "shared",
        }
    }
}

/// A file before and after; `before` is `None` for a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    pub before: Option<String>,
    pub after: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub strategy: Strategy,
    pub site: Site,
    /// One line: what it does and why.
    pub reason: String,
    pub changes: Vec<Change>,
}

impl Patch {
    /// Both patches; `None` if they change the same lines.
    pub(crate) fn with(&self, other: &Patch) -> Option<Patch> {
        let mut both = self.clone();
        for change in &other.changes {
            let own = both.changes.iter_mut().find(|own| own.path == change.path);
            match own {
                Some(own) if own == change => {}
                Some(own) if own.before == change.before => {
                    let both = merge(own.before.as_deref()?, &own.after, &change.after)?;
                    // Of two functions with one name the first is lost.
                    if hidden(&both) > hidden(&own.after).max(hidden(&change.after)) {
                        return None;
                    }
                    own.after = both;
                }
                Some(_) => return None,
                None => both.changes.push(change.clone()),
            }
        }
        both.reason = format!("{}; {}", self.reason, other.reason);
        Some(both)
    }

    /// Paths and new texts of the files it changes.
    pub fn files(&self) -> Vec<(String, String)> {
        let changes = self.changes.iter();
        changes.map(|c| (c.path.clone(), c.after.clone())).collect()
    }

    /// A unified diff over all its files.
    pub fn diff(&self) -> String {
        self.changes
            .iter()
            .map(|change| unified(&change.path, change.before.as_deref(), &change.after))
            .collect()
    }
}

/// How many functions at the top of a text have the name of another one.
fn hidden(text: &str) -> usize {
    let heads = text.lines().filter_map(|line| line.strip_prefix("def "));
    let names = heads.filter_map(|head| head.split('(').next());
    let names: Vec<&str> = names.collect();
    names.len() - names.iter().collect::<BTreeSet<_>>().len()
}
