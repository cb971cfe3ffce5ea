//! Executes the commands that findings print, as a user would: by a shell, with plain pytest.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Project, Run, copy, environment, string};

/// What a plain command did.
#[derive(Debug)]
pub(crate) struct Plain {
    #[expect(dead_code, reason = "shown where an assertion fails")]
    pub(crate) command: String,
    /// `None` where a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed.
    pub(crate) said: String,
    /// `passed`, `failed`, `error` or `skipped` for each test in the order of execution; empty where the
    /// process did not live to tell.
    pub(crate) outcomes: Vec<(String, &'static str)>,
}

impl Project {
    /// Executes a command in `dir` of a copy of the project, with the environment's programs first.
    pub(crate) fn shell(&self, dir: &str, command: &str) -> Plain {
        let place = tempfile::tempdir().expect("a directory");
        let tree = place.path().join("tree");
        copy(self.path(), &tree);
        let junit = place.path().join("junit.xml");
        let bin = environment(self.environment).join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(tree.join(dir))
            .stdin(Stdio::null())
            // Some tests kill their group.
            .process_group(0)
            .env_remove("VIRTUAL_ENV")
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env(
                "PYTEST_ADDOPTS",
                format!("--junitxml={} -o junit_family=xunit1", junit.display()),
            )
            .output()
            .expect("a shell");
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        Plain {
            command: command.to_owned(),
            code: output.status.code(),
            said,
            outcomes: outcomes(&junit),
        }
    }

    /// The command printed for a victim: the last test it runs, the victim, must be the one that fails.
    pub(crate) fn reproduces_victim(&self, run: &Run, id: &str) {
        self.reproduces_victim_in("", run, id);
    }

    pub(crate) fn reproduces_victim_in(&self, dir: &str, run: &Run, id: &str) {
        let plain = self.reproduce(dir, run, id);
        let order = run.test(id)["reproduce"]["order"].as_array();
        let order = order.expect("an order");
        assert_eq!(order.last().expect("a test"), id, "{plain:?}");
        let words: Vec<&str> = plain.outcomes.iter().map(|(_, word)| *word).collect();
        assert_eq!(words.len(), order.len(), "{plain:?}");
        assert_eq!(words.last(), Some(&"failed"), "{plain:?}");
        assert!(!words[..words.len() - 1].contains(&"failed"), "{plain:?}");
    }

    /// The command printed for a brittle: it runs the one test, which must fail.
    pub(crate) fn reproduces_brittle(&self, run: &Run, id: &str) {
        self.reproduces_brittle_in("", run, id);
    }

    pub(crate) fn reproduces_brittle_in(&self, dir: &str, run: &Run, id: &str) {
        let plain = self.reproduce(dir, run, id);
        let words: Vec<&str> = plain.outcomes.iter().map(|(_, word)| *word).collect();
        assert_eq!(words, ["failed"], "{plain:?}");
    }

    /// Executes the command printed for a test; it must have been seen to work and must fail again.
    pub(crate) fn reproduce(&self, dir: &str, run: &Run, id: &str) -> Plain {
        let reproduce = &run.test(id)["reproduce"];
        assert_eq!(reproduce["verified"], true, "{reproduce:#}\n{}", run.stderr);
        let plain = self.shell(dir, &string(&reproduce["command"]));
        assert_ne!(plain.code, Some(0), "{plain:?}");
        plain
    }
}

fn outcomes(junit: &Path) -> Vec<(String, &'static str)> {
    let text = fs::read_to_string(junit).unwrap_or_default();
    text.split("<testcase ")
        .skip(1)
        .map(|case| {
            let case = case.split("</testcase>").next().unwrap_or(case);
            let name = case
                .split(" name=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_default();
            let word = ["<failure ", "<error ", "<skipped "]
                .into_iter()
                .find(|tag| case.contains(tag))
                .map_or("passed", |tag| match tag {
                    "<failure " => "failed",
                    "<error " => "error",
                    _ => "skipped",
                });
            (name.to_owned(), word)
        })
        .collect()
}

/// Processes whose command line contains `word` and that do not end by themselves.
pub(crate) fn processes_with(word: &str) -> Vec<PathBuf> {
    lasting(|path| {
        fs::read(path.join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    })
}

/// Processes whose working directory lies below `place` and that do not end by themselves.
pub(crate) fn processes_in(place: &str) -> Vec<PathBuf> {
    lasting(|path| {
        fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.to_string_lossy().starts_with(place))
    })
}

/// A process that was killed takes a moment to go: what is still there after two seconds stays.
fn lasting(wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let end = Instant::now() + Duration::from_secs(2);
    loop {
        let found: Vec<PathBuf> = fs::read_dir("/proc")
            .expect("proc")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| wanted(path))
            .collect();
        if found.is_empty() || Instant::now() > end {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
