//! `flakelab mutate simulate`: table 6 on recorded matrices.

use flakelab_mutate::{Cost, Matrix, Row, SchemeRow, simulate, total};
use flakelab_report::detect::Schema;
use flakelab_report::mutate::simulate as report;

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
    let document = report::Document {
        schema: Schema::MUTATE_SIMULATE,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        seed: args.seed,
        total: (rows.len() > 1).then(|| row(&total(&rows))),
        rows: rows.iter().map(row).collect(),
    };
    let printer = Printer::new(false, false);
    match args.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&document)
                .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
            printer.data(&format!("{json}\n"));
        }
        Format::Text => printer.data(&report::terminal(&document)),
    }
    Ok(error::CLEAN)
}

fn row(row: &Row) -> report::Row {
    report::Row {
        project: row.project.clone(),
        tests: row.tests,
        mutants: row.mutants,
        killable: row.killable,
        schemes: row.schemes.iter().map(scheme).collect(),
    }
}

fn scheme(row: &SchemeRow) -> report::Scheme {
    let cost = |cost: Cost| report::Cost {
        seconds: cost.seconds,
        executions: cost.executions,
    };
    report::Scheme {
        scheme: row.scheme.words(),
        immediate: cost(row.immediate),
        later: cost(row.later),
        wilcoxon: row.wilcoxon.map(|signed| report::Wilcoxon {
            w: signed.w,
            p: signed.p,
            of: signed.of,
        }),
    }
}
