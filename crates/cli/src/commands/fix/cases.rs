//! What `detect` and `explain` know of the tests to fix.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_fix::{Case, Leak};
use flakelab_model::{Class, Suite};
use flakelab_store::Store;
use serde::Deserialize;

use crate::error::CliError;
use crate::workbench::{Detected, DetectedTest, means};

/// Campaigns of `explain` that are looked at for a test.
const MOST_CAMPAIGNS: u32 = 50;

/// The part of an `explain` document that is read here.
#[derive(Debug, Deserialize)]
struct Explained {
    explanations: Vec<Explanation>,
}

#[derive(Debug, Deserialize)]
struct Explanation {
    test: String,
    class: Class,
    polluters: Vec<Vec<String>>,
    state_setters: Vec<Vec<String>>,
    cleaners: Vec<Cleaning>,
    leaks: Vec<ExplainedLeak>,
    #[serde(default)]
    unfinished: bool,
}

#[derive(Debug, Deserialize)]
struct Cleaning {
    cleaners: Vec<String>,
}

/// A leak as `explain` tells it.
#[derive(Debug, Deserialize)]
struct ExplainedLeak {
    kind: String,
    name: String,
    before: String,
    after: String,
    #[serde(default, rename = "where")]
    written_at: Option<String>,
    causal: bool,
    #[serde(default)]
    group: Option<usize>,
    left_by: Vec<String>,
    #[serde(default)]
    module: Option<String>,
}

/// What the store knows of flaky tests.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    detected: Vec<DetectedTest>,
    explained: BTreeMap<String, Explanation>,
}

pub(super) fn nothing_found() -> CliError {
    CliError::usage("there is nothing to fix yet")
        .hint("run `flakelab detect` first, or name a test")
}

fn is_order_dependent(class: Class) -> bool {
    matches!(class, Class::Victim | Class::Brittle)
}

impl Knowledge {
    /// The last `detect`, and every `explain` since.
    pub(super) fn read(store: &Store) -> Result<Self, CliError> {
        let mut knowledge = Self::default();
        let mut since = None;
        if let Some((last, found)) = Detected::last(store)? {
            knowledge.detected = found.tests;
            since = Some(last.id);
        }
        let campaigns = store
            .finished("explain", MOST_CAMPAIGNS)
            .map_err(CliError::store)?;
        for campaign in campaigns.into_iter().filter(|c| Some(c.id) > since) {
            let document: Explained = serde_json::from_str(&campaign.document).map_err(|e| {
                CliError::usage(format!("an explain in the store is unreadable: {e}"))
                    .hint("run `flakelab detect` again: what was explained before it is not read")
            })?;
            // What the budget cut short is no last word.
            let finished = document.explanations.into_iter().filter(|e| !e.unfinished);
            for explanation in finished {
                let test = explanation.test.clone();
                knowledge.explained.entry(test).or_insert(explanation);
            }
        }
        Ok(knowledge)
    }

    /// Order-dependent tests, or those that are named, that nobody has explained.
    pub(super) fn missing(&self, names: &[String]) -> Vec<String> {
        let found = self.detected.iter();
        let mut missing: Vec<String> = found
            .filter(|test| is_order_dependent(test.class))
            .map(|test| &test.id)
            .filter(|id| names.is_empty() || names.iter().any(|name| means(name, id)))
            .filter(|id| !self.explained.contains_key(*id))
            .cloned()
            .collect();
        // What nobody has found either is for `explain` to look at.
        let known = |name: &String| {
            let mut ids = self.explained.keys().chain(&missing);
            ids.any(|id| means(name, id))
        };
        let strangers: Vec<String> = names.iter().filter(|name| !known(name)).cloned().collect();
        missing.extend(strangers);
        missing
    }

    pub(super) fn is_empty(&self) -> bool {
        self.detected.is_empty() && self.explained.is_empty()
    }

    /// Tests that vary, and not because of what ran before them.
    pub(super) fn without_order(&self, suite: &Suite) -> Vec<&str> {
        self.detected
            .iter()
            .filter(|test| matches!(test.class, Class::NonDeterministic | Class::NonIdempotent))
            .map(|test| test.id.as_str())
            .filter(|id| suite.find(id).is_some())
            .collect()
    }

    /// The cases, and every test that is known to vary whatever the order.
    pub(super) fn cases(
        self,
        names: &[String],
        suite: &Suite,
    ) -> Result<(Vec<Case>, BTreeSet<String>), CliError> {
        let classes = self.detected.into_iter().map(|test| (test.id, test.class));
        let explained = self.explained.values().map(|e| (e.test.clone(), e.class));
        let restless = classes
            .chain(explained)
            .filter(|(_, class)| class.varies() && !is_order_dependent(*class))
            .map(|(id, _)| id)
            .collect();
        let wanted = |id: &str| names.is_empty() || names.iter().any(|name| means(name, id));
        let mut cases: Vec<Case> = self
            .explained
            .into_values()
            .filter(|e| is_order_dependent(e.class))
            .filter(|e| wanted(&e.test) && suite.find(&e.test).is_some())
            .map(case)
            .collect();
        cases.sort_by_key(|case| suite.find(&case.test));
        if cases.is_empty() && !names.is_empty() {
            return Err(CliError::usage(format!(
                "`{}` was not found to depend on the order",
                names.join("`, `")
            ))
            .hint("`flakelab explain` with that test says more"));
        }
        Ok((cases, restless))
    }
}

/// `file:line` in its parts.
fn line(place: &str) -> Option<(String, usize)> {
    let (file, number) = place.rsplit_once(':')?;
    Some((file.to_owned(), number.parse().ok()?))
}

fn case(e: Explanation) -> Case {
    let mut causes: BTreeMap<(Vec<String>, Option<usize>), Vec<Leak>> = BTreeMap::new();
    let mut idle = Vec::new();
    for leak in e.leaks {
        let left_by = leak.left_by;
        let found = Leak {
            kind: leak.kind,
            name: leak.name,
            before: leak.before,
            after: leak.after,
            at: leak.written_at.as_deref().and_then(line),
            left_by: left_by.clone(),
            module: leak.module,
        };
        if leak.causal {
            causes.entry((left_by, leak.group)).or_default().push(found);
        } else {
            idle.push(found);
        }
    }
    Case {
        culprits: if e.class == Class::Brittle {
            e.state_setters
        } else {
            e.polluters
        },
        test: e.test,
        class: e.class,
        cleaners: e.cleaners.into_iter().map(|c| c.cleaners).collect(),
        causes: causes.into_values().collect(),
        idle,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_file_that_is_named_every_test_is_explained() {
        let mut knowledge = Knowledge::default();
        for (name, class) in [("a", "victim"), ("b", "victim"), ("c", "stable")] {
            let test = json!({"id": format!("test_x.py::test_{name}"), "class": class});
            let test = serde_json::from_value(test).expect("a test");
            knowledge.detected.push(test);
        }
        let explanation = json!({
            "test": "test_x.py::test_a", "class": "victim", "polluters": [], "state_setters": [],
            "cleaners": [], "leaks": [],
        });
        let explanation = serde_json::from_value(explanation).expect("an explanation");
        let id = "test_x.py::test_a".to_owned();
        knowledge.explained.insert(id.clone(), explanation);
        let missing = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            knowledge.missing(&names)
        };
        assert_eq!(missing(&[]), ["test_x.py::test_b"]);
        assert_eq!(missing(&["test_x.py"]), ["test_x.py::test_b"]);
        assert_eq!(missing(&[&id]), Vec::<String>::new());
        assert_eq!(missing(&["test_other"]), ["test_other"]);
    }
}
