//! The document of `flakelab doctor`. Fields are only ever added within a major version.

use std::fmt::Write as _;

use serde::Serialize;

use crate::detect::Schema;
use crate::style::{BOLD, GREEN, OFF, RED, YELLOW};
use crate::wording::{count, first_line};

/// Characters of a line of what was found: messages of a suite may be long.
const MOST_SHOWN: usize = 400;

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    /// Whether everything that is necessary is there.
    pub ready: bool,
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// flakelab works without it.
    Missing,
    /// flakelab cannot work without it.
    Broken,
}

#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub state: State,
    /// What is there, or why it is not.
    pub found: String,
    /// What is lost without it, and by which verb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<String>,
    /// How to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

pub fn terminal(document: &Document) -> String {
    let mut out = String::new();
    let widest = document.checks.iter().map(|c| c.name.len()).max();
    let width = widest.unwrap_or_default();
    for check in &document.checks {
        let (style, word) = match check.state {
            State::Ok => (GREEN, "ok"),
            State::Missing => (YELLOW, "missing"),
            State::Broken => (RED, "broken"),
        };
        let found = first_line(&check.found, MOST_SHOWN);
        let _ = writeln!(
            out,
            "{style}{word:<7}{OFF}  {BOLD}{:width$}{OFF}  {found}",
            check.name
        );
        for (label, text) in [("costs", &check.costs), ("remedy", &check.remedy)] {
            if let Some(text) = text {
                let text = first_line(text, MOST_SHOWN);
                let _ = writeln!(out, "{:9}{label:width$}  {text}", "");
            }
        }
    }
    let number = |state| document.checks.iter().filter(|c| c.state == state).count() as u64;
    let _ = match (number(State::Broken), number(State::Missing)) {
        (0, 0) => writeln!(out, "\n{GREEN}ready{OFF}, with everything flakelab can use"),
        (0, missing) => writeln!(
            out,
            "\n{GREEN}ready{OFF}; {} missing",
            count(missing, "optional thing is", "optional things are")
        ),
        (broken, _) => writeln!(
            out,
            "\n{RED}not ready{OFF}: {} broken",
            count(broken, "necessary thing is", "necessary things are")
        ),
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, state: State) -> Check {
        Check {
            name,
            state,
            found: "one\u{1b}[31m\ntwo".to_owned(),
            costs: (state != State::Ok).then(|| "explain: less".to_owned()),
            remedy: None,
        }
    }

    fn text(states: &[State]) -> String {
        terminal(&Document {
            schema: Schema::DOCTOR,
            flakelab: "0".to_owned(),
            ready: true,
            checks: states.iter().map(|s| check("fork", *s)).collect(),
        })
    }

    #[test]
    fn what_is_missing_comes_with_its_cost_and_no_escape_of_a_suite() {
        let shown = text(&[State::Ok, State::Missing]);
        assert!(shown.contains("one\u{fffd}[31m"), "{shown}");
        assert!(!shown.contains("two"), "{shown}");
        assert_eq!(shown.matches("explain: less").count(), 1, "{shown}");
        assert!(
            shown.contains("ready\u{1b}[0m; 1 optional thing is missing"),
            "{shown}"
        );
    }

    #[test]
    fn one_broken_thing_is_enough_not_to_be_ready() {
        assert!(text(&[State::Ok, State::Broken, State::Missing]).contains("not ready"));
        assert!(text(&[State::Ok]).contains("everything"));
    }
}
