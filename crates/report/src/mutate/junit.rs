//! JUnit XML: a mutant that survives is a test that fails.
//!
//! What could not be run is an error. What has no verdict (unknown, out of time, not covered) is skipped, with the reason: it
//! is no finding, and no pass either.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::sayings::{self, name};
use super::{Document, Mutant, Status};
use crate::junit::JunitError;
use crate::wording::first_line;

/// Characters of a text, and of a name.
const MOST: usize = 10_000;
const NAME: usize = 500;
/// Tests named for a mutant.
const MOST_TESTS: usize = 20;

pub fn junit(document: &Document) -> Result<String, JunitError> {
    let mut report = Report::new("flakelab mutate");
    let mut suite = TestSuite::new(name(&document.project, NAME));
    for mutant in &document.mutants {
        suite.add_test_case(case(mutant));
    }
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn case(mutant: &Mutant) -> TestCase {
    let mut status = match mutant.status {
        Status::Killed => TestCaseStatus::success(),
        Status::Survived => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::Unknown | Status::Timeout | Status::NotCovered => TestCaseStatus::skipped(),
    };
    status
        .set_type(mutant.status.words())
        .set_message(format!(
            "{}: {}",
            first_line(&mutant.says, NAME),
            sayings::verdict(mutant)
        ))
        .set_description(described(mutant));
    let mut case = TestCase::new(
        format!(
            "{}:{} {} ({})",
            mutant.line,
            mutant.column,
            first_line(&mutant.says, NAME),
            name(&mutant.id, NAME)
        ),
        status,
    );
    case.set_classname(format!(
        "{}::{}",
        name(&mutant.file, NAME),
        name(&mutant.scope, NAME)
    ));
    let mut tell = |key: &str, value: &str| case.properties.push((key, value).into());
    tell("flakelab.status", mutant.status.words());
    tell("flakelab.operator", &name(&mutant.operator, NAME));
    for test in mutant.killed_by.iter().take(MOST_TESTS) {
        tell("flakelab.killed_by", &name(test, NAME));
    }
    case
}

fn described(mutant: &Mutant) -> String {
    let mut text = String::new();
    if let Some(why) = &mutant.why {
        text.push_str(&first_line(why, MOST));
        text.push('\n');
    }
    for test in mutant.unknown_pairs.iter().take(MOST_TESTS) {
        let undecided = sayings::undecided(mutant);
        text.push_str(&format!("{undecided} {}\n", name(test, NAME)));
    }
    if mutant.unknown_pairs.len() > MOST_TESTS {
        let more = mutant.unknown_pairs.len() - MOST_TESTS;
        text.push_str(&format!("… and {more} more\n"));
    }
    text.extend(mutant.diff.chars().take(MOST));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::example;

    #[test]
    fn survivors_fail_and_what_has_no_verdict_is_skipped() {
        let document = example::shop();
        let t = &document.totals;
        let text = junit(&document).expect("XML");
        let (failures, errors) = (t.survived, t.error);
        let skipped = t.unknown + t.timeout + t.not_covered;
        assert!(
            text.contains(&format!(
                "<testsuite name=\"shop\" tests=\"{}\" skipped=\"{skipped}\" errors=\"{errors}\" failures=\"{failures}\">",
                document.mutants.len()
            )),
            "{text}"
        );
        for part in [
            "<testcase name=\"4:20 `&lt;` became `&lt;=` (m1)\" classname=\"shop/cart.py::Cart.total\">",
            "<failure message=\"`&lt;` became `&lt;=`: 4 tests hit it, none failed\" type=\"survived\">",
            "+        if self.sum &lt;= limit:",
            "<skipped message=\"`wait` was removed: 1 of 2 tests never hit it, none that did failed\" type=\"unknown\">",
            "not hit by tests/test_cart.py::test_waits",
            "type=\"timeout\"",
            "<error message=\"",
            "<property name=\"flakelab.killed_by\" value=\"tests/test_cart.py::test_sum\"/>",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_suites_text_stays_text_and_is_bounded() {
        let text = junit(&example::hostile()).expect("XML");
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{0}'),
            "{text}"
        );
        assert!(
            !text.contains("</script>") && !text.contains("]]>"),
            "{text}"
        );
        assert_eq!(
            text.matches("<testcase").count(),
            example::hostile().mutants.len()
        );
        assert!(text.len() < 200_000, "{}", text.len());
    }
}
