//! Reports as their runners write them. Those of pytest were written by pytest 8 with pytest-rerunfailures and
//! pytest-xdist; the others follow the documentation of their runners.

use std::collections::BTreeMap;
use std::convert::Infallible;

use flakelab_history::{Format, Row, Sink, read};
use flakelab_model::{Reported, Sequel};

/// Rows by test, with retries resolved as the store does.
#[derive(Default)]
struct Rows {
    tests: BTreeMap<String, String>,
    order: Vec<String>,
}

fn letter(outcome: Reported) -> char {
    match outcome {
        Reported::Passed => 'P',
        Reported::Failed => 'F',
        Reported::Errored => 'E',
        Reported::Skipped => 'S',
    }
}

impl Sink for Rows {
    type Error = Infallible;

    fn row(&mut self, row: Row<'_>) -> Result<(), Infallible> {
        let seen = self.tests.entry(row.test.to_owned()).or_default();
        if row.sequel != Sequel::Another {
            match seen.pop() {
                Some('P') => seen.push('F'),
                Some(last @ ('F' | 'E')) if row.sequel == Sequel::Teardown => {
                    seen.push(last);
                    return Ok(());
                }
                other => seen.extend(other),
            }
        }
        seen.push(letter(row.outcome));
        self.order.push(row.test.to_owned());
        Ok(())
    }
}

fn check(report: &str, format: Format, expected: &[(&str, &str)]) {
    let mut rows = Rows::default();
    let found = read(report.as_bytes(), &mut rows).expect("a report");
    assert_eq!(found, format);
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(test, rows)| ((*test).to_owned(), (*rows).to_owned()))
        .collect();
    assert_eq!(rows.tests, expected);
}

const PYTEST: [(&str, &str); 15] = [
    ("tests/sub/test_broken.py", "E"),
    ("tests/test_mod.py::test_ok", "P"),
    ("tests/test_mod.py::test_bad", "FFF"),
    ("tests/test_mod.py::test_skip", "S"),
    ("tests/test_mod.py::test_xfail", "S"),
    ("tests/test_mod.py::test_p[a<b]", "P"),
    ("tests/test_mod.py::test_p[c.d]", "P"),
    ("tests/test_mod.py::test_p[\\xe9\\x01]", "P"),
    ("tests/test_mod.py::TestX::test_m", "P"),
    ("tests/test_mod.py::TestX::TestY::test_n", "P"),
    ("tests/test_mod.py::test_setup", "FFE"),
    ("tests/test_mod.py::test_teardown", "FFE"),
    // The last attempt failed, and so did its teardown: one execution.
    ("tests/test_mod.py::test_both", "FFF"),
    ("tests/test_mod.py::test_flaky", "FFP"),
    ("", ""),
];

fn pytest(
    but: &[(&'static str, &'static str)],
    without: &str,
) -> Vec<(&'static str, &'static str)> {
    let changed = |id: &str| but.iter().find(|(other, _)| *other == id).copied();
    PYTEST
        .into_iter()
        .filter(|(id, _)| !id.is_empty() && *id != without)
        .map(|(id, rows)| changed(id).unwrap_or((id, rows)))
        .collect()
}

#[test]
fn pytest_with_reruns() {
    // Only assertions were rerun.
    let expected = pytest(
        &[
            ("tests/test_mod.py::test_setup", "E"),
            ("tests/test_mod.py::test_teardown", "E"),
            ("tests/test_mod.py::test_both", "F"),
        ],
        "",
    );
    check(
        include_str!("samples/pytest-rerun.xml"),
        Format::Junit,
        &expected,
    );
}

#[test]
fn pytest_with_the_file_of_each_test() {
    check(
        include_str!("samples/pytest-xunit1.xml"),
        Format::Junit,
        &pytest(&[], ""),
    );
}

#[test]
fn pytest_with_reruns_on_two_workers() {
    let expected = pytest(&[], "tests/sub/test_broken.py");
    check(
        include_str!("samples/pytest-xdist-rerun.xml"),
        Format::Junit,
        &expected,
    );
}

#[test]
fn surefire() {
    check(
        include_str!("samples/surefire.xml"),
        Format::Junit,
        &[
            ("com.acme.shop.CartTest#addsAnItem", "P"),
            ("com.acme.shop.CartTest#totals", "FEP"),
            ("com.acme.shop.CartTest#checksOut", "FFE"),
            ("com.acme.shop.CartTest#ships{String}[1]", "S"),
            ("com.acme.shop.CartTest", "E"),
        ],
    );
}

#[test]
fn gradle_with_the_retry_plugin() {
    check(
        include_str!("samples/gradle.xml"),
        Format::Junit,
        &[
            ("com.acme.shop.CartTest#addsAnItem", "P"),
            ("com.acme.shop.CartTest#totals", "FP"),
        ],
    );
}

#[test]
fn nextest() {
    check(
        include_str!("samples/nextest.xml"),
        Format::Junit,
        &[
            ("shop cart::tests::adds", "P"),
            ("shop cart::tests::totals", "FP"),
            ("shop cart::tests::ships", "FF"),
            ("shop::end_to_end buys", "P"),
        ],
    );
}

#[test]
fn jest() {
    check(
        include_str!("samples/jest.xml"),
        Format::Junit,
        &[
            ("cart adds an item", "P"),
            ("cart totals", "F"),
            ("cart ships", "S"),
            ("src/prices.test.js > prices are positive", "P"),
        ],
    );
}

#[test]
fn ctrf() {
    check(
        include_str!("samples/ctrf.json"),
        Format::Ctrf,
        &[
            ("src/cart.test.js > cart > items > adds", "P"),
            ("cart > totals", "FFP"),
            ("ships", "FF"),
            ("pays [firefox]", "FP"),
            ("returns", "S"),
            ("refunds", "S"),
        ],
    );
}

#[test]
fn playwright() {
    check(
        include_str!("samples/playwright.json"),
        Format::Playwright,
        &[
            ("cart.spec.ts > opens [chromium]", "P"),
            ("cart.spec.ts > opens [webkit]", "FFP"),
            ("cart.spec.ts > checkout > is refused", "P"),
            ("cart.spec.ts > checkout > is skipped", "S"),
        ],
    );
}

#[test]
fn rows_come_in_the_order_of_the_report() {
    let mut rows = Rows::default();
    read(include_str!("samples/gradle.xml").as_bytes(), &mut rows).expect("a report");
    let names: Vec<&str> = rows
        .order
        .iter()
        .filter_map(|n| n.rsplit('#').next())
        .collect();
    assert_eq!(names, ["addsAnItem", "totals", "totals"]);
}

#[test]
fn suites_of_a_merged_report_are_runs_of_their_own() {
    let suite = "<testsuite name='pytest'><testcase classname='test_a' name='test_x'/></testsuite>";
    check(
        &format!("<testsuites>{suite}{suite}</testsuites>"),
        Format::Junit,
        // The sink of this test does not look at suites; the store does.
        &[("test_a.py::test_x", "FP")],
    );
}
