//! What a module or class of tests makes once, when it is imported, is made anew for every test.

use flakelab_model::Place;
use flakelab_source::{Edit, Piece, Source, Tree, apply};

use super::block::free_name;
use super::names::{parts, slot, words};
use super::set_up::SetUp;
use crate::case::{Case, Leak};
use crate::patch::{Change, Patch, Site, Strategy};

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    let Some(place) = Place::of(&case.test) else {
        return Vec::new();
    };
    let mut found: Vec<Patch> = Vec::new();
    for cause in &case.causes {
        let made = cause.iter().find_map(|leak| of_leak(leak, &place, tree));
        found.extend(made.filter(|patch| found.iter().all(|p| p.changes != patch.changes)));
    }
    found
}

fn of_leak(leak: &Leak, place: &Place, tree: &dyn Tree) -> Option<Patch> {
    let kinds = ["global", "attribute", "class_attribute"];
    if !kinds.contains(&leak.kind.as_str()) {
        return None;
    }
    let slot = slot(leak, &place.file, tree)?;
    if slot.module.is_some() {
        return None;
    }
    let before = tree.read(&place.file)?;
    let source = Source::parse(&before)?;
    let parts = parts(&slot.expression())?;
    let names = words(&parts);
    // The first of the names that is made there holds the others.
    let of_class = names
        .get(..2)
        .filter(|path| source.class(&path[..1]).is_some());
    let (name, edits) = match of_class {
        Some(&[class, name]) => (name, for_class(&source, class, name, place, tree)?),
        _ => {
            let name = *names.first()?;
            (name, for_module(&source, name, place, tree)?)
        }
    };
    Some(Patch {
        strategy: Strategy::Isolate,
        site: Site::Shared,
        reason: format!("every test gets its own {name}, because tests change it"),
        changes: vec![Change {
            path: place.file.clone(),
            after: apply(&before, &edits)?,
            before: Some(before),
        }],
    })
}

/// What makes a name, if that can be done once more.
fn made(source: &Source, path: &[&str]) -> Option<String> {
    let value = source.initial(path)?;
    (!value.contains(['\n', '#'])).then(|| value.to_owned())
}

fn for_class(
    source: &Source,
    class: &str,
    name: &str,
    place: &Place,
    tree: &dyn Tree,
) -> Option<Vec<Edit>> {
    let value = made(source, &[class, name])?;
    let found = source.class(&[class])?;
    // Who names the class means what all its tests share.
    let is_shared = [class, "cls", "type(self)", "self.__class__"]
        .iter()
        .any(|owner| source.text().contains(&format!("{owner}.{name}")));
    let owner = if is_shared { "type(self)" } else { "self" };
    let line = format!("{owner}.{name} = {value}");
    let of_class = Place {
        classes: vec![class.to_owned()],
        ..place.clone()
    };
    let set_up = SetUp::of(found, &of_class, tree).ok()?;
    Some(vec![set_up.add(&[Piece::line(&line)]).ok()?])
}

fn for_module(source: &Source, name: &str, place: &Place, tree: &dyn Tree) -> Option<Vec<Edit>> {
    let value = made(source, &[name])?;
    let indent = source.indent();
    let stem = format!("fresh_{}", name.trim_matches('_').to_lowercase());
    let fixture = free_name(source, &stem, &place.file, tree);
    let block = format!(
        "@pytest.fixture(autouse=True)\ndef {fixture}():\n{indent}global {name}\n{indent}{name} = {value}\n"
    );
    Some(vec![source.add_block(&["pytest"], &block)])
}
