//! Which Python runs the suite, and what it has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::process::{self, Limits, Spawn};

/// How much an interpreter may say before it answers: a start-up file that prints, not one that floods.
const MOST_SAID: usize = 64 * 1024;

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

/// The interpreter to use: the given one, the active environment's, the project's own, the first on
/// the path.
pub fn choose(
    given: Option<&Path>,
    project: &Path,
    env: &[(OsString, OsString)],
) -> Result<PathBuf, InterpreterError> {
    if let Some(path) = given {
        return Ok(if path.is_dir() {
            path.join("bin/python")
        } else {
            path.to_owned()
        });
    }
    let var = |name: &str| {
        env.iter()
            .find(|(k, _)| k == name)
            .map(|(_, v)| PathBuf::from(v))
    };
    let local = ["venv", ".venv", "env", ".env"].map(|name| project.join(name));
    let environments = var("VIRTUAL_ENV")
        .into_iter()
        .chain(
            local
                .into_iter()
                .filter(|dir| dir.join("pyvenv.cfg").exists()),
        )
        .chain(var("CONDA_PREFIX"));
    for dir in environments {
        let python = dir.join("bin/python");
        if python.exists() {
            return Ok(python);
        }
    }
    let path = var("PATH").unwrap_or_default();
    ["python3", "python"]
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |dir| dir.join(name)))
        .find(|candidate| candidate.is_file())
        .ok_or(InterpreterError::NotFound)
}

#[derive(Deserialize)]
struct Answer {
    executable: PathBuf,
    version: (u32, u32, u32),
    pytest: Option<String>,
    user_base: String,
}

// With the project's directory off the path: a `json.py` there must not answer.
const QUESTION: &str = "\
import sys
sys.path[:] = [p for p in sys.path if p]
import json, site
try:
    from importlib.metadata import version
    pytest = version('pytest')
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
        .and_then(|mut process| process.hear_out(patience, MOST_SAID))
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
