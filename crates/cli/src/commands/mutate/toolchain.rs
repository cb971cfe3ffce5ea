//! The project's interpreter, for instrumented labs and for what code compiles to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flakelab_lab::{BorrowedLab, LabError};
use flakelab_mutate::{Code, Toolchain};
use flakelab_runners::pytest::{Instrumented, Settled};

use crate::workbench::{Workbench, instrumented_error};

pub(super) struct Interpreter<'a> {
    pub(super) bench: &'a Workbench,
    /// What the lab of the project has found out, and compiled.
    pub(super) settled: Settled,
}

impl Toolchain for Interpreter<'_> {
    fn instrumented(
        &mut self,
        texts: &[(String, String)],
        points: usize,
    ) -> Result<BorrowedLab<'_>, LabError> {
        let texts: BTreeMap<PathBuf, String> = texts
            .iter()
            .map(|(path, text)| (PathBuf::from(path), text.clone()))
            .collect();
        let lab = self
            .bench
            .open_instrumented(Instrumented { points, texts }, self.settled.clone());
        lab.map(|lab| Box::new(lab) as BorrowedLab<'_>)
            .map_err(instrumented_error)
    }

    fn digests(&mut self, codes: &[Code]) -> Result<Vec<Option<String>>, LabError> {
        self.bench
            .digests(codes)
            .map_err(|e| LabError::broken(format!("what code compiles to is unknown: {e}")))
    }
}
