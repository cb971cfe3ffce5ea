//! What to fix first: one list over all verbs.
//!
//! Kinds of steps come in the order of what they cost and bring: verified patches, which only have to be applied; causes that are
//! known; tests whose cause is not; what does not fail yet, but will; what no test notices. Within a kind, what takes away most failures
//! comes first: the shares of random orders in which its tests fail, added up.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flakelab_model::{Class, shell_word};

use super::Whole;
use super::cards::{Card, Cards};
use super::patches::{self, Patches};
use super::writing::{command, more, short};
use crate::html::escape;
use crate::measure;
use crate::mutate;
use crate::terminal::rate_matters;
use crate::wording::{count, percent};

const MOST_STEPS: usize = 25;
/// Of a kind that takes away no failure that was seen.
const MOST_OTHERS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Patch,
    Cause,
    Test,
    Latent,
    Unnoticed,
}

/// All of it is escaped already, but for the command.
struct Step {
    kind: Kind,
    /// Failures for each random order that it takes away.
    weight: f64,
    what: String,
    why: String,
    command: String,
}

pub(super) fn section(whole: &Whole, cards: &Cards<'_>, patches: &Patches<'_>) -> String {
    let mut steps = steps(whole, cards, patches);
    let mut out = String::new();
    if steps.is_empty() {
        out.push_str(match whole.detect.document() {
            Some(_) => "<p>Nothing: no flaky test was found, and nothing else asks for work.</p>\n",
            None => "<p>Nothing is known yet that asks for work.</p>\n",
        });
        return out;
    }
    out.push_str(
        "<p class=\"dim\">Patches that only have to be applied, then known causes, then tests whose cause nobody knows, then what will fail one day, \
         then what no test notices; what takes away most failures comes first.</p>\n<ol class=\"steps\">\n",
    );
    let all = steps.len();
    steps.truncate(MOST_STEPS);
    for step in &steps {
        let _ = writeln!(
            out,
            "<li class=\"s\"><p><b>{}</b> {}</p>",
            step.what, step.why
        );
        command(&mut out, &step.command, None);
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
    more(&mut out, all, steps.len(), "steps", "the rest of this page");
    out
}

fn steps(whole: &Whole, cards: &Cards<'_>, patches: &Patches<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    of_patches(&mut steps, cards, patches);
    of_causes(&mut steps, cards);
    of_tests(&mut steps, cards);
    of_history(&mut steps, whole, cards);
    of_measure(&mut steps, whole);
    of_mutants(&mut steps, whole);
    steps.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.weight.total_cmp(&a.weight)));
    steps
}

/// `3 tests, together 0.70 failures in each random order`.
fn brings(tests: usize, weight: f64) -> String {
    let named = count(tests as u64, "test", "tests");
    match tests {
        _ if weight <= 0.0 => named,
        1 => format!(
            "{named}, which fails in {} % of random orders",
            percent(weight)
        ),
        _ => format!("{named}, together {weight:.2} failures in each random order"),
    }
}

fn of_patches(steps: &mut Vec<Step>, cards: &Cards<'_>, patches: &Patches<'_>) {
    for entry in patches.all.iter().filter(|entry| entry.is_whole()) {
        // Each test by the first of its patches; one is enough.
        let fixes: Vec<&Card<'_>> = entry
            .fixes
            .iter()
            .filter(|known| {
                let first = known.what.patches.first();
                known.what.is_fixed() && first.is_some_and(|p| p.diff == entry.patch.diff)
            })
            .filter_map(|known| cards.get(&known.what.test))
            .collect();
        if fixes.is_empty() {
            continue;
        }
        let weight: f64 = fixes.iter().map(|card| card.rate()).sum();
        let file = short(patches::file(&entry.patch.diff));
        let what = match patches.number(&entry.patch.diff) {
            Some(at) => format!(
                "Apply <a href=\"#patch{at}\">patch {}</a> of <code>{file}</code>.",
                at + 1
            ),
            None => format!("Apply the patch of <code>{file}</code>."),
        };
        let names: Vec<String> = fixes
            .iter()
            .take(10)
            .map(|card| shell_word(card.id))
            .collect();
        steps.push(Step {
            kind: Kind::Patch,
            weight,
            what,
            why: format!("It is verified, and mends {}.", brings(fixes.len(), weight)),
            command: format!("flakelab fix --apply {}", names.join(" ")),
        });
    }
}

/// Tests with one cause are one step.
fn of_causes(steps: &mut Vec<Step>, cards: &Cards<'_>) {
    let mut by_cause: BTreeMap<String, Vec<&Card<'_>>> = BTreeMap::new();
    for card in cards
        .flaky()
        .filter(|card| card.has_cause() && !card.is_fixed() && !card.is_passing())
    {
        by_cause.entry(cause(card, cards)).or_default().push(card);
    }
    for (cause, of) in by_cause {
        let weight: f64 = of.iter().map(|card| card.rate()).sum();
        let named: Vec<String> = of.iter().take(3).map(|card| cards.link(card.id)).collect();
        let more = match of.len().saturating_sub(3) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let tries = of
            .iter()
            .any(|card| card.fixed.is_none() && is_order_dependent(card.class));
        let id = of
            .first()
            .map_or_else(String::new, |card| shell_word(card.id));
        steps.push(Step {
            kind: Kind::Cause,
            weight,
            what: cause,
            why: format!(
                "It makes {}{more} flaky: {}.",
                named.join(", "),
                brings(of.len(), weight)
            ),
            command: format!("flakelab {} {id}", if tries { "fix" } else { "explain" }),
        });
    }
}

fn is_order_dependent(class: Class) -> bool {
    matches!(class, Class::Victim | Class::Brittle)
}

/// What there is to do about it.
fn cause(card: &Card<'_>, cards: &Cards<'_>) -> String {
    let Some(e) = card.explained.map(|known| &known.what) else {
        return String::new();
    };
    if let Some(leak) = e.leaks.iter().find(|leak| leak.causal) {
        let at = leak.at.as_deref().map_or_else(String::new, |at| {
            format!(", written at <code>{}</code>", short(at))
        });
        let verb = if is_order_dependent(card.class) && e.polluters.is_empty() {
            "Set up"
        } else {
            "Put back"
        };
        return format!("{verb} <code>{}</code>{at}.", short(&leak.name));
    }
    if let Some(factor) = e.factors.iter().find(|factor| factor.decides) {
        let factor = factor.factor.replace('_', " ");
        return format!("Do not depend on the {}.", short(&factor));
    }
    let sets = e.polluters.first().or(e.state_setters.first());
    match sets.or(e.intermittent.first().map(|one| &one.tests)) {
        Some(set) => {
            let names: Vec<String> = set.iter().take(3).map(|id| cards.link(id)).collect();
            format!("Look at what {} leaves behind.", names.join(" and "))
        }
        None => "Look at what is known of it.".into(),
    }
}

fn of_tests(steps: &mut Vec<Step>, cards: &Cards<'_>) {
    for card in cards
        .all
        .iter()
        .filter(|card| !card.has_cause() && !card.is_fixed() && !card.is_passing())
    {
        let test = card.detected;
        let always = card.class == Class::AlwaysFailing;
        let why = match test
            .filter(|test| rate_matters(test))
            .map(|test| &test.failure_rate)
            .filter(|rate| rate.of > 0)
        {
            _ if always => {
                "It fails in every run: whether it is flaky, too, nobody can see.".into()
            }
            Some(rate) => format!(
                "It is {}, and fails in {} % of random orders ({}–{} %).",
                card.class.words(),
                percent(rate.rate.unwrap_or_default()),
                percent(rate.low),
                percent(rate.high)
            ),
            None => format!("It is {}.", card.class.words()),
        };
        let verb = if card.explained.is_some() {
            "Look at"
        } else {
            "Find the cause of"
        };
        let id = shell_word(card.id);
        steps.push(Step {
            kind: Kind::Test,
            weight: if always { 1.0 } else { card.rate() },
            what: format!(
                "{} {}.",
                if always { "Mend" } else { verb },
                cards.link(card.id)
            ),
            why,
            command: match (always, test.and_then(|t| t.reproduce.as_ref())) {
                (true, Some(reproduce)) => reproduce.command.clone(),
                _ => format!("flakelab explain {id}"),
            },
        });
    }
}

/// Tests that flake elsewhere.
fn of_history(steps: &mut Vec<Step>, whole: &Whole, cards: &Cards<'_>) {
    let Some(history) = &whole.history else {
        return;
    };
    let elsewhere = history
        .tests
        .iter()
        .filter(|test| test.first_bad_version.is_some() && cards.get(&test.id).is_none());
    for test in elsewhere.take(MOST_OTHERS) {
        let share = test.failures as f64 / test.decided.max(1) as f64;
        steps.push(Step {
            kind: Kind::Test,
            weight: share,
            what: format!("Find the cause of <code>{}</code>.", short(&test.id)),
            why: format!(
                "In the history it failed in {} of {}, and both ways in one version{}.",
                test.failures,
                count(test.decided, "execution", "executions"),
                if whole.detect.document().is_some() {
                    "; detect has not seen it vary here"
                } else {
                    ""
                }
            ),
            command: format!("flakelab history {}", shell_word(&test.id)),
        });
    }
}

fn of_measure(steps: &mut Vec<Step>, whole: &Whole) {
    let Some(document) = whole.measure.document() else {
        return;
    };
    for latent in document.latent.iter().take(MOST_OTHERS) {
        steps.push(Step {
            kind: Kind::Latent,
            weight: 0.0,
            what: format!("Give <code>{}</code> more room.", short(&latent.element)),
            why: format!(
                "In <code>{}</code> it {}.",
                short(&latent.test),
                escape(&measure::margin(latent))
            ),
            command: "flakelab measure".into(),
        });
    }
}

fn of_mutants(steps: &mut Vec<Step>, whole: &Whole) {
    let Some(document) = whole.mutate.document() else {
        return;
    };
    for (_, mutant) in mutate::survivors(document).into_iter().take(MOST_OTHERS) {
        let file = short(&mutant.file);
        steps.push(Step {
            kind: Kind::Unnoticed,
            weight: 0.0,
            what: format!(
                "Check what <code>{}</code> does at {file}:{}.",
                short(&mutant.scope),
                mutant.line
            ),
            why: format!(
                "{}, {} ran it, and none failed.",
                mutate::sentence(&mutant.says),
                count(mutant.tests as u64, "test", "tests")
            ),
            command: format!("flakelab mutate --mutant {}", shell_word(&mutant.id)),
        });
    }
}
