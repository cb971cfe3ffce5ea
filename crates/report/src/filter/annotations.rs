//! Failures as GitHub Actions shows them beside the code.

use super::Document;
use crate::detect::CollectionError;
use crate::github::{data, property};
use crate::uncollected::Wrong;

/// GitHub shows ten of a kind in a step.
const MOST: usize = 10;

/// One workflow command a line: errors for what fails the gate, warnings for what was filtered.
pub fn annotations(document: &Document) -> Vec<String> {
    let failures = || {
        document
            .tests
            .iter()
            .flat_map(|t| t.failures.iter().map(move |f| (t, f)))
    };
    let line = |level: &str, test: &super::Test, failure: &super::Failure| {
        let (file, line) = failure.at.rsplit_once(':').unwrap_or((&failure.at, "1"));
        let first = failure.message.lines().next().unwrap_or_default();
        format!(
            "::{level} file={},line={},title={}::{}",
            property(file),
            property(line),
            property(&format!("{}: {}", failure.kind, test.id)),
            data(&format!("{first} ({})", failure.evidence))
        )
    };
    let errors = failures()
        .filter(|(_, f)| !f.filtered)
        .take(MOST)
        .map(|(t, f)| line("error", t, f));
    let warnings = failures()
        .filter(|(_, f)| f.filtered)
        .take(MOST)
        .map(|(t, f)| line("warning", t, f));
    let wrong = |wrong: Wrong, files: &[CollectionError]| -> Vec<String> {
        let line = |file: &CollectionError| {
            format!(
                "::error file={},title={}::{}",
                property(&file.id),
                wrong.words(),
                data(file.message.lines().next().unwrap_or_default())
            )
        };
        files.iter().take(MOST).map(line).collect()
    };
    let uncollected = wrong(Wrong::DoesNotCollect, &document.collection_errors);
    let unread = wrong(Wrong::Unread, &document.unread);
    let wrong = uncollected.into_iter().chain(unread);
    wrong.chain(errors).chain(warnings).collect()
}
