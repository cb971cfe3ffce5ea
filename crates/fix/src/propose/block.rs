//! Fixtures of ours: those that put a leak back for every test of a file, and others.

use flakelab_source::{Edit, Located, Source, Tree};

use crate::case::Leak;

use super::names::{Part, Slot, bare, logger, rename, slot};

/// How long what the fixture does lasts. One of a class comes before what the class itself sets up for all its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every test of the file.
    Test,
    /// Tests that are marked with it: see [`using`].
    Marked,
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
    /// Variables with what they are before the first test, and before `setup_function`, which comes before fixtures of the file.
    pub(super) early: Vec<(String, String)>,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

impl Lines {
    /// What it keeps until the test has ended.
    fn variables(&self) -> impl Iterator<Item = &str> {
        let early = self.early.iter().map(|(name, _)| name.as_str());
        let left = self
            .before
            .iter()
            .filter_map(|line| line.split_once(" = "))
            .map(|(left, _)| left);
        early
            .chain(left)
            .filter(|left| left.chars().all(|c| c.is_alphanumeric() || c == '_'))
    }

    /// Adds those of another leak; its variables get a number.
    pub(super) fn join(&mut self, other: &Lines, number: usize) {
        let variables: Vec<&str> = other.variables().collect();
        let renamed = |lines: &[String]| -> Vec<String> {
            let one = |line: &String| {
                variables.iter().fold(line.clone(), |line, name| {
                    rename(&line, name, &format!("{name}_{number}"))
                })
            };
            lines.iter().map(one).collect()
        };
        let (before, after) = (renamed(&other.before), renamed(&other.after));
        let same = self.before.iter().zip(&other.before).any(|(a, b)| a == b);
        if same && self.after == other.after {
            return;
        }
        let early = other.early.iter();
        let early = early.map(|(name, value)| (format!("{name}_{number}"), value.clone()));
        self.early.extend(early);
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
        "file" => created_file(leak, absent),
        "cache" => slot(leak, file, tree)
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
        "sys_path" => system_list(leak)
            .map(|name| Lines {
                modules: vec!["sys".into()],
                before: vec![format!("saved_{name} = sys.{name}.copy()")],
                after: vec![format!("sys.{name}[:] = saved_{name}")],
                ..Lines::default()
            })
            .into_iter()
            .collect(),
        "random" if leak.name.contains("random") && !leak.name.contains("numpy") => vec![Lines {
            modules: vec!["random".into()],
            before: vec!["saved_state = random.getstate()".into()],
            after: vec!["random.setstate(saved_state)".into()],
            ..Lines::default()
        }],
        "global" | "attribute" | "class_attribute" | "builtin" => match slot(leak, file, tree) {
            Some(slot) => stored(&slot, leak, absent),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Which of the standard streams is closed: tests that close it get one of their own.
pub(super) fn stream(leak: &Leak) -> Option<&'static str> {
    ["stdout", "stderr"]
        .into_iter()
        .find(|name| leak.name.starts_with(&format!("sys.{name}")))
}

/// Which list of `sys` it is.
pub(super) fn system_list(leak: &Leak) -> Option<&str> {
    let name = leak.name.strip_prefix("sys.")?;
    let known = ["path", "argv", "meta_path", "path_hooks"];
    known.contains(&name).then_some(name)
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

/// Only what was not there before the test is its to remove: what `explain` compared with was an empty directory of
/// flakelab's, and the user's home is none. Of that, nothing is removed with all that is in it.
fn created_file(leak: &Leak, absent: bool) -> Vec<Lines> {
    if !absent || leak.name.contains(['"', '\\', '\n']) {
        return Vec::new();
    }
    let (modules, parameters, base, name) = if let Some(name) = leak.name.strip_prefix("$HOME/") {
        (vec!["pathlib"], vec![], "pathlib.Path.home()", name)
    } else if let Some(name) = leak.name.strip_prefix("$TMPDIR/") {
        let base = "pathlib.Path(tempfile.gettempdir())";
        (vec!["pathlib", "tempfile"], vec![], base, name)
    } else if leak.name.starts_with(['/', '$']) {
        return Vec::new();
    } else {
        (
            vec![],
            vec!["request"],
            "request.config.rootpath",
            leak.name.as_str(),
        )
    };
    let is_home = leak.name.starts_with("$HOME/");
    let whole = !is_home || name.contains('/');
    let mut modules: Vec<String> = modules.into_iter().map(str::to_owned).collect();
    let after = if whole {
        modules.push("shutil".into());
        [
            "if not was_there and left.is_dir() and not left.is_symlink():",
            "    shutil.rmtree(left)",
            "elif not was_there and (left.is_symlink() or left.exists()):",
            "    left.unlink()",
        ]
        .as_slice()
    } else {
        &[
            "if not was_there and (left.is_symlink() or left.is_file()):",
            "    left.unlink()",
        ]
    };
    let removed = Lines {
        modules,
        parameters: parameters.into_iter().map(str::to_owned).collect(),
        before: vec![
            format!("left = {base} / \"{name}\""),
            "was_there = left.is_symlink() or left.exists()".into(),
        ],
        after: after.iter().map(|line| (*line).to_owned()).collect(),
        ..Lines::default()
    };
    let elsewhere = is_home.then(|| Lines {
        parameters: vec!["monkeypatch".into(), "tmp_path".into()],
        before: vec!["monkeypatch.setenv(\"HOME\", str(tmp_path))".into()],
        ..Lines::default()
    });
    // Where the set-up of each test makes it, it is there before any fixture of the test.
    let mut early = removed.clone();
    early.before.pop();
    early.modules.push("os".into());
    let there = format!("os.path.lexists({base} / \"{name}\")");
    early.early.push(("was_there".into(), there));
    elsewhere.into_iter().chain([removed, early]).collect()
}

fn logging(leak: &Leak) -> Option<Lines> {
    if leak.name == "logging: disable" {
        return Some(Lines {
            modules: vec!["logging".into()],
            before: vec!["saved = logging.root.manager.disable".into()],
            after: vec!["logging.disable(saved)".into()],
            ..Lines::default()
        });
    }
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
            let is_number = bare(key).parse::<usize>().is_ok();
            if leak.before.starts_with('[') {
                found.push(contents(&whole, true));
            } else if leak.before.starts_with('{') {
                found.push(contents(&whole, false));
            }
            // A list that has changed is mostly named as a whole: what has whole numbers for keys is a dictionary.
            found.push(contents(&slot.owner, false));
            if is_number {
                found.push(contents(&slot.owner, true));
            }
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

fn bound(slot: &Slot, name: &str, absent: bool, modules: Vec<String>) -> Vec<Lines> {
    let owner = &slot.owner;
    if absent {
        let in_slots = slot.is_of_object().then(|| {
            vec![
                format!("if hasattr({owner}, \"{name}\"):"),
                format!("    del {owner}.{name}"),
            ]
        });
        let all = slot.emptied().into_iter().chain(in_slots);
        return all
            .map(|after| Lines {
                modules: modules.clone(),
                after,
                ..Lines::default()
            })
            .collect();
    }
    if owner.is_empty() {
        return vec![patching(
            &["sys"],
            format!("monkeypatch.setattr(sys.modules[__name__], \"{name}\", {name})"),
        )];
    }
    vec![Lines {
        modules,
        parameters: vec!["monkeypatch".into()],
        before: vec![format!(
            "monkeypatch.setattr({owner}, \"{name}\", {})",
            slot.held()
        )],
        ..Lines::default()
    }]
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

/// A line of ours, which may stand inside a statement, as a file indents it.
pub(super) fn indented(line: &str, indent: &str) -> String {
    match line.strip_prefix("    ") {
        Some(inner) => format!("{indent}{inner}"),
        None => line.to_owned(),
    }
}

/// A fixture of these lines.
pub(super) fn fixture(name: &str, lines: &Lines, indent: &str, scope: Scope) -> String {
    // pytest lends `monkeypatch` and `tmp_path` to one test: a fixture of a class or module has to make its own.
    let has = |name: &str| lines.parameters.iter().any(|parameter| parameter == name);
    let is_wide = matches!(scope, Scope::Class | Scope::Module);
    let is_lent = is_wide && has("monkeypatch");
    let has_made = is_wide && has("tmp_path");
    let mut own: Vec<&str> = lines
        .parameters
        .iter()
        .map(String::as_str)
        .filter(|parameter| !(is_lent && *parameter == "monkeypatch"))
        .map(|parameter| match parameter {
            "tmp_path" if has_made => "tmp_path_factory",
            other => other,
        })
        .collect();
    let early: Vec<(String, &str, &str)> = lines
        .early
        .iter()
        .map(|(variable, value)| (format!("{variable}_{name}"), &**variable, &**value))
        .collect();
    own.extend(early.iter().map(|(fixture, ..)| fixture.as_str()));
    let decorator = match scope {
        Scope::Test => "(autouse=True)",
        Scope::Marked => "",
        Scope::Class => "(scope=\"class\", autouse=True)",
        Scope::Module => "(scope=\"module\", autouse=True)",
    };
    let mut text = String::new();
    for (fixture, _, value) in &early {
        let request = if value.contains("request.") {
            "request"
        } else {
            ""
        };
        text.push_str(&format!(
            "@pytest.fixture(scope=\"module\", autouse=True)\ndef {fixture}({request}):\n{indent}return {value}\n\n\n"
        ));
    }
    text.push_str(&format!(
        "@pytest.fixture{decorator}\ndef {name}({}):\n",
        own.join(", ")
    ));
    let mut deep = 1;
    let mut add = |line: &str, deep: usize| {
        text.push_str(&indent.repeat(deep));
        text.push_str(&indented(line, indent));
        text.push('\n');
    };
    if has_made {
        add("tmp_path = tmp_path_factory.mktemp(\"home\")", deep);
    }
    if is_lent {
        add("with pytest.MonkeyPatch.context() as monkeypatch:", deep);
        deep += 1;
    }
    for (fixture, variable, _) in &early {
        add(&format!("{variable} = {fixture}"), deep);
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

/// The mark of a test that gets a fixture before those it asks for; of its class, where its code is another file's.
pub(super) fn using(located: &Located, name: &str) -> Option<Edit> {
    let mark = format!("@pytest.mark.usefixtures(\"{name}\")");
    match located.function() {
        Some(function) => function.decorate(&mark),
        None => located.class()?.decorate(&mark),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFiles;

    impl Tree for NoFiles {
        fn read(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn texts(kind: &str, name: &str, before: &str, scope: Scope) -> Vec<String> {
        let leak = Leak {
            kind: kind.into(),
            name: name.into(),
            before: before.into(),
            ..Leak::default()
        };
        let all = ways(&leak, "test_a.py", &NoFiles).into_iter();
        all.map(|lines| {
            let text = fixture("f", &lines, "    ", scope);
            text.split_once('\n').expect("two lines").1.to_owned()
        })
        .collect()
    }

    #[test]
    fn only_what_was_not_there_before_the_test_is_removed() {
        let is_early = |text: &String| text.contains("was_there_f");
        let with = |name, scope| {
            let mut all = texts("file", name, "(not there)", scope);
            all.retain(|text| !is_early(text));
            all
        };
        let of = |name| with(name, Scope::Test);
        let elsewhere =
            "def f(monkeypatch, tmp_path):\n    monkeypatch.setenv(\"HOME\", str(tmp_path))\n";
        let home = of("$HOME/.config");
        assert_eq!(
            home,
            [
                elsewhere,
                "def f():\n    left = pathlib.Path.home() / \".config\"\n    was_there = left.is_symlink() or left.exists()\n    yield\n    if not was_there and (left.is_symlink() or left.is_file()):\n        left.unlink()\n"
            ]
        );
        let [below, deeper, temporary, own] = [
            with("$HOME/.config", Scope::Class),
            of("$HOME/.config/shop"),
            of("$TMPDIR/shop"),
            of("out"),
        ]
        .map(|texts| texts.into_iter().next_back().unwrap_or_default());
        assert!(!below.contains("rmtree"), "{below}");
        for text in [&deeper, &temporary, &own] {
            let (before, after) = text.split_once("    yield\n").expect("a yield");
            assert!(before.contains("was_there = "), "{text}");
            let guarded = "    if not was_there and left.is_dir() and not left.is_symlink():\n        shutil.rmtree(left)\n";
            assert!(after.starts_with(guarded), "{text}");
        }
        assert!(of("$SCRATCH/x").is_empty() && of("/etc/x").is_empty());
        // What `setup_function` makes is there before a fixture of the test.
        let mut early = texts("file", "out", "(not there)", Scope::Test);
        early.retain(is_early);
        assert_eq!(
            early,
            [
                "def was_there_f(request):\n    return os.path.lexists(request.config.rootpath / \"out\")\n\n\n@pytest.fixture(autouse=True)\ndef f(request, was_there_f):\n    was_there = was_there_f\n    left = request.config.rootpath / \"out\"\n    yield\n    if not was_there and left.is_dir() and not left.is_symlink():\n        shutil.rmtree(left)\n    elif not was_there and (left.is_symlink() or left.exists()):\n        left.unlink()\n"
            ]
        );
    }

    #[test]
    fn what_a_class_or_object_only_inherits_is_not_taken_for_its_own() {
        let first = |kind, name, before| {
            texts(kind, name, before, Scope::Test)
                .into_iter()
                .next()
                .unwrap_or_default()
        };
        let gone = "(not there)";
        for (kind, name, before, lines) in [
            (
                "attribute",
                "shop.app.debug",
                gone,
                "    yield\n    vars(shop.app).pop(\"debug\", None)\n",
            ),
            (
                "class_attribute",
                "shop.App.debug",
                gone,
                "    yield\n    if \"debug\" in vars(shop.App):\n        del shop.App.debug\n",
            ),
            // A class method that is asked for is one no more.
            (
                "class_attribute",
                "shop.App.make",
                "<classmethod>",
                "    monkeypatch.setattr(shop.App, \"make\", vars(shop.App)[\"make\"])\n",
            ),
            (
                "builtin",
                "json.JSONEncoder.default",
                "<function>",
                "    monkeypatch.setattr(json.JSONEncoder, \"default\", vars(json.JSONEncoder)[\"default\"])\n",
            ),
            (
                "builtin",
                "time.sleep",
                "<function>",
                "    monkeypatch.setattr(time, \"sleep\", time.sleep)\n",
            ),
            (
                "sys_path",
                "sys.argv",
                "[…]",
                "    saved_argv = sys.argv.copy()\n    yield\n    sys.argv[:] = saved_argv\n",
            ),
            (
                "logging",
                "logging: disable",
                "NOTSET",
                "    saved = logging.root.manager.disable\n    yield\n    logging.disable(saved)\n",
            ),
            // A dictionary with numbers for keys is no list.
            (
                "global",
                "shop.ROWS[7]",
                gone,
                "    saved = shop.ROWS.copy()\n    yield\n    shop.ROWS.clear()\n    shop.ROWS.update(saved)\n",
            ),
        ] {
            let text = first(kind, name, before);
            assert!(text.ends_with(&format!(":\n{lines}")), "{text}");
        }
        let slots = texts("attribute", "shop.app.debug", gone, Scope::Test);
        assert!(slots[1].contains("if hasattr(shop.app, \"debug\"):"));
    }

    #[test]
    fn what_lasts_longer_than_a_test_takes_nothing_of_a_test() {
        let class = texts("file", "$HOME/.rc", "(not there)", Scope::Class);
        assert_eq!(
            class[0],
            "def f(tmp_path_factory):\n    tmp_path = tmp_path_factory.mktemp(\"home\")\n    with pytest.MonkeyPatch.context() as monkeypatch:\n        monkeypatch.setenv(\"HOME\", str(tmp_path))\n        yield\n"
        );
    }

    #[test]
    fn variables_of_a_second_leak_get_a_number_and_names_of_the_suite_do_not() {
        let of = |kind: &str, name: &str, before: &str| {
            let leak = Leak {
                kind: kind.into(),
                name: name.into(),
                before: before.into(),
                ..Leak::default()
            };
            ways(&leak, "test_a.py", &NoFiles).remove(0)
        };
        let mut both = of("global", "shop.prices", "{}");
        both.join(&of("global", "shop.saved_items.saved[\"saved\"]", "[1]"), 2);
        assert_eq!(
            both.before,
            [
                "saved = shop.prices.copy()",
                "saved_2 = shop.saved_items.saved[\"saved\"].copy()"
            ]
        );
        both.join(&of("sys_path", "sys.path", "[]"), 3);
        assert_eq!(
            both.after.last().map(String::as_str),
            Some("sys.path[:] = saved_path_3")
        );
    }
}
