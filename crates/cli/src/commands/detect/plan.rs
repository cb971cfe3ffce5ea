//! The options of `detect` settled.

use std::path::PathBuf;

use flakelab_detect::Settings;
use flakelab_lab::orders::Kind;
use serde_json::json;

use crate::args::DetectArgs;
use crate::error::CliError;
use crate::workbench::{Workbench, at_least_one};

/// A suite of at most so many tests gets every ordered pair of tests once side by side.
const PAIRS: usize = 50;

/// Orders are made before the first one runs: 2 GB for a suite of 5,000 tests.
const MOST_ORDERS: usize = 100_000;

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) bench: Workbench,
    pub(super) settings: Settings,
    pub(super) order_files: Vec<PathBuf>,
}

impl Plan {
    pub(super) fn make(args: &DetectArgs) -> Result<Self, CliError> {
        let search = &args.search;
        let (bench, config) = Workbench::settle(
            &args.project.path,
            &args.project.pytest_args,
            search.campaign.repeat.seed,
            &args.lab,
            &args.output,
        )?;
        let detect = config.detect;
        let settings = Settings {
            seed: bench.seed,
            orders: at_most_orders(search.orders.or(detect.orders).unwrap_or(100))?,
            mix: kinds(search.mix.clone().or(detect.mix))?,
            given: Vec::new(),
            rerun_orders: search.rerun_orders.or(detect.rerun_orders).unwrap_or(3),
            reruns: search.reruns.or(detect.reruns).unwrap_or(3),
            isolated: at_least_one(
                "isolated-runs",
                search.isolated_runs.or(detect.isolated_runs).unwrap_or(10),
            )?,
            confirmations: at_least_one(
                "confirmations",
                search.confirmations.or(detect.confirmations).unwrap_or(3),
            )?,
            budget: search.campaign.budget.or(detect.budget.map(|t| t.0)),
            timeout: bench.timeout,
            impatient: bench.impatient,
            alone: true,
            twice: true,
            pairs: PAIRS,
        };
        Ok(Self {
            bench,
            settings,
            order_files: search.order.clone(),
        })
    }

    /// What the user asked for, as far as it decides about runs.
    pub(super) fn configuration(&self) -> String {
        let s = &self.settings;
        json!({
            "orders": s.orders,
            "mix": s.mix.iter().map(|k| k.word()).collect::<Vec<_>>(),
            "order_files": self.order_files,
            "rerun_orders": s.rerun_orders,
            "reruns": s.reruns,
            "isolated_runs": s.isolated,
            "confirmations": s.confirmations,
            "pytest_args": self.bench.pytest_args,
            "isolation": self.bench.isolation,
        })
        .to_string()
    }
}

fn at_most_orders(number: usize) -> Result<usize, CliError> {
    if number > MOST_ORDERS {
        return Err(CliError::usage(format!(
            "{number} orders: {MOST_ORDERS} are the most for one campaign"
        ))
        .hint("another --seed gives other orders; --budget ends a campaign in time"));
    }
    Ok(number)
}

fn kinds(mix: Option<Vec<String>>) -> Result<Vec<Kind>, CliError> {
    let Some(words) = mix else {
        return Ok(vec![Kind::Global, Kind::Nested]);
    };
    words
        .iter()
        .map(|word| {
            word.trim().parse().map_err(|e: String| {
                let known: Vec<&str> = Kind::ALL
                    .iter()
                    .filter(|k| **k != Kind::Given)
                    .map(|k| k.word())
                    .collect();
                CliError::usage(e).hint(format!("known are {}", known.join(", ")))
            })
        })
        .collect()
}
