//! `flakelab filter apply`: sorts the failures of a finished run, by what is known of its tests. Runs nothing.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::time::Instant;

use flakelab_filter::{Kind, Quarantine, today};
use flakelab_history::{ReadError, Row, Sink, read};
use flakelab_model::Reported;
use flakelab_report::detect::{CollectionError, Schema};
use flakelab_report::filter as report;

use super::gate::{expired, publish};
use super::knowledge::Knowledge;
use super::{THRESHOLD, read_quarantine};
use crate::args::ApplyArgs;
use crate::error::CliError;
use crate::printer::Printer;
use crate::workbench::{Place, deliver};

/// What a test came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Came {
    last: Reported,
    /// Whether an earlier attempt of the same run differed.
    varied: bool,
    suite: u32,
}

#[derive(Default)]
struct Outcomes(BTreeMap<String, Came>);

impl Outcomes {
    /// The same test in another file is another run: a failure is not made good by that.
    fn add(&mut self, other: Outcomes) {
        for (test, came) in other.0 {
            let known = self.0.entry(test).or_insert(came);
            if is_failure(came.last) {
                *known = came;
            }
        }
    }
}

impl Sink for Outcomes {
    type Error = Infallible;

    fn row(&mut self, row: Row<'_>) -> Result<(), Infallible> {
        let Some(seen) = self.0.get_mut(row.test) else {
            let came = Came {
                last: row.outcome,
                varied: false,
                suite: row.suite,
            };
            self.0.insert(row.test.to_owned(), came);
            return Ok(());
        };
        if seen.suite == row.suite {
            match row.sequel.after(seen.last) {
                Some(earlier) => seen.last = earlier,
                None => return Ok(()),
            }
        }
        seen.varied |= is_failure(seen.last) != is_failure(row.outcome);
        (seen.last, seen.suite) = (row.outcome, row.suite);
        Ok(())
    }
}

fn is_failure(outcome: Reported) -> bool {
    matches!(outcome, Reported::Failed | Reported::Errored)
}

pub(super) fn run(args: &ApplyArgs) -> crate::Outcome {
    let started = Instant::now();
    deliver::check_all(&args.output, args.junit.iter())?;
    let place = Place::settle(&args.project, args.output.store.as_deref())?;
    let printer = Printer::new(args.output.quiet, args.output.verbose);
    let threshold = args
        .threshold
        .or(place.config.filter.threshold)
        .unwrap_or(THRESHOLD);
    let quarantine = read_quarantine(&place.project, None)?;
    let mut knowledge = Knowledge::at(&place.location)?;
    if let Some(error) = knowledge.nothing_learned() {
        return Err(error);
    }
    knowledge.catch_up(&place.project);
    let mut outcomes = Outcomes::default();
    let mut unread = Vec::new();
    for path in &args.results {
        let mut leave_out = |why: String| {
            let id = path.display().to_string();
            printer.warn(&format!("`{id}` is left out: {why}"));
            unread.push(CollectionError { id, message: why });
        };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                leave_out(error.to_string());
                continue;
            }
        };
        // What a broken file says before it breaks is not to be trusted either.
        let mut own = Outcomes::default();
        match read(file, &mut own) {
            Ok(_) => outcomes.add(own),
            Err(ReadError::Broken(broken)) => leave_out(broken.to_string()),
            Err(ReadError::Sink(never)) => match never {},
        }
    }
    if unread.len() == args.results.len() {
        return Err(CliError::usage("none of the files could be read")
            .hint("filter apply takes JUnit XML of any runner, CTRF, or Playwright's JSON"));
    }
    let day = today(0);
    let tests: Vec<report::Test> = outcomes
        .0
        .into_iter()
        .map(|(id, came)| {
            sorted(
                id,
                came.last,
                came.varied,
                &knowledge,
                &quarantine,
                &day,
                threshold,
            )
        })
        .collect();
    let expired = expired(&quarantine, &day);
    let failed = tests.iter().any(|test| test.verdict == "failed");
    let document = report::Document {
        schema: Schema::FILTER,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project: place.name(),
        learned: knowledge.versions.clone(),
        threshold,
        filtered_assertions: knowledge
            .assertions
            .iter()
            .filter(|known| known.evidence.score() > threshold)
            .count(),
        collection_errors: Vec::new(),
        passed: !failed && expired.is_empty() && unread.is_empty(),
        unread,
        tests,
        expired,
        seconds: started.elapsed().as_secs_f64(),
    };
    publish(&document, &args.output, args.junit.as_deref(), printer)
}

fn sorted(
    id: String,
    outcome: Reported,
    varied: bool,
    knowledge: &Knowledge,
    quarantine: &Quarantine,
    day: &str,
    threshold: f64,
) -> report::Test {
    let word = match outcome {
        Reported::Passed => "passed",
        Reported::Failed => "failed",
        Reported::Errored => "errored",
        Reported::Skipped => "skipped",
    };
    let mut failures = Vec::new();
    if is_failure(outcome) {
        let (kind, evidence) = kind(&id, varied, knowledge);
        let score = knowledge.test_score(&id);
        let entry = quarantine
            .covering(&id, None)
            .filter(|entry| !entry.is_expired(day));
        let because = match entry {
            Some(entry) => Some(format!(
                "in quarantine until {}: {}",
                entry.expires, entry.reason
            )),
            None if score > threshold && kind == Kind::Flaky => {
                Some(format!("the test's score {score:.2} is above {threshold}"))
            }
            None => None,
        };
        failures.push(report::Failure {
            assertion: None,
            at: String::new(),
            message: String::new(),
            value: None,
            kind: kind.word(),
            evidence,
            score,
            filtered: because.is_some(),
            because,
            edited: None,
            label: knowledge.label(&id, "").map(|label| label.label.clone()),
        });
    }
    let verdict = match (outcome, failures.first()) {
        (Reported::Skipped, _) => "skipped",
        (_, None) => "passed",
        (_, Some(failure)) if failure.filtered => "filtered",
        _ => "failed",
    };
    report::Test {
        id,
        outcome: word.into(),
        verdict,
        seconds: 0.0,
        failures,
    }
}

fn kind(id: &str, varied: bool, knowledge: &Knowledge) -> (Kind, String) {
    if varied {
        return (
            Kind::Flaky,
            "another attempt of this very run passed".into(),
        );
    }
    let lessons = knowledge.living(id);
    let runs: u64 = lessons.iter().map(|lesson| lesson.runs).sum();
    let failed: u64 = lessons.iter().map(|lesson| lesson.failed).sum();
    if runs == 0 {
        (
            Kind::New,
            "no version that was learned has this test".into(),
        )
    } else if lessons.iter().any(|lesson| lesson.wavers()) {
        let saying = format!("failed in {failed} of {runs} runs that were learned");
        (Kind::Flaky, saying)
    } else {
        let saying = format!("failed or passed alike in all runs of each version, {runs} in all");
        (Kind::Changed, saying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Outcomes {
        let mut outcomes = Outcomes::default();
        assert!(read(text.as_bytes(), &mut outcomes).is_ok());
        outcomes
    }

    /// One testsuite as pytest writes it, with these cases of one test.
    fn suite(cases: &[&str]) -> String {
        let cases: Vec<String> = cases
            .iter()
            .map(|inner| {
                format!(
                    "<testcase classname=\"test_a\" name=\"test_x\" time=\"0.1\">{inner}</testcase>"
                )
            })
            .collect();
        format!(
            "<testsuites name=\"pytest tests\"><testsuite name=\"pytest\">{}</testsuite></testsuites>",
            cases.concat()
        )
    }

    fn only(outcomes: &Outcomes) -> (Reported, bool) {
        let came: Vec<&Came> = outcomes.0.values().collect();
        assert_eq!(came.len(), 1);
        (came[0].last, came[0].varied)
    }

    #[test]
    fn attempts_that_were_made_again_have_failed() {
        let twice = suite(&["", "<failure message=\"no\"/>"]);
        assert_eq!(only(&read_text(&twice)), (Reported::Failed, false));
        let at_last = suite(&["", ""]);
        assert_eq!(only(&read_text(&at_last)), (Reported::Passed, true));
    }

    #[test]
    fn a_failure_in_one_file_is_not_made_good_by_another() {
        let (passed, failed) = (suite(&[""]), suite(&["<failure message=\"no\"/>"]));
        for texts in [[&passed, &failed], [&failed, &passed]] {
            let mut all = Outcomes::default();
            for text in texts {
                all.add(read_text(text));
            }
            assert_eq!(only(&all), (Reported::Failed, false));
        }
    }
}
