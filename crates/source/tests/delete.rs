//! A deletion takes the statement and its lines, and nothing else.

use flakelab_source::{Assertions, Edit, Source};

/// All deletions from `test`, in source order, and what is left after each.
fn deletions(text: &str) -> Vec<(String, Edit, String)> {
    let source = Source::parse(text).expect("it parses");
    let function = source.function(&["test"]).expect("a test");
    function
        .statements(&Assertions::default())
        .iter()
        .map(|statement| {
            let edit = statement.delete();
            let left = edit.applied(text);
            (statement.text(), edit, left)
        })
        .collect()
}

/// Deletes the statement that begins with `start`.
fn check(before: &str, start: &str, after: &str) {
    let (_, _, left) = deletions(before)
        .into_iter()
        .find(|(text, ..)| text.starts_with(start))
        .unwrap_or_else(|| panic!("no {start} in {before}"));
    assert_eq!(left, after, "{start} in {before}");
}

#[test]
fn a_statement_goes_with_its_lines() {
    check(
        "def test():\n    a()\n    b()\n    c()\n",
        "b",
        "def test():\n    a()\n    c()\n",
    );
    check(
        "def test():\n    a(\n        1,\n    )  # gone\n    b()\n",
        "a",
        "def test():\n    b()\n",
    );
    check(
        "def test():\n    x = '''\n  text\n'''\n    b()\n",
        "x",
        "def test():\n    b()\n",
    );
    check(
        "def test():\n    a = 1 + \\\n        2\n    b()\n",
        "a",
        "def test():\n    b()\n",
    );
}

#[test]
fn comments_of_others_and_blank_lines_stay() {
    check(
        "def test():\n    # of a\n    a()\n\n    b()  # of b\n    # of c\n    c()\n",
        "b",
        "def test():\n    # of a\n    a()\n\n    # of c\n    c()\n",
    );
    check(
        "def test():\n    if x:\n        a()\n        # inside\n    # outside\n    b()\n",
        "if",
        "def test():\n    # outside\n    b()\n",
    );
}

#[test]
fn an_empty_body_gets_pass() {
    check("def test():\n    a()\n", "a", "def test():\n    pass\n");
    check(
        "def test():\n    # why\n    a(\n        1)  # what\n",
        "a",
        "def test():\n    # why\n    pass  # what\n",
    );
    check("def test(): a()\n", "a", "def test(): pass\n");
    check(
        "def test():\n  if x:\n    a()\n  else:\n    b()\n",
        "b",
        "def test():\n  if x:\n    a()\n  else:\n    pass\n",
    );
    check(
        "def test():\n\ttry: a()\n\texcept E: b()\n\tfinally:\n\t\tc()\n",
        "c",
        "def test():\n\ttry: a()\n\texcept E: b()\n\tfinally:\n\t\tpass\n",
    );
    check(
        "def test():\n    match x:\n        case 1: a()\n",
        "a",
        "def test():\n    match x:\n        case 1: pass\n",
    );
    check(
        "def test():\n    for x in y:\n        if x:\n            a()\n        # tail\n",
        "if",
        "def test():\n    for x in y:\n        pass\n        # tail\n",
    );
}

#[test]
fn a_docstring_or_pass_is_body_enough() {
    check(
        "def test():\n    \"\"\"Doc.\"\"\"\n    a()\n",
        "a",
        "def test():\n    \"\"\"Doc.\"\"\"\n",
    );
    check(
        "def test():\n    a()\n    pass\n",
        "a",
        "def test():\n    pass\n",
    );
}

#[test]
fn several_statements_on_one_line() {
    let text = "def test():\n    a(); b(); c()  # why\n";
    check(text, "a", "def test():\n    b(); c()  # why\n");
    check(text, "b", "def test():\n    a(); c()  # why\n");
    check(text, "c", "def test():\n    a(); b()  # why\n");
    check("def test(): a(); b()\n", "a", "def test(): b()\n");
    check("def test(): a(); b()\n", "b", "def test(): a()\n");
    check("def test(): a(); b();\n", "b", "def test(): a();\n");
    check("def test(): a();\n", "a", "def test(): pass;\n");
    check(
        "def test():\n    a();\n    b()\n",
        "a",
        "def test():\n    b()\n",
    );
    check(
        "def test():\n    a();\n    b()\n",
        "b",
        "def test():\n    a();\n",
    );
    check(
        "def test():\n    a(); \\\n    b()\n    c()\n",
        "b",
        "def test():\n    a()\n    c()\n",
    );
    check(
        "def test():\n    a(); \\\n    b()\n    c()\n",
        "a",
        "def test():\n    b()\n    c()\n",
    );
    check(
        "def test():\n    a(\n      1); b()\n",
        "a",
        "def test():\n    b()\n",
    );
    check(
        "def test():\n    a()  # not ; this\n    b()\n",
        "b",
        "def test():\n    a()  # not ; this\n",
    );
}

#[test]
fn a_compound_statement_goes_as_a_whole() {
    check(
        "def test():\n    if x:\n        a()\n    elif y:\n        b()\n    else: c()\n    d()\n",
        "if",
        "def test():\n    d()\n",
    );
    check(
        "def test():\n    @a\n    # why\n    @b(1)\n    def c():\n        d()\n\n    e()\n",
        "@a",
        "def test():\n\n    e()\n",
    );
    check(
        "def test():\n    @a\n    def c(): d()\n",
        "@a",
        "def test():\n    pass\n",
    );
    check(
        "def test():\n    async with x: a();  # why\n    b()\n",
        "async",
        "def test():\n    b()\n",
    );
}

#[test]
fn line_ends_tabs_and_the_end_of_the_file() {
    check(
        "def test():\r\n    a()\r\n    b()\r\n",
        "a",
        "def test():\r\n    b()\r\n",
    );
    check(
        "def test():\r\n\tif x:\r\n\t\ta()\r\n\tb()\r\n",
        "a",
        "def test():\r\n\tif x:\r\n\t\tpass\r\n\tb()\r\n",
    );
    check(
        "def test():\r\n    a(); \\\r\n    b()\r\n",
        "b",
        "def test():\r\n    a()\r\n",
    );
    check(
        "def test():\n    a()\n    b()",
        "b",
        "def test():\n    a()\n",
    );
    check("def test():\n    a()", "a", "def test():\n    pass");
    check(
        "def test():\n    a()  # why",
        "a",
        "def test():\n    pass  # why",
    );
    check(
        "def test():\n    ä = 'é'; b()\n    ü()\n",
        "ä",
        "def test():\n    b()\n    ü()\n",
    );
}

/// One of everything.
const RICH: &str = r#"import os
import pytest


class TestBefore:
    value = 1


@pytest.mark.parametrize("a", [1, 2])
async def test(a, /, b: int = 2, *args, c=3, **kw) -> None:
    """Doc."""
    # first
    global COUNT
    x = y = 0  # trailing
    x += 1; y -= 1; z: int = 2
    del y
    if (n := len(args)) > 1:
        print(n)
    elif n: x = 2
    else:
        pass

    for i, (j, *k) in enumerate(kw):
        if i: continue
        while True:
            x = i
            break
        else:
            x = j
    else: x = 5; z = 6
    async for item in stream(): await item
    try:
        import json
        from os import path as p, sep
    except (ValueError, TypeError) as e:
        raise RuntimeError from e
    except OSError:
        return
    else:
        with open("x") as f, (
            open("y")
        ) as g:
            f.read()
    finally:
        os.remove("x")
    match x:
        case [1, *rest] if rest:
            print(rest)
        case {"k": v, **others} | {"k": v, **others}: print(v)
        case _:
            print(0)

    @decorated
    @decorated(1)
    def inner(q, r=x):
        """Doc."""
        nonlocal z
        z = [q for q in range(r) if q]
        yield z
        return lambda w: w + q

    class Inner(Base, metaclass=Meta):
        attribute = x

        def method(self): return super().method()
    text = f"{x!r:>{z}}" "more" \
        "and more"
    """
    not a comment
    """
    call(
        1,
        # inside
        2,
    ).then(lambda: 1)
    assert x
    with pytest.raises(ValueError):
        call(); other()
    async with lock:
        assert x; x = 1
    print(x) ;
    # last

OTHER = 1
"#;

/// What is before and behind the edit stays byte for byte.
fn only_lines_went(before: &str, edit: &Edit, after: &str) {
    assert!(after.starts_with(&before[..edit.range.start]), "{after}");
    assert!(after.ends_with(&before[edit.range.end..]), "{after}");
    assert!(edit.text.is_empty() || edit.text == "pass", "{edit:?}");
}

/// tree-sitter forgives a body without statements; Python does not.
fn has_empty_body(text: &str) -> bool {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'))
        .collect();
    let width = |line: &str| line.len() - line.trim_start().len();
    lines
        .windows(2)
        .any(|pair| pair[0].ends_with(':') && width(pair[1]) <= width(pair[0]))
}

#[test]
fn every_deletion_from_a_rich_test_parses_and_has_one_statement_less() {
    let variants = [
        RICH.to_owned(),
        RICH.replace('\n', "\r\n"),
        RICH.replace("    ", "\t"),
        RICH.replace("    ", "  "),
        RICH.trim_end().to_owned(),
    ];
    for text in variants {
        let all = deletions(&text);
        assert_eq!(all.len(), 45);
        for (statement, edit, left) in &all {
            only_lines_went(&text, edit, left);
            assert!(Source::parse(left).is_some(), "{statement}:\n{left}");
            assert!(!has_empty_body(left), "{statement}:\n{left}");
            assert!(deletions(left).len() < all.len(), "{statement}:\n{left}");
        }
    }
}

#[test]
fn deletions_can_follow_each_other_until_nothing_is_left() {
    let mut text = RICH.to_owned();
    let mut steps = 0;
    while let Some((_, _, left)) = deletions(&text).into_iter().next_back() {
        assert!(Source::parse(&left).is_some(), "{left}");
        text = left;
        steps += 1;
        assert!(steps < 100, "{text}");
    }
    assert!(text.contains("    assert x\n"), "{text}");
    assert!(text.contains("OTHER = 1\n"), "{text}");
}
