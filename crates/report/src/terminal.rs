//! The result as a person reads it at a glance.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flakelab_model::Class;

use crate::detect::{Document, Rate, Test};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::uncollected::{self, Wrong};
use crate::wording::{count, duration, first_line, percent, thousands, visible};

#[derive(Debug, Clone, Copy)]
pub struct TerminalOptions {
    /// Also list tests that always fail, with evidence for each class.
    pub verbose: bool,
}

/// The longest list of always failing tests that is printed without `--verbose`.
const MOST_FAILING: usize = 5;

pub fn terminal(document: &Document, options: TerminalOptions) -> String {
    let mut out = String::new();
    for test in document.tests.iter().filter(|t| t.class.varies()) {
        describe(&mut out, test, options);
    }
    let failing: Vec<&Test> = of_class(document, Class::AlwaysFailing);
    if !failing.is_empty() {
        let shown = if options.verbose {
            failing.len()
        } else {
            MOST_FAILING
        };
        for test in failing.iter().take(shown) {
            describe(&mut out, test, options);
        }
        if failing.len() > shown {
            let _ = writeln!(
                out,
                "{DIM}… and {} more that always fail (--verbose lists them){OFF}\n",
                failing.len() - shown
            );
        }
    }
    if !document.campaign.collection_errors.is_empty() {
        uncollected::terminal(
            &mut out,
            Wrong::DoesNotCollect,
            &document.campaign.collection_errors,
        );
        out.push('\n');
    }
    summary(&mut out, document);
    out
}

pub(crate) fn classes(document: &Document) -> impl Iterator<Item = Class> {
    document.tests.iter().map(|test| test.class)
}

fn of_class(document: &Document, class: Class) -> Vec<&Test> {
    document.tests.iter().filter(|t| t.class == class).collect()
}

fn describe(out: &mut String, test: &Test, options: TerminalOptions) {
    let colour = match test.class {
        Class::Unconfirmed | Class::Masked | Class::AlwaysFailing => YELLOW,
        _ => RED,
    };
    let _ = writeln!(
        out,
        "{colour}{BOLD}{}{OFF} {BOLD}{}{OFF}",
        label(test),
        visible(&test.id)
    );
    if rate_matters(test) {
        let _ = writeln!(out, "  fails      {}", rate(&test.failure_rate));
    }
    if !test.why.is_empty() {
        let _ = writeln!(out, "  because    {}", visible(&test.why));
    }
    if let Some(failure) = &test.failure {
        let at = if failure.at.is_empty() {
            String::new()
        } else {
            format!(" {DIM}({}){OFF}", first_line(&failure.at, 160))
        };
        let _ = writeln!(
            out,
            "  message    {}{at}",
            first_line(&failure.message, 160)
        );
    }
    if let Some(reproduce) = &test.reproduce {
        let _ = writeln!(out, "  reproduce  {}", visible(&reproduce.command));
        if !reproduce.verified {
            let _ = writeln!(
                out,
                "             {DIM}(flakelab has not seen this very command fail; plain pytest may run more tests or another order){OFF}"
            );
        }
    }
    if options.verbose
        && let Some(evidence) = &test.evidence
    {
        let _ = writeln!(
            out,
            "  {DIM}evidence   alone {}/{} passed, confirmation {}/{} passed, reruns {}/{} passed{OFF}",
            evidence.isolated.passed,
            evidence.isolated.passed + evidence.isolated.failed,
            evidence.confirmed.passed,
            evidence.confirmed.passed + evidence.confirmed.failed,
            evidence.reruns.passed,
            evidence.reruns.passed + evidence.reruns.failed,
        );
    }
    out.push('\n');
}

pub(crate) fn label(test: &Test) -> String {
    let mut label = test.class.words().to_owned();
    if test.class == Class::NonDeterministic && test.order_plays_a_part() {
        label.push_str(" and order-dependent");
    }
    for also in &test.also {
        let _ = write!(label, ", {}", also.words());
    }
    label
}

/// Random orders run each test once: they say nothing of one that fails when run again, or never fails.
pub(crate) fn rate_matters(test: &Test) -> bool {
    let rate = &test.failure_rate;
    match test.class {
        Class::AlwaysFailing => false,
        Class::NonIdempotent | Class::Masked => rate.failed > 0,
        _ => rate.of > 0,
    }
}

pub(crate) fn rate(rate: &Rate) -> String {
    rate_words(rate, "random orders")
}

pub(crate) fn rate_words(rate: &Rate, of_what: &str) -> String {
    format!(
        "in {} of {} {of_what} ({} %, 95 % interval {}–{} %)",
        rate.failed,
        rate.of,
        percent(rate.rate.unwrap_or(0.0)),
        percent(rate.low),
        percent(rate.high)
    )
}

pub(crate) fn headline(classes: impl IntoIterator<Item = Class>) -> String {
    let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
    for class in classes {
        *by_class.entry(class).or_default() += 1;
    }
    let flaky: u64 = by_class
        .iter()
        .filter(|(c, _)| c.is_flaky())
        .map(|(_, n)| n)
        .sum();
    let parts: Vec<String> = by_class
        .iter()
        .filter(|(class, _)| class.is_flaky())
        .map(|(class, number)| format!("{} {}", thousands(*number), class.words()))
        .collect();
    let mut line = if flaky == 0 {
        "no flaky test found".to_owned()
    } else {
        format!(
            "{}: {}",
            count(flaky, "flaky test", "flaky tests"),
            parts.join(", ")
        )
    };
    for class in [
        Class::Unconfirmed,
        Class::AlwaysFailing,
        Class::NotRun,
        Class::Stable,
    ] {
        if let Some(number) = by_class.get(&class) {
            let _ = write!(line, "; {} {}", thousands(*number), class.words());
        }
    }
    line
}

fn summary(out: &mut String, document: &Document) {
    let campaign = &document.campaign;
    let any = |wanted: fn(Class) -> bool| classes(document).any(wanted);
    let colour = match (any(Class::is_flaky), any(Class::varies)) {
        (true, _) => RED,
        (_, true) => YELLOW,
        _ => GREEN,
    };
    let _ = writeln!(out, "{colour}{BOLD}{}{OFF}", headline(classes(document)));
    let _ = writeln!(
        out,
        "{} in {} ({} CPU), {}, seed {}",
        count(campaign.executions, "execution", "executions"),
        duration(campaign.wall_seconds),
        duration(campaign.cpu_seconds),
        count(
            document.confidence.random_orders,
            "random order",
            "random orders"
        ),
        campaign.seed
    );
    let statement = &document.confidence.statement;
    let mut capital = statement.chars();
    let first: String = capital
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let _ = writeln!(out, "{first}{}.", capital.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(class: Class, failed: u64) -> Test {
        Test {
            id: "test_a.py::test".into(),
            class,
            also: Vec::new(),
            failure_rate: Rate::new(failed, 10),
            failure: None,
            reproduce: None,
            passing_order: None,
            evidence: None,
            why: String::new(),
        }
    }

    fn headline_of(classes: &[Class]) -> String {
        headline(classes.iter().copied())
    }

    #[test]
    fn what_is_unconfirmed_is_not_counted_as_flaky() {
        assert_eq!(
            headline_of(&[Class::Victim, Class::Unconfirmed, Class::Stable]),
            "1 flaky test: 1 victim; 1 unconfirmed; 1 stable"
        );
        assert_eq!(
            headline_of(&[Class::Unconfirmed]),
            "no flaky test found; 1 unconfirmed"
        );
    }

    #[test]
    fn a_rate_over_orders_is_shown_where_orders_matter() {
        let shows = |class, failed| {
            let mut out = String::new();
            describe(
                &mut out,
                &test(class, failed),
                TerminalOptions { verbose: false },
            );
            out.contains("random orders")
        };
        assert!(!shows(Class::NonIdempotent, 0));
        assert!(!shows(Class::Masked, 0));
        assert!(shows(Class::NonIdempotent, 2));
        assert!(shows(Class::Victim, 0));
    }
}
