//! The document of `flakelab mutate`. Fields are only ever added within a major version.

use flakelab_stats::clopper_pearson;
use serde::{Deserialize, Serialize};

use crate::detect::{Schema, Word};

/// Whoever has more mutants than memory gives something else that is written as a list of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document<M = Vec<Mutant>> {
    pub schema: Schema,
    pub flakelab: String,
    pub project: String,
    pub mutants: M,
    pub score: Score,
    pub totals: Totals,
    pub pairs: Pairs,
    pub coverage: Coverage,
    /// In the order the rungs were climbed.
    pub ladder: Vec<Rung>,
    /// Mutants that were unknown before the first rung: after one execution of each pair.
    pub unknown_at_first: u64,
    /// Tests that failed without a mutant: those of the coverage runs took no part, and how the others fail there kills
    /// nothing.
    pub set_aside: Vec<SetAside>,
    pub campaign: Campaign,
}

impl<M> Document<M> {
    /// The same with other mutants.
    pub fn with<T>(&self, mutants: T) -> Document<T> {
        Document {
            schema: self.schema.clone(),
            flakelab: self.flakelab.clone(),
            project: self.project.clone(),
            mutants,
            score: self.score,
            totals: self.totals,
            pairs: self.pairs,
            coverage: self.coverage.clone(),
            ladder: self.ladder.clone(),
            unknown_at_first: self.unknown_at_first,
            set_aside: self.set_aside.clone(),
            campaign: self.campaign.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    pub id: String,
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The function it is in, dotted, or `<module>`.
    pub scope: String,
    pub operator: String,
    /// One line for people: "`<` became `<=`".
    pub says: String,
    pub status: Status,
    /// What there is to say about the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub killed_by: Vec<String>,
    /// The signature of the failure that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Unified.
    pub diff: String,
    /// How many cover it.
    pub tests: usize,
    /// Tests that should have hit it and never did, or that fail like that without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_pairs: Vec<String>,
    /// The verdict is of an earlier campaign: neither its function nor its tests have changed.
    pub reused: bool,
    /// The kill was seen once more, with the test alone.
    pub confirmed: bool,
}

/// As section 3.2 has them, and those that tell nothing of a test suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A test hit it, and failed because of it.
    Killed,
    /// Every test that covers it hit it, and passed.
    Survived,
    /// No test killed it, and some that should have hit it never did.
    Unknown,
    Timeout,
    Error,
    #[serde(rename = "not covered")]
    NotCovered,
}

impl Status {
    pub const ALL: [Status; 6] = [
        Status::Killed,
        Status::Survived,
        Status::Unknown,
        Status::Timeout,
        Status::Error,
        Status::NotCovered,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Status::Killed => "killed",
            Status::Survived => "survived",
            Status::Unknown => "unknown",
            Status::Timeout => "timeout",
            Status::Error => "error",
            Status::NotCovered => "not covered",
        }
    }
}

/// A range, as in table 2: every unknown mutant survived, or every one was killed. `None` if there is none that counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Of a sample: where the score of all mutants lies, with a confidence of 95 %, whatever the unknown ones are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// Of the interval.
const CONFIDENCE: f64 = 0.95;

impl Score {
    /// Timeouts, errors and what no test covers are no part of it.
    pub fn of(totals: &Totals) -> Self {
        let counted = totals.killed + totals.survived + totals.unknown;
        let share = |part: u64| (counted > 0).then(|| part as f64 / counted as f64);
        Self {
            low: share(totals.killed),
            high: share(totals.killed + totals.unknown),
            interval: None,
        }
    }

    /// Of so many mutants that were chosen, unless these are all there are. Samples are spread evenly, and so tell rather
    /// more than the interval, which takes them for drawn by chance.
    pub fn of_sample(totals: &Totals, sample: Option<usize>) -> Self {
        let score = Self::of(totals);
        let counted = totals.killed + totals.survived + totals.unknown;
        let seen: u64 = Status::ALL.into_iter().map(|s| totals.of(s)).sum();
        let chosen = seen + totals.equal + totals.duplicate;
        if counted == 0 || sample.is_none_or(|most| chosen < most as u64) {
            return score;
        }
        let low = clopper_pearson(totals.killed, counted, CONFIDENCE).low;
        let high = clopper_pearson(totals.killed + totals.unknown, counted, CONFIDENCE).high;
        Self {
            interval: Some((low, high)),
            ..score
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub killed: u64,
    pub survived: u64,
    pub unknown: u64,
    pub timeout: u64,
    pub error: u64,
    pub not_covered: u64,
    /// The same bytecode as the original: never run.
    pub equal: u64,
    /// The same bytecode as another mutant: never run.
    pub duplicate: u64,
    /// By a pragma or by configuration.
    pub excluded: u64,
}

impl Totals {
    /// One more mutant of this status.
    pub fn add(&mut self, status: Status) {
        *match status {
            Status::Killed => &mut self.killed,
            Status::Survived => &mut self.survived,
            Status::Unknown => &mut self.unknown,
            Status::Timeout => &mut self.timeout,
            Status::Error => &mut self.error,
            Status::NotCovered => &mut self.not_covered,
        } += 1;
    }

    pub fn of(&self, status: Status) -> u64 {
        match status {
            Status::Killed => self.killed,
            Status::Survived => self.survived,
            Status::Unknown => self.unknown,
            Status::Timeout => self.timeout,
            Status::Error => self.error,
            Status::NotCovered => self.not_covered,
        }
    }
}

/// Mutants with one of their tests each, as in table 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    pub killed: u64,
    pub survived: u64,
    pub unknown: u64,
    pub timeout: u64,
}

/// How much of the coverage differs from run to run, as in table 1.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Coverage {
    pub statements: Share,
    pub tests: Share,
    /// Of a test and a statement.
    pub pairs: Share,
    /// Some of the pairs that vary.
    pub varying: Vec<Varying>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub varying: u64,
    pub of: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Varying {
    pub file: String,
    pub line: usize,
    pub test: String,
    /// Coverage runs in which the test reached the line.
    pub seen: u32,
    pub of: u32,
}

/// What one rerun of the pairs that were still unknown brought, as in table 5.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rung {
    /// `same process`, `process per mutant`, `process per pair` or `fresh interpreter`.
    pub rung: Word,
    /// From 1, at this rung.
    pub attempt: u32,
    /// Pairs that hit the mutant for the first time.
    pub pairs: u64,
    /// Mutants that are no longer unknown.
    pub mutants: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetAside {
    pub test: String,
    pub why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    /// `default` or `isolated`, section 3.1.
    pub coverage: Word,
    pub coverage_reruns: u32,
    /// On each rung of the ladder, in the order they are climbed.
    pub reruns: [u32; 4],
    /// `immediate` or `later`, section 3.3.
    pub strategy: Word,
    /// Every pair was run, also after a kill.
    pub matrix: bool,
    pub runs: u64,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    pub python: String,
    pub pytest: String,
    /// Only lines that changed since this commit were mutated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_base: Option<String>,
    /// Only so many mutants were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_range_and_only_of_what_was_decided_by_tests() {
        let mut totals = Totals::default();
        assert_eq!(
            Score::of(&totals),
            Score {
                low: None,
                high: None,
                interval: None
            }
        );
        for (status, number) in Status::ALL.into_iter().zip([5, 2, 1, 40, 50, 60]) {
            for _ in 0..number {
                totals.add(status);
            }
            assert_eq!(totals.of(status), number);
        }
        assert_eq!(
            Score::of(&totals),
            Score {
                low: Some(0.625),
                high: Some(0.75),
                interval: None
            }
        );
        let of = |sample| Score::of_sample(&totals, sample).interval;
        // 158 were run: a sample of more is all of them.
        assert_eq!((of(None), of(Some(159))), (None, None));
        let (low, high) = of(Some(158)).expect("an interval");
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
        // Clopper and Pearson for 5 and for 6 of 8.
        assert!(close(low, 0.244_863), "{low}");
        assert!(close(high, 0.968_146), "{high}");
    }

    #[test]
    fn a_status_is_written_in_words() {
        for status in Status::ALL {
            let text = serde_json::to_string(&status).expect("text");
            assert_eq!(text, format!("\"{}\"", status.words()));
            let read: Status = serde_json::from_str(&text).expect("a status");
            assert_eq!(read, status);
        }
    }
}
