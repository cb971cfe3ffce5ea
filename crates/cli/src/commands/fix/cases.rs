//! What the last `explain` knows of the tests to fix.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_fix::{Case, CausalLeak};
use flakelab_model::{Class, Suite};
use flakelab_store::Store;
use serde::Deserialize;

use crate::error::{CliError, chain};
use crate::workbench::means;

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
    leaks: Vec<Leak>,
}

#[derive(Debug, Deserialize)]
struct Cleaning {
    cleaners: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Leak {
    kind: String,
    name: String,
    before: String,
    causal: bool,
    #[serde(default)]
    group: Option<usize>,
    left_by: Vec<String>,
}

pub(super) fn nothing_explained() -> CliError {
    CliError::usage("nothing has been explained yet")
        .hint("run `flakelab detect` and `flakelab explain` first")
}

/// The cases, and every test that is known to vary.
pub(super) fn read(
    store: &Store,
    names: &[String],
    suite: &Suite,
) -> Result<(Vec<Case>, BTreeSet<String>), CliError> {
    let last = store
        .last_finished("explain")
        .map_err(|e| CliError::usage(chain(&e)))?;
    let Some(last) = last else {
        return Err(nothing_explained());
    };
    let document: Explained = serde_json::from_str(&last.document).map_err(|e| {
        CliError::usage(format!("the last explain in the store is unreadable: {e}"))
    })?;
    let flaky = document
        .explanations
        .iter()
        .map(|e| e.test.clone())
        .collect();
    let wanted = |id: &str| names.is_empty() || names.iter().any(|name| means(name, id));
    let cases: Vec<Case> = document
        .explanations
        .into_iter()
        .filter(|e| matches!(e.class, Class::Victim | Class::Brittle))
        .filter(|e| wanted(&e.test) && suite.find(&e.test).is_some())
        .map(case)
        .collect();
    if cases.is_empty() && !names.is_empty() {
        return Err(CliError::usage(format!(
            "the last explain has no order-dependent test `{}`",
            names.join("`, `")
        ))
        .hint("run `flakelab explain` with that test first"));
    }
    Ok((cases, flaky))
}

fn case(e: Explanation) -> Case {
    let mut causes: BTreeMap<(Vec<String>, Option<usize>), Vec<CausalLeak>> = BTreeMap::new();
    for leak in e.leaks.into_iter().filter(|leak| leak.causal) {
        causes
            .entry((leak.left_by, leak.group))
            .or_default()
            .push(CausalLeak {
                kind: leak.kind,
                name: leak.name,
                before: leak.before,
            });
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
    }
}
