//! A call of the helper at the start of the test, or in a fixture that it is marked with, which comes before those it asks for.

use flakelab_model::Place;
use flakelab_source::{Function, Piece, Tree, apply, locate};

use super::elements::parameters;
use super::{Spot, guarded, own_class, prepare, purpose, set_up};
use crate::case::Case;
use crate::patch::{Change, Patch, Site, Strategy};
use crate::propose::block::{Lines, Scope, fixture, free_name, using};
use crate::propose::guard::Guard;

pub(super) fn propose(
    case: &Case,
    set: &[String],
    tree: &dyn Tree,
    suite: &[String],
    spot: Spot,
    guard: Option<&Guard>,
) -> Result<Patch, String> {
    let place = Place::of(&case.test).ok_or("it is no test in a file")?;
    let target = locate::test(&place, tree).ok_or("its code was not found in the project")?;
    let inherited = target.file != place.file;
    let target = if inherited {
        own_class(&place, tree)?
    } else {
        target
    };
    let function = match spot {
        Spot::Body => target.function(),
        Spot::Fixture => None,
    };
    let unittest = spot == Spot::Body && locate::is_unittest(&place, tree);
    let mut lines = Vec::new();
    let mut fixtures: Vec<String> = Vec::new();
    let mut modules: Vec<String> = Vec::new();
    for id in set {
        let helper = Place::of(id).ok_or_else(|| format!("`{id}` is no test in a file"))?;
        let located = locate::test(&helper, tree)
            .ok_or_else(|| format!("the code of `{id}` was not found in the project"))?;
        let code = located.function().ok_or("its helper was not found")?;
        if code.is_async() && !function.is_some_and(Function::is_async) {
            return Err("the helper is async, and the test is not".into());
        }
        let bindings = if helper.parametrised {
            parameters(id, &helper, code, suite)?
        } else {
            Vec::new()
        };
        let mut arguments = Vec::new();
        // Mocks come first, whatever else is given in its place.
        let said = |name: &str, value: &str| match code.mocked().is_empty() {
            true => value.to_owned(),
            false => format!("{name}={value}"),
        };
        let is_case = locate::is_unittest(&helper, tree);
        for name in code.arguments().into_iter().filter(|_| !is_case) {
            match bindings.iter().find(|(bound, _)| *bound == name) {
                Some((_, value)) => arguments.push(said(&name, value)),
                None => {
                    if helper.file != place.file && located.source.defines(&name) {
                        let module = locate::module_name(&helper.file, tree)
                            .ok_or_else(|| format!("`{}` cannot be imported", helper.file))?;
                        modules.push(format!("from {module} import {name}"));
                    }
                    arguments.push(said(&name, &name));
                    fixtures.push(name);
                }
            }
        }
        let arguments = arguments.join(", ");
        // Through its module: a test imported by name would be collected again.
        let prefix = if helper.file == place.file {
            String::new()
        } else {
            let module = locate::module_name(&helper.file, tree)
                .ok_or_else(|| format!("`{}` cannot be imported", helper.file))?;
            let prefix = format!("{module}.");
            modules.push(module);
            prefix
        };
        let wait = if code.is_async() { "await " } else { "" };
        let (name, class) = (&helper.function, helper.classes.join("."));
        lines.push(if helper.classes.is_empty() {
            format!("{wait}{prefix}{name}({arguments})")
        } else if spot == Spot::Body && helper.classes == place.classes && helper.file == place.file
        {
            format!("{wait}self.{name}({arguments})")
        } else if is_case {
            format!("{prefix}{class}(\"{name}\").debug()")
        } else {
            format!("{wait}{prefix}{class}().{name}({arguments})")
        });
    }
    if unittest && !fixtures.is_empty() {
        return Err(format!(
            "the helper takes the fixture `{}`, which a unittest method cannot",
            fixtures[0]
        ));
    }
    let source = &target.source;
    let lines = guarded(lines, guard, source.indent());
    modules.extend(guard.and_then(|guard| guard.import.clone()));
    let mut edits = Vec::new();
    if spot == Spot::Fixture {
        modules.push("pytest".into());
        fixtures.sort();
        fixtures.dedup();
        let lines = Lines {
            parameters: fixtures,
            before: lines,
            ..Lines::default()
        };
        let name = free_name(source, &prepare(&place), &target.file, tree);
        let block = fixture(&name, &lines, source.indent(), Scope::Marked);
        let needed: Vec<&str> = modules.iter().map(String::as_str).collect();
        edits.push(source.add_block(&needed, &block));
        edits.push(using(&target, &name).ok_or("its code was not found in the project")?);
    } else {
        match function {
            Some(function) => {
                let edit = function.prepend(&lines);
                edits.push(edit.ok_or("its body stands on the line of its `def`")?);
                edits.extend(function.add_parameters(&fixtures));
            }
            None => {
                let pieces: Vec<Piece> = lines.iter().map(|line| Piece::line(line)).collect();
                edits.push(set_up(&target, &place, tree, &pieces, &fixtures)?);
            }
        }
        let needed: Vec<&str> = modules.iter().map(String::as_str).collect();
        edits.extend(source.add_imports(&needed));
    }
    let before = target.source.text().to_owned();
    Ok(Patch {
        strategy: Strategy::Helper,
        site: Site::Victim,
        reason: format!(
            "{} runs first{}, which {}",
            set.join(" and "),
            if guard.is_some() {
                " unless it has run"
            } else {
                ""
            },
            purpose(case.class)
        ),
        changes: vec![Change {
            path: target.file.clone(),
            after: apply(&before, &edits).ok_or("its parts do not go together")?,
            before: Some(before),
        }],
    })
}
