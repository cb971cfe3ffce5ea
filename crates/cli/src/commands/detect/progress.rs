//! The progress bar: runs done, executions a second, flaky so far, time left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flakelab_detect::{Stage, Watch};
use flakelab_runners::pytest::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Drawn on stderr, or nowhere.
#[derive(Debug, Clone)]
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new(shown: bool) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(8)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {wide_msg}"));
        if shown {
            bar.enable_steady_tick(Duration::from_millis(125));
        }
        Self(bar)
    }

    pub(super) fn message(&self, text: &'static str) {
        self.0.set_message(text);
    }

    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }

    pub(super) fn watch(&self, counters: Arc<Progress>, budget: Option<Duration>) -> BarWatch {
        BarWatch {
            bar: self.0.clone(),
            counters,
            started: Instant::now(),
            budget,
            suspects: 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct BarWatch {
    bar: ProgressBar,
    counters: Arc<Progress>,
    started: Instant,
    budget: Option<Duration>,
    suspects: usize,
}

impl BarWatch {
    fn show(&self, stage: Stage) {
        let executions = self.counters.executions.load(Ordering::Relaxed);
        let rate = executions as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let what = match stage {
            Stage::Baseline => "baseline",
            Stage::Search => "orders",
            Stage::Verify => "rerunning",
            Stage::Shorten => "shortening",
            Stage::Confirm => "confirming",
        };
        let budget = self.budget.map_or_else(String::new, |budget| {
            let left = budget.saturating_sub(self.started.elapsed());
            format!(
                ", budget left {}",
                humantime::format_duration(Duration::from_secs(left.as_secs()))
            )
        });
        let suspects = match self.suspects {
            0 => String::new(),
            n => format!(", {n} suspects"),
        };
        self.bar.set_message(format!(
            "{what} · {executions} executions, {rate:.0}/s{suspects}{budget}"
        ));
    }
}

impl Watch for BarWatch {
    fn stage(&mut self, stage: Stage, runs: usize) {
        self.bar.set_style(style(
            "{spinner} [{bar:24}] {pos}/{len} {wide_msg} {eta} left",
        ));
        self.bar.set_length(runs as u64);
        self.bar.set_position(0);
        self.bar.reset_eta();
        self.show(stage);
    }

    fn run_done(&mut self, stage: Stage) {
        self.bar.inc(1);
        self.show(stage);
    }

    fn suspects(&mut self, count: usize) {
        self.suspects = count;
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
