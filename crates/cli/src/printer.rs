//! stdout is data, stderr is talk. Colours only where a terminal reads them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the one place that prints"
)]

use std::io::{IsTerminal, Read, Write};
use std::sync::OnceLock;

use crate::error::CliError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Volume {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    pub(crate) volume: Volume,
}

impl Printer {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        Self {
            volume: match (quiet, verbose) {
                (true, _) => Volume::Quiet,
                (_, true) => Volume::Verbose,
                _ => Volume::Normal,
            },
        }
    }

    /// The result.
    pub(crate) fn data(self, text: &str) {
        self.stream(text.as_bytes());
    }

    /// The same, of what need not be in memory.
    pub(crate) fn stream(self, mut text: impl Read) {
        let mut out = anstream::stdout();
        let printed = std::io::copy(&mut text, &mut out).and_then(|_| out.flush());
        if let Err(error) = printed {
            note_unwritten(error);
        }
    }

    /// Something worth knowing that is not the result.
    pub(crate) fn note(self, text: &str) {
        if self.volume != Volume::Quiet {
            anstream::eprintln!("\x1b[1mnote:\x1b[0m {}", visible(text));
        }
    }

    /// Something that the result lacks, and that only a person can mend: said also to those who want to hear of errors only.
    pub(crate) fn warn(self, text: &str) {
        anstream::eprintln!("\x1b[1m\x1b[33mwarning:\x1b[0m {}", visible(text));
    }

    /// What to do next, for somebody at a terminal.
    pub(crate) fn next(self, text: &str) {
        if self.shows_progress() {
            anstream::eprintln!("\x1b[1mnext:\x1b[0m {}", visible(text));
        }
    }

    /// A command for the CI system, which reads it from what a step prints.
    pub(crate) fn command(self, line: &str) {
        anstream::eprintln!("{}", visible(line));
    }

    pub(crate) fn detail(self, text: &str) {
        if self.volume == Volume::Verbose {
            anstream::eprintln!("\x1b[2m{}\x1b[0m", visible(text));
        }
    }

    pub(crate) fn shows_progress(self) -> bool {
        self.volume != Volume::Quiet && std::io::stderr().is_terminal()
    }
}

/// Why the result did not get to standard output.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// A reader that went away is nobody's problem; a full disk is.
pub(crate) fn note_unwritten(error: std::io::Error) {
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        let _ = UNWRITTEN.set(error.to_string());
    }
}

/// Said at the end, when all that had to be kept is kept.
pub(crate) fn unwritten() -> Option<CliError> {
    let why = UNWRITTEN.get()?;
    let error = CliError::usage(format!("the result could not be printed: {why}"));
    Some(error.hint("make room there, or read it from the file that -o writes"))
}

pub(crate) fn error(error: &CliError) {
    anstream::eprintln!("\x1b[1m\x1b[31merror:\x1b[0m {}", visible(&error.message));
    for detail in &error.details {
        for line in detail.lines() {
            anstream::eprintln!("  {}", visible(line));
        }
    }
    if let Some(hint) = error.advice() {
        anstream::eprintln!("\x1b[1m\x1b[36mhint:\x1b[0m {}", visible(hint));
    }
}

/// What comes from a suite must not drive the terminal.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| {
            if flakelab_report::drives_a_terminal(c) && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
