//! A recorded matrix: every mutant with every test that covers it, and whether each execution hit it.
//!
//! `flakelab mutate --matrix` writes it. Files come from anywhere: what is too much, or contradicts itself, is refused.

use std::io::Read;

use serde::{Deserialize, Serialize};

const NAME: &str = "flakelab.mutate.matrix";
/// Newer minor versions only add fields.
const MAJOR: &str = "1";
/// The paper's largest project has 665,903 pairs; this is room for about ten times as many.
const MOST_BYTES: u64 = 512 << 20;
/// Characters of an id, or of the project's name.
const MOST_ID: usize = 10_000;
/// Executions of one pair: the ladder has four rungs of 5 by default.
const MOST_TRIES: usize = 10_000;
/// A day: no test takes longer, and sums stay exact.
const MOST_MICROS: u64 = 24 * 3600 * 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    pub schema: MatrixSchema,
    pub project: String,
    pub tests: Vec<MatrixTest>,
    pub mutants: Vec<MatrixMutant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixSchema {
    pub name: String,
    pub version: String,
}

impl Default for MatrixSchema {
    /// What this version writes.
    fn default() -> Self {
        Self {
            name: NAME.into(),
            version: format!("{MAJOR}.0"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixTest {
    pub id: String,
    /// As the coverage runs measured it, without a mutant.
    pub micros: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixMutant {
    pub id: String,
    pub pairs: Vec<MatrixPair>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixPair {
    /// A place in the matrix's list of tests.
    pub test: u32,
    /// Coverage runs in which the test reached the point.
    pub seen: u32,
    pub of: u32,
    pub status: PairStatus,
    /// Whether each execution in turn hit the mutated code.
    pub tries: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairStatus {
    Killed,
    Survived,
    Unknown,
    Timeout,
}

/// Why a file is no matrix.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("is no matrix of `flakelab mutate --matrix`: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("has the schema {found:?} instead of \"{NAME}\" {MAJOR}.x")]
    Foreign { found: String },
    #[error("{what} has a name of more than {MOST_ID} characters")]
    LongName { what: String },
    #[error("test {test} takes {micros} microseconds, more than a day")]
    Slow { test: usize, micros: u64 },
    #[error("mutant {mutant}, pair {pair}: {why}")]
    Pair {
        mutant: usize,
        pair: usize,
        why: String,
    },
}

impl Matrix {
    /// Reads and checks a file.
    pub fn read(source: impl Read) -> Result<Self, MatrixError> {
        let mut text = Vec::new();
        source.take(MOST_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(MatrixError::TooLarge);
        }
        // Another document says what it is before it is said what it lacks.
        #[derive(Deserialize)]
        struct Opening {
            schema: MatrixSchema,
        }
        let opening: Opening = serde_json::from_slice(&text)?;
        opening.schema.check()?;
        let matrix: Self = serde_json::from_slice(&text)?;
        matrix.check()?;
        Ok(matrix)
    }

    /// Whether it can be what it says.
    pub fn check(&self) -> Result<(), MatrixError> {
        self.schema.check()?;
        let long = |name: &str| name.chars().nth(MOST_ID).is_some();
        if long(&self.project) {
            let what = "the project".into();
            return Err(MatrixError::LongName { what });
        }
        for (at, test) in self.tests.iter().enumerate() {
            if long(&test.id) {
                let what = format!("test {at}");
                return Err(MatrixError::LongName { what });
            }
            if test.micros > MOST_MICROS {
                let micros = test.micros;
                return Err(MatrixError::Slow { test: at, micros });
            }
        }
        // The last mutant that a test was seen with.
        let mut seen: Vec<Option<usize>> = vec![None; self.tests.len()];
        for (at, mutant) in self.mutants.iter().enumerate() {
            if long(&mutant.id) {
                let what = format!("mutant {at}");
                return Err(MatrixError::LongName { what });
            }
            for (number, pair) in mutant.pairs.iter().enumerate() {
                let twice = match seen.get_mut(pair.test as usize) {
                    Some(last) => last.replace(at) == Some(at),
                    None => false,
                };
                let why = if twice {
                    Some(format!("test {} is there twice", pair.test))
                } else {
                    pair.contradiction(self.tests.len())
                };
                if let Some(why) = why {
                    return Err(MatrixError::Pair {
                        mutant: at,
                        pair: number,
                        why,
                    });
                }
            }
        }
        Ok(())
    }
}

impl MatrixSchema {
    fn check(&self) -> Result<(), MatrixError> {
        let major = self.version.split('.').next();
        if self.name == NAME && major == Some(MAJOR) {
            return Ok(());
        }
        let found: String = format!("{} {}", self.name, self.version)
            .chars()
            .take(100)
            .collect();
        Err(MatrixError::Foreign { found })
    }
}

impl MatrixPair {
    /// Executions until the first hit; all of them where there is none.
    pub(super) fn executions(&self) -> usize {
        let hit = self.tries.iter().position(|hit| *hit);
        hit.map_or(self.tries.len(), |at| at + 1)
    }

    /// A kill counts if the mutated code was executed.
    pub(super) fn kills(&self) -> bool {
        self.status == PairStatus::Killed
    }

    fn contradiction(&self, tests: usize) -> Option<String> {
        let hit = self.tries.contains(&true);
        let words = match self.status {
            PairStatus::Killed => "killed",
            PairStatus::Survived => "survived",
            PairStatus::Unknown => "unknown",
            PairStatus::Timeout => "timeout",
        };
        match self.status {
            _ if self.test as usize >= tests => {
                Some(format!("test {} is not among {tests} tests", self.test))
            }
            _ if self.seen > self.of => Some(format!("seen {} times of {}", self.seen, self.of)),
            _ if self.tries.len() > MOST_TRIES => Some(format!(
                "{} executions, more than {MOST_TRIES}",
                self.tries.len()
            )),
            PairStatus::Killed | PairStatus::Survived if !hit => {
                Some(format!("is {words}, and no execution hit the mutated code"))
            }
            _ => None,
        }
    }
}
