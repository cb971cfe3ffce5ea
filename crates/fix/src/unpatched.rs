//! Whether a test still does, without any patch, what `explain` has found: whatever is then called a fix has something to fix.

use flakelab_lab::{Lab, LabError};
use flakelab_model::{Class, TestIndex};

use crate::case::Case;
use crate::fix::Settings;
use crate::verify::{ask, forks, sets};

/// With more tests that are gone, their number says it better.
const MOST_NAMED: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unpatched {
    /// It fails as it did.
    Failing,
    /// It passes alone and after every known set.
    Passing,
    /// What is known of it is no longer true, and why.
    Stale(String),
}

/// `plain` says whether a command with the test alone collects it alone.
pub(crate) fn unpatched(
    lab: &mut dyn Lab,
    case: &Case,
    plain: bool,
    settings: &Settings,
) -> Result<Unpatched, LabError> {
    let stale = |why: String| {
        let hint = "run `flakelab explain` on it again";
        Ok(Unpatched::Stale(format!("{why}: {hint}")))
    };
    let gone = gone(lab, case);
    if !gone.is_empty() {
        let one = gone.len() == 1;
        let named = if gone.len() > MOST_NAMED {
            format!("{} tests", gone.len())
        } else {
            gone.join(" and ")
        };
        let (is, was) = if one { ("is", "was") } else { ("are", "were") };
        return stale(format!(
            "{named}, which {was} found to matter, {is} no longer in the suite"
        ));
    }
    let Some((target, sets)) = sets(lab, case) else {
        return stale("no test is known after which it fails".into());
    };
    let alone = vec![target];
    let orders: Vec<Vec<TestIndex>> = sets.into_iter().map(|(_, order)| order).collect();
    let all = std::iter::once(alone.clone()).chain(orders.iter().cloned());
    let passes = forks(lab, all, settings)?;
    let mut in_fresh = |order: &[TestIndex], plain: bool| -> Result<bool, LabError> {
        let (passed, of) = ask(lab, order, plain, settings)?;
        Ok(passed == of)
    };
    if case.class == Class::Brittle {
        // The one verdict that a patch is to change.
        if !passes[0] || !in_fresh(&alone, plain)? {
            return Ok(Unpatched::Failing);
        }
    } else if passes[1..].contains(&false) {
        return Ok(Unpatched::Failing);
    }
    let mut after_all = !passes[1..].contains(&false);
    for order in &orders {
        after_all = after_all && in_fresh(order, false)?;
    }
    if case.class == Class::Brittle {
        return match after_all && !orders.is_empty() {
            true => Ok(Unpatched::Passing),
            false => stale("it passes alone".into()),
        };
    }
    if !after_all {
        return Ok(Unpatched::Failing);
    }
    match passes[0] && in_fresh(&alone, false)? {
        true => Ok(Unpatched::Passing),
        false => {
            stale("it fails alone, and after none of the tests that were found to matter".into())
        }
    }
}

/// Tests that matter and are not in the suite any more.
fn gone(lab: &dyn Lab, case: &Case) -> Vec<String> {
    let known = case.culprits.iter().flatten().chain([&case.test]);
    let gone = known.filter(|id| lab.suite().find(id).is_none());
    let mut gone: Vec<String> = gone.cloned().collect();
    gone.sort();
    gone.dedup();
    gone
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flakelab_lab::fake::{FakeLab, Rule};
    use flakelab_model::Timeout;

    use super::*;

    fn said(rule: Rule, class: Class, culprits: &[&[&str]]) -> Unpatched {
        let mut lab = FakeLab::new(vec![Rule::Passes, rule, Rule::Passes], 1);
        let long = Duration::from_secs(60);
        let settings = Settings {
            seed: 1,
            confirmations: 2,
            shuffles: 2,
            sweep: 10,
            timeout: Timeout {
                test: long,
                run: long,
            },
            impatient: false,
            strategy: None,
            site: None,
            all: false,
            together: false,
        };
        let set = |set: &&[&str]| set.iter().map(ToString::to_string).collect();
        let case = Case {
            test: "m0.py::test_1".into(),
            class,
            culprits: culprits.iter().map(set).collect(),
            cleaners: Vec::new(),
            causes: Vec::new(),
            idle: Vec::new(),
        };
        unpatched(&mut lab, &case, true, &settings).expect("no error")
    }

    #[test]
    fn what_has_nothing_to_fix_is_said_so() {
        let victim = || Rule::Victim {
            polluters: vec![vec![0]],
            cleaners: Vec::new(),
        };
        let setter = || Rule::Brittle {
            setters: vec![vec![0]],
        };
        let (known, other, gone) = ("m0.py::test_0", "m0.py::test_2", "m0.py::test_9");
        let is_stale = |rule, class, culprits: &[&[&str]], why: &str| {
            let said = said(rule, class, culprits);
            assert!(
                matches!(&said, Unpatched::Stale(text) if text.contains(why)),
                "{said:?}"
            );
        };
        use Class::{Brittle, Victim};
        assert_eq!(said(victim(), Victim, &[&[known]]), Unpatched::Failing);
        assert_eq!(said(Rule::Passes, Victim, &[&[known]]), Unpatched::Passing);
        assert_eq!(said(setter(), Brittle, &[&[known]]), Unpatched::Failing);
        assert_eq!(said(setter(), Brittle, &[]), Unpatched::Failing);
        assert_eq!(said(Rule::Passes, Brittle, &[&[known]]), Unpatched::Passing);
        let one = said(victim(), Victim, &[&[known], &[other]]);
        assert_eq!(one, Unpatched::Failing);
        is_stale(
            victim(),
            Victim,
            &[&[known], &[gone]],
            "test_9, which was found to matter, is no",
        );
        is_stale(setter(), Brittle, &[&[known, gone]], "explain");
        is_stale(victim(), Victim, &[], "no test is known");
        is_stale(Rule::Fails, Brittle, &[&[gone]], "no longer in the suite");
    }
}
