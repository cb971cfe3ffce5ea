//! Every mutant of real files compiles, differs, and keeps its lines; so does the file with its points.
//!
//! The files are those of the standard library of the interpreter on the path.

#[path = "mutants/mod.rs"]
mod support;

use std::fs;

use flakelab_source::Source;
use support::{described, library, matching, run};

const FILES: [&str; 21] = [
    "asyncio/locks.py",
    "asyncio/queues.py",
    "asyncio/taskgroups.py",
    "bisect.py",
    "colorsys.py",
    "concurrent/futures/_base.py",
    "contextlib.py",
    "copy.py",
    "dataclasses.py",
    "email/quoprimime.py",
    "email/utils.py",
    "fnmatch.py",
    "genericpath.py",
    "graphlib.py",
    "heapq.py",
    "json/*.py",
    "linecache.py",
    "operator.py",
    "shlex.py",
    "string.py",
    "textwrap.py",
];

#[test]
#[expect(clippy::print_stdout, reason = "how many there were, for runs by hand")]
fn every_mutant_of_the_standard_library_compiles_and_keeps_its_lines() {
    let library = library();
    // By hand, more: MUTANTS_OF='*.py email/*.py'.
    let named = std::env::var("MUTANTS_OF").ok();
    let patterns: Vec<&str> = match &named {
        Some(named) => named.split_whitespace().collect(),
        None => FILES.to_vec(),
    };
    let mut files = 0;
    let paths = patterns.iter().flat_map(|p| matching(&library, p));
    let lines = paths.filter_map(|path| {
        let text = fs::read_to_string(&path).ok()?;
        let source = Source::parse(&text)?;
        files += 1;
        Some(described(&path, &text, &source))
    });
    let (content, said) = run("check.py", lines);
    println!("{said}");
    assert!(content, "see above");
    assert!(named.is_some() || files >= 20, "only {files} files");
}
