//! The progress bar: runs done, executions a second, time left, and what a verb adds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flakelab_runners::pytest::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Drawn on stderr, or nowhere.
#[derive(Debug, Clone)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(shown: bool) -> Self {
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

    pub(crate) fn message(&self, text: &'static str) {
        self.0.set_message(text);
    }

    pub(crate) fn say(&self, text: String) {
        self.0.set_message(text);
    }

    /// Things done of things to do, with the time left.
    pub(crate) fn step(&self, done: usize, of: usize) {
        if self.0.length() != Some(of as u64) {
            self.0.set_style(style(
                "{spinner} [{bar:24}] {pos}/{len} {wide_msg} {eta} left",
            ));
            self.0.set_length(of as u64);
            self.0.reset_eta();
        }
        self.0.set_position(done as u64);
    }

    /// One more thing done.
    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }

    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }

    pub(crate) fn gauge(&self, counters: Arc<Progress>, budget: Option<Duration>) -> Gauge {
        Gauge {
            bar: self.0.clone(),
            counters,
            started: Instant::now(),
            budget,
            what: "",
        }
    }
}

/// Follows the runs of a campaign.
#[derive(Debug)]
pub(crate) struct Gauge {
    bar: ProgressBar,
    counters: Arc<Progress>,
    started: Instant,
    budget: Option<Duration>,
    what: &'static str,
}

impl Gauge {
    pub(crate) fn stage(&mut self, what: &'static str, runs: usize, besides: &str) {
        self.what = what;
        self.bar.set_style(style(
            "{spinner} [{bar:24}] {pos}/{len} {wide_msg} {eta} left",
        ));
        self.bar.set_length(runs as u64);
        self.bar.set_position(0);
        self.bar.reset_eta();
        self.show(besides);
    }

    pub(crate) fn run_done(&mut self, besides: &str) {
        self.bar.inc(1);
        self.show(besides);
    }

    fn show(&self, besides: &str) {
        let executions = self.counters.executions.load(Ordering::Relaxed);
        let rate = executions as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let budget = self.budget.map_or_else(String::new, |budget| {
            let left = budget.saturating_sub(self.started.elapsed());
            format!(
                ", budget left {}",
                humantime::format_duration(Duration::from_secs(left.as_secs()))
            )
        });
        self.bar.set_message(format!(
            "{} · {executions} executions, {rate:.0}/s{besides}{budget}",
            self.what
        ));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
