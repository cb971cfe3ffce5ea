//! What the views of `mutate` have in common: numbers and sentences.

use super::{Document, Mutant, Score, Share, Status};
use crate::wording::{count, thousands, visible};

/// A name of the suite's on one line: an id may have line breaks, and what comes after them tells it from others.
pub(super) fn name(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown)
}

/// `77.7 % – 82.0 %`, one number if there is no range, `–` if nothing counts.
pub(crate) fn range(score: &Score) -> String {
    match (score.low, score.high) {
        (Some(low), Some(high)) => {
            let (low, high) = (exact(low), exact(high));
            if low == high {
                low
            } else {
                format!("{low} – {high}")
            }
        }
        _ => "–".into(),
    }
}

/// With one decimal; neither all nor nothing unless it is.
fn exact(share: f64) -> String {
    let percent = share * 100.0;
    let shown = match percent {
        p if p > 0.0 && p < 0.05 => 0.1,
        p if (99.95..100.0).contains(&p) => 99.9,
        p => p,
    };
    format!("{shown:.1} %")
}

/// `3 of 120 (2.5 %)`.
pub(super) fn share(share: &Share) -> String {
    let of = thousands(share.of);
    if share.of == 0 {
        return format!("{} of {of}", thousands(share.varying));
    }
    let part = exact(share.varying as f64 / share.of as f64);
    format!("{} of {of} ({part})", thousands(share.varying))
}

/// What the score is of, in one line.
pub(super) fn basis(document: &Document) -> String {
    let t = &document.totals;
    let decided = t.killed + t.survived + t.unknown;
    let mut said = format!(
        "{} of {} killed",
        thousands(t.killed),
        count(decided, "mutant", "mutants")
    );
    match t.unknown {
        0 => {}
        1 => said.push_str("; 1 is unknown, and leaves the range open"),
        many => {
            let many = thousands(many);
            said.push_str(&format!("; {many} are unknown, and leave the range open"));
        }
    }
    if let Some((low, high)) = document.score.interval {
        let (low, high) = (exact(low), exact(high));
        said.push_str(&format!(
            "; of all mutants {low} – {high}, at a confidence of 95 %"
        ));
    }
    said
}

/// What is left out of the score although it is there: words and numbers.
pub(super) fn beside(document: &Document) -> Vec<String> {
    let t = &document.totals;
    [
        (t.timeout, "ran out of time"),
        (t.error, "could not be run"),
        (t.not_covered, "covered by no test"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", thousands(number)))
    .collect()
}

/// Mutants that were made and never run.
pub(super) fn left_out(document: &Document) -> Vec<String> {
    let t = &document.totals;
    [
        (t.equal, "equal to the original"),
        (t.duplicate, "equal to another mutant"),
        (t.excluded, "excluded"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", thousands(number)))
    .collect()
}

/// What tests made of it.
pub(super) fn verdict(mutant: &Mutant) -> String {
    let tests = mutant.tests as u64;
    let mut said = match mutant.status {
        Status::Killed if mutant.confirmed => "killed, and once more by the test alone".into(),
        Status::Killed => "killed, not confirmed by the test alone".into(),
        Status::Survived => format!("{} hit it, none failed", count(tests, "test", "tests")),
        Status::Unknown => format!(
            "{} of {} {}, none that did failed",
            thousands(mutant.unknown_pairs.len() as u64),
            count(tests, "test", "tests"),
            if mutant.why.is_some() {
                "did not hit it in a way that counts"
            } else {
                "never hit it"
            }
        ),
        Status::Timeout => "ran out of time".into(),
        Status::Error => "could not be run".into(),
        Status::NotCovered => "no test covers it".to_owned(),
    };
    if mutant.reused {
        said.push_str(" (as in an earlier campaign)");
    }
    said
}

/// How the campaign was made, one line.
pub(super) fn campaign(document: &Document) -> String {
    let c = &document.campaign;
    let coverage = u64::from(c.coverage_reruns);
    let when = match &*c.strategy {
        "later" => "after all other tests",
        _ => "at once",
    };
    let mut said = format!(
        "coverage {}, {}; up to {}, {when}",
        c.coverage,
        count(coverage, "rerun", "reruns"),
        rungs(&c.reruns),
    );
    if c.matrix {
        said.push_str("; every pair run");
    }
    if let Some(base) = &c.diff_base {
        said.push_str(&format!("; lines changed since {}", name(base, 100)));
    }
    if let Some(sample) = c.sample {
        said.push_str(&format!("; a sample of {}", thousands(sample as u64)));
    }
    said
}

/// `5 reruns on each rung`, or how many on which.
fn rungs(reruns: &[u32; 4]) -> String {
    let [first, rest @ ..] = reruns;
    if rest.iter().all(|other| other == first) {
        let reruns = count(u64::from(*first), "rerun", "reruns");
        return format!("{reruns} on each rung");
    }
    let numbers: Vec<String> = reruns.iter().map(u32::to_string).collect();
    format!("{} reruns on the rungs", numbers.join(", "))
}

/// What is said of tests that leave a mutant unknown.
pub(super) fn undecided(mutant: &Mutant) -> &'static str {
    if mutant.why.is_some() {
        "undecided by"
    } else {
        "not hit by"
    }
}

/// One line of table 5: a rung of the ladder.
pub(super) struct Climb<'a> {
    pub(super) rung: &'a str,
    /// Pairs that were hit for the first time, by rerun; the last one has all beyond [`MOST_RERUNS`].
    pub(super) pairs: Vec<u64>,
    pub(super) all_pairs: u64,
    pub(super) mutants: u64,
}

/// Reruns with a column of their own: the paper has 5.
pub(super) const MOST_RERUNS: usize = 6;

/// Rungs in the order they were climbed.
pub(super) fn climbs(document: &Document) -> Vec<Climb<'_>> {
    let mut climbs: Vec<Climb<'_>> = Vec::new();
    for step in &document.ladder {
        let at = match climbs.iter().position(|climb| climb.rung == step.rung) {
            Some(at) => at,
            None => {
                climbs.push(Climb {
                    rung: &step.rung,
                    pairs: Vec::new(),
                    all_pairs: 0,
                    mutants: 0,
                });
                climbs.len() - 1
            }
        };
        let climb = &mut climbs[at];
        let column = (step.attempt as usize).clamp(1, MOST_RERUNS + 1);
        if climb.pairs.len() < column {
            climb.pairs.resize(column, 0);
        }
        climb.pairs[column - 1] += step.pairs;
        climb.all_pairs += step.pairs;
        climb.mutants += step.mutants;
    }
    climbs
}

/// What the columns of table 5 are called.
pub(super) fn reruns(climbs: &[Climb<'_>]) -> Vec<String> {
    let columns = climbs.iter().map(|climb| climb.pairs.len()).max();
    (1..=columns.unwrap_or(0))
        .map(|column| match column {
            beyond if beyond > MOST_RERUNS => "more".into(),
            column => column.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::{Rung, example};

    #[test]
    fn a_score_is_never_rounded_to_all_or_nothing() {
        let range = |low, high| {
            range(&Score {
                low: Some(low),
                high: Some(high),
                interval: None,
            })
        };
        assert_eq!(range(0.777, 0.82), "77.7 % – 82.0 %");
        assert_eq!(range(0.5, 0.5), "50.0 %");
        assert_eq!(range(0.9999, 1.0), "99.9 % – 100.0 %");
        assert_eq!(range(0.0, 0.0001), "0.0 % – 0.1 %");
        let none = Score {
            low: None,
            high: None,
            interval: None,
        };
        assert_eq!(super::range(&none), "–");
    }

    #[test]
    fn a_sample_says_where_the_score_of_all_mutants_lies() {
        let mut document = example::shop();
        assert!(!basis(&document).contains("of all mutants"));
        document.score.interval = Some((0.244, 0.968));
        let said = basis(&document);
        let end = "; of all mutants 24.4 % – 96.8 %, at a confidence of 95 %";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn reruns_are_told_by_rung_where_they_differ() {
        assert_eq!(rungs(&[5; 4]), "5 reruns on each rung");
        assert_eq!(rungs(&[5, 1, 0, 0]), "5, 1, 0, 0 reruns on the rungs");
    }

    #[test]
    fn a_failure_that_does_not_count_is_no_miss() {
        let mut document = example::shop();
        let mutants = document.mutants.iter_mut();
        let unknown = mutants.into_iter().find(|m| m.status == Status::Unknown);
        let unknown = unknown.expect("one of every status");
        assert!(verdict(unknown).contains("never hit it"));
        unknown.why = Some("a failure that also occurs without the mutant".into());
        assert!(!verdict(unknown).contains("never hit it"));
        assert_eq!(undecided(unknown), "undecided by");
    }

    #[test]
    fn reruns_beyond_the_columns_are_summed() {
        let mut document = example::clean();
        document.ladder = (0..20)
            .map(|attempt| Rung {
                rung: ["same process", "process per pair"][(attempt / 10) as usize].into(),
                attempt: attempt % 10 + 1,
                pairs: 1,
                mutants: u64::from(attempt % 2),
            })
            .collect();
        let climbs = climbs(&document);
        assert_eq!(reruns(&climbs).join(" "), "1 2 3 4 5 6 more");
        assert_eq!(climbs.len(), 2);
        for climb in climbs {
            assert_eq!(climb.pairs, [1, 1, 1, 1, 1, 1, 4]);
            assert_eq!((climb.all_pairs, climb.mutants), (10, 5));
        }
    }
}
