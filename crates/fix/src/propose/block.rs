//! Fixtures that every test of a file gets: those that put a leak back, and others of ours.

use flakelab_source::{Source, Tree};

use crate::case::Leak;

use super::names::{Part, Slot, bare, logger, slot};

/// How long what the fixture does lasts. One of a class comes before what the class itself sets up for all its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Test,
    Class,
    Module,
}

/// What one leak takes: modules to import, parameters of the fixture, lines before and after the test.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) modules: Vec<String>,
    pub(super) parameters: Vec<String>,
    /// What the test runs in, for a `with`.
    pub(super) context: Option<&'static str>,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

impl Lines {
    /// Adds those of another leak; its variables get a number.
    pub(super) fn join(&mut self, other: &Lines, number: usize) {
        let renamed = |lines: &[String]| -> Vec<String> {
            let own = lines.iter();
            own.map(|line| line.replace("saved", &format!("saved_{number}")))
                .collect()
        };
        let (before, after) = (renamed(&other.before), renamed(&other.after));
        let same = self.before.iter().zip(&other.before).any(|(a, b)| a == b);
        if same && self.after == other.after {
            return;
        }
        self.modules.extend(other.modules.clone());
        self.modules.sort();
        self.modules.dedup();
        for parameter in &other.parameters {
            if !self.parameters.contains(parameter) {
                self.parameters.push(parameter.clone());
            }
        }
        self.context = self.context.or(other.context);
        self.before.extend(before);
        self.after.extend(after);
    }
}

/// Ways to put one leak back, the most idiomatic first.
pub(super) fn ways(leak: &Leak, file: &str, tree: &dyn Tree) -> Vec<Lines> {
    let absent = leak.before == "(not there)";
    match leak.kind.as_str() {
        "environ" => vec![environ()],
        "cwd" => vec![patching(&[], "monkeypatch.chdir(\".\")".into())],
        "file" => created_file(leak, absent).into_iter().collect(),
        "cache" => slot(&leak.name, file, tree)
            .map(|s| after(&s, vec![format!("{}.cache_clear()", s.expression())]))
            .into_iter()
            .collect(),
        "stream" => stream(leak)
            .map(|name| {
                patching(
                    &["io", "sys"],
                    format!("monkeypatch.setattr(sys, \"{name}\", io.StringIO())"),
                )
            })
            .into_iter()
            .collect(),
        "logging" => logging(leak).into_iter().collect(),
        "asyncio" => vec![Lines {
            modules: vec!["asyncio".into()],
            after: vec!["asyncio.set_event_loop_policy(None)".into()],
            ..Lines::default()
        }],
        "sys_path" => vec![Lines {
            modules: vec!["sys".into()],
            before: vec!["saved_path = sys.path.copy()".into()],
            after: vec!["sys.path[:] = saved_path".into()],
            ..Lines::default()
        }],
        "random" if leak.name.contains("random") && !leak.name.contains("numpy") => vec![Lines {
            modules: vec!["random".into()],
            before: vec!["state = random.getstate()".into()],
            after: vec!["random.setstate(state)".into()],
            ..Lines::default()
        }],
        "global" | "attribute" | "class_attribute" | "builtin" => {
            match slot(&leak.name, file, tree) {
                Some(slot) => stored(&slot, leak, absent),
                None => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Which of the standard streams is closed: tests that close it get one of their own.
pub(super) fn stream(leak: &Leak) -> Option<&'static str> {
    ["stdout", "stderr"]
        .into_iter()
        .find(|name| leak.name.starts_with(&format!("sys.{name}")))
}

fn patching(modules: &[&str], line: String) -> Lines {
    Lines {
        modules: modules.iter().map(|m| (*m).to_owned()).collect(),
        parameters: vec!["monkeypatch".into()],
        before: vec![line],
        ..Lines::default()
    }
}

fn after(slot: &Slot, lines: Vec<String>) -> Lines {
    Lines {
        modules: slot.module.clone().into_iter().collect(),
        after: lines,
        ..Lines::default()
    }
}

/// Also what the user had set before comes back.
fn environ() -> Lines {
    Lines {
        modules: vec!["os".into(), "from unittest import mock".into()],
        context: Some("mock.patch.dict(os.environ)"),
        ..Lines::default()
    }
}

/// Only what did not exist before can be removed with certainty.
fn created_file(leak: &Leak, absent: bool) -> Option<Lines> {
    if !absent || leak.name.contains(['"', '\\', '\n']) {
        return None;
    }
    let (modules, parameters, base, name) = if let Some(name) = leak.name.strip_prefix("$HOME/") {
        (vec!["pathlib"], vec![], "pathlib.Path.home()", name)
    } else if let Some(name) = leak.name.strip_prefix("$TMPDIR/") {
        let base = "pathlib.Path(tempfile.gettempdir())";
        (vec!["pathlib", "tempfile"], vec![], base, name)
    } else if leak.name.starts_with('/') {
        return None;
    } else {
        (
            vec![],
            vec!["request"],
            "request.config.rootpath",
            leak.name.as_str(),
        )
    };
    let mut modules: Vec<String> = modules.into_iter().map(str::to_owned).collect();
    modules.push("shutil".into());
    Some(Lines {
        modules,
        parameters: parameters.into_iter().map(str::to_owned).collect(),
        after: vec![
            format!("left = {base} / \"{name}\""),
            "if left.is_dir():".into(),
            "    shutil.rmtree(left)".into(),
            "elif left.exists():".into(),
            "    left.unlink()".into(),
        ],
        ..Lines::default()
    })
}

fn logging(leak: &Leak) -> Option<Lines> {
    let (logger, field) = logger(&leak.name)?;
    let (save, back) = match field {
        "level" => ("saved = logger.level", "logger.setLevel(saved)"),
        "handlers" => ("saved = logger.handlers[:]", "logger.handlers[:] = saved"),
        "filters" => ("saved = logger.filters[:]", "logger.filters[:] = saved"),
        "disabled" => ("saved = logger.disabled", "logger.disabled = saved"),
        "propagate" => ("saved = logger.propagate", "logger.propagate = saved"),
        _ => return None,
    };
    let of = |line: &str| line.replace("logger.", &format!("{logger}."));
    Some(Lines {
        modules: vec!["logging".into()],
        before: vec![of(save)],
        after: vec![of(back)],
        ..Lines::default()
    })
}

/// A value in memory: put back in place if it is a container, else bound again.
fn stored(slot: &Slot, leak: &Leak, absent: bool) -> Vec<Lines> {
    let modules: Vec<String> = slot.module.clone().into_iter().collect();
    let whole = slot.expression();
    let mut found = Vec::new();
    let contents = |container: &str, list: bool| Lines {
        modules: modules.clone(),
        before: vec![format!("saved = {container}.copy()")],
        after: if list {
            vec![format!("{container}[:] = saved")]
        } else {
            vec![
                format!("{container}.clear()"),
                format!("{container}.update(saved)"),
            ]
        },
        ..Lines::default()
    };
    match &slot.last {
        Part::Key(key) => {
            let number = bare(key).parse::<usize>().is_ok();
            if leak.before.starts_with('[') {
                found.push(contents(&whole, true));
            } else if leak.before.starts_with('{') {
                found.push(contents(&whole, false));
            }
            found.push(contents(&slot.owner, number));
        }
        Part::Name(name) => {
            if leak.before.starts_with('[') {
                found.push(contents(&whole, true));
            } else if leak.before.starts_with('{') {
                found.push(contents(&whole, false));
            }
            found.extend(bound(slot, name, absent, modules));
        }
    }
    found
}

fn bound(slot: &Slot, name: &str, absent: bool, modules: Vec<String>) -> Option<Lines> {
    if slot.owner.is_empty() {
        return (!absent).then(|| Lines {
            modules: vec!["sys".into()],
            parameters: vec!["monkeypatch".into()],
            before: vec![format!(
                "monkeypatch.setattr(sys.modules[__name__], \"{name}\", {name})"
            )],
            ..Lines::default()
        });
    }
    let owner = &slot.owner;
    Some(if absent {
        Lines {
            modules,
            after: vec![
                format!("if hasattr({owner}, \"{name}\"):"),
                format!("    del {owner}.{name}"),
            ],
            ..Lines::default()
        }
    } else {
        Lines {
            modules,
            parameters: vec!["monkeypatch".into()],
            before: vec![format!(
                "monkeypatch.setattr({owner}, \"{name}\", {owner}.{name})"
            )],
            ..Lines::default()
        }
    })
}

/// The conftest files beside and above a file, the nearest first.
pub(super) fn conftests(file: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folder = file;
    while let Some((above, _)) = folder.rsplit_once('/') {
        found.push(format!("{above}/conftest.py"));
        folder = above;
    }
    found.push("conftest.py".into());
    found
}

/// An autouse fixture of these lines.
pub(super) fn fixture(name: &str, lines: &Lines, indent: &str, scope: Scope) -> String {
    // A test's `monkeypatch` is too short-lived for others.
    let is_lent = |parameter: &&String| scope != Scope::Test && *parameter == "monkeypatch";
    let own: Vec<&str> = lines
        .parameters
        .iter()
        .filter(|parameter| !is_lent(parameter))
        .map(String::as_str)
        .collect();
    let decorator = match scope {
        Scope::Test => "(autouse=True)",
        Scope::Class => "(scope=\"class\", autouse=True)",
        Scope::Module => "(scope=\"module\", autouse=True)",
    };
    let mut text = format!(
        "@pytest.fixture{decorator}\ndef {name}({}):\n",
        own.join(", ")
    );
    let mut deep = 1;
    let mut add = |line: &str, deep: usize| {
        // One more level inside a statement.
        let inner = line.strip_prefix("    ");
        let deep = deep + usize::from(inner.is_some());
        text.push_str(&indent.repeat(deep));
        text.push_str(inner.unwrap_or(line));
        text.push('\n');
    };
    let is_lent = own.len() < lines.parameters.len();
    if is_lent {
        add("with pytest.MonkeyPatch.context() as monkeypatch:", deep);
        deep += 1;
    }
    for line in &lines.before {
        add(line, deep);
    }
    if let Some(context) = lines.context {
        add(&format!("with {context}:"), deep);
        add("    yield", deep);
    } else if is_lent || !lines.after.is_empty() {
        add("yield", deep);
    }
    for line in &lines.after {
        add(line, deep);
    }
    text
}

/// This name, and a number if the file has it already, or a conftest file above: a fixture of that name would no longer run.
pub(super) fn free_name(source: &Source, base: &str, file: &str, tree: &dyn Tree) -> String {
    let above = conftests(file).into_iter();
    let above = above.filter_map(|path| Source::parse(&tree.read(&path)?));
    let above: Vec<Source> = above.collect();
    let is_taken = |name: &str| {
        let mut all = above.iter().chain([source]);
        all.any(|source| source.defines(name) || source.import_of(name).is_some())
    };
    let mut name = base.to_owned();
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}
