//! Texts, and what all or some operators make of them.
#![allow(dead_code, reason = "each test uses a part of it")]

use flakelab_source::mutants::{Mutants, Operator};
use flakelab_source::{Source, mutants};

pub(crate) fn of(text: &str) -> Mutants {
    mutants(&Source::parse(text).expect("it parses"))
}

/// All mutants of a text: `operator` and the text it becomes, in the order of the file.
pub(crate) fn check(text: &str, expected: &[(&str, &str)]) {
    let all = of(text);
    let found: Vec<(&str, String)> = all
        .mutations
        .iter()
        .map(|one| (one.operator.word(), one.apply(text)))
        .collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(w, t)| (*w, t.as_str())).collect();
    assert_eq!(found, expected, "{text}");
    for one in &all.mutations {
        let mutant = one.apply(text);
        assert_ne!(mutant, text);
        assert_eq!(mutant.lines().count(), text.lines().count(), "{mutant}");
        assert!(Source::parse(&mutant).is_some(), "{mutant}");
        assert!(Source::parse(&one.apply_probed(text)).is_some());
    }
}

/// The mutants of one operator only.
pub(crate) fn only(operator: Operator, text: &str, expected: &[&str]) {
    let found: Vec<String> = of(text)
        .mutations
        .iter()
        .filter(|one| one.operator == operator)
        .map(|one| one.apply(text))
        .collect();
    assert_eq!(found, expected, "{text}");
}
