//! Configuration files: `flakelab.toml`, or `[tool.flakelab]` in `pyproject.toml`.
//!
//! Command line and environment come first; what they leave open is taken from here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::args::{CoverageArg, IsolationArg, RerunArg, SandboxArg, ScopeArg};
use crate::error::CliError;
use crate::nearest::nearest;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) python: Option<PathBuf>,
    pub(crate) store: Option<PathBuf>,
    pub(crate) jobs: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) sandbox: Option<SandboxArg>,
    pub(crate) isolation: Option<IsolationArg>,
    pub(crate) test_timeout: Option<Time>,
    pub(crate) run_timeout: Option<Time>,
    pub(crate) memory: Option<u64>,
    pub(crate) pytest_args: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) detect: Detect,
    #[serde(default)]
    pub(crate) explain: Explain,
    #[serde(default)]
    pub(crate) inject: Inject,
    #[serde(default)]
    pub(crate) measure: Measure,
    #[serde(default)]
    pub(crate) mutate: Mutate,
    #[serde(default)]
    pub(crate) filter: Filter,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Mutate {
    pub(crate) only: Option<Vec<String>>,
    pub(crate) exclude: Option<Vec<String>>,
    pub(crate) without: Option<Vec<String>>,
    pub(crate) sample: Option<usize>,
    pub(crate) coverage: Option<CoverageArg>,
    pub(crate) coverage_reruns: Option<u32>,
    pub(crate) reruns: Option<Vec<u32>>,
    pub(crate) rerun: Option<RerunArg>,
    pub(crate) hits: Option<u64>,
    pub(crate) fail_under: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Filter {
    pub(crate) threshold: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Measure {
    pub(crate) runs: Option<u32>,
    pub(crate) layers: Option<Vec<String>>,
    pub(crate) factors: Option<Vec<String>>,
    pub(crate) runtimes: Option<Vec<PathBuf>>,
    pub(crate) sources: Option<Vec<PathBuf>>,
    pub(crate) unmask: Option<Vec<String>>,
    /// Fields of objects that are part of a value, by class.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, Vec<String>>,
    /// By name, for each factor a setting or a list of settings.
    #[serde(default)]
    pub(crate) configurations: BTreeMap<String, toml::Table>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Inject {
    pub(crate) reruns: Option<u32>,
    pub(crate) orders: Option<usize>,
    pub(crate) scope: Option<ScopeArg>,
    /// Further names of assertions.
    pub(crate) assertions: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Explain {
    pub(crate) orders: Option<usize>,
    pub(crate) budget: Option<Time>,
    pub(crate) confirmations: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Detect {
    pub(crate) orders: Option<usize>,
    pub(crate) mix: Option<Vec<String>>,
    pub(crate) budget: Option<Time>,
    pub(crate) rerun_orders: Option<usize>,
    pub(crate) reruns: Option<u32>,
    pub(crate) isolated_runs: Option<u32>,
    pub(crate) confirmations: Option<u32>,
}

/// A duration as people write it: `90s`, `10m`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Time(pub(crate) Duration);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        crate::args::time(&text)
            .map(Time)
            .map_err(|error| format!("`{text}` is no duration like `90s` or `10m`: {error}"))
    }
}

const KEYS: [&str; 16] = [
    "python",
    "store",
    "jobs",
    "seed",
    "sandbox",
    "isolation",
    "test-timeout",
    "run-timeout",
    "memory",
    "pytest-args",
    "detect",
    "explain",
    "inject",
    "measure",
    "mutate",
    "filter",
];
const MUTATE_KEYS: [&str; 10] = [
    "only",
    "exclude",
    "without",
    "sample",
    "coverage",
    "coverage-reruns",
    "reruns",
    "rerun",
    "hits",
    "fail-under",
];
const FILTER_KEYS: [&str; 1] = ["threshold"];
const MEASURE_KEYS: [&str; 8] = [
    "runs",
    "layers",
    "factors",
    "runtimes",
    "sources",
    "unmask",
    "fields",
    "configurations",
];
const INJECT_KEYS: [&str; 4] = ["reruns", "orders", "scope", "assertions"];
const EXPLAIN_KEYS: [&str; 3] = ["orders", "budget", "confirmations"];
const DETECT_KEYS: [&str; 7] = [
    "orders",
    "mix",
    "budget",
    "rerun-orders",
    "reruns",
    "isolated-runs",
    "confirmations",
];

/// The configuration of a project, if it has one.
pub(crate) fn load(project: &Path) -> Result<Config, CliError> {
    let own = project.join("flakelab.toml");
    if own.is_file() {
        return read(&own, parse(&own)?);
    }
    match of_pyproject(project) {
        Some(toml::Value::Table(ours)) => read(&project.join("pyproject.toml"), ours),
        Some(_) => Err(wrong(
            &project.join("pyproject.toml"),
            "`tool.flakelab` is no table",
        )
        .hint("write it as `[tool.flakelab]`, with one setting a line")),
        None => Ok(Config::default()),
    }
}

/// Whether `pyproject.toml` has settings of ours.
pub(crate) fn in_pyproject(project: &Path) -> bool {
    of_pyproject(project).is_some()
}

/// A pyproject.toml that does not parse is pytest's to complain about.
fn of_pyproject(project: &Path) -> Option<toml::Value> {
    let mut table = parse(&project.join("pyproject.toml")).ok()?;
    match table.remove("tool")? {
        toml::Value::Table(mut tool) => tool.remove("flakelab"),
        _ => None,
    }
}

fn wrong(path: &Path, why: impl std::fmt::Display) -> CliError {
    CliError::usage(format!("`{}`: {why}", path.display()))
        .hint("`flakelab init --stdout` prints every setting with its default")
}

fn parse(path: &Path) -> Result<toml::Table, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| wrong(path, error))?;
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        wrong(path, format_args!("line {line}: {}", error.message()))
    })
}

fn read(path: &Path, table: toml::Table) -> Result<Config, CliError> {
    check_keys(path, &table, &KEYS, "")?;
    if let Some(toml::Value::Table(detect)) = table.get("detect") {
        check_keys(path, detect, &DETECT_KEYS, "detect.")?;
    }
    if let Some(toml::Value::Table(explain)) = table.get("explain") {
        check_keys(path, explain, &EXPLAIN_KEYS, "explain.")?;
    }
    if let Some(toml::Value::Table(inject)) = table.get("inject") {
        check_keys(path, inject, &INJECT_KEYS, "inject.")?;
    }
    if let Some(toml::Value::Table(measure)) = table.get("measure") {
        check_keys(path, measure, &MEASURE_KEYS, "measure.")?;
    }
    if let Some(toml::Value::Table(mutate)) = table.get("mutate") {
        check_keys(path, mutate, &MUTATE_KEYS, "mutate.")?;
    }
    if let Some(toml::Value::Table(filter)) = table.get("filter") {
        check_keys(path, filter, &FILTER_KEYS, "filter.")?;
    }
    let mut config: Config = table
        .try_into()
        .map_err(|error: toml::de::Error| wrong(path, in_words(&error)))?;
    // Paths in a file are relative to the file.
    let base = path.parent().unwrap_or(Path::new("."));
    let lists = [&mut config.measure.runtimes, &mut config.measure.sources];
    for place in [&mut config.python, &mut config.store]
        .into_iter()
        .flatten()
        .chain(lists.into_iter().flatten().flatten())
    {
        *place = base.join(&*place);
    }
    Ok(config)
}

/// With the setting that it is about, and without the names of Rust's types.
fn in_words(error: &toml::de::Error) -> String {
    let said = error.to_string().trim().replace('\n', " ");
    let whole = ["usize", "u64", "u32", "u8"].map(|kind| (kind, "a whole number from 0"));
    let kinds = whole.into_iter().chain([("f64", "a number")]);
    kinds.fold(said, |said, (kind, words)| {
        said.replace(&format!("expected {kind}"), &format!("expected {words}"))
    })
}

fn check_keys(
    path: &Path,
    table: &toml::Table,
    known: &[&str],
    prefix: &str,
) -> Result<(), CliError> {
    for key in table.keys() {
        if known.contains(&key.as_str()) {
            continue;
        }
        let hint = match nearest(key, known.iter().copied()) {
            Some(meant) => format!("did you mean `{prefix}{meant}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        return Err(wrong(path, format_args!("unknown option `{prefix}{key}`")).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(name: &str, text: &str) -> Result<Config, CliError> {
        let dir = tempfile::tempdir().expect("tempdir");
        std::fs::write(dir.path().join(name), text).expect("write");
        load(dir.path())
    }

    #[test]
    fn a_misspelt_key_gets_a_suggestion() {
        let error = load_text("flakelab.toml", "ordres = 5").expect_err("unknown");
        assert!(
            error.message.contains("unknown option `ordres`"),
            "{error:?}"
        );
        let error = load_text("flakelab.toml", "[detect]\nordres = 5").expect_err("unknown");
        assert_eq!(error.hint.as_deref(), Some("did you mean `detect.orders`?"));
    }

    #[test]
    fn pyproject_is_read_and_foreign_tables_are_left_alone() {
        let config = load_text(
            "pyproject.toml",
            "[tool.black]\nx = 1\n[tool.flakelab]\nsandbox = 'off'\npython = 'v'\n[tool.flakelab.detect]\norders = 7\nbudget = '10m'",
        )
        .expect("valid");
        assert_eq!(config.detect.orders, Some(7));
        assert_eq!(config.sandbox, Some(SandboxArg::Off));
        assert_eq!(config.detect.budget.map(|t| t.0.as_secs()), Some(600));
        assert!(config.python.is_some_and(|p| p.is_absolute()));
        assert!(load_text("pyproject.toml", "not toml").is_ok());
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        assert!(load_text("flakelab.toml", "jobs = 'many'").is_err());
        assert!(load_text("flakelab.toml", "test-timeout = 'soon'").is_err());
        let error = load_text("flakelab.toml", "[detect]\norders = -1").expect_err("negative");
        assert!(
            error.message.contains("expected a whole number from 0"),
            "{error:?}"
        );
    }
}
