//! A victim and its polluter, to stand beside whatever trap a suite has.

use super::{Project, Run};

/// Few runs, where a trap shows in any.
pub(crate) const FEW: [&str; 4] = ["--orders", "8", "--isolated-runs", "3"];

/// As few as there can be, where each run of a test costs hundreds of processes or megabytes.
pub(crate) const FEWEST: [&str; 6] = [
    "--orders",
    "2",
    "--isolated-runs",
    "1",
    "--confirmations",
    "1",
];

pub(crate) const ORDER: &str = "
state = []

def test_b():
    assert state == []

def test_z():
    state.append(1)
";
pub(crate) const VICTIM: &str = "test_order.py::test_b";

pub(crate) fn beside_a_victim(files: &[(&str, &str)]) -> Project {
    let mut all = files.to_vec();
    all.push(("test_order.py", ORDER));
    Project::new(&all)
}

pub(crate) fn notes(run: &Run) -> String {
    run.document["campaign"]["notes"].to_string()
}

/// The polluted test cleans up when it fails, so that a second try passes.
pub(crate) const SAVED_BY_A_RETRY: &str = "
state = []

def test_b():
    polluted = list(state)
    state.clear()
    assert polluted == []

def test_z():
    state.append(1)
";
