//! JUnit XML: flaky tests with the `flakyFailure` elements that CI systems show.

use flakelab_model::Class;
use quick_junit::{
    NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString,
};

use crate::detect::{Document, Test};
use crate::terminal::label;
use crate::uncollected::{self, Wrong};

#[derive(Debug, thiserror::Error)]
#[error("failed to write JUnit XML")]
pub struct JunitError(#[from] quick_junit::SerializeError);

pub fn junit(document: &Document) -> Result<String, JunitError> {
    let mut report = Report::new("flakelab detect");
    let mut suite = TestSuite::new("flakelab");
    for test in &document.tests {
        suite.add_test_case(case(test));
    }
    uncollected::junit(
        &mut suite,
        Wrong::DoesNotCollect,
        &document.campaign.collection_errors,
    );
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn case(test: &Test) -> TestCase {
    let (class_name, name) = split(&test.id);
    let message = test.failure.as_ref().map_or("", |f| f.message.as_str());
    let mut status = match test.class {
        Class::AlwaysFailing => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(first(message));
            status
        }
        Class::NotRun => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    };
    if test.class.varies() {
        let mut rerun = TestRerun::new(NonSuccessKind::Failure);
        rerun.set_type(label(test)).set_message(first(message));
        let reproduce = test.reproduce.as_ref().map_or("", |r| r.command.as_str());
        rerun.set_description(format!("{}\n\nreproduce: {reproduce}\n{message}", test.why));
        status.add_rerun(rerun);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(class_name);
    case.properties
        .push(("flakelab.class", label(test).as_str()).into());
    case
}

pub(crate) fn first(message: &str) -> XmlString {
    XmlString::new(message.lines().next().unwrap_or_default())
}

pub(crate) fn split(id: &str) -> (String, String) {
    let id = flakelab_model::TestId::new(id);
    let scope = id.class_scope();
    let name = id.as_str()[scope.len()..].trim_start_matches("::");
    let name = if name.is_empty() { id.as_str() } else { name };
    (scope.to_owned(), name.to_owned())
}
