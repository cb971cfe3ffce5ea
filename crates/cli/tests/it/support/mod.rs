//! Projects in temporary directories, and the real binary run on them.
//!
//! Every project is copied before use and compared afterwards: nothing may be left in it.

pub(crate) mod datasets;
pub(crate) mod drill;
pub(crate) mod mutants;
pub(crate) mod order;
pub(crate) mod patches;
pub(crate) mod reproduce;
pub(crate) mod store;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository")
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

/// The flakelab that is tested. A link of our own: tests of installing have cargo put another one in its place.
pub(crate) fn flakelab() -> &'static Path {
    static LINK: OnceLock<PathBuf> = OnceLock::new();
    LINK.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tested");
        for old in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_alive = Path::new("/proc").join(old.file_name()).exists();
            if !is_alive {
                let _ = fs::remove_dir_all(old.path());
            }
        }
        let own = folder.join(std::process::id().to_string());
        // Numbers of processes come again.
        let _ = fs::remove_dir_all(&own);
        fs::create_dir_all(&own).expect("a folder");
        let link = own.join("flakelab");
        fs::hard_link(env!("CARGO_BIN_EXE_flakelab"), &link).expect("a link");
        link
    })
}

/// An environment made by `scripts/test`.
pub(crate) fn environment(name: &str) -> PathBuf {
    let dir = root().join(".venvs").join(name);
    assert!(
        dir.join("packages").exists(),
        "there is no environment {}: run scripts/test",
        dir.display()
    );
    dir
}

#[derive(Debug)]
pub(crate) struct Project {
    dir: TempDir,
    pub(crate) environment: &'static str,
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) document: Value,
}

impl Project {
    /// A project of the given files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("project-")
            .tempdir()
            .expect("a directory");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, text).expect("a file");
        }
        Self {
            dir,
            environment: "pytest8",
        }
    }

    /// A copy of an example.
    pub(crate) fn example(name: &str) -> Self {
        let project = Self::new(&[]);
        copy(&root().join("examples").join(name), project.path());
        project
    }

    /// A copy of the shop with the store of a `detect` and an `explain`, which are run once for all tests; and what
    /// `explain` came to.
    pub(crate) fn explained_shop() -> (Self, &'static Run) {
        static KNOWN: OnceLock<(Vec<u8>, Run)> = OnceLock::new();
        let project = Self::example("shop");
        let store = project.path().join(".flakelab/store.sqlite");
        let (bytes, run) = KNOWN.get_or_init(|| {
            project.detect(&["--orders", "40"]);
            let run = project.explain(&[]);
            (fs::read(&store).expect("a store"), run)
        });
        if !store.exists() {
            fs::create_dir_all(store.parent().expect("a parent")).expect("a directory");
            fs::write(store, bytes).expect("a store");
        }
        (project, run)
    }

    pub(crate) fn with(mut self, environment: &'static str) -> Self {
        self.environment = environment;
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn python(&self) -> PathBuf {
        environment(self.environment).join("bin/python")
    }

    /// `flakelab` in the project's directory, with nothing of this process's environment that matters.
    pub(crate) fn flakelab(&self, args: &[&str]) -> Command {
        self.installed(flakelab(), args)
    }

    /// The same for a flakelab that was installed somewhere.
    pub(crate) fn installed(&self, flakelab: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(flakelab);
        command
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env_remove("VIRTUAL_ENV")
            .env_remove("GITHUB_STEP_SUMMARY")
            .env_remove("PYTEST_ADDOPTS");
        for (name, _) in std::env::vars() {
            if name.starts_with("FLAKELAB_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// `flakelab detect` with this project's interpreter and seed 1; the document is read, and the tree
    /// must be as it was.
    pub(crate) fn detect(&self, args: &[&str]) -> Run {
        self.verb("detect", args)
    }

    /// The same for `flakelab explain`.
    pub(crate) fn explain(&self, args: &[&str]) -> Run {
        self.verb("explain", args)
    }

    /// The same for `flakelab fix`.
    pub(crate) fn fix(&self, args: &[&str]) -> Run {
        self.verb("fix", args)
    }

    /// The same for `flakelab measure`.
    pub(crate) fn measure(&self, args: &[&str]) -> Run {
        self.verb("measure", args)
    }

    /// The same for `flakelab mutate`.
    pub(crate) fn mutate(&self, args: &[&str]) -> Run {
        self.verb("mutate", args)
    }

    fn verb(&self, verb: &str, args: &[&str]) -> Run {
        let before = self.tree();
        let output = self.dir_for_output().join("document.json");
        let python = self.python();
        let mut all = vec![
            verb,
            "--python",
            python.to_str().expect("utf-8"),
            "--format",
            "json",
        ];
        if !args.contains(&"--seed") {
            all.extend(["--seed", "1"]);
        }
        all.extend(["-o", output.to_str().expect("utf-8")]);
        all.extend(args);
        let run = Run::of(
            self.flakelab(&all).output().expect("flakelab runs"),
            &output,
        );
        assert_eq!(self.tree(), before, "the tree was changed\n{}", run.stderr);
        let _ = fs::remove_dir_all(output.parent().expect("a parent"));
        run
    }

    fn dir_for_output(&self) -> PathBuf {
        tempfile::tempdir().expect("a directory").keep()
    }

    /// Every file of the project with its content, but for the store.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        list(self.path(), self.path(), &mut files);
        files
    }
}

impl Run {
    pub(crate) fn of(output: Output, document: &Path) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            document: fs::read(document)
                .ok()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .unwrap_or(Value::Null),
        }
    }

    /// The class of every test that is not stable.
    pub(crate) fn classes(&self) -> BTreeMap<String, String> {
        let tests = self.document["tests"].as_array();
        let tests = tests
            .unwrap_or_else(|| panic!("no document, exit code {}\n{}", self.code, self.stderr));
        tests
            .iter()
            .filter(|t| t["class"] != "stable")
            .map(|t| (string(&t["id"]), string(&t["class"])))
            .collect()
    }

    pub(crate) fn test(&self, id: &str) -> &Value {
        self.document["tests"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|t| t["id"] == id)
            .unwrap_or_else(|| panic!("no test {id} in the document\n{}", self.stderr))
    }

    /// The explanation of a test.
    pub(crate) fn explanation(&self, id: &str) -> &Value {
        self.document["explanations"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|e| e["test"] == id)
            .unwrap_or_else(|| panic!("{id} is not explained\n{}\n{}", self.stdout, self.stderr))
    }

    /// Asserts the classes of all tests; those not listed must be stable.
    pub(crate) fn expect(&self, expected: &[(&str, &str)]) {
        let expected: BTreeMap<String, String> = expected
            .iter()
            .map(|(id, class)| ((*id).to_owned(), (*class).to_owned()))
            .collect();
        assert_eq!(
            self.classes(),
            expected,
            "\n{}\n{}",
            self.stdout,
            self.stderr
        );
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(base: &Path, dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).expect("readable").flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == ".flakelab") {
            continue;
        }
        let relative = path.strip_prefix(base).expect("below").to_owned();
        if entry.file_type().expect("a type").is_dir() {
            files.insert(relative, Vec::new());
            list(base, &path, files);
        } else {
            files.insert(relative, fs::read(&path).unwrap_or_default());
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("readable").flatten() {
        let target = to.join(entry.file_name());
        let name = entry.file_name();
        if name == ".flakelab" || name == "__pycache__" || name == ".pytest_cache" {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
