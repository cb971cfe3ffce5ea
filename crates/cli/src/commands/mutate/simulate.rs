//! `flakelab mutate simulate`: table 6 on recorded matrices.

use flakelab_mutate::{Matrix, simulate, total};
use flakelab_report::mutate as report;

use crate::args::{Format, SimulateArgs};
use crate::error::{self, CliError};
use crate::printer::Printer;

pub(super) fn run(args: &SimulateArgs) -> crate::Outcome {
    let mut rows = Vec::new();
    for path in &args.matrices {
        let wrong = |why: String| {
            CliError::usage(format!("`{}`: {why}", path.display()))
                .hint("`flakelab mutate --matrix=FILE` writes a matrix")
        };
        let file = std::fs::File::open(path).map_err(|e| wrong(e.to_string()))?;
        let matrix = Matrix::read(file).map_err(|e| wrong(error::chain(&e)))?;
        rows.push(simulate(&matrix, args.seed));
    }
    let all = total(&rows);
    let printer = Printer::new(false, false);
    match args.format {
        Format::Json => {
            let json = report::simulation_json(&rows, all.as_ref(), args.seed)
                .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
            printer.data(&format!("{json}\n"));
        }
        Format::Text => printer.data(&report::simulation(&rows, all.as_ref())),
    }
    Ok(error::CLEAN)
}
