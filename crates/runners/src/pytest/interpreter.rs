//! Which Python runs the suite, and what it has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::cancel::Cancel;
use crate::process::{self, Limits, Spawn};

/// How much an interpreter may say before it answers: a start-up file that prints, not one that floods.
const MOST_SAID: usize = 64 * 1024;
/// Interpreters that are asked: a path has a few.
const MOST_CANDIDATES: usize = 8;

/// An interpreter that answered.
#[derive(Debug, Clone)]
pub struct Interpreter {
    /// The real executable, not a launcher: the run's HOME differs from the user's.
    pub executable: PathBuf,
    pub version: String,
    pub pytest: String,
    /// Where `pip install --user` puts things, which follows HOME unless it is said.
    pub user_base: String,
}

#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    #[error("no Python interpreter was found")]
    NotFound,
    #[error("`{0}` does not start: {1}")]
    DoesNotStart(PathBuf, String),
    #[error("`{0}` does not answer within {1:?}")]
    DoesNotAnswer(PathBuf, Duration),
    #[error("`{0}` is Python {1}")]
    TooOld(PathBuf, String),
    #[error("`{0}` has no pytest")]
    NoPytest(PathBuf),
    #[error("`{0}` has pytest {1}")]
    OldPytest(PathBuf, String),
}

impl InterpreterError {
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound => {
                "activate the project's virtual environment, or pass --python PATH".into()
            }
            Self::DoesNotStart(..) | Self::DoesNotAnswer(..) => {
                "pass --python with the interpreter the tests run with".into()
            }
            Self::TooOld(..) => "flakelab needs Python 3.8 or newer".into(),
            Self::NoPytest(path) => format!(
                "`{} -m pip install pytest`, or pass --python with the interpreter of the project's environment",
                path.display()
            ),
            Self::OldPytest(..) => "flakelab needs pytest 7 or newer".into(),
        }
    }
}

/// The interpreters that come into question: the given one, the active environment's, or the project's own; else the
/// one of the environment that flakelab is installed in, and those on the path, of which the first with pytest is
/// meant. An environment that was made for flakelab alone (`pipx`, `uvx`) has none.
pub fn candidates(
    given: Option<&Path>,
    project: &Path,
    env: &[(OsString, OsString)],
    flakelab: Option<&Path>,
) -> Vec<PathBuf> {
    if let Some(path) = given {
        return vec![if path.is_dir() {
            path.join("bin/python")
        } else {
            path.to_owned()
        }];
    }
    let var = |name: &str| {
        env.iter()
            .find(|(k, _)| k == name)
            .map(|(_, v)| PathBuf::from(v))
    };
    let local = ["venv", ".venv", "env", ".env"].map(|name| project.join(name));
    let environments = var("VIRTUAL_ENV")
        .into_iter()
        .chain(local.into_iter().filter(|dir| is_environment(dir)))
        .chain(var("CONDA_PREFIX"));
    for dir in environments {
        let python = dir.join("bin/python");
        if python.exists() {
            return vec![python];
        }
    }
    let around = flakelab.and_then(Path::parent).and_then(Path::parent);
    let around = around.filter(|dir| is_environment(dir));
    let path = var("PATH").unwrap_or_default();
    let on_path = ["python3", "python"]
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |dir| dir.join(name)));
    around
        .map(|dir| dir.join("bin/python"))
        .into_iter()
        .chain(on_path)
        .filter(|candidate| candidate.is_file())
        .take(MOST_CANDIDATES)
        .collect()
}

fn is_environment(dir: &Path) -> bool {
    dir.join("pyvenv.cfg").exists()
}

/// The first of these that has what it takes; else why the first has not.
pub fn first_fitting(
    candidates: &[PathBuf],
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Interpreter, InterpreterError> {
    let mut first = None;
    for python in candidates {
        match ask(python, cwd, env, patience) {
            Ok(interpreter) => return Ok(interpreter),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(InterpreterError::NotFound))
}

#[derive(Deserialize)]
struct Answer {
    executable: PathBuf,
    version: (u32, u32, u32),
    pytest: Option<String>,
    user_base: String,
}

// With the project's directory off the path: a `json.py` there must not answer. What an installer has left names the
// version; the library that reads such folders takes longer to import than all else here.
const QUESTION: &str = "\
import sys
sys.path[:] = [p for p in sys.path if p]
import json, os, site
def version():
    for place in sys.path:
        try:
            names = os.listdir(place)
        except OSError:
            continue
        installed = [n for n in names if n.startswith('pytest-') and n.endswith('-info')]
        if len(installed) == 1 and os.path.isfile(os.path.join(place, installed[0], 'METADATA')):
            return installed[0].rpartition('.')[0].partition('-')[2]
        if installed:
            break
    import importlib.metadata
    return importlib.metadata.version('pytest')
try:
    pytest = version()
except Exception:
    pytest = None
print(json.dumps({'executable': sys.executable, 'version': sys.version_info[:3],
                  'pytest': pytest, 'user_base': site.getuserbase()}))";

const PACKAGES: &str = "\
import sys
sys.path[:] = [p for p in sys.path if p]
import json
from importlib.metadata import distributions
found = {'%s==%s' % (d.metadata['Name'], d.version) for d in distributions() if d.metadata['Name']}
print(json.dumps(sorted(found, key=str.lower)))";

const LOCALES: &str = "\
import sys
sys.path[:] = [p for p in sys.path if p]
import json, locale
found = []
for name in CANDIDATES:
    try:
        locale.setlocale(locale.LC_ALL, name)
        found.append(name)
    except locale.Error:
        pass
print(json.dumps(found))";

/// Installed packages with their versions.
pub fn packages(
    interpreter: &Interpreter,
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Vec<String>, InterpreterError> {
    answer(&interpreter.executable, PACKAGES, cwd, env, patience)
}

/// Those of these locales that the system has.
pub fn locales(
    interpreter: &Interpreter,
    candidates: &[&str],
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Vec<String>, InterpreterError> {
    let list = serde_json::to_string(candidates).unwrap_or_default();
    let question = LOCALES.replace("CANDIDATES", &list);
    answer(&interpreter.executable, &question, cwd, env, patience)
}

/// Asks an interpreter what it is.
pub fn ask(
    python: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Interpreter, InterpreterError> {
    let answer: Answer = answer(python, QUESTION, cwd, env, patience)?;
    interpreter(python, answer)
}

/// The last line of what a program for an interpreter prints, as JSON.
pub(super) fn answer<T: serde::de::DeserializeOwned>(
    python: &Path,
    question: &str,
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<T, InterpreterError> {
    let does_not_start = |why: String| InterpreterError::DoesNotStart(python.to_owned(), why);
    let spawned = process::spawn(Spawn {
        program: python.to_owned(),
        args: vec!["-c".into(), question.into()],
        cwd: cwd.to_owned(),
        env: env.to_vec(),
        keep: Vec::new(),
        limits: Limits {
            file: None,
            memory: None,
        },
        user_namespace: false,
        surroundings: process::Surroundings::default(),
        guarded: false,
    });
    let said = spawned
        .and_then(|mut process| process.hear_out(patience, MOST_SAID, &Cancel::default()))
        .map_err(|error| does_not_start(error.to_string()))?
        .ok_or_else(|| InterpreterError::DoesNotAnswer(python.to_owned(), patience))?;
    let said = String::from_utf8_lossy(&said);
    let found = said
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str(line).ok());
    found.ok_or_else(|| {
        let last = said.lines().last().unwrap_or("it says nothing").to_owned();
        does_not_start(last)
    })
}

fn interpreter(python: &Path, answer: Answer) -> Result<Interpreter, InterpreterError> {
    let (major, minor, patch) = answer.version;
    let version = format!("{major}.{minor}.{patch}");
    if (major, minor) < (3, 8) {
        return Err(InterpreterError::TooOld(python.to_owned(), version));
    }
    let Some(pytest) = answer.pytest else {
        return Err(InterpreterError::NoPytest(python.to_owned()));
    };
    let generation: u32 = pytest
        .split('.')
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    if generation < 7 {
        return Err(InterpreterError::OldPytest(python.to_owned(), pytest));
    }
    Ok(Interpreter {
        executable: answer.executable,
        version,
        pytest,
        user_base: answer.user_base,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, "").expect("written");
    }

    #[test]
    fn an_environment_of_the_user_is_the_only_candidate() {
        let dir = tempfile::tempdir().expect("a directory");
        let (active, project) = (dir.path().join("active"), dir.path().join("project"));
        file(&active.join("bin/python"));
        file(&dir.path().join("usr/python3"));
        let env = [
            ("PATH".into(), dir.path().join("usr").into()),
            ("VIRTUAL_ENV".into(), active.clone().into()),
        ];
        let found = candidates(None, &project, &env, None);
        assert_eq!(found, [active.join("bin/python")]);
        file(&project.join(".venv/pyvenv.cfg"));
        file(&project.join(".venv/bin/python"));
        let found = candidates(None, &project, &env[..1], None);
        assert_eq!(found, [project.join(".venv/bin/python")]);
    }

    #[test]
    fn an_environment_made_for_flakelab_comes_before_the_path_and_does_not_hide_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let own = dir.path().join("own");
        for name in [
            "own/bin/python",
            "own/pyvenv.cfg",
            "usr/python3",
            "usr/python",
        ] {
            file(&dir.path().join(name));
        }
        let env = [("PATH".into(), dir.path().join("usr").into())];
        let flakelab = own.join("bin/flakelab");
        let found = candidates(None, dir.path(), &env, Some(&flakelab));
        let usr = dir.path().join("usr");
        let all = [
            own.join("bin/python"),
            usr.join("python3"),
            usr.join("python"),
        ];
        assert_eq!(found, all);
        let flakelab = usr.join("flakelab");
        assert_eq!(
            candidates(None, dir.path(), &env, Some(&flakelab)),
            all[1..]
        );
    }
}
