//! Restore what leaks, at the polluter's own statement: the raw write becomes one that `monkeypatch` undoes.

use std::collections::BTreeMap;

use flakelab_model::{Class, Place};
use flakelab_source::{Edit, Source, Tree, Write, apply, locate};

use crate::case::{Case, Leak};
use crate::patch::{Change, Patch, Site, Strategy};

/// With more statements to change, a fixture says it better.
const MOST: usize = 4;

pub(super) fn propose(case: &Case, tree: &dyn Tree) -> Option<Patch> {
    if case.class != Class::Victim {
        return None;
    }
    let mut places: Vec<(&Leak, &(String, usize))> = Vec::new();
    for leak in case.causes.iter().flatten() {
        let at = leak.at.as_ref()?;
        if !places.iter().any(|(_, known)| *known == at) {
            places.push((leak, at));
        }
    }
    if places.is_empty() || places.len() > MOST {
        return None;
    }
    let mut edits: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    for (leak, (file, line)) in &places {
        let all = edits.entry(file.clone()).or_default();
        for edit in statement(leak, file, *line, tree)? {
            // Two writes of one test ask for the fixture once.
            if !all.contains(&edit) {
                all.push(edit);
            }
        }
    }
    let mut changes = Vec::new();
    for (path, edits) in edits {
        let before = tree.read(&path)?;
        let after = apply(&before, &edits)?;
        Source::parse(&after)?;
        changes.push(Change {
            path,
            before: Some(before),
            after,
        });
    }
    let mut names: Vec<&str> = places.iter().map(|(leak, _)| leak.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Some(Patch {
        strategy: Strategy::Restore,
        site: Site::Polluter,
        reason: format!(
            "{} {} changed through monkeypatch, which undoes it when the test ends",
            names.join(" and "),
            if names.len() > 1 { "are" } else { "is" }
        ),
        changes,
    })
}

fn statement(leak: &Leak, file: &str, line: usize, tree: &dyn Tree) -> Option<Vec<Edit>> {
    leak.left_by.iter().find_map(|id| {
        let place = Place::of(id)?;
        let found = locate::test(&place, tree)?;
        let function = found.function()?;
        if found.file != file
            || !function.contains_line(line)
            || locate::is_unittest(&place, tree)
            || function.parameters().iter().any(|p| p == "monkeypatch")
        {
            return None;
        }
        let (range, write) = function.write_at(line)?;
        let mut edits = vec![Edit::replace(range, patched(&write, leak)?)];
        edits.extend(function.add_parameters(&["monkeypatch".into()]));
        Some(edits)
    })
}

/// Whether a new value in its place is all that an update of it makes: a container or an object may be changed itself.
fn is_plain(value: &str) -> bool {
    let plain = value.strip_prefix('b').unwrap_or(value);
    matches!(value, "True" | "False" | "None")
        || plain.starts_with(['"', '\''])
        || value.parse::<f64>().is_ok()
}

/// The same write, undone by `monkeypatch`.
fn patched(write: &Write, leak: &Leak) -> Option<String> {
    let absent = leak.before == "(not there)";
    // What is new there need not be old.
    let raising = if absent { ", raising=False" } else { "" };
    let environ = |owner: &str| matches!(owner, "os.environ" | "environ");
    Some(match write {
        Write::Attribute { owner, .. } if matches!(owner.as_str(), "self" | "cls") => return None,
        Write::Attribute { updates: true, .. } | Write::Item { updates: true, .. }
            if !is_plain(&leak.before) =>
        {
            return None;
        }
        Write::Attribute {
            owner, name, value, ..
        } => {
            format!("monkeypatch.setattr({owner}, \"{name}\", {value}{raising})")
        }
        Write::Item {
            owner, key, value, ..
        } if environ(owner) => {
            format!("monkeypatch.setenv({key}, {value})")
        }
        Write::Item {
            owner, key, value, ..
        } => {
            format!("monkeypatch.setitem({owner}, {key}, {value})")
        }
        Write::NoItem { owner, key } if environ(owner) => format!("monkeypatch.delenv({key})"),
        Write::NoItem { owner, key } => format!("monkeypatch.delitem({owner}, {key})"),
        Write::NoAttribute { owner, name } => format!("monkeypatch.delattr({owner}, \"{name}\")"),
        Write::Call {
            function,
            arguments,
        } => call(function, arguments, raising)?,
    })
}

fn call(function: &str, arguments: &[String], raising: &str) -> Option<String> {
    let all = arguments.join(", ");
    Some(match (function, arguments) {
        ("os.chdir" | "chdir", [_]) => format!("monkeypatch.chdir({all})"),
        ("os.environ.pop" | "environ.pop", [key]) => format!("monkeypatch.delenv({key})"),
        ("os.environ.pop" | "environ.pop", [key, _]) => {
            format!("monkeypatch.delenv({key}, raising=False)")
        }
        ("os.putenv", [_, _]) => format!("monkeypatch.setenv({all})"),
        ("sys.path.insert", [zero, entry]) if zero == "0" => {
            format!("monkeypatch.syspath_prepend({entry})")
        }
        ("sys.path.append", [entry]) => {
            format!("monkeypatch.setattr(sys, \"path\", [*sys.path, {entry}])")
        }
        ("setattr", [_, _, _]) => format!("monkeypatch.setattr({all}{raising})"),
        ("delattr", [_, _]) => format!("monkeypatch.delattr({all})"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `# here` marks the line that writes.
    #[track_caller]
    fn check(body: &str, parameters: &str, wanted: Option<&str>) {
        check_from("1", body, parameters, wanted);
    }

    #[track_caller]
    fn check_from(before: &str, body: &str, parameters: &str, wanted: Option<&str>) {
        let text = format!("import os\n\n\ndef test_p({parameters}):\n    {body}  # here\n");
        let tree = One(text);
        let leak = Leak {
            name: "x".into(),
            before: before.into(),
            at: Some(("test_p.py".into(), 5)),
            left_by: vec!["test_p.py::test_p".into()],
            ..Leak::default()
        };
        let case = Case {
            test: "test_v.py::test_v".into(),
            class: Class::Victim,
            culprits: vec![vec!["test_p.py::test_p".into()]],
            cleaners: Vec::new(),
            causes: vec![vec![leak]],
            idle: Vec::new(),
        };
        let found = propose(&case, &tree).map(|patch| patch.changes[0].after.clone());
        let wanted = wanted.map(|line| {
            let comma = if parameters.is_empty() { "" } else { ", " };
            format!(
                "import os\n\n\ndef test_p({parameters}{comma}monkeypatch):\n    {line}  # here\n"
            )
        });
        assert_eq!(found, wanted, "{body}");
    }

    struct One(String);

    impl Tree for One {
        fn read(&self, path: &str) -> Option<String> {
            (path == "test_p.py").then(|| self.0.clone())
        }
    }

    #[test]
    fn raw_writes_become_ones_that_are_undone() {
        for (before, after) in [
            (
                "os.environ[\"A\"] = f(1)",
                "monkeypatch.setenv(\"A\", f(1))",
            ),
            ("del os.environ['A']", "monkeypatch.delenv('A')"),
            (
                "os.environ.pop(\"A\", None)",
                "monkeypatch.delenv(\"A\", raising=False)",
            ),
            ("os.chdir(box)", "monkeypatch.chdir(box)"),
            ("a.b.c = 2", "monkeypatch.setattr(a.b, \"c\", 2)"),
            ("a.b += 2", "monkeypatch.setattr(a, \"b\", a.b + 2)"),
            ("a[k] = 2", "monkeypatch.setitem(a, k, 2)"),
            ("del a[k]", "monkeypatch.delitem(a, k)"),
            ("del a.b", "monkeypatch.delattr(a, \"b\")"),
            ("sys.path.insert(0, x)", "monkeypatch.syspath_prepend(x)"),
            ("setattr(a, n, 1)", "monkeypatch.setattr(a, n, 1)"),
        ] {
            check(before, "", Some(after));
        }
        check("a.b = 1", "box", Some("monkeypatch.setattr(a, \"b\", 1)"));
        check(
            "a.b = 1, 2",
            "",
            Some("monkeypatch.setattr(a, \"b\", (1, 2))"),
        );
        let new = Some("monkeypatch.setattr(a, \"b\", 1, raising=False)");
        check_from("(not there)", "a.b = 1", "", new);
        // Whoever else has the list sees it grow.
        for before in ["[1]", "{}", "set()", "<object>", "(not there)"] {
            check_from(before, "a.b += c", "", None);
            check_from(before, "a[1] |= c", "", None);
        }
        let longer = Some("monkeypatch.setattr(a, \"b\", a.b + c)");
        check_from("\"x\"", "a.b += c", "", longer);
        check("a.append(1)", "", None);
        check("self.b = 1", "", None);
        // Its own undo may be part of what the test does.
        check("a.b = 1", "monkeypatch", None);
    }
}
