//! The files that were mutated, as far as they are still what they were.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use flakelab_report::mutate::{Document, Mutant};
use flakelab_source::Tree as _;

use crate::workbench::Project;

/// A larger one would not be shown whole.
const MOST_BYTES: u64 = 2_000_000;

/// By the names that mutants give them; a file that was edited since is left out.
pub(super) fn unchanged(project: &Path, document: Option<&Document>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Some(document) = document else {
        return found;
    };
    let names: BTreeSet<&str> = document.mutants.iter().map(|m| m.file.as_str()).collect();
    for name in names {
        let Some(text) = read(project, name) else {
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        let mut own = document.mutants.iter().filter(|m| m.file == name);
        if own.all(|mutant| fits(&lines, mutant)) {
            found.insert(name.to_owned(), text);
        }
    }
    found
}

/// A text file of the project, as it was read when it was changed.
fn read(project: &Path, name: &str) -> Option<String> {
    let small = fs::metadata(project.join(name))
        .is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES);
    let text = small.then(|| Project(project.to_owned()).read(name))??;
    Some(text.trim_start_matches('\u{feff}').to_owned())
}

/// Whether the lines that the diff takes away are where it says.
fn fits(lines: &[&str], mutant: &Mutant) -> bool {
    let mut at = None;
    for line in mutant.diff.lines() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let number = header
                .split([',', ' '])
                .next()
                .and_then(|n| n.parse::<usize>().ok());
            at = number.map(|number| number.saturating_sub(1));
        } else if let Some(place) = at.as_mut() {
            let (kind, text) = line.split_at_checked(1).unwrap_or(("", ""));
            if kind == "-" || kind == " " {
                let same = lines
                    .get(*place)
                    .is_some_and(|own| own.trim_end() == text.trim_end());
                if !same {
                    return false;
                }
                *place += 1;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_the_project_are_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let project = dir.path().join("project");
        fs::create_dir(&project).expect("a directory");
        fs::write(dir.path().join("secret.py"), "x").expect("written");
        fs::write(project.join("own.py"), "x").expect("written");
        assert_eq!(read(&project, "own.py").as_deref(), Some("x"));
        assert_eq!(read(&project, "../secret.py"), None);
        let absolute = dir.path().join("secret.py");
        assert_eq!(read(&project, &absolute.to_string_lossy()), None);
        assert_eq!(read(&project, "gone.py"), None);
    }

    #[test]
    fn a_file_that_was_edited_is_left_out() {
        let diff = "--- a/shop.py\n+++ b/shop.py\n@@ -1,3 +1,3 @@\n def price(net):\n-    return net + 1\n+    return net - 1\n \n";
        let mutant: Mutant = serde_json::from_value(serde_json::json!({
            "id": "a", "file": "shop.py", "line": 2, "column": 12, "scope": "price", "operator": "o", "says": "s",
            "status": "survived", "killed_by": [], "diff": diff, "tests": 1, "reused": false, "confirmed": false,
        }))
        .expect("a mutant");
        let fits = |text: &str| fits(&text.lines().collect::<Vec<_>>(), &mutant);
        assert!(fits("def price(net):\n    return net + 1\n\n"));
        assert!(!fits("def price(net):\n    return net + 2\n\n"));
        assert!(!fits("\ndef price(net):\n    return net + 1\n"));
        assert!(!fits(""));
    }
}
