//! JUnit XML of any runner.
//!
//! Attempts: surefire, nextest and others put failed attempts of a test that passed in the end into `flakyFailure` and
//! `flakyError`, and further failures of one that did not into `rerunFailure` and `rerunError`. pytest's retry plugins
//! write one entry for each attempt, of which only the last has a verdict; and pytest itself writes a second entry
//! where a test failed and its teardown did, too. What is there twice otherwise was executed twice.

use std::borrow::Cow;
use std::io::BufRead;

use flakelab_model::{Reported, Sequel};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::input::{self, Rationed};
use super::{Broken, MOST_ATTEMPTS, ReadError, Row, Sink};
use crate::identity::{self, Case, Dialect};

const DEEPEST: usize = 100;

/// The test case that is being read.
#[derive(Debug, Default)]
struct Current {
    case: Case,
    failed: bool,
    errored: bool,
    skipped: bool,
    /// An error that says it is the teardown's.
    teardown: bool,
    /// Attempts before the verdict, and after it.
    flaky: Vec<Reported>,
    rerun: Vec<Reported>,
}

#[derive(Debug)]
struct Report<'s, S> {
    sink: &'s mut S,
    /// Names of the elements around.
    suites: Vec<String>,
    depth: usize,
    /// How deep the test case is.
    case_at: Option<usize>,
    /// Numbers the suites.
    suite: u32,
    dialect: Dialect,
    current: Current,
    name: String,
}

pub(super) fn read<S: Sink>(source: impl BufRead, sink: &mut S) -> Result<(), ReadError<S::Error>> {
    let mut reader = Reader::from_reader(Rationed::new(source));
    let mut report = Report {
        sink,
        suites: Vec::new(),
        depth: 0,
        case_at: None,
        suite: 0,
        dialect: Dialect::Other,
        current: Current::default(),
        name: String::new(),
    };
    let mut buffer = Vec::new();
    let mut rooted = false;
    loop {
        buffer.clear();
        reader.get_mut().renew();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|e| wrong(&e, reader.error_position()))?;
        match event {
            Event::Start(tag) => {
                rooted = true;
                report.open(&tag).map_err(|e| placed(e, &reader))?;
                report.depth += 1;
                if report.depth > DEEPEST {
                    return Err(Broken::Deep.into());
                }
            }
            Event::Empty(tag) => {
                rooted = true;
                report.open(&tag).map_err(|e| placed(e, &reader))?;
                report.close(tag.local_name().as_ref())?;
            }
            Event::End(tag) => {
                report.depth = report.depth.saturating_sub(1);
                report.close(tag.local_name().as_ref())?;
            }
            Event::DocType(content) if content.contains("ENTITY") => {
                return Err(Broken::Entities.into());
            }
            Event::Eof => break,
            _ => {}
        }
        // One large event does not decide how much memory the rest takes.
        if buffer.capacity() > 1 << 20 {
            buffer = Vec::new();
        }
    }
    match (rooted, report.depth) {
        (false, _) => Err(Broken::NoReport("XML without an element".into()).into()),
        (true, 0) => Ok(()),
        (true, _) if report.case_at.is_some() => Err(Broken::Truncated("<testcase>").into()),
        (true, _) => Err(Broken::Truncated("<testsuite>").into()),
    }
}

impl<S: Sink> Report<'_, S> {
    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError<S::Error>> {
        let name = tag.local_name();
        match name.as_ref() {
            "testcase" if self.case_at.is_none() && self.depth > 0 => {
                self.case_at = Some(self.depth);
                self.current.begin(tag)?;
            }
            _ if self.case_at.is_some_and(|at| self.depth == at + 1) => {
                self.current.part(name.as_ref(), tag)?;
            }
            "testsuite" if self.case_at.is_none() => {
                let mut suite = String::new();
                attribute(tag, "name", &mut suite)?;
                if self.dialect != Dialect::Nextest {
                    self.dialect = if suite == "pytest" {
                        Dialect::Pytest
                    } else {
                        Dialect::Other
                    };
                }
                self.suites.push(suite);
                self.suite += 1;
            }
            "testsuites" if self.depth == 0 => {
                let (mut name, mut uuid) = (String::new(), String::new());
                attribute(tag, "name", &mut name)?;
                attribute(tag, "uuid", &mut uuid)?;
                // The name can be configured; no other runner writes a uuid here.
                if name == "nextest-run" || !uuid.is_empty() {
                    self.dialect = Dialect::Nextest;
                }
            }
            other if self.depth == 0 => {
                let root: String = other.chars().take(40).collect();
                let why = format!("its root is <{root}>, not <testsuites> or <testsuite>");
                return Err(Broken::NoReport(why).into());
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), ReadError<S::Error>> {
        if self.case_at == Some(self.depth) {
            self.case_at = None;
            self.emit()?;
        } else if name == "testsuite" && self.case_at.is_none() {
            self.suites.pop();
            // What follows a nested suite is of the outer one again, but that makes no difference to names.
            self.suite += 1;
        }
        Ok(())
    }

    fn emit(&mut self) -> Result<(), ReadError<S::Error>> {
        let current = &self.current;
        let suite = self.suites.last().map_or("", String::as_str);
        identity::name(&current.case, self.dialect, suite, &mut self.name);
        if self.name.is_empty() {
            return Ok(());
        }
        let sequel = match current.case.is_pytest(self.dialect) {
            false => Sequel::Another,
            true if current.teardown && !current.failed => Sequel::Teardown,
            true => Sequel::Retry,
        };
        let attempts = current.flaky.iter().copied();
        let attempts = attempts.chain([current.verdict()]);
        for (at, outcome) in attempts.chain(current.rerun.iter().copied()).enumerate() {
            let row = Row {
                test: &self.name,
                outcome,
                suite: self.suite,
                sequel: if at == 0 { sequel } else { Sequel::Another },
            };
            self.sink.row(row).map_err(ReadError::Sink)?;
        }
        Ok(())
    }
}

impl Current {
    fn begin(&mut self, tag: &BytesStart<'_>) -> Result<(), Broken> {
        (self.failed, self.errored, self.skipped, self.teardown) = (false, false, false, false);
        self.flaky.clear();
        self.rerun.clear();
        self.case.clear();
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|e| syntax(&e))?;
            let field = match attribute.key.as_ref() {
                "classname" => &mut self.case.class,
                "name" => &mut self.case.name,
                "file" => &mut self.case.file,
                "status" => {
                    // googletest lists tests that it was told not to run.
                    self.skipped = matches!(&*attribute.value, "notrun" | "disabled" | "skipped");
                    continue;
                }
                _ => continue,
            };
            field.push_str(&unescaped(&attribute)?);
        }
        Ok(())
    }

    /// An element of a test case.
    fn part(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<(), Broken> {
        match name {
            "failure" => self.failed = true,
            "error" => {
                self.errored = true;
                let mut message = String::new();
                attribute(tag, "message", &mut message)?;
                self.teardown |= message.starts_with("failed on teardown");
            }
            "skipped" => self.skipped = true,
            "flakyFailure" => self.flaky.push(Reported::Failed),
            "flakyError" => self.flaky.push(Reported::Errored),
            "rerunFailure" => self.rerun.push(Reported::Failed),
            "rerunError" => self.rerun.push(Reported::Errored),
            _ => {}
        }
        if self.flaky.len() + self.rerun.len() >= MOST_ATTEMPTS {
            return Err(Broken::Attempts);
        }
        Ok(())
    }

    fn verdict(&self) -> Reported {
        match (self.failed, self.errored, self.skipped) {
            (true, _, _) => Reported::Failed,
            (_, true, _) => Reported::Errored,
            (_, _, true) => Reported::Skipped,
            _ => Reported::Passed,
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str, out: &mut String) -> Result<(), Broken> {
    match tag.try_get_attribute(name) {
        Ok(Some(found)) => out.push_str(&unescaped(&found)?),
        Ok(None) => {}
        Err(e) => return Err(syntax(&e)),
    }
    Ok(())
}

fn unescaped<'a>(
    attribute: &'a quick_xml::events::attributes::Attribute<'_>,
) -> Result<Cow<'a, str>, Broken> {
    if !attribute.value.contains('&') {
        return Ok(Cow::Borrowed(&attribute.value));
    }
    attribute
        .normalized_value(XmlVersion::default())
        .map_err(|e| syntax(&e))
}

/// Says where it is that a tag cannot be read.
fn placed<E, R>(error: ReadError<E>, reader: &Reader<R>) -> ReadError<E> {
    match error {
        ReadError::Broken(Broken::Xml { why, .. }) => ReadError::Broken(Broken::Xml {
            at: reader.buffer_position(),
            why,
        }),
        other => other,
    }
}

fn syntax(error: &dyn std::fmt::Display) -> Broken {
    Broken::Xml {
        at: 0,
        why: error.to_string(),
    }
}

fn wrong(error: &quick_xml::Error, at: u64) -> Broken {
    match error {
        quick_xml::Error::Io(io) if input::is_exhausted(io) => Broken::Large("an element"),
        quick_xml::Error::Io(io) => input::from_io(std::io::Error::new(io.kind(), io.to_string())),
        // Each of these is something that was not closed before the end.
        quick_xml::Error::Syntax(_) => Broken::Truncated("a tag, a comment or the like"),
        quick_xml::Error::Encoding(_) => Broken::Encoding("it is not valid UTF-8".into()),
        other => Broken::Xml {
            at,
            why: other.to_string(),
        },
    }
}
