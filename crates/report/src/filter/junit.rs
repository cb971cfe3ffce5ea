//! JUnit XML of a gated run: what was filtered is a flaky failure of a test that passes.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use super::{Document, Failure, Test};
use crate::junit::{JunitError, first, split};
use crate::uncollected::{self, Wrong};

pub fn junit(document: &Document) -> Result<String, JunitError> {
    let mut report = Report::new("flakelab filter");
    let mut suite = TestSuite::new(document.project.as_str());
    for test in &document.tests {
        suite.add_test_case(case(test));
    }
    uncollected::junit(
        &mut suite,
        Wrong::DoesNotCollect,
        &document.collection_errors,
    );
    uncollected::junit(&mut suite, Wrong::Unread, &document.unread);
    for entry in &document.expired {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(format!(
            "quarantine of {} ended on {}",
            entry.test, entry.expires
        ));
        let mut case = TestCase::new(entry.test.as_str(), status);
        case.set_classname("flakelab-quarantine");
        suite.add_test_case(case);
    }
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn case(test: &Test) -> TestCase {
    let (class_name, name) = split(&test.id);
    let (filtered, open): (Vec<&Failure>, Vec<&Failure>) =
        test.failures.iter().partition(|failure| failure.filtered);
    let mut status = match test.verdict {
        "failed" => TestCaseStatus::non_success(NonSuccessKind::Failure),
        "skipped" => TestCaseStatus::skipped(),
        "not_run" => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::success(),
    };
    if test.verdict == "failed" {
        let failure = open.first().or(filtered.first());
        status.set_message(first(failure.map_or("", |f| f.message.as_str())));
        let text: Vec<String> = open.iter().map(|failure| told(failure)).collect();
        status.set_description(text.join("\n\n"));
    }
    if test.verdict == "not_run" {
        status.set_message("the run ended before this test");
    }
    for failure in &filtered {
        let mut rerun = TestRerun::new(NonSuccessKind::Failure);
        rerun
            .set_type(format!("filtered {}", failure.kind))
            .set_message(first(&failure.message))
            .set_description(told(failure));
        status.add_rerun(rerun);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(class_name);
    case.set_time(Duration::try_from_secs_f64(test.seconds).unwrap_or_default());
    for failure in &test.failures {
        let value = format!("{}: {}", failure.kind, failure.evidence);
        let key = if failure.filtered {
            "flakelab.filtered"
        } else {
            "flakelab.failure"
        };
        case.properties.push((key, value.as_str()).into());
    }
    case
}

fn told(failure: &Failure) -> String {
    let assertion = failure.assertion.as_deref().unwrap_or("error");
    let because = failure.because.as_deref().unwrap_or_default();
    format!(
        "{}: {}\n{assertion}\n{}\n{}\n{because}",
        failure.kind, failure.evidence, failure.at, failure.message
    )
}
