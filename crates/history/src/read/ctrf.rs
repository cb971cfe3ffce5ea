//! The Common Test Report Format: `results.tests`, one object for each test.
//!
//! `retryAttempts` lists the attempts before the last, by some writers with the last; where it is missing, `retries`
//! says how many attempts failed before the last one.

use std::fmt;

use flakelab_model::Reported;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Each, Element, Few, Rows};
use super::{MOST_ATTEMPTS, Sink};
use crate::identity;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    status: String,
    /// A list in newer versions of the format, one text in older ones.
    #[serde(default)]
    suite: Few<String, 1000>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    browser: Option<String>,
    #[serde(default)]
    retries: Option<u64>,
    #[serde(default)]
    flaky: Option<bool>,
    #[serde(default)]
    retry_attempts: Few<Attempt, MOST_ATTEMPTS>,
}

#[derive(Debug, Deserialize)]
struct Attempt {
    status: String,
}

pub(super) struct Results<'r, 's, S: Sink>(pub(super) &'r mut Rows<'s, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Results<'_, '_, S> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Results<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the results of a CTRF report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "tests" && !found {
                found = true;
                map.next_value_seed(Each(Tests(&mut *self.0)))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found {
            Ok(())
        } else {
            Err(de::Error::missing_field("tests"))
        }
    }
}

struct Tests<'r, 's, S: Sink>(&'r mut Rows<'s, S>);

impl<'de, S: Sink> Element<'de> for Tests<'_, '_, S> {
    fn next<A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let Some(test) = list.next_element::<Test>()? else {
            return Ok(false);
        };
        let rows = &mut *self.0;
        let attempts = attempts(&test);
        let suite = test.suite.0.as_slice();
        let file = test.file_path.as_deref().unwrap_or_default();
        let file = Some(file).filter(|file| suite.first().is_none_or(|first| first != file));
        let parts = file.into_iter().chain(suite.iter().map(String::as_str));
        let browser = test.browser.as_deref().unwrap_or_default();
        identity::titles(parts.chain([test.name.as_str()]), browser, &mut rows.name);
        if !rows.name.is_empty() {
            rows.emit(attempts)?;
        }
        Ok(true)
    }
}

fn outcome(status: &str) -> Reported {
    match status {
        "passed" => Reported::Passed,
        "failed" => Reported::Failed,
        // `skipped`, `pending`, `other`: no verdict.
        _ => Reported::Skipped,
    }
}

fn attempts(test: &Test) -> Vec<Reported> {
    let last = outcome(&test.status);
    let retries = test.retries.unwrap_or(0);
    let listed = &test.retry_attempts.0;
    if listed.is_empty() {
        let flaky = test.flaky == Some(true) && last == Reported::Passed;
        let failed = retries.max(u64::from(flaky));
        let failed = usize::try_from(failed)
            .unwrap_or(usize::MAX)
            .min(MOST_ATTEMPTS);
        let mut all = vec![Reported::Failed; failed];
        all.push(last);
        return all;
    }
    let mut all: Vec<Reported> = listed.iter().map(|a| outcome(&a.status)).collect();
    let complete = test.retries.is_some() && all.len() as u64 > retries;
    if !complete || all.last() != Some(&last) {
        all.push(last);
    }
    all
}
