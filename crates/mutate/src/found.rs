//! A mutant with its verdict, on its way into the document.

use std::collections::BTreeMap;

use flakelab_model::TestIndex;
use flakelab_source::mutants::{Mutation, Unit};
use flakelab_source::unified_near;
use serde::{Deserialize, Serialize};

use crate::chase::Chase;
use crate::pair::{Climbed, PairVerdict, Status};
use crate::priority::Candidate;
use crate::settings::File;
use crate::simulate::{MatrixPair, PairStatus};

/// Characters of an expression that are shown in one line.
const MOST_SHOWN: usize = 60;

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub id: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub scope: String,
    pub operator: &'static str,
    /// One line for people.
    pub says: String,
    pub diff: String,
    /// Tests that cover it.
    pub tests: usize,
    pub verdict: Verdict,
    /// The verdict is of an earlier campaign.
    pub reused: bool,
    /// Its pairs, where all of them were run.
    pub pairs: Vec<MatrixPair>,
}

/// What is kept of a mutant for campaigns to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Tests that never reached it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_pairs: Vec<String>,
    #[serde(default)]
    pub counts: Counts,
    /// What it adds to table 5; not known of verdicts from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climbed: Option<Climbed>,
}

impl Verdict {
    pub(crate) fn bare(status: Status, why: Option<String>) -> Self {
        Self {
            status,
            why,
            killed_by: Vec::new(),
            failure: None,
            unknown_pairs: Vec::new(),
            counts: Counts::default(),
            climbed: None,
        }
    }

    /// Whether another campaign would say the same: what is open is tried again.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.status, Status::Killed | Status::Survived)
    }
}

/// Pairs by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub killed: u64,
    pub survived: u64,
    pub unknown: u64,
    pub timeout: u64,
}

pub(crate) fn matrix_pairs(chase: &Chase<'_>) -> Vec<MatrixPair> {
    let seen: BTreeMap<TestIndex, &Candidate> =
        chase.subject.order.iter().map(|c| (c.test, c)).collect();
    let pairs = chase.pairs.iter();
    pairs
        .filter_map(|(test, pair)| {
            let candidate = seen.get(test)?;
            Some(MatrixPair {
                test: test.0,
                seen: candidate.seen,
                of: candidate.of,
                status: match pair.verdict {
                    PairVerdict::Killed => PairStatus::Killed,
                    PairVerdict::Survived => PairStatus::Survived,
                    PairVerdict::Unknown => PairStatus::Unknown,
                    PairVerdict::Timeout => PairStatus::Timeout,
                },
                tries: pair.tries.clone(),
            })
        })
        .collect()
}

/// The name of a mutant, the same as long as its function is.
pub(crate) fn id(file: &File, mutation: &Mutation) -> String {
    format!("{}:{}", file.path, mutation.id)
}

/// What there is to say of a mutant before it ran.
pub(crate) fn describe(file: &File, unit: &Unit, mutation: &Mutation) -> Found {
    let before = &file.text[mutation.span.clone()];
    Found {
        id: id(file, mutation),
        file: file.path.clone(),
        line: mutation.line,
        column: mutation.column,
        scope: unit.path.clone(),
        operator: mutation.operator.word(),
        says: says(before, &mutation.replacement),
        diff: unified_near(
            &file.path,
            &file.text,
            &mutation.span,
            &mutation.replacement,
        ),
        tests: 0,
        verdict: Verdict::bare(Status::NotCovered, None),
        reused: false,
        pairs: Vec::new(),
    }
}

fn says(before: &str, after: &str) -> String {
    let short = |text: &str| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MOST_SHOWN) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    };
    let (before, after) = (short(before), short(after));
    if after.is_empty() || after == "pass" {
        format!("`{before}` is gone")
    } else {
        format!("`{before}` became `{after}`")
    }
}
