//! Reset at the victim: one line at the start of the test puts the state right, whoever changed it.

use flakelab_model::Class;
use flakelab_source::{Source, apply};

use super::names::{Part, localise, slot};
use crate::case::{Case, CausalLeak, Place, Tree};
use crate::patch::{Change, Patch, Site, Strategy};

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    if case.class != Class::Victim {
        return Vec::new();
    }
    // The set-up of its class may be what fails, so that the test itself is too late.
    let places = [None, Some("setUp"), Some("setup_method")];
    case.causes
        .iter()
        .flat_map(|cause| places.map(|method| (cause, method)))
        .filter_map(|(cause, method)| in_victim(case, cause, method, tree))
        .collect()
}

fn in_victim(
    case: &Case,
    cause: &[CausalLeak],
    method: Option<&str>,
    tree: &dyn Tree,
) -> Option<Patch> {
    let target = Place::of(&case.test)?;
    let before = tree.read(&target.file)?;
    let source = Source::parse(&before)?;
    let function = match method {
        None => source.function(&target.path())?,
        Some(name) => source.class(&target.class_path())?.method(name)?,
    };
    let mut lines = Vec::new();
    let mut modules: Vec<String> = Vec::new();
    for leak in cause {
        let (line, module) = reset(leak, &target.file, tree)?;
        let mut line = line;
        if let Some(module) = module {
            modules.extend(localise(&source, &target.file, &module, &mut line));
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut edits = vec![function.prepend(&lines)?];
    modules.sort();
    modules.dedup();
    let names: Vec<&str> = modules.iter().map(String::as_str).collect();
    edits.extend(source.add_imports(&names));
    let what: Vec<&str> = cause.iter().map(|leak| leak.name.as_str()).collect();
    Some(Patch {
        strategy: Strategy::Reset,
        site: Site::Victim,
        reason: format!(
            "{} is put right at the start, because other tests leave it changed",
            what.join(" and ")
        ),
        changes: vec![Change {
            path: target.file.clone(),
            after: apply(&before, &edits),
            before: Some(before),
        }],
    })
}

/// The line, and the module it needs. Only states that can be written down.
fn reset(leak: &CausalLeak, file: &str, tree: &dyn Tree) -> Option<(String, Option<String>)> {
    let absent = leak.before == "(not there)";
    match leak.kind.as_str() {
        "environ" if absent => {
            let key = leak.name.strip_prefix("os.environ[")?.strip_suffix(']')?;
            Some((format!("os.environ.pop({key}, None)"), Some("os".into())))
        }
        "cache" => {
            let slot = slot(&leak.name, file, tree, false)?;
            Some((format!("{}.cache_clear()", slot.expression()), slot.module))
        }
        "global" | "attribute" | "class_attribute" => {
            let slot = slot(&leak.name, file, tree, false)?;
            let whole = slot.expression();
            let line = match (&slot.last, leak.before.as_str()) {
                (_, "[]" | "{}") => format!("{whole}.clear()"),
                (Part::Key(key), _) if absent => {
                    let key = key.trim_start_matches('[').trim_end_matches(']');
                    format!("{}.pop({key}, None)", slot.owner)
                }
                // A name of the file itself would take a `global` statement.
                (Part::Name(_), value) if is_literal(value) && !slot.owner.is_empty() => {
                    format!("{whole} = {value}")
                }
                (Part::Key(_), value) if is_literal(value) => format!("{whole} = {value}"),
                _ => return None,
            };
            Some((line, slot.module))
        }
        _ => None,
    }
}

/// Whether the text of a value is the value: a number, a plain string, True, False or None.
fn is_literal(text: &str) -> bool {
    let string = text.len() >= 2
        && text.starts_with('"')
        && text.ends_with('"')
        && !text[1..text.len() - 1].contains(['"', '\\', '…']);
    matches!(text, "None" | "True" | "False") || text.parse::<f64>().is_ok() || string
}
