//! Put the state right at the test itself, whoever changed it or failed to set it: lines at its start or in its
//! set-up, or a fixture where several tests of the file need it.

use flakelab_model::{Class, Place};
use flakelab_source::{Source, Tree, apply, locate};

use super::names::{Part, localise, slot};
use crate::case::{Case, CausalLeak};
use crate::patch::{Change, Patch, Site, Strategy};

/// Where the lines go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Test,
    /// The set-up of its class may be what fails, so that the test itself is too late.
    Method(&'static str),
    Fixture,
}

pub(super) fn propose(case: &Case, tree: &dyn Tree, shared: bool) -> Vec<Patch> {
    let mut spots = vec![
        Spot::Test,
        Spot::Method("setUp"),
        Spot::Method("setup_method"),
    ];
    if shared {
        spots.insert(0, Spot::Fixture);
    } else {
        spots.push(Spot::Fixture);
    }
    case.causes
        .iter()
        .flat_map(|cause| spots.iter().map(move |spot| (cause, *spot)))
        .filter_map(|(cause, spot)| at_victim(case, cause, spot, tree))
        .collect()
}

fn at_victim(case: &Case, cause: &[CausalLeak], spot: Spot, tree: &dyn Tree) -> Option<Patch> {
    let place = Place::of(&case.test)?;
    let located = match spot {
        Spot::Method(name) => locate::method(&place, name, tree)?,
        Spot::Test | Spot::Fixture => locate::test(&place, tree)?,
    };
    let (file, source) = (&located.file, &located.source);
    let mut lines = Vec::new();
    let mut needed: Vec<String> = Vec::new();
    for leak in cause {
        let value = match case.class {
            Class::Brittle => &leak.after,
            _ => &leak.before,
        };
        let (mut line, module) = reset(leak, value, file, tree)?;
        if let Some(module) = module {
            needed.extend(localise(source, file, &module, &mut line));
        }
        if !lines.contains(&line) {
            lines.push(line);
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
    if !monkeypatch.is_empty() && (spot != Spot::Test || locate::is_unittest(&place, tree)) {
        return None;
    }
    let edits = if spot == Spot::Fixture {
        needed.push("pytest".into());
        let indent = source.indent();
        let mut block = format!(
            "@pytest.fixture(autouse=True)\ndef {}():\n",
            fixture_name(source, case.class)
        );
        for line in &lines {
            block.push_str(&format!("{indent}{line}\n"));
        }
        let names: Vec<&str> = needed.iter().map(String::as_str).collect();
        source.add_block(&names, &block)
    } else {
        let function = located.function()?;
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
            after: apply(&before, &edits),
            before: Some(before),
        }],
    })
}

fn fixture_name(source: &Source, class: Class) -> String {
    let base = match class {
        Class::Brittle => "set_up_state",
        _ => "reset_state",
    };
    let mut name = base.to_owned();
    let mut number = 2;
    while source.function(&[&name]).is_some() {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// The line that makes the slot of a leak hold a value, and the module it needs. Only values that can be
/// written down.
fn reset(
    leak: &CausalLeak,
    value: &str,
    file: &str,
    tree: &dyn Tree,
) -> Option<(String, Option<String>)> {
    let absent = value == "(not there)";
    match leak.kind.as_str() {
        "environ" => {
            let key = leak.name.strip_prefix("os.environ[")?.strip_suffix(']')?;
            let line = if absent {
                format!("monkeypatch.delenv({key}, raising=False)")
            } else if is_literal(value) {
                format!("monkeypatch.setenv({key}, {value})")
            } else {
                return None;
            };
            Some((line, None))
        }
        "cache" => {
            let slot = slot(&leak.name, file, tree, false)?;
            Some((format!("{}.cache_clear()", slot.expression()), slot.module))
        }
        "global" | "attribute" | "class_attribute" => {
            let slot = slot(&leak.name, file, tree, false)?;
            let whole = slot.expression();
            let line = match (&slot.last, value) {
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
                (_, value) if is_plain(value) && value.starts_with('[') => {
                    format!("{whole}[:] = {value}")
                }
                (_, value) if is_plain(value) && value.contains(": ") => {
                    format!("{whole}.update({value})")
                }
                _ => return None,
            };
            Some((line, slot.module))
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
