//! The data set on disk.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flakelab_inject::{Entry, Injection, Mutant, Settings};
use flakelab_lab::LabError;
use flakelab_model::Suite;
use flakelab_report::inject as report;
use flakelab_runners::pytest::PytestLab;
use flakelab_source::{Tree, decode_like, encode_like};
use serde::{Deserialize, Serialize};

use crate::error::{self, CliError};
use crate::project;
use crate::workbench::Workbench;
use crate::workbench::deliver::write;

/// Where a data set comes from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) flakelab: String,
    pub(super) project: String,
    pub(super) commit: Option<String>,
    pub(super) python: String,
    pub(super) pytest: String,
    /// Installed packages with their versions.
    pub(super) packages: Vec<String>,
    pub(super) pytest_args: Vec<String>,
    pub(super) seed: u64,
    pub(super) reruns: u32,
    pub(super) orders: usize,
    pub(super) scope: String,
    pub(super) include_fixtures: bool,
}

const FORMAT: u32 = 1;

impl Manifest {
    pub(super) fn new(
        bench: &Workbench,
        lab: &PytestLab,
        settings: &Settings,
    ) -> Result<Self, CliError> {
        let packages = bench.packages().map_err(|e| {
            CliError::new(
                error::INTERNAL,
                format!("the installed packages are unknown: {e}"),
            )
        })?;
        Ok(Self {
            format: FORMAT,
            flakelab: env!("CARGO_PKG_VERSION").into(),
            project: bench.project_name(),
            commit: project::commit(&project::tree(&bench.project)),
            python: lab.facts().python.clone(),
            pytest: lab.facts().pytest.clone(),
            packages,
            pytest_args: bench.pytest_args.clone(),
            seed: settings.seed,
            reruns: settings.reruns,
            orders: settings.orders,
            scope: settings.scope.word().into(),
            include_fixtures: settings.include_fixtures,
        })
    }
}

/// Writes mutants as they come, so that memory stays flat; or nothing, without a place.
pub(super) struct Writer<'a> {
    folder: Option<PathBuf>,
    mutants: Option<std::io::BufWriter<std::fs::File>>,
    tree: &'a dyn Tree,
    /// Files as they are, read once.
    texts: BTreeMap<String, String>,
    count: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(folder: Option<&Path>, tree: &'a dyn Tree) -> Result<Self, CliError> {
        let mut writer = Self {
            folder: folder.map(Path::to_owned),
            mutants: None,
            tree,
            texts: BTreeMap::new(),
            count: 0,
        };
        if let Some(folder) = folder {
            let failed = |e: std::io::Error| {
                CliError::usage(format!("failed to write to `{}`: {e}", folder.display()))
                    .hint("-o takes a folder that can be written to")
            };
            if folder.join("mutants.jsonl").exists() || folder.is_file() {
                return Err(CliError::usage(format!(
                    "`{}` has a data set already",
                    folder.display()
                ))
                .hint("choose another folder, or remove that one"));
            }
            std::fs::create_dir_all(folder.join("patches")).map_err(failed)?;
            // Under another name until all of it is there.
            let file = std::fs::File::create(folder.join("mutants.jsonl.part")).map_err(failed)?;
            writer.mutants = Some(std::io::BufWriter::new(file));
        }
        Ok(writer)
    }

    /// One mutant, in the order of the suite.
    pub(super) fn take(&mut self, mutant: &Mutant, entry: &mut Entry) -> Result<(), LabError> {
        let (Some(folder), Some(out)) = (&self.folder, &mut self.mutants) else {
            return Ok(());
        };
        let failed =
            |e: std::io::Error| LabError::broken(format!("failed to write the data set: {e}"));
        self.count += 1;
        if entry.valid {
            let text = match self.texts.get(&mutant.file) {
                Some(text) => text,
                None => {
                    let text = self.tree.read(&mutant.file).unwrap_or_default();
                    self.texts.entry(mutant.file.clone()).or_insert(text)
                }
            };
            let name = format!("patches/{:05}.patch", self.count);
            let patch = encode_like(text, &mutant.diff(text)).ok_or_else(|| {
                LabError::broken(format!("`{}` is in no encoding of its own", mutant.file))
            })?;
            std::fs::write(folder.join(&name), patch).map_err(failed)?;
            entry.patch = Some(name);
        }
        let line = serde_json::to_string(entry).map_err(|e| LabError::broken(e.to_string()))?;
        writeln!(out, "{line}").map_err(failed)
    }

    pub(super) fn finish(
        mut self,
        manifest: &Manifest,
        injection: &Injection,
        suite: &Suite,
        document: &report::Document,
    ) -> Result<(), CliError> {
        let (Some(folder), Some(mut out)) = (self.folder.take(), self.mutants.take()) else {
            return Ok(());
        };
        let failed = |e: std::io::Error| {
            CliError::usage(format!("failed to write to `{}`: {e}", folder.display()))
                .hint("`--resume -o DIR` writes what was found, without running it again")
        };
        let lines = |values: Vec<serde_json::Value>| -> String {
            values.iter().map(|value| format!("{value}\n")).collect()
        };
        let orders = injection.selection.orders.iter().enumerate();
        let orders = orders
            .map(|(number, order)| {
                let ids: Vec<&str> = order.0.iter().map(|t| suite.id(*t).as_str()).collect();
                serde_json::json!({"order": number, "tests": ids})
            })
            .collect();
        let excluded = document
            .excluded
            .iter()
            .map(|e| serde_json::json!({"test": e.test, "why": e.why}))
            .collect();
        let json = serde_json::to_string_pretty(manifest)
            .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
        write(&folder.join("orders.jsonl"), lines(orders))?;
        write(&folder.join("excluded.jsonl"), lines(excluded))?;
        write(&folder.join("classes.csv"), report::csv(document))?;
        write(&folder.join("report.html"), report::page(document))?;
        write(&folder.join("README.md"), report::readme(document))?;
        write(&folder.join("manifest.json"), format!("{json}\n"))?;
        out.flush().map_err(failed)?;
        std::fs::rename(
            folder.join("mutants.jsonl.part"),
            folder.join("mutants.jsonl"),
        )
        .map_err(failed)
    }
}

/// A data set that was written before.
#[derive(Debug)]
pub(super) struct Dataset {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// Those that depend on the order.
    pub(super) entries: Vec<Entry>,
    orders: Vec<Vec<String>>,
}

impl Dataset {
    pub(super) fn open(folder: &Path, sample: Option<usize>) -> Result<Self, CliError> {
        let read = |name: &str| {
            std::fs::read_to_string(folder.join(name)).map_err(|e| {
                CliError::usage(format!(
                    "`{}` is no data set: {name}: {e}",
                    folder.display()
                ))
                .hint("`flakelab inject -o DIR` makes one")
            })
        };
        let wrong = |name: &str, line: usize, e: serde_json::Error| {
            CliError::usage(format!(
                "`{}`: {name}, line {}: {e}",
                folder.display(),
                line + 1
            ))
            .hint("was it edited? `flakelab inject -o DIR` makes it anew")
        };
        let manifest: Manifest = serde_json::from_str(&read("manifest.json")?)
            .map_err(|e| wrong("manifest.json", 0, e))?;
        if manifest.format > FORMAT {
            return Err(CliError::usage(format!(
                "`{}` was made by a newer flakelab, {}",
                folder.display(),
                manifest.flakelab
            ))
            .hint("use that version, or make the data set anew"));
        }
        let mut entries = Vec::new();
        for (number, line) in read("mutants.jsonl")?.lines().enumerate() {
            let entry: Entry =
                serde_json::from_str(line).map_err(|e| wrong("mutants.jsonl", number, e))?;
            if entry.class.is_order_dependent() {
                entries.push(entry);
            }
        }
        #[derive(Deserialize)]
        struct Line {
            tests: Vec<String>,
        }
        let mut orders = Vec::new();
        for (number, line) in read("orders.jsonl")?.lines().enumerate() {
            let order: Line =
                serde_json::from_str(line).map_err(|e| wrong("orders.jsonl", number, e))?;
            orders.push(order.tests);
        }
        if let Some(most) = sample.filter(|most| *most > 0 && *most < entries.len()) {
            let all = entries.len();
            let picked: Vec<Entry> = (0..most).map(|n| entries[n * all / most].clone()).collect();
            entries = picked;
        }
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
            entries,
            orders,
        })
    }

    /// An order of the set up to and including a test.
    pub(super) fn order(&self, number: usize, test: &str) -> Option<Vec<String>> {
        let order = self.orders.get(number)?;
        let at = order.iter().position(|id| id == test)?;
        Some(order[..=at].to_vec())
    }

    /// The file that an entry changes, with the change.
    pub(super) fn changed(
        &self,
        entry: &Entry,
        tree: &dyn Tree,
    ) -> Result<(String, String), String> {
        let name = entry.patch.as_deref().ok_or("it has no patch")?;
        let inside = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            return Err(format!("`{name}` lies outside the data set"));
        }
        let patch = std::fs::read(self.folder.join(name)).map_err(|e| e.to_string())?;
        let before = tree
            .read(&entry.file)
            .ok_or_else(|| format!("`{}` is not in the project", entry.file))?;
        let after = decode_like(&before, &patch)
            .and_then(|patch| flakelab_source::patched(&before, &patch))
            .ok_or_else(|| format!("the patch does not fit `{}` any more", entry.file))?;
        Ok((entry.file.clone(), after))
    }
}
