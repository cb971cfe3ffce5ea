//! Put the state right at the test itself, whoever changed it or failed to set it: lines at its start or in its
//! set-up, or a fixture where several tests of the file need it.

use std::collections::BTreeSet;

use flakelab_model::{Class, Place};
use flakelab_source::{Tree, apply, locate};

use super::block::{Lines, Scope, fixture, free_name, indented, using};
use super::names::{Part, environ_key, localise, logger, parts, slot};
use super::restore::sets_up_class;
use crate::case::{Case, Leak};
use crate::patch::{Change, Patch, Site, Strategy};

/// Where the lines go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Test,
    /// The set-up of its class may be what fails, so that the test itself is too late.
    Method(&'static str),
    Fixture(Scope),
}

pub(super) fn propose(case: &Case, tree: &dyn Tree, shared: bool) -> Vec<Patch> {
    let mut spots = vec![
        Spot::Test,
        Spot::Method("setUp"),
        Spot::Method("setup_method"),
    ];
    if shared {
        spots.insert(0, Spot::Fixture(Scope::Test));
    } else {
        spots.push(Spot::Fixture(Scope::Marked));
    }
    // What it sets up for all its tests may be what meets the state.
    if Place::of(&case.test).is_some_and(|place| sets_up_class(&place, tree)) {
        spots.push(Spot::Fixture(Scope::Class));
    }
    let mut causes = case.causes.clone();
    let setters: BTreeSet<&Vec<String>> = case
        .causes
        .iter()
        .flatten()
        .map(|leak| &leak.left_by)
        .collect();
    for (at, setter) in setters.into_iter().enumerate() {
        let all = case
            .causes
            .iter()
            .flatten()
            .filter(|leak| leak.left_by == *setter);
        let all: Vec<Leak> = all.cloned().collect();
        let wider = with_siblings(&all, case);
        if case.class == Class::Brittle && !causes.contains(&all) {
            causes.insert(at, all);
        }
        if !causes.contains(&wider) {
            causes.push(wider);
        }
    }
    causes
        .iter()
        .flat_map(|cause| spots.iter().map(move |spot| (cause, *spot)))
        .filter_map(|(cause, spot)| at_victim(case, cause, spot, tree))
        .collect()
}

/// All that is known to matter of what one setter leaves, and what else it changes in the same objects. Whatever is taken
/// from a brittle makes it fail, so it needs all of it; with some of that missing it may fail in another way, which proves
/// nothing.
fn with_siblings(known: &[Leak], case: &Case) -> Vec<Leak> {
    let mut all = known.to_vec();
    let owner = |leak: &Leak| {
        let mut parts = parts(&leak.name)?;
        parts.pop();
        Some((leak.kind.clone(), leak.left_by.clone(), parts))
    };
    let owners: Vec<_> = all.iter().map(owner).filter(Option::is_some).collect();
    let beside = case
        .idle
        .iter()
        .filter(|leak| owners.contains(&owner(leak)));
    all.extend(beside.cloned());
    all
}

fn at_victim(case: &Case, cause: &[Leak], spot: Spot, tree: &dyn Tree) -> Option<Patch> {
    let place = Place::of(&case.test)?;
    let located = match spot {
        Spot::Method(name) => locate::method(&place, name, tree)?,
        Spot::Test | Spot::Fixture(_) => locate::test(&place, tree)?,
    };
    let (file, source) = (&located.file, &located.source);
    let mut lines = Vec::new();
    let mut needed: Vec<String> = Vec::new();
    for leak in cause {
        let value = match case.class {
            Class::Brittle => &leak.after,
            _ => &leak.before,
        };
        let (own, module) = reset(leak, value, file, tree)?;
        let mut own = own.join("\n");
        if let Some(module) = module {
            needed.extend(localise(source, file, &module, &mut own));
        }
        let own: Vec<String> = own.lines().map(str::to_owned).collect();
        if !lines.windows(own.len().max(1)).any(|known| known == own) {
            lines.extend(own);
        }
    }
    needed.sort();
    needed.dedup();
    let monkeypatch: Vec<String> = lines
        .iter()
        .filter(|line| line.starts_with("monkeypatch."))
        .take(1)
        .map(|_| "monkeypatch".to_owned())
        .collect();
    let takes_fixtures = match spot {
        Spot::Test => !locate::is_unittest(&place, tree),
        Spot::Method(_) => false,
        Spot::Fixture(_) => true,
    };
    if !monkeypatch.is_empty() && !takes_fixtures {
        return None;
    }
    let edits = if let Spot::Fixture(scope) = spot {
        needed.push("pytest".into());
        let stem = match case.class {
            Class::Brittle => "set_up_state",
            _ => "reset_state",
        };
        let lines = Lines {
            parameters: monkeypatch,
            before: lines,
            ..Lines::default()
        };
        let name = free_name(source, stem, file, tree);
        let block = fixture(&name, &lines, source.indent(), scope);
        let names: Vec<&str> = needed.iter().map(String::as_str).collect();
        let mut edits = vec![source.add_block(&names, &block)];
        if scope == Scope::Marked {
            edits.push(using(&located, &name)?);
        }
        edits
    } else {
        let function = located.function()?;
        let indent = source.indent();
        let lines: Vec<String> = lines.iter().map(|line| indented(line, indent)).collect();
        let mut edits = vec![function.prepend(&lines)?];
        edits.extend(function.add_parameters(&monkeypatch));
        let names: Vec<&str> = needed.iter().map(String::as_str).collect();
        edits.extend(source.add_imports(&names));
        edits
    };
    let what: Vec<&str> = cause.iter().map(|leak| leak.name.as_str()).collect();
    let why = match case.class {
        Class::Brittle => "is set up first, because only other tests do so",
        _ => "is put right first, because other tests leave it changed",
    };
    let before = source.text().to_owned();
    Some(Patch {
        strategy: Strategy::Reset,
        site: Site::Victim,
        reason: format!("{} {why}", what.join(" and ")),
        changes: vec![Change {
            path: file.clone(),
            after: apply(&before, &edits)?,
            before: Some(before),
        }],
    })
}

/// The lines that make the slot of a leak hold a value, and the module it needs. Only values that can be
/// written down.
fn reset(
    leak: &Leak,
    value: &str,
    file: &str,
    tree: &dyn Tree,
) -> Option<(Vec<String>, Option<String>)> {
    let one = |line: String, module: Option<String>| Some((vec![line], module));
    let absent = value == "(not there)";
    match leak.kind.as_str() {
        "environ" => {
            let key = environ_key(&leak.name)?;
            let line = if absent {
                format!("monkeypatch.delenv({key}, raising=False)")
            } else if is_literal(value) {
                format!("monkeypatch.setenv({key}, {value})")
            } else {
                return None;
            };
            one(line, None)
        }
        "logging" => {
            let (logger, field) = logger(&leak.name)?;
            let line = match field {
                // The root logger has those of pytest itself.
                "handlers" if logger.ends_with("()") => return None,
                "handlers" if value == "[]" => {
                    format!("monkeypatch.setattr({logger}, \"handlers\", [])")
                }
                // What it handles nobody can say; that there is one is mostly what matters.
                "handlers" if leak.before == "[]" => {
                    format!("monkeypatch.setattr({logger}, \"handlers\", [logging.NullHandler()])")
                }
                "disabled" | "propagate" if is_literal(value) => {
                    format!("monkeypatch.setattr({logger}, \"{field}\", {value})")
                }
                _ => return None,
            };
            one(line, Some("logging".into()))
        }
        "cache" => {
            let slot = slot(leak, file, tree)?;
            one(format!("{}.cache_clear()", slot.expression()), slot.module)
        }
        "global" | "attribute" | "class_attribute" => {
            let slot = slot(leak, file, tree)?;
            let whole = slot.expression();
            let line = match (&slot.last, value) {
                (_, "[]" | "{}") => format!("{whole}.clear()"),
                _ if absent => return Some((slot.emptied()?, slot.module)),
                // A name of the file itself would take a `global` statement.
                (Part::Name(_), value) if is_literal(value) && !slot.owner.is_empty() => {
                    format!("{whole} = {value}")
                }
                (Part::Key(_), value) if is_literal(value) => format!("{whole} = {value}"),
                (_, value) if is_plain(value) && value.starts_with('[') => {
                    format!("{whole}[:] = {value}")
                }
                (_, value) if is_plain(value) && value.contains(": ") => {
                    format!("{whole}.update({value})")
                }
                _ => return None,
            };
            one(line, slot.module)
        }
        _ => None,
    }
}

/// Whether the text of a list or dictionary is the value: made of plain values only.
fn is_plain(text: &str) -> bool {
    let closed = (text.starts_with('[') && text.ends_with(']'))
        || (text.starts_with('{') && text.ends_with('}'));
    closed && !text.contains(['<', '…', '\\', '(']) && !text.contains("\"/")
}

/// Whether the text of a value is the value: a number, a plain string, True, False or None. A place on this
/// machine is not one that can be written down.
fn is_literal(text: &str) -> bool {
    let string = text.len() >= 2
        && text.starts_with('"')
        && text.ends_with('"')
        && !text.starts_with("\"/")
        && !text[1..text.len() - 1].contains(['"', '\\', '…']);
    matches!(text, "None" | "True" | "False") || text.parse::<f64>().is_ok() || string
}
