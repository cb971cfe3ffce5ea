//! The order in a verbose pytest log: `a.py::t PASSED [ 5%]`, or `[gw0] [ 5%] PASSED a.py::t`.

use std::collections::{BTreeMap, HashSet};

const WORDS: [&str; 6] = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"];

/// One list for each worker; a log without workers gives one. Prefixes that CI systems put before
/// each line (time stamps) are passed over.
pub(super) fn names(text: &str) -> Vec<Vec<String>> {
    let mut workers: BTreeMap<Option<u32>, (Vec<String>, HashSet<String>)> = BTreeMap::new();
    for line in text.lines() {
        if let Some((worker, name)) = distributed(line).or_else(|| plain(line)) {
            let (names, seen) = workers.entry(worker).or_default();
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    workers.into_values().map(|(names, _)| names).collect()
}

fn distributed(line: &str) -> Option<(Option<u32>, String)> {
    let (worker, rest) = line[line.find("[gw")? + 3..].split_once(']')?;
    let worker: u32 = worker.parse().ok()?;
    let (word, at) = WORDS
        .iter()
        .filter_map(|word| Some((word, rest.find(word)?)))
        .min_by_key(|(_, at)| *at)?;
    let name = rest[at + word.len()..].trim();
    name.contains("::").then(|| (Some(worker), name.to_owned()))
}

fn plain(line: &str) -> Option<(Option<u32>, String)> {
    let (end, _) = WORDS
        .iter()
        .filter_map(|word| line.find(&format!(" {word}")).map(|at| (at, word)))
        .min()?;
    let before = line[..end].trim_end();
    let separator = before.find("::")?;
    // The id starts after the last blank before its `::`; a path with blanks cannot be told apart.
    let start = before[..separator].rfind(' ').map_or(0, |at| at + 1);
    Some((None, before[start..].to_owned()))
}
