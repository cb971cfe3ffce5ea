//! What code compiles to, asked of the project's interpreter.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::interpreter::{Interpreter, InterpreterError, answer};

const DIGEST: &str = include_str!("../../../../shims/pytest/flakelab_shim/bytecode.py");
const DRIVER: &str = include_str!("../../../../shims/pytest/digests.py");
/// Pieces of code an interpreter is asked about at once: their digests fit into what it may say.
const AT_ONCE: usize = 1_000;

/// A digest of each piece of code: equal ones do the same. `None` for what does not compile.
pub fn digests(
    interpreter: &Interpreter,
    codes: &[impl Serialize],
    cwd: &Path,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Vec<Option<String>>, InterpreterError> {
    let failed = |e: io::Error| {
        InterpreterError::DoesNotStart(interpreter.executable.clone(), e.to_string())
    };
    let mut found = Vec::with_capacity(codes.len());
    for some in codes.chunks(AT_ONCE) {
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        let mut out = io::BufWriter::new(&mut file);
        serde_json::to_writer(&mut out, some).map_err(|e| failed(e.into()))?;
        out.into_inner().map_err(|e| failed(e.into()))?;
        let path = serde_json::to_string(file.path()).map_err(|e| failed(e.into()))?;
        // With the project's directory off the path, as in all questions.
        let program = format!(
            "import sys\nsys.path[:] = [p for p in sys.path if p]\n{DIGEST}\nPATH = {path}\n{DRIVER}"
        );
        let some_digests: Vec<Option<String>> =
            answer(&interpreter.executable, &program, cwd, env, patience)?;
        if some_digests.len() != some.len() {
            return Err(failed(io::Error::other("it answered another question")));
        }
        found.extend(some_digests);
    }
    Ok(found)
}
