//! The `flakelab` command: arguments, configuration, one folder per verb, exit codes.
//!
//! The only crate that prints, exits, or reads the environment. Knows no algorithm.

mod args;
mod commands;
mod config;
mod error;
mod interrupt;
mod machine;
mod nearest;
mod printer;
mod project;
mod sources;
mod workbench;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};
use error::CliError;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { error::USAGE } else { 0 };
            // Help and usage go where clap sends them.
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            if let Err(error) = printed {
                printer::note_unwritten(error);
            }
            return end(Ok(code));
        }
    };
    let Some(verb) = cli.verb else {
        return end(commands::welcome::run(
            std::env::var_os("FLAKELAB_STORE").as_deref(),
        ));
    };
    let result = match verb {
        Verb::Detect(args) => commands::detect::run(*args),
        Verb::Doctor(args) => commands::doctor::run(&args),
        Verb::Explain(args) => commands::explain::run(&args),
        Verb::Filter(args) => commands::filter::run(&args),
        Verb::Fix(args) => commands::fix::run(&args),
        Verb::Init(args) => commands::init::run(&args),
        Verb::Inject(args) => commands::inject::run(&args),
        Verb::Measure(args) => commands::measure::run(&args),
        Verb::Mutate(args) => commands::mutate::run(&args),
        Verb::Ingest(args) => commands::ingest::run(&args),
        Verb::History(args) => commands::history::run(&args),
        Verb::Report(args) => commands::report::run(&args),
        Verb::Completions(args) => commands::shell::completions(&args),
        Verb::Man(args) => commands::shell::man(&args),
    };
    end(result)
}

fn end(result: Outcome) -> ExitCode {
    // What went wrong before counts more.
    match result.and_then(|code| printer::unwritten().map_or(Ok(code), Err)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            printer::error(&error);
            ExitCode::from(error.code)
        }
    }
}

/// What every command returns.
pub(crate) type Outcome = Result<u8, CliError>;
