//! One name for a test, whatever wrote the report.
//!
//! | report | name |
//! |---|---|
//! | pytest | the node id: `tests/test_a.py::TestX::test_m[1]`, from `file` or, where pytest does not write that, from the part of `classname` that is named like a test module |
//! | surefire, gradle | `com.acme.CartTest#adds` (gradle's `adds()` is the same test) |
//! | nextest | binary and test as nextest prints them: `crate::bin module::test` |
//! | jest-junit, vitest, Playwright | `file > describe > title`, as far as it is told; a project or browser comes last in brackets |
//! | anything else | `classname::name`, with the suite's name for a missing `classname` |
//!
//! Names are data: nothing is ever opened or run by one. Those of more than 1,000 characters are cut, and end in a
//! digest of the whole.

/// Characters of the longest name.
const MOST: usize = 1000;
const SCRIPTS: [&str; 8] = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];

/// Who wrote a JUnit report, as far as names depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Pytest,
    Nextest,
    Other,
}

/// The attributes of a JUnit test case.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) file: String,
}

impl Case {
    pub(crate) fn clear(&mut self) {
        self.class.clear();
        self.name.clear();
        self.file.clear();
    }

    /// Whether pytest wrote it: where `junit_suite_name` is set, only the file tells.
    pub(crate) fn is_pytest(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Pytest || self.file.ends_with(".py")
    }
}

/// Writes the name of a test case; leaves it empty where there is none.
pub(crate) fn name(case: &Case, dialect: Dialect, suite: &str, out: &mut String) {
    out.clear();
    if case.is_pytest(dialect) {
        node_id(case, out);
    } else if dialect == Dialect::Nextest {
        join(out, &case.class, " ", &case.name);
    } else if case.class == case.name || is_script(&case.class) || is_script(&case.file) {
        let class = if case.class == case.name {
            ""
        } else {
            &case.class
        };
        let at = if case.file == class { "" } else { &case.file };
        join(out, at, " > ", class);
        let before = std::mem::take(out);
        join(out, &before, " > ", &case.name);
    } else if case.class.is_empty() {
        join(out, suite, "::", &case.name);
    } else if case.class == suite || is_java(&case.class) {
        // A class-level failure has no name of its own.
        let method = case.name.strip_suffix("()").unwrap_or(&case.name);
        join(out, &case.class, "#", method);
    } else {
        join(out, &case.class, "::", &case.name);
    }
    bound(out);
}

/// Titles from the outermost on, with what the test ran in.
pub(crate) fn titles<'a>(parts: impl IntoIterator<Item = &'a str>, within: &str, out: &mut String) {
    out.clear();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push_str(" > ");
        }
        out.push_str(part);
    }
    if !within.is_empty() && !out.is_empty() {
        out.push_str(" [");
        out.push_str(within);
        out.push(']');
    }
    bound(out);
}

fn join(out: &mut String, first: &str, with: &str, second: &str) {
    out.push_str(first);
    if !first.is_empty() && !second.is_empty() {
        out.push_str(with);
    }
    out.push_str(second);
}

/// pytest writes `tests.test_a.TestX` for the class `TestX` of `tests/test_a.py`.
fn node_id(case: &Case, out: &mut String) {
    // A module that does not collect has its dotted path for a name.
    let (class, name) = if case.class.is_empty() {
        (case.name.as_str(), "")
    } else {
        (case.class.as_str(), case.name.as_str())
    };
    let module = if case.file.is_empty() {
        module_in(class)
    } else {
        let dots = case.file.strip_suffix(".py").unwrap_or(&case.file);
        let same = class.len() >= dots.len()
            && class
                .bytes()
                .zip(dots.bytes())
                .all(|(c, d)| c == d || (c == b'.' && d == b'/'));
        same.then_some(dots.len())
    };
    match module {
        Some(end) => {
            if case.file.is_empty() {
                out.extend(class[..end].chars().map(|c| if c == '.' { '/' } else { c }));
                out.push_str(".py");
            } else {
                out.push_str(&case.file);
            }
            for part in class[end..].split('.').filter(|part| !part.is_empty()) {
                out.push_str("::");
                out.push_str(part);
            }
        }
        None => out.push_str(class),
    }
    if !name.is_empty() {
        out.push_str("::");
        out.push_str(name);
    }
}

/// Where the module ends: after the last part that is named like a test module.
fn module_in(class: &str) -> Option<usize> {
    let mut end = class.len();
    for part in class.rsplit('.') {
        if part.starts_with("test_") || part.ends_with("_test") {
            return Some(end);
        }
        end = end.saturating_sub(part.len() + 1);
    }
    None
}

fn is_script(path: &str) -> bool {
    SCRIPTS.iter().any(|end| path.ends_with(end))
}

/// A qualified class name: packages in small letters, then a class with a large one.
fn is_java(class: &str) -> bool {
    let mut parts = class.rsplit(['.', '$']);
    let large = parts
        .next()
        .is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()));
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    large && class.contains('.') && class.chars().all(word)
}

fn bound(name: &mut String) {
    if name.len() <= MOST {
        return;
    }
    if let Some((cut, _)) = name.char_indices().nth(MOST - 17)
        && name.chars().count() > MOST
    {
        let whole = blake3::hash(name.as_bytes()).to_hex();
        name.truncate(cut);
        name.push('…');
        name.push_str(&whole[..16]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, suite: &str, class: &str, test: &str, file: &str, expected: &str) {
        let case = Case {
            class: class.into(),
            name: test.into(),
            file: file.into(),
        };
        let mut out = String::from("old");
        name(&case, dialect, suite, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn pytest_gets_its_node_ids_back() {
        let check = |class, test, file, expected| {
            check(Dialect::Pytest, "pytest", class, test, file, expected);
        };
        check(
            "tests.test_a",
            "test_x[1.5]",
            "",
            "tests/test_a.py::test_x[1.5]",
        );
        check(
            "tests.test_a.TestX.TestY",
            "test_n",
            "",
            "tests/test_a.py::TestX::TestY::test_n",
        );
        check(
            "test_x.cart_test",
            "test_n",
            "",
            "test_x/cart_test.py::test_n",
        );
        check(
            "tests.checks.TestX",
            "test_n",
            "tests/checks.py",
            "tests/checks.py::TestX::test_n",
        );
        check("", "tests.sub.test_broken", "", "tests/sub/test_broken.py");
        check(
            "",
            "tests.sub.test_broken",
            "tests/sub/test_broken.py",
            "tests/sub/test_broken.py",
        );
        // Nothing tells where the module ends.
        check("checks.TestX", "test_n", "", "checks.TestX::test_n");
        // A test that is inherited from another file.
        check(
            "tests.test_a.TestX",
            "test_n",
            "lib/base.py",
            "tests.test_a.TestX::test_n",
        );
    }

    #[test]
    fn other_runners_get_the_names_they_print() {
        let check = |suite, class, test, file, expected| {
            check(Dialect::Other, suite, class, test, file, expected);
        };
        check(
            "com.a.CartTest",
            "com.a.CartTest",
            "adds",
            "",
            "com.a.CartTest#adds",
        );
        check(
            "Gradle",
            "com.a.CartTest",
            "adds()",
            "",
            "com.a.CartTest#adds",
        );
        check("com.a.CartTest", "com.a.CartTest", "", "", "com.a.CartTest");
        check(
            "cart",
            "cart adds one",
            "cart adds one",
            "",
            "cart adds one",
        );
        check(
            "cart",
            "cart adds",
            "cart adds",
            "src/cart.test.js",
            "src/cart.test.js > cart adds",
        );
        check(
            "x",
            "src/a.test.ts",
            "cart > adds",
            "",
            "src/a.test.ts > cart > adds",
        );
        check("acme/cart", "", "TestAdds", "", "acme/cart::TestAdds");
        check("go", "acme/cart", "TestAdds", "", "acme/cart::TestAdds");
        check("s", "", "", "", "");
        super::tests::check(Dialect::Nextest, "a::b", "a::b", "m::t", "", "a::b m::t");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let mut names = ["a", "b"].map(|end| "é".repeat(5000) + end);
        names.iter_mut().for_each(bound);
        assert_eq!(names[0].chars().count(), 1000);
        assert_ne!(names[0], names[1]);
        let mut fits = "é".repeat(1000);
        bound(&mut fits);
        assert_eq!(fits, "é".repeat(1000));
    }
}
