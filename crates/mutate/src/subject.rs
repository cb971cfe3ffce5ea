//! A mutant as the lab runs it.

use std::time::Duration;

use flakelab_model::{Changed, CodeEdit, Isolation, Timeout};
use flakelab_source::mutants::{Mutants, Mutation, Unit, UnitKind};

use crate::pair::Rung;
use crate::priority::Candidate;
use crate::settings::{File, Settings};
use crate::test_files::TestFiles;

/// A test gets so many times as long with a mutant as the slowest that covers it took without, and this on top.
const TIMES: u32 = 10;
const LEAST: Duration = Duration::from_secs(1);
/// For importing the suite, too.
const LEAST_RUN: Duration = Duration::from_secs(60);

/// How the changed code comes into a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Its function gets another body, in a fork of the collected suite.
    Swap,
    /// Its file is imported with the change: for code that runs at import, and where bodies cannot be swapped.
    Import,
}

#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) file: &'a File,
    pub(crate) unit: &'a Unit,
    pub(crate) change: &'a Mutation,
    pub(crate) found: &'a Mutants,
    pub(crate) lane: Lane,
    /// Its tests, in order of priority.
    pub(crate) order: Vec<Candidate>,
    pub(crate) files: &'a TestFiles,
}

/// The function with a mutation in its body or its parameters.
pub(crate) fn function_of(found: &Mutants, mutation: &Mutation) -> Option<usize> {
    found.units.iter().rposition(|unit| {
        let (outer, inner) = (&unit.span, &mutation.span);
        unit.kind == UnitKind::Function && outer.start <= inner.start && inner.end <= outer.end
    })
}

impl Subject<'_> {
    /// The changed code for a rung of the ladder, and the process it takes.
    pub(crate) fn placed(&self, rung: Rung) -> (Changed, Isolation) {
        let last = rung == Rung::FreshInterpreter;
        match self.lane {
            Lane::Swap if !last => (Changed::Body(self.body()), Isolation::Fork),
            Lane::Import if last => (self.imported(), Isolation::Cold),
            _ => (self.imported(), Isolation::Fresh),
        }
    }

    /// The code as it is, counted where it would change.
    pub(crate) fn counted(&self, rung: Rung) -> (Changed, Isolation) {
        let point = self.change.point;
        let (whole, part) = self.found.counted(&self.file.text, point, self.unit);
        match self.placed(rung) {
            (Changed::Import { file, .. }, isolation) => {
                (Changed::Import { file, text: whole }, isolation)
            }
            (_, isolation) => {
                let body = CodeEdit {
                    text: part,
                    ..self.body()
                };
                (Changed::Body(body), isolation)
            }
        }
    }

    /// How it can be put in place in a process that has imported its file: also where that comes too late to be the whole
    /// truth. A default is evaluated with its function, at import.
    pub(crate) fn late(&self) -> Option<CodeEdit> {
        if self.unit.kind == UnitKind::Function {
            return Some(self.body());
        }
        let function = &self.found.units[function_of(self.found, self.change)?];
        Some(CodeEdit {
            defaults: true,
            ..self.edit(function)
        })
    }

    pub(crate) fn body(&self) -> CodeEdit {
        self.edit(self.unit)
    }

    fn edit(&self, unit: &Unit) -> CodeEdit {
        CodeEdit {
            file: self.file.absolute.clone(),
            classes: unit.classes.clone(),
            name: unit.name.clone(),
            first_line: unit.first_line,
            line: unit.line,
            text: self.change.probed_unit_text(&self.file.text, unit),
            from_start: true,
            defaults: false,
        }
    }

    fn imported(&self) -> Changed {
        Changed::Import {
            file: self.file.absolute.clone(),
            text: self.change.apply_probed(&self.file.text),
        }
    }

    pub(crate) fn timeout(&self, settings: &Settings) -> Timeout {
        let slowest = self
            .order
            .iter()
            .map(|c| c.micros)
            .max()
            .unwrap_or_default();
        let test = Duration::from_micros(slowest).saturating_mul(TIMES) + LEAST;
        let all: u64 = self.order.iter().map(|c| c.micros).sum();
        let executions = TIMES.saturating_mul(1 + settings.reruns.same_process);
        let run = Duration::from_micros(all).saturating_mul(executions) + LEAST_RUN;
        Timeout {
            test: test.min(settings.timeout.test),
            run: run.min(settings.timeout.run),
        }
    }
}

#[cfg(test)]
mod tests {
    use flakelab_source::Source;
    use flakelab_source::mutants::mutants;

    use super::*;

    #[test]
    fn defaults_belong_to_their_function_and_decorators_to_nobody() {
        let text = "@cached(1)\ndef half(a, by=2):\n    return a / by\n\n\nRATE = 3\n";
        let found = mutants(&Source::parse(text).expect("it parses"));
        let of = |part: &str| {
            let at = text.find(part).expect("it is there");
            let mutation = found.mutations.iter().find(|m| m.span.start == at);
            let function = function_of(&found, mutation.expect("a mutation"));
            function.map(|at| found.units[at].name.as_str())
        };
        let half = Some("half");
        assert_eq!(["2", "a / by", "1", "3"].map(of), [half, half, None, None]);
    }
}
