//! What went wrong in the lab, as users see it.

use flakelab_lab::LabError;
use flakelab_report::detect::CollectionError;
use flakelab_runners::pytest::{Facts, OpenError};

use super::Workbench;
use crate::error::{self, CliError, chain};

pub(super) fn open_error(open: OpenError) -> CliError {
    match open {
        OpenError::Interrupted => {
            CliError::new(error::INTERRUPTED, "interrupted during collection")
        }
        OpenError::Usage { said } => {
            CliError::usage("pytest does not accept its arguments or configuration")
                .detail(tail(&said, 15))
                .hint("run `pytest --collect-only` with the same arguments")
        }
        OpenError::DoesNotCollect { errors, said } => {
            let mut e = CliError::new(error::BROKEN_SUITE, "the suite does not collect")
                .hint("run `pytest --collect-only`; tests must be importable with the chosen interpreter (--python)");
            for error in errors.iter().take(5) {
                let message = error.message.lines().take(3).collect::<Vec<_>>().join(" ");
                e = e.detail(format!("{}: {message}", error.id));
            }
            if errors.is_empty() {
                e = e.detail(tail(&said, 15));
            }
            e
        }
        OpenError::NoTests => CliError::new(error::BROKEN_SUITE, "the suite has no tests").hint(
            "check the path, and what follows `--`; pytest looks for test_*.py and *_test.py",
        ),
        OpenError::TooSlow(_) => CliError::new(error::BROKEN_SUITE, chain(&open)).hint(
            "run `pytest --collect-only` to see what takes so long; --run-timeout raises the limit",
        ),
        OpenError::Io(_) => CliError::new(error::INTERNAL, chain(&open)),
    }
}

/// A suite that collects as it is, but not instrumented.
pub(crate) fn instrumented_error(open: OpenError) -> LabError {
    if matches!(open, OpenError::Interrupted) {
        return LabError::Interrupted;
    }
    LabError::Broken {
        message: format!(
            "the suite does not run on instrumented code: {}",
            open_error(open).message
        ),
        hint: Some("leave the file that does not take it alone with --exclude".into()),
    }
}

/// For work of which nothing is kept.
pub(crate) fn unkept(lab: LabError) -> CliError {
    match lab {
        LabError::Interrupted => {
            CliError::new(error::INTERRUPTED, "interrupted; nothing of it is kept")
        }
        LabError::Broken { message, hint } => CliError {
            hint,
            ..CliError::new(error::INTERNAL, message)
        },
    }
}

pub(crate) fn lab_error(lab: LabError, bench: &Workbench) -> CliError {
    match lab {
        LabError::Interrupted => CliError::new(
            error::INTERRUPTED,
            format!(
                "interrupted; what finished is in `{}`",
                bench.location.file().display()
            ),
        )
        .hint("go on with the same command and --resume"),
        LabError::Broken { .. } => unkept(lab),
    }
}

/// Files that do not collect, each once: they are collected for their tests and for their doctests.
pub(crate) fn not_collected(facts: &Facts) -> Vec<CollectionError> {
    let mut found: Vec<CollectionError> = Vec::new();
    for error in &facts.collection_errors {
        if found.iter().any(|known| known.id == error.id) {
            continue;
        }
        found.push(CollectionError {
            id: error.id.clone(),
            message: error.message.clone(),
        });
    }
    found
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
