//! What git says of the user's tree. No git, no opinion.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What git calls itself, if there is one.
pub fn version(dir: &Path) -> Option<String> {
    let said = ask(dir, &["version"])?;
    Some(String::from_utf8_lossy(&said).trim().to_owned())
}

/// Whether git knows the file and has changes of it that are not committed.
pub fn has_uncommitted_changes(dir: &Path, path: &str) -> bool {
    let said = ask(
        dir,
        &["status", "--porcelain", "--untracked-files=no", "--", path],
    );
    said.is_some_and(|said| !said.is_empty())
}

/// What was edited since a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// Files that have another name now.
    pub renamed: BTreeMap<String, String>,
    /// For each changed file, as it is called now, the lines that are new or next to what was removed: (first, last).
    pub lines: BTreeMap<String, Vec<(usize, usize)>>,
    /// Files from which lines were removed that had no indentation, with nothing in their place.
    pub outdented: BTreeSet<String>,
}

/// `None` without git, or if it knows no such commit. Paths are relative to `dir`.
pub fn edits_since(dir: &Path, commit: &str) -> Option<Edits> {
    let plain = commit
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._/~^-@{}".contains(c));
    if !plain || commit.starts_with('-') {
        return None;
    }
    let said = ask(
        dir,
        &[
            "diff",
            "--relative",
            "--no-color",
            "--no-ext-diff",
            // Whatever the user's configuration says.
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "-M",
            "-U0",
            commit,
            "--",
        ],
    )?;
    Some(parse(&String::from_utf8_lossy(&said)))
}

/// Files that git does not know and does not ignore, relative to `dir`. `None` without git.
pub fn untracked(dir: &Path) -> Option<Vec<String>> {
    let said = ask(dir, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    let names = said
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Some(
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    )
}

/// The files of a commit, as a tar archive.
pub fn archive(dir: &Path, commit: &str) -> Option<Vec<u8>> {
    if commit.starts_with('-') {
        return None;
    }
    ask(dir, &["archive", "--format=tar", commit, "."])
}

/// Writes the files of an archive below a folder.
pub fn unpack(archive: &[u8], folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut child = Command::new("tar")
        .args(["-x", "-f", "-"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(archive)?;
    }
    if child.wait()?.success() {
        Ok(())
    } else {
        Err(std::io::Error::other("tar failed"))
    }
}

fn ask(dir: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let said = Command::new("git")
        .args(["-c", "core.quotePath=false"])
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    said.status.success().then_some(said.stdout)
}

fn parse(diff: &str) -> Edits {
    let mut edits = Edits::default();
    let (mut before, mut now) = (String::new(), String::new());
    // What is in a hunk may look like a header.
    let (mut in_header, mut removes) = (false, false);
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("rename from ") {
            before = name.to_owned();
        } else if let Some(name) = line.strip_prefix("rename to ") {
            edits.renamed.insert(before.clone(), name.to_owned());
        } else if line.starts_with("diff --git ") {
            (in_header, removes) = (true, false);
        } else if let (true, Some(name)) = (in_header, named(line)) {
            now = name.to_owned();
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some(range) = hunk.split(' ').find_map(|part| part.strip_prefix('+'))
        {
            let (first, count) = range.split_once(',').unwrap_or((range, "1"));
            let first: usize = first.parse().unwrap_or(0);
            let count: usize = count.parse().unwrap_or(1);
            (in_header, removes) = (false, count == 0);
            // Where nothing is new, `first` is the line before what was removed.
            let last = if removes {
                first.saturating_add(1)
            } else {
                first.saturating_add(count) - 1
            };
            edits
                .lines
                .entry(now.clone())
                .or_default()
                .push((first, last));
        } else if let Some(gone) = line.strip_prefix('-')
            && removes
            && gone.starts_with(|c: char| !c.is_whitespace() && c != '#')
        {
            edits.outdented.insert(now.clone());
        }
    }
    edits
}

/// The file of a header, as it is called now; as it was called, if it is gone.
fn named(line: &str) -> Option<&str> {
    let name = line
        .strip_prefix("--- a/")
        .or_else(|| line.strip_prefix("+++ b/"));
    name.map(|name| name.trim_end_matches('\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_tells_renames_and_lines() {
        let edits = parse(
            "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n\
             --- a/old.py\n+++ b/new.py\n@@ -3 +3,2 @@ def f():\n-x\n+y\n+z\n@@ -9,2 +10,0 @@\n-a\n-b\n",
        );
        assert_eq!(edits.renamed["old.py"], "new.py");
        assert_eq!(edits.lines["new.py"], [(3, 4), (10, 11)]);
        assert!(edits.outdented.contains("new.py"));
    }

    #[test]
    fn what_is_removed_from_within_or_replaced_is_not_outdented() {
        let edits = parse(
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +0,0 @@\n-# told\n-\n@@ -9 +7,0 @@ def f():\n-    x\n\
             @@ -20 +18 @@\n-y\n+z\ndiff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -5,0 +6 @@\n+new\n+++ b/odd\n\
             diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-    x\n",
        );
        assert_eq!(edits.lines["a.py"], [(0, 1), (7, 8), (18, 18)]);
        assert_eq!(edits.lines["b.py"], [(6, 6)]);
        assert_eq!(edits.lines["gone.py"], [(0, 1)]);
        assert_eq!(edits.lines.len(), 3);
        assert!(edits.outdented.is_empty());
    }

    #[test]
    fn without_a_repository_there_is_no_opinion() {
        let dir = tempfile::tempdir().expect("tempdir");
        assert_eq!(edits_since(dir.path(), "HEAD"), None);
        assert_eq!(edits_since(dir.path(), "--output=x"), None);
    }
}
