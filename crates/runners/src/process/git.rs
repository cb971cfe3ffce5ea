//! What git says of the user's tree. No git, no opinion.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether git knows the file and has changes of it that are not committed.
pub fn has_uncommitted_changes(dir: &Path, path: &str) -> bool {
    let said = Command::new("git")
        .args(["status", "--porcelain", "--untracked-files=no", "--", path])
        .current_dir(dir)
        .stdin(Stdio::null())
        .output();
    said.is_ok_and(|said| said.status.success() && !said.stdout.is_empty())
}
