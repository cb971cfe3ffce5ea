//! The document of `flakelab fix`, and its text. Fields are only ever added within a major version.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::detect::{Schema, Word};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::wording::{count, duration, visible};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub fixes: Vec<Fix>,
    /// Files that the patches were written to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// Tests whose patch holds, but not together with those that were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_written: Vec<String>,
    pub campaign: Campaign,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fix {
    pub test: String,
    /// `fixed`, `partial`, `none`, or `passing`: as the project is now, there is nothing to fix.
    pub status: Word,
    pub patches: Vec<Patch>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Patch {
    pub strategy: Word,
    pub site: Word,
    pub reason: String,
    pub diff: String,
    pub verified: Verified,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Verified {
    /// Passed, of how many, in fresh interpreters.
    pub alone: [u64; 2],
    pub after: Vec<After>,
    pub default_order: bool,
    pub shuffles: [u64; 2],
    /// Other tests that were compared with how they were before.
    pub others: u64,
    /// Those that fail now where they passed before.
    pub broken: Vec<String>,
    /// Every patch that changed one was dropped.
    pub assertions_untouched: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct After {
    pub tests: Vec<String>,
    pub passed: u64,
    pub of: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    pub wall_seconds: f64,
    pub python: String,
    pub pytest: String,
}

impl Fix {
    pub fn is_fixed(&self) -> bool {
        self.status == "fixed"
    }

    pub fn is_passing(&self) -> bool {
        self.status == "passing"
    }

    /// Nobody has to look for a patch any more.
    pub fn is_settled(&self) -> bool {
        self.is_fixed() || self.is_passing()
    }
}

/// `2 of 5 tests fixed`, and how many need no patch by now.
pub(crate) fn tally<'a>(fixes: impl Iterator<Item = &'a Fix> + Clone) -> String {
    let fixed = fixes.clone().filter(|fix| fix.is_fixed()).count();
    let passing = fixes.clone().filter(|fix| fix.is_passing()).count();
    let all = count(fixes.count() as u64, "test", "tests");
    match passing {
        0 => format!("{fixed} of {all} fixed"),
        _ => format!("{fixed} of {all} fixed, {passing} passing by now"),
    }
}

/// Patches that fix several tests, and how many.
fn shared(document: &Document) -> Vec<(&str, u64)> {
    let mut found: Vec<(&str, u64)> = Vec::new();
    let fixed = document.fixes.iter().filter(|fix| fix.is_fixed());
    for patch in fixed.flat_map(|fix| fix.patches.first()) {
        match found.iter_mut().find(|(diff, _)| *diff == patch.diff) {
            Some((_, tests)) => *tests += 1,
            None => found.push((&patch.diff, 1)),
        }
    }
    found.retain(|(_, tests)| *tests > 1);
    found
}

/// A patch that serves several tests is printed once.
pub fn terminal(document: &Document) -> String {
    let mut out = String::new();
    let mut printed: Vec<&str> = Vec::new();
    for fix in &document.fixes {
        let colour = match &*fix.status {
            "fixed" | "passing" => GREEN,
            "partial" => YELLOW,
            _ => RED,
        };
        let word = if fix.status == "none" {
            "not fixed"
        } else {
            &*fix.status
        };
        let _ = writeln!(
            out,
            "{colour}{BOLD}{word}{OFF} {BOLD}{}{OFF}",
            visible(&fix.test)
        );
        if !fix.reason.is_empty() {
            let _ = writeln!(out, "  {}", visible(&fix.reason));
        }
        for patch in &fix.patches {
            let _ = writeln!(out, "  {} ({})", visible(&patch.reason), patch.strategy);
            let v = &patch.verified;
            // One that helps against some culprits only was not asked in other orders.
            let orders = if v.default_order {
                let [passed, of] = v.shuffles;
                format!(", in the default order and {passed}/{of} shuffles")
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "  {DIM}passed alone {}/{}, after {} of {} known culprits{orders}; {} as before{OFF}",
                v.alone[0],
                v.alone[1],
                v.after.iter().filter(|a| a.passed == a.of).count(),
                v.after.len(),
                count(v.others, "other test", "other tests"),
            );
            if printed.contains(&patch.diff.as_str()) {
                let _ = writeln!(out, "  {DIM}the same patch as above{OFF}");
                continue;
            }
            printed.push(&patch.diff);
            for line in patch.diff.lines() {
                let colour = match line.as_bytes().first() {
                    Some(b'+') => GREEN,
                    Some(b'-') => RED,
                    _ => DIM,
                };
                let _ = writeln!(
                    out,
                    "  {colour}{}{OFF}",
                    visible(&line.replace('\t', "    "))
                );
            }
        }
        out.push('\n');
    }
    for (diff, tests) in shared(document) {
        let file = diff
            .lines()
            .find_map(|line| line.strip_prefix("+++ b/"))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "one patch of {} fixes {}",
            visible(file),
            count(tests, "test", "tests")
        );
    }
    if document.fixes.is_empty() {
        let _ = writeln!(
            out,
            "{BOLD}nothing to fix: no test is known to depend on the order{OFF}"
        );
    } else {
        let _ = writeln!(
            out,
            "{BOLD}{}, by {}{OFF}",
            tally(document.fixes.iter()),
            count(printed.len() as u64, "patch", "patches")
        );
    }
    if !document.written.is_empty() {
        let files: Vec<String> = document.written.iter().map(|file| visible(file)).collect();
        let _ = writeln!(out, "{BOLD}written to {}{OFF}", files.join(", "));
    }
    for test in &document.not_written {
        let _ = writeln!(
            out,
            "{YELLOW}not written{OFF}: the patch for {} does not go together with the others; commit those, then \
             `flakelab fix --apply` again",
            visible(test)
        );
    }
    let _ = writeln!(
        out,
        "in {}, seed {}",
        duration(document.campaign.wall_seconds),
        document.campaign.seed
    );
    out
}
