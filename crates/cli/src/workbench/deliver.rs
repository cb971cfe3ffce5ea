//! Where a result goes: a file, standard output, a summary of the CI system.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::args::{Format, OutputArgs};
use crate::error::CliError;
use crate::printer::{Printer, Volume};

/// Prints the text or the document, or writes it to the file that was asked for.
pub(crate) fn deliver(
    json: &str,
    text: &str,
    output: &OutputArgs,
    printer: Printer,
) -> Result<(), CliError> {
    deliver_from(json.as_bytes(), text, output, printer)
}

/// The same for a document that is not in memory.
pub(crate) fn deliver_from(
    mut json: impl Read,
    text: &str,
    output: &OutputArgs,
    printer: Printer,
) -> Result<(), CliError> {
    match (&output.output, output.format) {
        (Some(path), Format::Json) => create(path, |file| {
            io::copy(&mut json, file)?;
            file.write_all(b"\n")
        })?,
        (Some(path), Format::Text) => write(path, anstream::adapter::strip_str(text).to_string())?,
        (None, Format::Json) => printer.stream(json.chain(&b"\n"[..])),
        (None, Format::Text) => printer.data(text),
    }
    if output.output.is_some() && printer.volume != Volume::Quiet {
        printer.data(text);
    }
    Ok(())
}

/// Whether results can go where they are wanted, asked before hours of work.
pub(crate) fn check_all<'a>(
    output: &'a OutputArgs,
    others: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CliError> {
    output
        .output
        .iter()
        .chain(others)
        .try_for_each(|path| check(path))
}

/// Whether a result can go there.
pub(crate) fn check(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if path.is_dir() || !folder.is_dir() {
        return Err(
            CliError::usage(format!("`{}` cannot be written", path.display()))
                .hint("give a file in a directory that is there"),
        );
    }
    // Nothing of what is there is touched, and nothing new stays.
    let tried = match path.exists() {
        true => File::options().append(true).open(path).map(drop),
        false => tempfile::tempfile_in(folder).map(drop),
    };
    tried.map_err(|e| {
        CliError::usage(format!("`{}` cannot be written: {e}", path.display()))
            .hint("give a file in a directory that you may write to")
    })
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), CliError> {
    create(path, |file| file.write_all(bytes.as_ref()))
}

fn create(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), CliError> {
    File::create(path)
        .and_then(|mut file| fill(&mut file))
        .map_err(|e| {
            CliError::usage(format!("failed to write `{}`: {e}", path.display()))
                .hint("give a file in a directory that you may write to")
        })
}

/// Adds to the step summary of GitHub Actions, where there is one.
pub(crate) fn summarise(markdown: &str, printer: Printer) {
    let path = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|v| !v.is_empty());
    let Some(path) = path.map(PathBuf::from) else {
        return;
    };
    let appended = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(markdown.as_bytes()));
    if let Err(e) = appended {
        printer.note(&format!("the step summary could not be written: {e}"));
    }
}
