//! `flakelab completions` and `flakelab man`: the command line as shells and `man` read it.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory as _};

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::{CLEAN, CliError, INTERNAL};
use crate::printer::Printer;
use crate::workbench::deliver;

pub(crate) fn completions(args: &CompletionsArgs) -> crate::Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "flakelab", &mut script);
    Printer::new(false, false).data(&String::from_utf8_lossy(&script));
    Ok(CLEAN)
}

pub(crate) fn man(args: &ManArgs) -> crate::Outcome {
    // Names of subcommands become `flakelab-detect`, as manual pages are called.
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let printer = Printer::new(false, false);
    if let Some(dir) = &args.dir {
        let hint = |e: CliError| e.hint("give a directory that you may write to");
        fs::create_dir_all(dir)
            .map_err(|e| hint(CliError::usage(format!("`{}`: {e}", dir.display()))))?;
        write(&cli, dir).map_err(hint)?;
        return Ok(CLEAN);
    }
    let mut command = &cli;
    for word in &args.verb {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let error = CliError::usage(format!("`{word}` is no verb of {}", command.get_name()));
            match known.as_slice() {
                [] => error.hint("leave it out"),
                known => error.hint(format!("known are {}", known.join(", "))),
            }
        })?;
    }
    printer.data(&page(command)?);
    Ok(CLEAN)
}

fn page(command: &Command) -> Result<String, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|e| CliError::new(INTERNAL, e.to_string()))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The pages of a command and of what is below it.
fn write(command: &Command, dir: &Path) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or("flakelab");
    deliver::write(&dir.join(format!("{name}.1")), page(command)?)?;
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .try_for_each(|below| write(below, dir))
}
