//! Points with planted values, and what is said about them.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod oracle;

use std::collections::BTreeSet;

use flakelab_measure::infer;
use flakelab_model::{Datum, Point, Sample, Trace};

/// `word(n)` for n below this are texts `w0`, `w1`, …
pub(crate) const WORDS: u32 = 200;

/// Samples of one point `f`, whose variables have one-letter names from `a` on, or as given.
pub(crate) fn planted(names: &[&str], rows: &[Vec<Datum>]) -> Trace {
    let mut texts: Vec<String> = (0..WORDS).map(|n| format!("w{n}")).collect();
    texts.push("f".to_owned());
    texts.extend(names.iter().map(|name| (*name).to_owned()));
    let variables = (0..names.len() as u32).map(|n| WORDS + 1 + n).collect();
    let point = Point {
        name: WORDS,
        variables,
    };
    let sample = |values: &Vec<Datum>| Sample {
        point: 0,
        values: values.clone(),
    };
    let test = flakelab_model::TestTrace {
        samples: rows.iter().map(sample).collect(),
        ..Default::default()
    };
    Trace {
        texts,
        points: vec![point],
        tests: vec![test],
        notes: Vec::new(),
    }
}

pub(crate) fn inferred(names: &[&str], rows: &[Vec<Datum>]) -> BTreeSet<(String, String)> {
    let trace = planted(names, rows);
    infer(&trace, &trace.tests[0].samples)
}

/// What is said, one line each, without the name of the point.
pub(crate) fn said(names: &[&str], rows: &[Vec<Datum>]) -> Vec<String> {
    let found = inferred(names, rows);
    let line = |(element, value): &(String, String)| {
        let line = format!("{element}: {value}");
        let line = line.trim_end_matches(": ");
        line.strip_prefix("f  ").unwrap_or(line).to_owned()
    };
    found.iter().map(line).collect()
}

/// What is said about one variable `x`.
pub(crate) fn about(values: impl IntoIterator<Item = Datum>) -> Vec<String> {
    let rows: Vec<_> = values.into_iter().map(|value| vec![value]).collect();
    said(&["x"], &rows)
}

/// What is said about the pair of `x` and `y`, and not about each of them.
pub(crate) fn about_pairs(values: impl IntoIterator<Item = (Datum, Datum)>) -> Vec<String> {
    let rows: Vec<_> = values.into_iter().map(|(x, y)| vec![x, y]).collect();
    let mut said = said(&["x", "y"], &rows);
    said.retain(|line| line.contains(", y") || line.contains(", x"));
    said
}

pub(crate) fn ints(values: impl IntoIterator<Item = i64>) -> Vec<Datum> {
    values.into_iter().map(Datum::Int).collect()
}

pub(crate) fn floats(values: impl IntoIterator<Item = f64>) -> Vec<Datum> {
    values.into_iter().map(Datum::Float).collect()
}

pub(crate) fn list(items: &[f64]) -> Datum {
    Datum::Numbers {
        length: items.len() as u64,
        items: items.to_vec(),
    }
}

pub(crate) fn word(text: u32, length: u64) -> Datum {
    Datum::Text { text, length }
}

/// Numbers that are the same in every run of these tests: Knuth's MMIX constants.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    pub(crate) fn int(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high.abs_diff(low) + 1) as i64
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}
