//! Restore what leaks, in `unittest` classes: `addCleanup` in the polluter, or in the `setUp` of its class.

use std::collections::BTreeMap;

use flakelab_model::{Class, Place};
use flakelab_source::{Located, Piece, Source, Tree, apply, locate};

use super::block::{stream, system_list};
use super::names::{Part, bare, localise, logger, slot};
use super::set_up::SetUp;
use crate::case::{Case, Leak};
use crate::patch::{Change, Patch, Site, Strategy};

/// With more classes to change, a fixture above them says it better.
const MOST_CLASSES: usize = 3;

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Vec<Patch> {
    if case.class != Class::Victim {
        return Vec::new();
    }
    let mut polluters: Vec<Place> = Vec::new();
    for id in case.culprits.iter().flatten() {
        match Place::of(id) {
            Some(place) if locate::is_unittest(&place, tree) => {
                if !polluters.iter().any(|known| known.base() == place.base()) {
                    polluters.push(place);
                }
            }
            _ => return Vec::new(),
        }
    }
    let mut found = Vec::new();
    for cause in &case.causes {
        if let [only] = polluters.as_slice() {
            found.extend(in_test(cause, only, tree));
        }
        found.extend(in_classes(cause, &polluters, false, tree));
    }
    for cause in &case.causes {
        found.extend(in_classes(cause, &polluters, true, tree));
    }
    found
}

fn patch(cause: &[Leak], whom: &str, changes: Vec<Change>) -> Patch {
    let names: Vec<&str> = cause.iter().map(|leak| leak.name.as_str()).collect();
    Patch {
        strategy: Strategy::Restore,
        site: Site::Polluter,
        reason: format!(
            "{} {} put back when {whom} ends, because {} left changed",
            names.join(" and "),
            if names.len() > 1 { "are" } else { "is" },
            if names.len() > 1 { "they are" } else { "it is" }
        ),
        changes,
    }
}

fn in_test(cause: &[Leak], polluter: &Place, tree: &dyn Tree) -> Option<Patch> {
    let located = locate::test(polluter, tree)?;
    let (lines, needed) = lines(cause, &located, tree)?;
    let mut edits = vec![located.function()?.prepend(&lines)?];
    let names: Vec<&str> = needed.iter().map(String::as_str).collect();
    edits.extend(located.source.add_imports(&names));
    let before = located.source.text().to_owned();
    let change = Change {
        after: apply(&before, &edits)?,
        before: Some(before),
        path: located.file,
    };
    Some(patch(cause, &polluter.function, vec![change]))
}

/// In the `setUp` of the classes, or where they set up what all their tests share.
fn in_classes(cause: &[Leak], polluters: &[Place], shared: bool, tree: &dyn Tree) -> Option<Patch> {
    let mut classes: Vec<&Place> = Vec::new();
    for place in polluters {
        let same = |known: &&Place| known.file == place.file && known.classes == place.classes;
        if !classes.iter().any(same) {
            classes.push(place);
        }
    }
    if classes.is_empty() || classes.len() > MOST_CLASSES {
        return None;
    }
    let mut texts: BTreeMap<String, (String, String)> = BTreeMap::new();
    for place in classes {
        let now = match texts.get(&place.file) {
            Some((_, now)) => now.clone(),
            None => tree.read(&place.file)?,
        };
        let located = Located {
            file: place.file.clone(),
            source: Source::parse(&now)?,
            path: place.path().into_iter().map(str::to_owned).collect(),
        };
        let (lines, needed) = lines(cause, &located, tree)?;
        let class = located.class()?;
        let edit = if shared {
            let own = class.method("setUpClass")?;
            let receiver = own.parameters().into_iter().next()?;
            own.prepend(&said_by(&receiver, lines, shared))?
        } else {
            let set_up = SetUp::of(class, place, tree).ok()?;
            let lines = said_by(&set_up.receiver(), lines, shared);
            let pieces: Vec<Piece> = lines.iter().map(|line| Piece::line(line)).collect();
            set_up.add(&pieces).ok()?
        };
        let mut edits = vec![edit];
        let names: Vec<&str> = needed.iter().map(String::as_str).collect();
        edits.extend(located.source.add_imports(&names));
        let after = apply(&now, &edits)?;
        texts
            .entry(place.file.clone())
            .and_modify(|(_, known)| known.clone_from(&after))
            .or_insert((now, after));
    }
    let changes = texts
        .into_iter()
        .map(|(path, (before, after))| Change {
            path,
            before: Some(before),
            after,
        })
        .collect();
    let whom = if shared {
        "the class"
    } else {
        "each test of the class"
    };
    Some(patch(cause, whom, changes))
}

/// The lines as the test or the class says them.
fn said_by(receiver: &str, lines: Vec<String>, shared: bool) -> Vec<String> {
    let add = if shared {
        "addClassCleanup"
    } else {
        "addCleanup"
    };
    let lines = lines.into_iter();
    lines
        .map(|line| line.replace("self.addCleanup(", &format!("{receiver}.{add}(")))
        .collect()
}

/// The lines, and what has to be imported for them.
fn lines(cause: &[Leak], located: &Located, tree: &dyn Tree) -> Option<(Vec<String>, Vec<String>)> {
    let mut lines = Vec::new();
    let mut needed = Vec::new();
    for leak in cause {
        if leak.kind == "environ" {
            // Also what the user had set before comes back.
            let mut first = "environment = mock.patch.dict(os.environ)".to_owned();
            let mock = "from unittest import mock";
            needed.push("os".to_owned());
            needed.extend(localise(&located.source, &located.file, mock, &mut first));
            lines.push(first);
            lines.extend(
                ["environment.start()", "self.addCleanup(environment.stop)"].map(str::to_owned),
            );
            continue;
        }
        if let Some(name) = stream(leak).filter(|_| leak.kind == "stream") {
            lines.push(format!(
                "self.addCleanup(setattr, sys, \"{name}\", sys.{name})"
            ));
            lines.push(format!("sys.{name} = io.StringIO()"));
            needed.extend(["io".to_owned(), "sys".to_owned()]);
            continue;
        }
        let (mut line, module) = undo(leak, &located.file, tree)?;
        if let Some(module) = module {
            needed.extend(localise(&located.source, &located.file, &module, &mut line));
        }
        lines.push(line);
    }
    Some((lines, needed))
}

/// A call of `addCleanup` that puts one leak back, and the module it needs.
fn undo(leak: &Leak, file: &str, tree: &dyn Tree) -> Option<(String, Option<String>)> {
    let absent = leak.before == "(not there)";
    let made =
        |what: String, module: Option<String>| Some((format!("self.addCleanup({what})"), module));
    let of = |name: &str| Some(name.to_owned());
    match leak.kind.as_str() {
        "logging" if leak.name == "logging: disable" => made(
            "logging.disable, logging.root.manager.disable".into(),
            of("logging"),
        ),
        "logging" => {
            let (logger, field) = logger(&leak.name)?;
            let what = match field {
                "level" => format!("{logger}.setLevel, {logger}.level"),
                "handlers" | "filters" => {
                    format!("setattr, {logger}, \"{field}\", {logger}.{field}[:]")
                }
                "disabled" | "propagate" => {
                    format!("setattr, {logger}, \"{field}\", {logger}.{field}")
                }
                _ => return None,
            };
            made(what, of("logging"))
        }
        "cwd" => made("os.chdir, os.getcwd()".into(), of("os")),
        "sys_path" => {
            let name = system_list(leak)?;
            made(
                format!("setattr, sys, \"{name}\", sys.{name}[:]"),
                of("sys"),
            )
        }
        "cache" => {
            let slot = slot(leak, file, tree)?;
            made(format!("{}.cache_clear", slot.expression()), slot.module)
        }
        "global" | "attribute" | "class_attribute" | "builtin" => {
            let slot = slot(leak, file, tree)?;
            let whole = slot.expression();
            let owner = slot.owner.clone();
            let what = match (&slot.last, leak.before.as_str()) {
                (_, "[]" | "{}") => format!("{whole}.clear"),
                (_, before) if before.starts_with('[') => {
                    format!("{whole}.__setitem__, slice(None), {whole}[:]")
                }
                _ if absent => slot.emptying_call()?,
                (Part::Key(key), _) => {
                    format!("{owner}.__setitem__, {}, {whole}", bare(key))
                }
                (Part::Name(name), _) if owner.is_empty() => {
                    format!("globals().__setitem__, \"{name}\", {name}")
                }
                (Part::Name(name), _) => {
                    format!("setattr, {owner}, \"{name}\", {}", slot.held())
                }
            };
            made(what, slot.module)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFiles;

    impl Tree for NoFiles {
        fn read(&self, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn what_is_put_back_is_what_a_class_or_object_has_itself() {
        for (kind, name, before, wanted) in [
            (
                "class_attribute",
                "shop.Shop.make",
                "<classmethod>",
                "setattr, shop.Shop, \"make\", vars(shop.Shop)[\"make\"]",
            ),
            (
                "class_attribute",
                "shop.Shop.make",
                "(not there)",
                "lambda: \"make\" in vars(shop.Shop) and delattr(shop.Shop, \"make\")",
            ),
            (
                "attribute",
                "shop.app.debug",
                "(not there)",
                "vars(shop.app).pop, \"debug\", None",
            ),
            (
                "logging",
                "logging: disable",
                "NOTSET",
                "logging.disable, logging.root.manager.disable",
            ),
            (
                "logging",
                "logger shop: level",
                "NOTSET",
                "logging.getLogger(\"shop\").setLevel, logging.getLogger(\"shop\").level",
            ),
            (
                "sys_path",
                "sys.argv",
                "[…]",
                "setattr, sys, \"argv\", sys.argv[:]",
            ),
        ] {
            let leak = Leak {
                kind: kind.into(),
                name: name.into(),
                before: before.into(),
                ..Leak::default()
            };
            let (line, _) = undo(&leak, "test_a.py", &NoFiles).expect("a line");
            assert_eq!(line, format!("self.addCleanup({wanted})"));
        }
    }
}
