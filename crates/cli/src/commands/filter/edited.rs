//! What was edited since the last version that was learned, as far as a test is concerned.

use flakelab_model::Place;
use flakelab_runners::process::git::Edits;

use super::assertions::Sources;

/// `test`, `data`, `code`, `imports` or `nothing`: what a failure is most likely about, first.
pub(super) fn concerning(
    test: &str,
    functions: &[String],
    edits: &Edits,
    sources: &mut Sources,
) -> &'static str {
    let place = Place::of(test);
    if let Some(place) = &place {
        if touches(&place.file, &place.path(), edits, sources)
            || touches_imports(&place.file, edits, sources)
        {
            return "test";
        }
        let folder = place.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let beside = |file: &String| {
            !file.ends_with(".py") && (folder.is_empty() || file.starts_with(&format!("{folder}/")))
        };
        if edits.lines.keys().any(beside) {
            return "data";
        }
    }
    let ran = |function: &String| {
        let Some((file, name)) = function.rsplit_once(':') else {
            return false;
        };
        // Before Python 3.11 functions are named with their first line.
        let name = name.split('@').next().unwrap_or(name);
        let path: Vec<&str> = name.split('.').filter(|part| *part != "<locals>").collect();
        touches(file, &path, edits, sources) || touches_imports(file, edits, sources)
    };
    if functions.iter().any(ran) {
        return "code";
    }
    // Whether the test uses it nobody knows: no function of it ran.
    let imported = |file: &&String| file.ends_with(".py") && !is_of_tests(file);
    let mut others = edits.lines.keys().filter(imported);
    if others.any(|file| touches_imports(file, edits, sources)) {
        "imports"
    } else {
        "nothing"
    }
}

/// By its name: what other tests do when they are imported is not what this one uses.
fn is_of_tests(file: &str) -> bool {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    name.starts_with("test_") || name.ends_with("_test.py")
}

/// Whether lines were edited that run when the file is imported: constants, class bodies.
fn touches_imports(file: &str, edits: &Edits, sources: &mut Sources) -> bool {
    let Some(lines) = edits.lines.get(file) else {
        return false;
    };
    let source = sources.file(file);
    edits.outdented.contains(file)
        || source.is_some_and(|source| lines.iter().any(|(a, b)| source.runs_at_import(*a, *b)))
}

/// Whether lines of a function were edited; of a function that is not found, of its file.
fn touches(file: &str, path: &[&str], edits: &Edits, sources: &mut Sources) -> bool {
    let Some(lines) = edits.lines.get(file) else {
        return false;
    };
    let span = sources
        .file(file)
        .and_then(|source| Some(source.function(path)?.lines()));
    span.is_none_or(|(first, last)| lines.iter().any(|(a, b)| *a <= last && *b >= first))
}
