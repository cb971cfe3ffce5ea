//! Orders taken from files: a list of ids, a `flakelab.order` document, a verbose pytest log, JUnit XML.
//!
//! Everything here is hostile data: sizes are bounded, unknown ids are reported and never guessed.

mod junit;
mod log;
mod replay;

use flakelab_model::{Order, Suite, TestIndex};

/// What a file said.
#[derive(Debug, PartialEq, Eq)]
pub struct Imported {
    /// One order for each process that the file tells apart (xdist workers).
    pub orders: Vec<Order>,
    /// Names in the file that the suite does not have.
    pub unknown: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(
        "is neither a list of test ids, `flakelab.order` JSON, a verbose pytest log nor JUnit XML"
    )]
    Unrecognised,
    #[error("names no test of this suite (e.g. `{0}`)")]
    Foreign(String),
    #[error("is no readable JUnit XML: {0}")]
    Xml(String),
    #[error("is no readable `flakelab.order` document: {0}")]
    Replay(String),
}

/// Reads an order from a file's text, whatever kind it is.
pub fn import(text: &str, suite: &Suite) -> Result<Imported, ImportError> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let names = if start.starts_with('<') {
        junit::names(start, suite)?
    } else if start.starts_with('{') {
        vec![replay::names(start)?]
    } else {
        match log::names(text) {
            found if found.is_empty() => vec![list(text)],
            found => found,
        }
    };
    resolve(names, suite)
}

/// One id a line; empty lines and comments are passed over.
fn list(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn resolve(groups: Vec<Vec<String>>, suite: &Suite) -> Result<Imported, ImportError> {
    let mut orders = Vec::new();
    let mut unknown = Vec::new();
    for names in groups {
        let mut order: Vec<TestIndex> = Vec::new();
        for name in names {
            match suite.find(&name) {
                Some(test) => order.push(test),
                None => unknown.push(name),
            }
        }
        if !order.is_empty() {
            orders.push(Order(order));
        }
    }
    match (orders.is_empty(), unknown.first()) {
        (true, Some(name)) => Err(ImportError::Foreign(name.clone())),
        (true, None) => Err(ImportError::Unrecognised),
        _ => Ok(Imported { orders, unknown }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        Suite::new(
            [
                "tests/test_a.py::test_x",
                "tests/test_a.py::TestC::test_y[a b::c]",
                "test_b.py::test_z",
            ]
            .map(String::from),
        )
    }

    fn check(text: &str, expected: &[&[u32]], unknown: &[&str]) {
        let imported = import(text, &suite()).expect("recognised");
        let orders: Vec<Vec<u32>> = imported
            .orders
            .iter()
            .map(|o| o.0.iter().map(|t| t.0).collect())
            .collect();
        assert_eq!(orders, expected);
        assert_eq!(imported.unknown, unknown);
    }

    #[test]
    fn a_list_of_ids() {
        check(
            "# from Monday\ntest_b.py::test_z\n\n tests/test_a.py::test_x \nold.py::gone\n",
            &[&[2, 0]],
            &["old.py::gone"],
        );
    }

    #[test]
    fn a_verbose_log() {
        check(
            "collected 3 items\n\ntest_b.py::test_z PASSED      [ 33%]\n\
             tests/test_a.py::TestC::test_y[a b::c] FAILED  [ 66%]\n\
             tests/test_a.py::test_x SKIPPED (no network) [100%]\n\
             FAILED tests/test_a.py::TestC::test_y[a b::c] - assert 1 == 2\n",
            &[&[2, 1, 0]],
            &[],
        );
    }

    #[test]
    fn a_log_of_several_workers_gives_an_order_for_each() {
        check(
            "[gw1] [ 33%] PASSED test_b.py::test_z \n[gw0] [ 66%] FAILED tests/test_a.py::test_x \n\
             2024-01-01T00:00:00.0Z [gw1] [100%] PASSED tests/test_a.py::TestC::test_y[a b::c] \n",
            &[&[0], &[2, 1]],
            &[],
        );
    }

    #[test]
    fn junit_xml() {
        check(
            r#"<?xml version="1.0"?><testsuites><testsuite>
            <testcase classname="test_b" name="test_z" time="0.1"/>
            <testcase classname="tests.test_a.TestC" name="test_y[a b::c]"><failure message="x &lt; y">t</failure></testcase>
            <testcase classname="tests.test_a" name="test_x"><skipped/></testcase>
            <testcase classname="other" name="test_q"/>
            </testsuite></testsuites>"#,
            &[&[2, 1, 0]],
            &["other::test_q"],
        );
    }

    #[test]
    fn a_replay_file() {
        let file = r#"{"schema": {"name": "flakelab.order", "version": "1.7"},
            "order": ["test_b.py::test_z", "tests/test_a.py::test_x"]}"#;
        check(file, &[&[2, 0]], &[]);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(
            import("", &suite()),
            Err(ImportError::Unrecognised)
        ));
        assert!(matches!(
            import("hello world", &suite()),
            Err(ImportError::Foreign(_))
        ));
        assert!(matches!(
            import("<a><b></a>", &suite()),
            Err(ImportError::Xml(_))
        ));
        assert!(matches!(
            import("{\"a\":", &suite()),
            Err(ImportError::Replay(_))
        ));
        assert!(matches!(
            import(
                r#"{"schema":{"name":"flakelab.order","version":"2.0"},"order":[]}"#,
                &suite()
            ),
            Err(ImportError::Replay(_))
        ));
    }
}
