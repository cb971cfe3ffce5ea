//! The name of a leak as a Python expression: which module to import, what to write behind it.

use flakelab_source::{Source, Tree};

use crate::case::Leak;

/// `logger shop: handlers` as an expression and the attribute of it.
pub(super) fn logger(name: &str) -> Option<(String, &str)> {
    let (name, field) = name.strip_prefix("logger ")?.rsplit_once(": ")?;
    if name.contains(['"', '\\', '\n']) {
        return None;
    }
    let expression = match name {
        "root" => "logging.getLogger()".to_owned(),
        name => format!("logging.getLogger(\"{name}\")"),
    };
    Some((expression, field))
}

/// `shop.pricing.RATES["default"]` in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Name(String),
    /// With its brackets.
    Key(String),
}

/// `None` for a name that is no expression, e.g. with an object as key.
pub(super) fn parts(name: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            let end = key_end(tail)?;
            let key = &tail[..end];
            if !is_literal_key(key) {
                return None;
            }
            parts.push(Part::Key(format!("[{key}]")));
            rest = &tail[end + 1..];
        } else {
            let word = rest.strip_prefix('.').unwrap_or(rest);
            let end = word.find(['.', '[']).unwrap_or(word.len());
            let name = &word[..end];
            let fits = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if name.is_empty() || !fits {
                return None;
            }
            parts.push(Part::Name(name.to_owned()));
            rest = &word[end..];
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// What stands between the brackets of a key.
pub(super) fn bare(key: &str) -> &str {
    let inner = key.strip_prefix('[').and_then(|key| key.strip_suffix(']'));
    inner.unwrap_or(key)
}

/// The names that an expression starts with, up to the first key.
pub(super) fn words(parts: &[Part]) -> Vec<&str> {
    let words = parts.iter().map_while(|part| match part {
        Part::Name(name) => Some(name.as_str()),
        Part::Key(_) => None,
    });
    words.collect()
}

/// Whether a key says what it is: numbers, strings, `True`, `False` and `None`, and tuples of them. It comes from a suite, and
/// becomes code.
fn is_literal_key(key: &str) -> bool {
    let mut plain = String::new();
    let mut quote = None;
    let mut escaped = false;
    for c in key.chars() {
        match (quote, c) {
            (_, c) if c.is_control() || c == '…' => return false,
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if c == q => {
                quote = None;
                plain.push('0');
            }
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, c) => plain.push(c),
        }
    }
    let is_literal = |word: &str| {
        let number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        matches!(word, "" | "b0" | "True" | "False" | "None")
            || number && word.parse::<f64>().is_ok()
    };
    quote.is_none() && plain.split([',', '(', ')', ' ']).all(is_literal)
}

/// `os.environ["SHOP"]` as the key it names, if that can be written as it is.
pub(super) fn environ_key(name: &str) -> Option<&str> {
    let key = name.strip_prefix("os.environ[")?.strip_suffix(']')?;
    let inner = key.strip_prefix('"')?.strip_suffix('"')?;
    let fits = !inner.contains(['"', '\\']) && !inner.contains(char::is_control);
    fits.then_some(key)
}

/// Where the bracket closes, strings left alone.
fn key_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ']') => return Some(at),
            _ => {}
        }
    }
    None
}

/// A slot of a module that a file can refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    /// The module to import, or the statement that imports the owner from it; `None` where the file itself is the module.
    pub(super) module: Option<String>,
    /// What holds the slot; empty for a global of the file itself.
    pub(super) owner: String,
    pub(super) last: Part,
    holder: Holder,
}

/// Whose name the last one is. A class or an object may have it from another class, and then it is not its own to save or
/// to delete: `explain` compares what is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Module,
    Class,
    Object,
}

impl Holder {
    fn of(leak: &Leak, owner: &str, module: &str) -> Self {
        match leak.kind.as_str() {
            "class_attribute" => Holder::Class,
            "attribute" => Holder::Object,
            // Of the standard library: modules and classes are looked into.
            "builtin" if owner != module => Holder::Class,
            _ => Holder::Module,
        }
    }
}

impl Slot {
    /// The slot as an expression.
    pub(super) fn expression(&self) -> String {
        match &self.last {
            Part::Name(name) if self.owner.is_empty() => name.clone(),
            Part::Name(name) => format!("{}.{name}", self.owner),
            Part::Key(key) => format!("{}{key}", self.owner),
        }
    }

    /// What the slot holds, to be put back there: of a class not what a class method or static method becomes when it is
    /// asked for.
    pub(super) fn held(&self) -> String {
        match (&self.last, self.holder) {
            (Part::Name(name), Holder::Class) => format!("vars({})[\"{name}\"]", self.owner),
            _ => self.expression(),
        }
    }

    /// Whether it holds nothing; `None` for a global of the file itself.
    pub(super) fn is_missing(&self) -> Option<String> {
        let owner = &self.owner;
        Some(match (&self.last, self.holder) {
            (Part::Key(key), _) => format!("{} not in {owner}", bare(key)),
            (Part::Name(_), _) if owner.is_empty() => return None,
            (Part::Name(name), Holder::Module) => format!("not hasattr({owner}, \"{name}\")"),
            (Part::Name(name), _) => format!("\"{name}\" not in vars({owner})"),
        })
    }

    /// Lines after which it holds nothing, whether it did or not; `None` for a global of the file itself.
    pub(super) fn emptied(&self) -> Option<Vec<String>> {
        let owner = &self.owner;
        Some(match (&self.last, self.holder) {
            (Part::Key(key), _) => vec![format!("{owner}.pop({}, None)", bare(key))],
            (Part::Name(_), _) if owner.is_empty() => return None,
            (Part::Name(name), Holder::Object) => {
                vec![format!("vars({owner}).pop(\"{name}\", None)")]
            }
            (Part::Name(name), Holder::Class) => vec![
                format!("if \"{name}\" in vars({owner}):"),
                format!("    del {owner}.{name}"),
            ],
            (Part::Name(name), Holder::Module) => vec![
                format!("if hasattr({owner}, \"{name}\"):"),
                format!("    del {owner}.{name}"),
            ],
        })
    }

    /// The same as what is to be called, and with what.
    pub(super) fn emptying_call(&self) -> Option<String> {
        let owner = &self.owner;
        Some(match (&self.last, self.holder) {
            (Part::Key(key), _) => format!("{owner}.pop, {}, None", bare(key)),
            (Part::Name(_), _) if owner.is_empty() => return None,
            (Part::Name(name), Holder::Class) => {
                format!("lambda: \"{name}\" in vars({owner}) and delattr({owner}, \"{name}\")")
            }
            (Part::Name(name), _) => format!("vars({owner}).pop, \"{name}\", None"),
        })
    }

    /// Whether it is an attribute of an object: one with `__slots__` has no dictionary of its own.
    pub(super) fn is_of_object(&self) -> bool {
        matches!(self.last, Part::Name(_)) && self.holder == Holder::Object
    }
}

/// Of modules that are not the project's only the names are known.
pub(super) fn slot(leak: &Leak, file: &str, tree: &dyn Tree) -> Option<Slot> {
    let parts = parts(&leak.name)?;
    let words = words(&parts);
    let longest = words.len().min(parts.len() - 1);
    let own = file.trim_end_matches(".py").replace('/', ".");
    // The module's name may start above or below where pytest runs.
    let same = |module: &str| {
        own == module
            || own.ends_with(&format!(".{module}"))
            || module.ends_with(&format!(".{own}"))
    };
    let told = leak.module.as_deref().and_then(|module| {
        let told: Vec<&str> = module.split('.').collect();
        (told.len() <= longest && words.starts_with(&told)).then_some(told.len())
    });
    // Older explanations do not tell where it ends.
    let guessed = || {
        (1..=longest)
            .rev()
            .find(|count| same(&words[..*count].join(".")) || is_module(&words[..*count], tree))
    };
    let count = told.or_else(guessed);
    let is_class = |word: &&str| word.starts_with(char::is_uppercase);
    let count = count.unwrap_or_else(|| {
        let class = words[..longest].iter().position(is_class);
        class.unwrap_or(longest)
    });
    if count == 0 {
        return None;
    }
    let module = words[..count].join(".");
    let is_own = same(&module);
    let (last, middle) = parts[count..].split_last()?;
    let mut owner = if is_own {
        String::new()
    } else {
        module.clone()
    };
    for part in middle {
        match part {
            Part::Name(name) if owner.is_empty() => owner.push_str(name),
            Part::Name(name) => {
                owner.push('.');
                owner.push_str(name);
            }
            Part::Key(key) => owner.push_str(key),
        }
    }
    let holder = Holder::of(leak, &owner, &module);
    let mut needed = (!is_own).then_some(module);
    if let Some(module) = needed.as_ref().filter(|module| is_hidden(module, tree)) {
        let rest = &owner[module.len()..];
        (owner, needed) = match middle.first() {
            Some(Part::Name(thing)) if is_free(thing, file, tree) => (
                rest[1..].to_owned(),
                Some(format!("from {module} import {thing}")),
            ),
            _ => (
                format!("importlib.import_module(\"{module}\"){rest}"),
                Some("importlib".to_owned()),
            ),
        };
    }
    Some(Slot {
        module: needed,
        owner,
        last: last.clone(),
        holder,
    })
}

/// Whether a file has nothing of this name yet.
fn is_free(name: &str, file: &str, tree: &dyn Tree) -> bool {
    let source = tree.read(file).and_then(|text| Source::parse(&text));
    source.is_none_or(|source| source.import_of(name).is_none() && !source.defines(name))
}

/// Whether the module defines something with its own name: where its package imports that as well, `package.module` is no
/// longer the module.
fn is_hidden(module: &str, tree: &dyn Tree) -> bool {
    let Some((_, own)) = module.rsplit_once('.') else {
        return false;
    };
    let words: Vec<&str> = module.split('.').collect();
    let defines = |text: String| Source::parse(&text).is_some_and(|source| source.defines(own));
    text_of(&words, tree).is_some_and(defines)
}

/// Rewrites `module.…` in code of ours to what the file calls it; returns what has to be imported for it. A statement that
/// imports is what it is.
pub(super) fn localise(
    source: &Source,
    path: &str,
    module: &str,
    code: &mut String,
) -> Option<String> {
    if let Some((from, thing)) = import_of_thing(module) {
        let is_other = source
            .import_of(thing)
            .is_some_and(|import| import != module);
        if is_other || source.defines(thing) {
            // The name is taken.
            let alias = format!("{}_{thing}", from.replace('.', "_"));
            *code = rename(code, thing, &alias);
            return Some(format!("{module} as {alias}"));
        }
        return Some(module.to_owned());
    }
    let say = |code: &mut String, long: &str, short: &str| {
        for end in [".", ",", ")", "[", " "] {
            *code = replace_names(code, &format!("{long}{end}"), &format!("{short}{end}"));
        }
    };
    if let Some(known) = source.name_of(module, path) {
        say(code, module, &known);
        return None;
    }
    // `from module import thing` binds the thing, not the module.
    if let Some((_, rest)) = code.split_once(&format!("{module}.")) {
        let thing: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let whole = format!("{module}.{thing}");
        if let Some(known) = source.name_of(&whole, path) {
            say(code, &whole, &known);
            return None;
        }
    }
    let first = module.split('.').next().unwrap_or(module);
    let is_package = |import: String| {
        let bound = import.strip_prefix("import ").unwrap_or_default();
        bound == first || bound.starts_with(&format!("{first}.")) && !bound.contains(" as ")
    };
    let other = source
        .import_of(first)
        .is_some_and(|import| !is_package(import));
    if other || source.defines(first) {
        // The name is taken.
        let alias = format!("{}_module", module.replace('.', "_"));
        say(code, module, &alias);
        return Some(format!("{module} as {alias}"));
    }
    Some(module.to_owned())
}

/// `from module import thing` in its parts.
fn import_of_thing(statement: &str) -> Option<(&str, &str)> {
    statement.strip_prefix("from ")?.split_once(" import ")
}

/// Replaces a name where it is not the end of another one.
fn replace_names(code: &str, long: &str, short: &str) -> String {
    let mut out = String::new();
    for (at, part) in code.split(long).enumerate() {
        if at > 0 {
            let is_end = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            out.push_str(if out.ends_with(is_end) { long } else { short });
        }
        out.push_str(part);
    }
    out
}

/// Another name for a variable of ours; attributes, and what stands in strings, are not.
pub(super) fn rename(code: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut quote = None;
    let mut escaped = false;
    let mut is_attribute = false;
    let end = |word: &mut String, is_attribute: bool, out: &mut String| {
        let own = word == from && !is_attribute;
        out.push_str(if own { to } else { word });
        word.clear();
    };
    for c in code.chars() {
        if quote.is_none() && (c.is_alphanumeric() || c == '_') {
            if word.is_empty() {
                is_attribute = out.ends_with('.');
            }
            word.push(c);
            continue;
        }
        end(&mut word, is_attribute, &mut out);
        out.push(c);
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    end(&mut word, is_attribute, &mut out);
    out
}

fn is_module(words: &[&str], tree: &dyn Tree) -> bool {
    text_of(words, tree).is_some()
}

fn text_of(words: &[&str], tree: &dyn Tree) -> Option<String> {
    let path = words.join("/");
    ["", "src/"].iter().find_map(|base| {
        let plain = tree.read(&format!("{base}{path}.py"));
        plain.or_else(|| tree.read(&format!("{base}{path}/__init__.py")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(name: &str, file: &str, tree: &dyn Tree) -> Option<Slot> {
        let leak = Leak {
            name: name.into(),
            ..Leak::default()
        };
        super::slot(&leak, file, tree)
    }

    struct Files(&'static [&'static str]);

    impl Tree for Files {
        fn read(&self, path: &str) -> Option<String> {
            self.0.contains(&path).then(String::new)
        }
    }

    #[test]
    fn names_become_expressions() {
        let tree = Files(&["shop/pricing.py", "shop/__init__.py"]);
        let found = slot(r#"shop.pricing.RATES["a.b]"]"#, "tests/test_a.py", &tree);
        let found = found.expect("a slot");
        assert_eq!(found.module.as_deref(), Some("shop.pricing"));
        assert_eq!(found.owner, "shop.pricing.RATES");
        assert_eq!(found.expression(), r#"shop.pricing.RATES["a.b]"]"#);
    }

    #[test]
    fn a_module_ends_where_the_explanation_says() {
        for (name, module, owner) in [
            (
                "mimetypes.types_map[\".x\"]",
                "mimetypes",
                "mimetypes.types_map",
            ),
            (
                "lib.prices.table.rows[\"a\"]",
                "lib.prices",
                "lib.prices.table.rows",
            ),
            (
                "matplotlib.rcParams[\"a\"]",
                "matplotlib",
                "matplotlib.rcParams",
            ),
        ] {
            let leak = Leak {
                name: name.into(),
                module: Some(module.into()),
                ..Leak::default()
            };
            let found = super::slot(&leak, "test_a.py", &Files(&[])).expect("a slot");
            assert_eq!(found.module.as_deref(), Some(module));
            assert_eq!(found.owner, owner);
        }
    }

    #[test]
    fn what_hides_its_module_is_gone_round() {
        struct Hidden;
        impl Tree for Hidden {
            fn read(&self, path: &str) -> Option<String> {
                let text = "class Table:\n    pass\n\n\ndef table():\n    pass\n";
                (path == "shop/table.py").then(|| text.to_owned())
            }
        }
        let found = slot("shop.table.Table.rows[0]", "test_a.py", &Hidden);
        let found = found.expect("a slot");
        let import = "from shop.table import Table";
        assert_eq!(found.module.as_deref(), Some(import));
        assert_eq!(found.expression(), "Table.rows[0]");
        // Nothing stands between the module and what is bound again.
        let found = slot("shop.table.limit", "test_a.py", &Hidden);
        let found = found.expect("a slot");
        assert_eq!(found.module.as_deref(), Some("importlib"));
        let whole = "importlib.import_module(\"shop.table\").limit";
        assert_eq!(found.expression(), whole);
    }

    #[test]
    fn code_of_ours_uses_the_names_of_the_file() {
        let text = "from app import app\nfrom a import b\n";
        let source = Source::parse(text).expect("parses");
        for (module, before, after, import) in [
            ("app", "app.app.x.clear()", "app.x.clear()", None),
            ("a.b", "setattr(a.b, 1)", "setattr(b, 1)", None),
            (
                "app",
                "app.y = 1",
                "app_module.y = 1",
                Some("app as app_module"),
            ),
            ("c", "c.y = 1", "c.y = 1", Some("c")),
            ("c", "delattr(c, \"y\")", "delattr(c, \"y\")", Some("c")),
            ("a.b", "xa.b.y, a.b.y", "xa.b.y, b.y", None),
        ] {
            let mut code = before.to_owned();
            let needed = localise(&source, "t.py", module, &mut code);
            assert_eq!((code.as_str(), needed.as_deref()), (after, import));
        }
    }

    #[test]
    fn a_thing_whose_name_is_taken_gets_another_one() {
        let needed = "from unittest import mock";
        for (text, alias) in [
            ("from unittest import mock\n", None),
            ("import os\n", None),
            ("from shop import mock\n", Some("unittest_mock")),
            ("def mock():\n    pass\n", Some("unittest_mock")),
        ] {
            let source = Source::parse(text).expect("parses");
            let mut code = "with mock.patch.dict(os.environ):".to_owned();
            let import = localise(&source, "t.py", needed, &mut code);
            let whole = alias.map_or(needed.to_owned(), |alias| format!("{needed} as {alias}"));
            assert_eq!(import, Some(whole));
            let name = alias.unwrap_or("mock");
            assert_eq!(code, format!("with {name}.patch.dict(os.environ):"));
        }
    }

    #[test]
    fn the_files_own_globals_need_no_import() {
        let tree = Files(&["tests/test_a.py"]);
        let found = slot("tests.test_a.DATA[0].x", "tests/test_a.py", &tree).expect("a slot");
        assert_eq!((found.module, found.owner.as_str()), (None, "DATA[0]"));
        let above = slot("src.tests.test_a.DATA", "tests/test_a.py", &tree);
        assert_eq!(above.expect("a slot").expression(), "DATA");
        for hostile in [
            "x.R[f()]",
            "x.R[().a]",
            "x.R[E.A]",
            "x.R[\"a\" + b]",
            "x.R[\"\n\"]",
        ] {
            assert_eq!(parts(hostile), None, "{hostile}");
        }
        for plain in [
            "x.R[-1.5]",
            "x.R[\"a.b\\\"]\"]",
            "x.R[(1, \"a\", None)]",
            "x.R[b'a']",
        ] {
            assert!(parts(plain).is_some(), "{plain}");
        }
        assert_eq!(environ_key("os.environ[\"A\"]"), Some("\"A\""));
        assert_eq!(environ_key("os.environ[\"A\" or x() or \"B\"]"), None);
        let outside = slot("mock.mock.MagicMock.content", "t.py", &tree).expect("a slot");
        assert_eq!(outside.module.as_deref(), Some("mock.mock"));
        assert!(slot("x.REG[<object>]", "t.py", &tree).is_none());
    }
}
