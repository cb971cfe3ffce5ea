//! The code of a helper first: the cleaner of a victim or the state-setter of a brittle is called at the start of
//! the test.

use flakelab_model::Class;
use flakelab_source::{Source, apply};

use crate::case::{Case, Place, Tree};
use crate::patch::{Change, Patch, Site, Strategy};

/// Helpers tried for one test.
const MOST: usize = 4;

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    let helpers = match case.class {
        Class::Brittle => &case.culprits,
        _ => &case.cleaners,
    };
    helpers
        .iter()
        .take(MOST)
        .filter_map(|set| call(case, set, tree))
        .collect()
}

fn call(case: &Case, set: &[String], tree: &dyn Tree) -> Option<Patch> {
    let target = Place::of(&case.test)?;
    let before = tree.read(&target.file)?;
    let source = Source::parse(&before)?;
    let function = source.function(&target.path())?;
    let mut lines = Vec::new();
    let mut parameters: Vec<String> = Vec::new();
    for id in set {
        let helper = Place::of(id)?;
        // A helper of another module, or with parameters of its own, would have to be copied.
        if helper.file != target.file || helper.parametrised {
            return None;
        }
        let code = source.function(&helper.path())?;
        if code.is_async() && !function.is_async() {
            return None;
        }
        let needs: Vec<String> = code
            .parameters()
            .into_iter()
            .filter(|name| name != "self")
            .collect();
        let arguments = needs.join(", ");
        let class = source.class(&helper.class_path());
        let unittest = class.is_some_and(|class| class.is_unittest());
        let wait = if code.is_async() { "await " } else { "" };
        let name = &helper.function;
        lines.push(if helper.classes.is_empty() {
            format!("{wait}{name}({arguments})")
        } else if helper.classes == target.classes {
            format!("{wait}self.{name}({arguments})")
        } else if unittest {
            format!("{}(\"{name}\").debug()", helper.classes.join("."))
        } else {
            format!("{wait}{}().{name}({arguments})", helper.classes.join("."))
        });
        parameters.extend(needs);
    }
    let mut edits = vec![function.prepend(&lines)?];
    edits.extend(function.add_parameters(&parameters));
    let what = if case.class == Class::Brittle {
        "sets up the state it needs"
    } else {
        "cleans up the state it fails on"
    };
    Some(Patch {
        strategy: Strategy::Helper,
        site: Site::Victim,
        reason: format!("{} runs first, which {what}", set.join(" and ")),
        changes: vec![Change {
            path: target.file.clone(),
            after: apply(&before, &edits),
            before: Some(before),
        }],
    })
}
