//! Playwright's JSON report: suites in suites, specs in suites, for each project a test in a spec, for each attempt a
//! result in a test.
//!
//! An attempt that ended as the test says it should (`test.fail()`) passed. One that was interrupted has no verdict.

use std::fmt;

use flakelab_model::Reported;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Each, Element, Few, Rows};
use super::{MOST_ATTEMPTS, Sink};
use crate::identity;

/// Tests of one spec.
const MOST_TESTS: usize = 10_000;

/// One spec in all projects, as often as `repeatEach` says.
#[derive(Debug, Deserialize)]
struct Spec {
    title: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    tests: Few<Test, MOST_TESTS>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    expected_status: String,
    #[serde(default)]
    project_name: String,
    #[serde(default)]
    results: Few<Attempt, MOST_ATTEMPTS>,
}

#[derive(Debug, Deserialize)]
struct Attempt {
    /// Missing while it is under way.
    #[serde(default)]
    status: Option<String>,
}

/// The suites of a report, with the titles around them.
pub(super) fn suites<'r, 's, S: Sink>(rows: &'r mut Rows<'s, S>) -> Each<Suites<'r, 's, S>> {
    Each(Suites {
        rows,
        titles: Vec::new(),
    })
}

pub(super) struct Suites<'r, 's, S: Sink> {
    rows: &'r mut Rows<'s, S>,
    titles: Vec<String>,
}

impl<'de, S: Sink> Element<'de> for Suites<'_, '_, S> {
    fn next<A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let depth = self.titles.len();
        let suite = Suite {
            rows: &mut *self.rows,
            titles: &mut self.titles,
        };
        let read = list.next_element_seed(suite)?;
        self.titles.truncate(depth);
        Ok(read.is_some())
    }
}

struct Suite<'a, 's, S: Sink> {
    rows: &'a mut Rows<'s, S>,
    titles: &'a mut Vec<String>,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Suite<'_, '_, S> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Suite<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a suite of Playwright")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let depth = self.titles.len();
        // Playwright writes the title first; where somebody else does not, names lack it.
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "title" if self.titles.len() == depth => self.titles.push(map.next_value()?),
                "specs" => map.next_value_seed(Each(Specs {
                    rows: &mut *self.rows,
                    titles: self.titles,
                }))?,
                "suites" => {
                    let inner = Suites {
                        rows: &mut *self.rows,
                        titles: self.titles.clone(),
                    };
                    map.next_value_seed(Each(inner))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Specs<'a, 's, S: Sink> {
    rows: &'a mut Rows<'s, S>,
    titles: &'a [String],
}

impl<'de, S: Sink> Element<'de> for Specs<'_, '_, S> {
    fn next<A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let Some(spec) = list.next_element::<Spec>()? else {
            return Ok(false);
        };
        for test in &spec.tests.0 {
            // The outermost suite is the file, by its path or its name.
            let (outer, inner) = match self.titles.split_first() {
                Some((first, rest)) if spec.file.ends_with(first.as_str()) => ("", rest),
                Some((first, rest)) => (first.as_str(), rest),
                None => ("", self.titles),
            };
            let around = [spec.file.as_str(), outer].into_iter();
            let parts = around.chain(inner.iter().map(String::as_str));
            let parts = parts.chain([spec.title.as_str()]);
            identity::titles(parts, &test.project_name, &mut self.rows.name);
            if !self.rows.name.is_empty() {
                self.rows
                    .emit(test.results.0.iter().map(|a| test.outcome(a)))?;
            }
        }
        Ok(true)
    }
}

impl Test {
    fn outcome(&self, attempt: &Attempt) -> Reported {
        match attempt.status.as_deref() {
            Some("skipped" | "interrupted") | None => Reported::Skipped,
            Some(status) if status == self.expected_status => Reported::Passed,
            // Of a test that is expected to fail, a pass is a failure.
            Some("passed") if self.expected_status.is_empty() => Reported::Passed,
            Some(_) => Reported::Failed,
        }
    }
}
