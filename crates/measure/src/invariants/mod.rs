//! Likely invariants, in the way of Daikon (Ernst et al., "The Daikon system for dynamic detection of likely
//! invariants", Science of Computer Programming 69, 2007).
//!
//! An invariant is kept if every sample satisfies it, if it is unlikely to hold by chance (`confidence`), and
//! if nothing stronger that was kept implies it.
//!
//! | file | invariants |
//! |---|---|
//! | `unary` | constant, one of at most three values, type, not None |
//! | `numeric` | bounds, modulus, not zero |
//! | `sequence` | ascending, descending, no duplicates; lengths |
//! | `equality` | equal |
//! | `order` | less, less or equal |
//! | `linear` | one number as a linear function of another |
//! | `membership` | number in sequence, sequence in sequence |
//! | `pairs` | which pairs are asked at all, and which answers are implied by others |
//!
//! # Gaps
//!
//! `None` is a value like others for *constant* and *one of*. All other invariants speak of the samples that
//! are not None, and say so: `or None` is a part of their value. A variable that a sample lacks altogether is
//! the same with `or missing`. A value whose text or type name is not in the trace's table is unknown, and so
//! missing.
//!
//! # Bounds
//!
//! Of a point, the first [`MOST_VARIABLES`] variables by name are looked at, and of those the first
//! [`MOST_PAIRED`] that can be compared with anything are paired. Pairs of sequences whose samples would take more
//! than `MOST_LOOKUPS` comparisons of elements are not asked. What would depend on elements that a bounded
//! sample did not keep is taken as refuted.

mod column;
mod confidence;
mod equality;
mod linear;
mod membership;
mod number;
mod numeric;
mod order;
mod pairs;
mod sequence;
mod unary;

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Sample, Trace};

pub use confidence::CONFIDENCE_LIMIT;

/// More variables than this at one place are no longer a signature that somebody reads.
const MOST_VARIABLES: usize = 64;

/// 66 pairs: what keeps 100,000 samples of a wide point below a second.
const MOST_PAIRED: usize = 12;

/// The invariants that hold over these samples, at every point, as sorted text without duplicates: what it
/// is about (the point, its variables, the kind), and its parameters.
///
/// The parameters stand apart because two runs that bound the same variable differently differ at one
/// element, not at two.
pub fn infer<'a>(
    trace: &Trace,
    samples: impl IntoIterator<Item = &'a Sample>,
) -> BTreeSet<(String, String)> {
    let mut at_points: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        at_points.entry(sample.point).or_default().push(sample);
    }
    let mut found = BTreeSet::new();
    for (point, samples) in at_points {
        let Some(point) = trace.points.get(point as usize) else {
            continue;
        };
        let Some(name) = column::text(trace, point.name) else {
            continue;
        };
        let mut kept = Kept {
            point: name,
            found: &mut found,
        };
        let columns = column::of_point(trace, point, &samples);
        let known: Vec<_> = columns
            .iter()
            .map(|column| unary::look(column, &mut kept))
            .collect();
        pairs::look(&columns, &known, &mut kept);
    }
    found
}

/// What was kept so far, and the point that is looked at.
struct Kept<'a> {
    point: &'a str,
    found: &'a mut BTreeSet<(String, String)>,
}

impl Kept<'_> {
    fn keep(&mut self, variables: &str, kind: &str, value: String) {
        let element = format!("{}  {variables}  {kind}", self.point);
        self.found.insert((element, value));
    }
}
