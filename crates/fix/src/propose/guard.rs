//! Whether the state that a brittle test lives on is missing, as a condition: what sets it up need not do so twice.

use flakelab_model::Class;
use flakelab_source::{Source, Tree};

use super::names::{environ_key, localise, logger, slot};
use crate::case::{Case, Leak};

/// The condition in the words of a file, and what has to be imported for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) condition: String,
    pub(super) import: Option<String>,
}

/// Of the first leak that can be asked for: a setter that leaves one of them has left all of them.
pub(super) fn guard(case: &Case, source: &Source, file: &str, tree: &dyn Tree) -> Option<Guard> {
    if case.class != Class::Brittle {
        return None;
    }
    let mut leaks = case.causes.iter().flatten();
    leaks.find_map(|leak| {
        let (mut condition, module) = missing(leak, file, tree)?;
        let import = module.and_then(|module| localise(source, file, &module, &mut condition));
        Some(Guard { condition, import })
    })
}

fn missing(leak: &Leak, file: &str, tree: &dyn Tree) -> Option<(String, Option<String>)> {
    let absent = leak.before == "(not there)";
    let empty = matches!(leak.before.as_str(), "[]" | "{}" | "set()" | "None");
    match leak.kind.as_str() {
        "environ" if absent => {
            let key = environ_key(&leak.name)?;
            Some((format!("{key} not in os.environ"), Some("os".into())))
        }
        "logging" if empty => {
            let (logger, field) = logger(&leak.name)?;
            let fits = matches!(field, "handlers" | "filters");
            fits.then(|| (format!("not {logger}.{field}"), Some("logging".into())))
        }
        "global" | "attribute" | "class_attribute" => {
            let slot = slot(leak, file, tree)?;
            let whole = slot.expression();
            let condition = if absent {
                slot.is_missing()?
            } else if leak.before == "None" {
                format!("{whole} is None")
            } else if empty {
                format!("not {whole}")
            } else {
                return None;
            };
            Some((condition, slot.module))
        }
        _ => None,
    }
}
