//! What a worker's process is given: environment, directories, and the first message.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flakelab_model::Recording;
use serde::Serialize;

use super::lane::Special;
use super::mounts;
use super::worker::Launch;

/// Variables that would let a run see or change what is the user's, or that belong to a test run
/// flakelab itself is part of.
const REMOVED: [&str; 10] = [
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_WORKER_COUNT",
    "PYTEST_CURRENT_TEST",
    "COVERAGE_PROCESS_START",
    "GITHUB_STEP_SUMMARY",
];

/// The first message to a shim.
#[derive(Debug, Serialize)]
pub(super) struct Setup {
    pub(super) mode: &'static str,
    pub(super) module: bool,
    pub(super) args: Vec<String>,
    pub(super) sandbox: Option<SandboxSetup>,
    pub(super) state: PathBuf,
    pub(super) saved: PathBuf,
    pub(super) scratch: PathBuf,
    /// What zygotes and fresh interpreters have compiled.
    pub(super) compiled: PathBuf,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<String>,
    #[serde(flatten)]
    pub(super) special: Special,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) layers: Option<RecordingSetup>,
    /// A file with the instrumented texts of the project's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instrumented: Option<PathBuf>,
}

/// What is to be written down, and where.
#[derive(Debug, Serialize)]
pub(super) struct RecordingSetup {
    trace: PathBuf,
    /// For our own bytecode, which later runs find again.
    cache: PathBuf,
    assertions: bool,
    functions: bool,
    lines: bool,
    behaviour: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failing_only: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    filtered: BTreeMap<String, Vec<(String, u32, u32)>>,
    unmasked: Vec<String>,
    fields: BTreeMap<String, Vec<String>>,
    sources: Vec<PathBuf>,
    names: PathBuf,
}

impl RecordingSetup {
    pub(super) fn new(recording: &Recording, nest: &Nest, scratch: &Path) -> Self {
        Self {
            trace: nest.trace(),
            cache: recording
                .bytecode
                .clone()
                .unwrap_or_else(|| scratch.join("bytecode")),
            assertions: recording.assertions,
            functions: recording.functions,
            lines: recording.lines,
            behaviour: recording.behaviour,
            failing_only: recording.failing_only,
            filtered: recording.filtered.clone(),
            unmasked: recording.unmasked.clone(),
            fields: recording.fields.clone(),
            sources: recording.sources.clone(),
            names: recording.names.clone(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct SandboxSetup {
    pub(super) targets: Vec<PathBuf>,
    /// What is mounted below the targets, to be seen there as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) mounted: Vec<PathBuf>,
    pub(super) layers: PathBuf,
    /// Whether a later run goes on in the same layers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) lasting: bool,
    /// For some targets a directory whose files take the place of theirs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) over: BTreeMap<PathBuf, PathBuf>,
}

/// Texts that are read in place of files when those are imported, and how many points they have.
#[derive(Debug, Clone, Serialize)]
pub struct Instrumented {
    pub points: usize,
    /// By absolute path.
    pub texts: BTreeMap<PathBuf, String>,
}

/// What is compiled is found again by its text, so labs of changed texts share it with the lab of the project.
pub(super) fn compiled(scratch: &Path) -> PathBuf {
    scratch.join("compiled")
}

pub(super) fn keep_compiled(scratch: &Path, known: Option<&Path>) -> io::Result<()> {
    match known {
        Some(known) => std::os::unix::fs::symlink(known, compiled(scratch)),
        None => fs::create_dir(compiled(scratch)),
    }
}

fn instrumented(scratch: &Path) -> PathBuf {
    scratch.join("instrumented.json")
}

/// Makes every interpreter of a lab import instrumented texts.
pub(super) fn instrument(scratch: &Path, texts: &Instrumented) -> io::Result<()> {
    fs::write(instrumented(scratch), serde_json::to_vec(texts)?)
}

/// Where files that take the place of those below a root lie.
fn patched(scratch: &Path, root: usize) -> PathBuf {
    scratch.join("patched").join(root.to_string())
}

/// Writes files that take the place of the project's own in every run.
pub(super) fn patch(
    scratch: &Path,
    roots: &[PathBuf],
    files: &[(PathBuf, Vec<u8>)],
) -> io::Result<()> {
    for (path, text) in files {
        let found = roots.iter().enumerate().find_map(|(number, root)| {
            let inside = path.strip_prefix(root).ok()?;
            Some(patched(scratch, number).join(inside))
        });
        let place =
            found.ok_or_else(|| io::Error::other("a changed file lies outside the tree"))?;
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(place, text)?;
    }
    Ok(())
}

/// The directories of one worker. HOME and TMPDIR lie apart from saved copies and overlay layers, because their paths
/// have to be short: a socket's may have 107 bytes, and tests make sockets far below TMPDIR.
#[derive(Debug)]
pub(super) struct Nest {
    scratch: PathBuf,
    state: PathBuf,
    /// What tests are not told of.
    root: PathBuf,
    /// Stays for the next run of its name.
    lasting: bool,
}

impl Nest {
    /// For a lane.
    pub(super) fn of_lane(scratch: &Path, number: u32) -> io::Result<Self> {
        Self::create(scratch, &numbered('l', number))
    }

    /// For an interpreter of its own.
    pub(super) fn of_cold(scratch: &Path, number: u32) -> io::Result<Self> {
        Self::create(scratch, &numbered('c', number))
    }

    /// One that runs of a name find as the run before has left it.
    pub(super) fn lasting(scratch: &Path, name: &str) -> io::Result<Self> {
        let mut nest = Self::create(scratch, &format!("last-{name}"))?;
        nest.lasting = true;
        Ok(nest)
    }

    fn create(scratch: &Path, name: &str) -> io::Result<Self> {
        let (state, root) = (scratch.join(name), scratch.join("nests").join(name));
        for part in ["home", "tmp"] {
            fs::create_dir_all(state.join(part))?;
        }
        for part in ["saved", "layers", "files"] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Self {
            scratch: scratch.to_owned(),
            state,
            root,
            lasting: false,
        })
    }

    /// Where a run writes down what was asked for.
    pub(super) fn trace(&self) -> PathBuf {
        self.root.join("trace")
    }

    pub(super) fn setup(
        &self,
        mode: &'static str,
        module: bool,
        args: Vec<String>,
        order: Vec<String>,
        sandbox_roots: Option<&[PathBuf]>,
    ) -> Setup {
        Setup {
            mode,
            module,
            args,
            order,
            sandbox: sandbox_roots.map(|roots| SandboxSetup {
                targets: roots.iter().cloned().chain([self.state.clone()]).collect(),
                mounted: roots.iter().flat_map(|root| mounts::below(root)).collect(),
                layers: self.root.join("layers"),
                lasting: self.lasting,
                over: self.over(roots),
            }),
            state: self.state.clone(),
            saved: self.root.join("saved"),
            scratch: self.root.join("files"),
            compiled: compiled(&self.scratch),
            special: Special::default(),
            layers: None,
            instrumented: self.instrumented(),
        }
    }

    fn instrumented(&self) -> Option<PathBuf> {
        let file = instrumented(&self.scratch);
        file.is_file().then_some(file)
    }

    fn over(&self, roots: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
        roots
            .iter()
            .enumerate()
            .map(|(number, root)| (root.clone(), patched(&self.scratch, number)))
            .filter(|(_, dir)| dir.is_dir())
            .collect()
    }

    /// The environment of a run: a fresh HOME and TMPDIR, and nothing written into the tree.
    pub(super) fn launch(&self, base: &Launch, hash_seed: u32) -> Launch {
        let mut launch = base.clone();
        let state = &self.state;
        let mut set = |name: &str, value: OsString| {
            launch.env.retain(|(key, _)| key != name);
            launch.env.push((name.into(), value));
        };
        set("HOME", state.join("home").into());
        set("TMPDIR", state.join("tmp").into());
        set("PYTHONHASHSEED", hash_seed.to_string().into());
        set(
            "HYPOTHESIS_STORAGE_DIRECTORY",
            state.join("tmp/hypothesis").into(),
        );
        launch
    }

    /// Removes what runs have left in the layers, between two runs of a lane.
    pub(super) fn remove_layers(&self, keep: &[i32]) {
        let Ok(entries) = fs::read_dir(self.root.join("layers")) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner = name
                .to_str()
                .and_then(|n| n.split_once('-'))
                .map(|(pid, _)| pid);
            if !keep
                .iter()
                .any(|pid| owner == Some(pid.to_string().as_str()))
            {
                crate::scratch::remove_tree(&entry.path());
            }
        }
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        if !self.lasting {
            crate::scratch::remove_tree(&self.state);
            crate::scratch::remove_tree(&self.root);
        }
    }
}

/// Of one length, because the length of paths decides about addresses, and about what fits into a socket's name.
fn numbered(kind: char, number: u32) -> String {
    format!("{kind}{number:05x}")
}

/// The environment all workers share. Bytecode is read where there is some and written nowhere: a
/// cache of our own would compile every dependency of the suite once more.
pub(super) fn environment(
    env: &[(OsString, OsString)],
    user_base: &str,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<_> = env
        .iter()
        .filter(|(key, _)| !REMOVED.iter().any(|name| key == name))
        .cloned()
        .collect();
    if !kept.iter().any(|(key, _)| key == "PYTHONUSERBASE") && !user_base.is_empty() {
        kept.push(("PYTHONUSERBASE".into(), user_base.into()));
    }
    kept.retain(|(key, _)| key != "PYTHONDONTWRITEBYTECODE");
    kept.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    kept
}
