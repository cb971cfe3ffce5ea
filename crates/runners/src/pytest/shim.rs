//! The Python side, embedded, and written into the scratch area where the interpreter finds it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

macro_rules! shim {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../shims/pytest/flakelab_shim/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = &shim![
    "__init__.py",
    "ahead.py",
    "bombs.py",
    "bytecode.py",
    "channel.py",
    "cold.py",
    "compiled.py",
    "described.py",
    "edits.py",
    "experiment.py",
    "factors.py",
    "forked.py",
    "hidden.py",
    "in_turn.py",
    "kernel.py",
    "layers/__init__.py",
    "layers/assertions.py",
    "layers/behaviour.py",
    "layers/codes.py",
    "layers/digest.py",
    "layers/failing.py",
    "layers/filtered.py",
    "layers/functions.py",
    "layers/identity.py",
    "layers/known.py",
    "layers/layers.py",
    "layers/margins.py",
    "layers/masks.py",
    "layers/monitoring.py",
    "layers/native.py",
    "layers/profiling.py",
    "layers/raises.py",
    "layers/rewriting.py",
    "layers/sites.py",
    "layers/trace.py",
    "layers/tracing.py",
    "layers/unittests.py",
    "leaks/__init__.py",
    "leaks/change.py",
    "leaks/containers.py",
    "leaks/contexts.py",
    "leaks/descriptors.py",
    "leaks/environ.py",
    "leaks/files.py",
    "leaks/fixtures.py",
    "leaks/graph.py",
    "leaks/layers.py",
    "leaks/logs.py",
    "leaks/loops.py",
    "leaks/objects.py",
    "leaks/origin.py",
    "leaks/owners.py",
    "leaks/plans.py",
    "leaks/process.py",
    "leaks/randomness.py",
    "leaks/reading.py",
    "leaks/render.py",
    "leaks/roots.py",
    "leaks/sameness.py",
    "leaks/shapes.py",
    "leaks/stateful.py",
    "leaks/streams.py",
    "leaks/switches.py",
    "leaks/system.py",
    "leaks/table.py",
    "leaks/threads.py",
    "leaks/tracer.py",
    "leaks/warned.py",
    "leaks/watch.py",
    "main.py",
    "mutation.py",
    "mute.py",
    "outcome.py",
    "plain.py",
    "plugin.py",
    "reach.py",
    "rivals.py",
    "sandbox.py",
    "sealed.py",
    "server.py",
    "sources.py",
    "state.py",
    "strays.py",
    "suite.py",
    "surroundings.py",
    "template.py",
    "walk.py",
    "whole.py",
    "young.py",
    "zygote.py",
];

/// Writes the shim below `scratch`; returns the directory that makes it importable.
pub(super) fn install(scratch: &Path) -> io::Result<PathBuf> {
    let root = scratch.join("shim");
    let package = root.join("flakelab_shim");
    for (name, text) in FILES {
        let path = package.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(root)
}

/// The program for `python -c`: import the shim without leaving its directory on `sys.path`, and with
/// the project's directory off it, because a `json.py` there must not become ours.
pub(super) fn program(root: &Path, request_fd: i32, event_fd: i32) -> String {
    // A JSON string is a Python string literal.
    let root = serde_json::Value::from(root.to_string_lossy().into_owned());
    format!(
        "import sys; sys.path[:] = [{root}] + [p for p in sys.path if p]; \
         from flakelab_shim.main import main; sys.path.pop(0); main({request_fd}, {event_fd})"
    )
}
