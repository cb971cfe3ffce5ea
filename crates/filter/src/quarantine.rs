//! Quarantine as code: a reviewed file that says what is filtered, why, by whom, and until when.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What is not held against a change, for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub test: String,
    /// One assertion of the test as it stands in the code; the whole test without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub owner: String,
    /// The last day it counts: `2026-12-31`.
    pub expires: String,
}

impl Entry {
    pub fn is_expired(&self, today: &str) -> bool {
        self.expires.as_str() < today
    }

    pub fn covers(&self, test: &str, assertion: Option<&str>) -> bool {
        let this = self.test == test
            || test
                .strip_prefix(&self.test)
                .is_some_and(|rest| rest.starts_with(['[', ':']));
        this && match (&self.assertion, assertion) {
            (None, _) => true,
            (Some(wanted), Some(text)) => spaced(wanted) == spaced(text),
            (Some(_), None) => false,
        }
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quarantine {
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantineError(pub String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    quarantine: Vec<Entry>,
}

impl Quarantine {
    pub fn parse(text: &str) -> Result<Self, QuarantineError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text[..span.start.min(text.len())].matches('\n').count() + 1
            });
            QuarantineError(format!("line {line}: {}", error.message()))
        })?;
        for entry in &file.quarantine {
            if !is_date(&entry.expires) {
                return Err(QuarantineError(format!(
                    "`{}` of {} is no date like 2026-12-31",
                    entry.expires, entry.test
                )));
            }
            if entry.owner.trim().is_empty() || entry.reason.trim().is_empty() {
                return Err(QuarantineError(format!(
                    "{} needs a reason and an owner",
                    entry.test
                )));
            }
        }
        Ok(Self {
            entries: file.quarantine,
        })
    }

    pub fn expired(&self, today: &str) -> Vec<&Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.is_expired(today))
            .collect()
    }

    /// The entry that covers an assertion, or the whole test with `None`.
    pub fn covering(&self, test: &str, assertion: Option<&str>) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.covers(test, assertion))
    }
}

impl Entry {
    /// As it is written into the file, with a remark above it.
    pub fn render(&self, remark: &str) -> String {
        let mut out = String::new();
        for line in remark.lines() {
            let _ = writeln!(out, "# {line}");
        }
        let body = toml::to_string(self).unwrap_or_default();
        let _ = write!(out, "[[quarantine]]\n{body}\n");
        out
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, length: usize, most: u32| {
        part.len() == length && part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n))
    };
    matches!(parts[..], [y, m, d] if number(y, 4, 9999) && number(m, 2, 12) && number(d, 2, 31))
}

/// A day so many days from today, in UTC.
pub fn today(days_ahead: u64) -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    date((since.as_secs() / 86_400 + days_ahead) as i64)
}

/// The date of a day since 1970, after Howard Hinnant's algorithm for the civil calendar.
fn date(days: i64) -> String {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[quarantine]]\ntest = \"t.py::test_a\"\nassertion = \"assert  f() == 1\"\nreason = \"slow disk\"\nscore = 0.61\nowner = \"core\"\nexpires = \"2026-12-31\"\n";

    #[test]
    fn an_entry_covers_its_assertion_until_it_expires() {
        let quarantine = Quarantine::parse(FILE).expect("valid");
        assert!(
            quarantine
                .covering("t.py::test_a", Some("assert f() == 1"))
                .is_some()
        );
        assert!(
            quarantine
                .covering("t.py::test_a[x]", Some("assert f() == 1"))
                .is_some()
        );
        assert!(
            quarantine
                .covering("t.py::test_a", Some("assert f() == 2"))
                .is_none()
        );
        assert!(
            quarantine
                .covering("t.py::test_ab", Some("assert f() == 1"))
                .is_none()
        );
        assert!(quarantine.covering("t.py::test_a", None).is_none());
        assert!(quarantine.expired("2026-12-31").is_empty());
        assert_eq!(quarantine.expired("2027-01-01").len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let entry = &Quarantine::parse(FILE).expect("valid").entries[0];
        let text = entry.render("seen in 10 runs");
        assert!(
            text.starts_with("# seen in 10 runs\n[[quarantine]]\n"),
            "{text}"
        );
        assert_eq!(&Quarantine::parse(&text).expect("valid").entries[0], entry);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let wrong = |text: &str| Quarantine::parse(text).expect_err("a mistake").0;
        assert!(wrong(&FILE.replace("owner", "ownr")).starts_with("line "));
        assert!(wrong(&FILE.replace("2026-12-31", "soon")).contains("no date"));
        assert!(wrong(&FILE.replace("\"core\"", "\" \"")).contains("owner"));
        assert!(wrong("[quarantine").starts_with("line 1"));
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(20_819), "2027-01-01");
        assert!(is_date(&today(0)) && today(0) < today(1));
    }
}
