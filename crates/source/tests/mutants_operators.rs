//! What each operator makes of code, to the byte, and what it leaves alone.

#[path = "operators/mod.rs"]
mod support;

use flakelab_source::mutants::Operator;
use support::{check, of, only};

#[test]
fn arithmetic() {
    for (from, to) in [
        ("a + b", "a - b"),
        ("a - b", "a + b"),
        ("a * b", "a / b"),
        ("a / b", "a * b"),
        ("a // b", "a / b"),
        ("a % b", "a / b"),
        ("a ** b", "a * b"),
        ("a @ b", "a * b"),
        // What binds less gets parentheses.
        ("-a ** b", "-(a * b)"),
    ] {
        let all = of(&format!("x({from})\n"));
        let one = all
            .mutations
            .iter()
            .find(|one| one.operator == Operator::Arithmetic)
            .expect("one");
        assert_eq!(one.apply(&format!("x({from})\n")), format!("x({to})\n"));
    }
    only(
        Operator::Arithmetic,
        "x = a ** b ** c\n",
        &["x = a * b ** c\n", "x = a ** (b * c)\n"],
    );
    // It could only raise.
    only(
        Operator::Arithmetic,
        "x = 'a' + b\ny = '%d' % (1 - z)\n",
        &["x = 'a' + b\ny = '%d' % (1 + z)\n"],
    );
}

#[test]
fn bitwise() {
    only(Operator::Bitwise, "x = a & b\n", &["x = a | b\n"]);
    only(
        Operator::Bitwise,
        "x = a | b + c\ny = a << b\nz = a >> b\n",
        &[
            "x = a & b + c\ny = a << b\nz = a >> b\n",
            "x = a | b + c\ny = a >> b\nz = a >> b\n",
            "x = a | b + c\ny = a << b\nz = a << b\n",
        ],
    );
    only(
        Operator::Bitwise,
        "x = a | b | c\n",
        &["x = a & b | c\n", "x = (a | b) & c\n"],
    );
    only(
        Operator::Bitwise,
        "x = a & b & c\n",
        &["x = (a | b) & c\n", "x = a & b | c\n"],
    );
    // The parser's operands are not Python's.
    only(Operator::Bitwise, "x = a & b ^ c\n", &[]);
}

#[test]
fn comparisons() {
    check(
        "f(a < b)\n",
        &[
            ("removed-call", "pass\n"),
            ("comparison-boundary", "f(a <= b)\n"),
            ("comparison-negation", "f(a >= b)\n"),
        ],
    );
    for (from, to) in [
        ("a <= b", &["a < b", "a > b"][..]),
        ("a > b", &["a >= b", "a <= b"]),
        ("a >= b", &["a > b", "a < b"]),
        ("a == b", &["a != b"]),
        ("a != b", &["a == b"]),
        ("a in b", &["a not in b"]),
        ("a not  in b", &["a in b"]),
        ("a is b", &["a is not b"]),
        ("a is not None", &["a is None"]),
        ("a <b< c", &["a <=b< c", "a >=b< c", "a <b<= c", "a <b>= c"]),
    ] {
        let text = format!("return {from}\n");
        let found: Vec<String> = of(&text)
            .mutations
            .iter()
            .filter(|one| one.operator.word().starts_with("comparison"))
            .map(|one| one.apply(&text))
            .collect();
        let expected: Vec<String> = to.iter().map(|to| format!("return {to}\n")).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn booleans() {
    only(
        Operator::Boolean,
        "x = a and b or c\n",
        &["x = a or b or c\n", "x = a and b and c\n"],
    );
    only(
        Operator::Boolean,
        "x = a or b or not (c and d)\n",
        &[
            "x = a and b or not (c and d)\n",
            "x = (a or b) and not (c and d)\n",
            "x = a or b or not (c or d)\n",
        ],
    );
    only(
        Operator::Boolean,
        "x = a and b and c\n",
        &["x = (a or b) and c\n", "x = a and b or c\n"],
    );
}

#[test]
fn unary() {
    only(
        Operator::Unary,
        "x = not a\ny = [-a, ~b, +c]\n",
        &[
            "x = a\ny = [-a, ~b, +c]\n",
            "x = not a\ny = [a, ~b, +c]\n",
            "x = not a\ny = [-a, b, +c]\n",
            "x = not a\ny = [-a, ~b, -c]\n",
        ],
    );
    only(
        Operator::Unary,
        "def f():\n    return-x\n",
        &["def f():\n    return x\n"],
    );
}

#[test]
fn constants() {
    check(
        "f(0, 1.5, 'a', '', True, None)\n",
        &[
            ("removed-call", "pass\n"),
            ("number", "f(1, 1.5, 'a', '', True, None)\n"),
            ("number", "f(-1, 1.5, 'a', '', True, None)\n"),
            ("number", "f(0, 2.5, 'a', '', True, None)\n"),
            ("string", "f(0, 1.5, 'XXaXX', '', True, None)\n"),
            ("string", "f(0, 1.5, 'a', 'XX', True, None)\n"),
            ("true-false", "f(0, 1.5, 'a', '', False, None)\n"),
            ("none", "f(0, 1.5, 'a', '', True, \"XX\")\n"),
        ],
    );
    only(
        Operator::Text,
        "x = ('a'  # why\n     f\"{b}\" rb'''c''')\n",
        &["x = ('XXa'  # why\n     f\"{b}\" rb'''cXX''')\n"],
    );
    only(
        Operator::Number,
        "x = a[0] ** 0\n",
        &[
            "x = a[1] ** 0\n",
            "x = a[-1] ** 0\n",
            "x = a[0] ** 1\n",
            "x = a[0] ** (-1)\n",
        ],
    );
    // An identity with a literal, and a cause that is none, tell nothing.
    only(
        Operator::Nothing,
        "def f(x):\n    if x is None:\n        raise E from None\n    return None\n",
        &[],
    );
}

#[test]
fn return_values_and_yields() {
    check(
        "def f():\n    return x\n",
        &[("return-value", "def f():\n    return None\n")],
    );
    check("def f():\n    return\n", &[]);
    check("def f():\n    return None\n", &[]);
    check(
        "def f():\n    return (a,\n            b)\n",
        &[
            ("return-value", "def f():\n    return (None\n)\n"),
            ("container", "def f():\n    return (\n)\n"),
        ],
    );
    check(
        "x = lambda: y\n",
        &[
            ("removed-statement", "pass\n"),
            ("return-value", "x = lambda: None\n"),
        ],
    );
    check(
        "def f():\n    yield x\n    y = yield\n    yield from z\n",
        &[
            (
                "yield",
                "def f():\n    yield None\n    y = yield\n    yield from z\n",
            ),
            (
                "removed-statement",
                "def f():\n    yield x\n    pass\n    yield from z\n",
            ),
            (
                "yield",
                "def f():\n    yield x\n    y = yield\n    yield from ()\n",
            ),
        ],
    );
}

#[test]
fn removed_statements() {
    check(
        "def f(x):\n    x.a = b\n    del x\n    raise\n",
        &[
            (
                "removed-statement",
                "def f(x):\n    pass\n    del x\n    raise\n",
            ),
            (
                "removed-statement",
                "def f(x):\n    x.a = b\n    pass\n    raise\n",
            ),
            (
                "removed-statement",
                "def f(x):\n    x.a = b\n    del x\n    pass\n",
            ),
        ],
    );
    check(
        "async def f():\n    await g()\n    assert x, y\n",
        &[
            (
                "removed-call",
                "async def f():\n    pass\n    assert x, y\n",
            ),
            (
                "removed-statement",
                "async def f():\n    await g()\n    pass\n",
            ),
        ],
    );
    // Lines stay, also where something follows on the last of them.
    check(
        "f(\n  a,\n)\ng(\n); h()\n",
        &[
            ("removed-call", "pass\n\n\ng(\n); h()\n"),
            ("removed-call", "f(\n  a,\n)\npass \\\n; h()\n"),
            ("removed-call", "f(\n  a,\n)\ng(\n); pass\n"),
        ],
    );
    check(
        "for a in b:\n    if c: break\n    continue\n",
        &[
            (
                "condition",
                "for a in b:\n    if True: break\n    continue\n",
            ),
            (
                "condition",
                "for a in b:\n    if False: break\n    continue\n",
            ),
            (
                "loop-exit",
                "for a in b:\n    if c: continue\n    continue\n",
            ),
            ("loop-exit", "for a in b:\n    if c: break\n    break\n"),
        ],
    );
}

#[test]
fn what_an_inner_function_needs_keeps_an_assignment() {
    only(
        Operator::RemovedStatement,
        "def f():\n    n = g()\n    def h():\n        nonlocal n\n        n += k\n",
        &["def f():\n    n = None\n    def h():\n        nonlocal n\n        n += k\n"],
    );
}

#[test]
fn conditions() {
    only(
        Operator::Condition,
        "if a:\n    pass\nelif(b):\n    pass\nwhile c:\n    pass\nx = d if e else f\n",
        &[
            "if True:\n    pass\nelif(b):\n    pass\nwhile c:\n    pass\nx = d if e else f\n",
            "if False:\n    pass\nelif(b):\n    pass\nwhile c:\n    pass\nx = d if e else f\n",
            "if a:\n    pass\nelif True:\n    pass\nwhile c:\n    pass\nx = d if e else f\n",
            "if a:\n    pass\nelif False:\n    pass\nwhile c:\n    pass\nx = d if e else f\n",
            "if a:\n    pass\nelif(b):\n    pass\nwhile False:\n    pass\nx = d if e else f\n",
            "if a:\n    pass\nelif(b):\n    pass\nwhile c:\n    pass\nx = d if True else f\n",
            "if a:\n    pass\nelif(b):\n    pass\nwhile c:\n    pass\nx = d if False else f\n",
        ],
    );
    only(
        Operator::Condition,
        "match a:\n    case [b, 1] if c:\n        pass\n",
        &[
            "match a:\n    case [b, 1] if True:\n        pass\n",
            "match a:\n    case [b, 1] if False:\n        pass\n",
        ],
    );
    check(
        "x = [a for a in b if c]\n",
        &[
            ("removed-statement", "pass\n"),
            ("comprehension-condition", "x = [a for a in b if True]\n"),
            ("comprehension-condition", "x = [a for a in b if False]\n"),
        ],
    );
    // One text, one mutant.
    check(
        "while True:\n    pass\n",
        &[("condition", "while False:\n    pass\n")],
    );
}

#[test]
fn augmented_assignments() {
    check(
        "a.b += c\n",
        &[
            ("removed-statement", "pass\n"),
            ("augmented-assignment", "a.b -= c\n"),
            ("augmented-assignment", "a.b = c\n"),
        ],
    );
    for (from, to) in [
        ("-=", "+="),
        ("*=", "/="),
        ("/=", "*="),
        ("//=", "/="),
        ("%=", "/="),
        ("**=", "*="),
        ("@=", "*="),
        ("<<=", ">>="),
        (">>=", "<<="),
        ("&=", "|="),
        ("|=", "&="),
        ("^=", "&="),
    ] {
        only(
            Operator::AugmentedAssignment,
            &format!("a {from} b\n"),
            &[&format!("a {to} b\n"), "a = b\n"],
        );
    }
    // Texts cannot be subtracted or divided.
    for text in ["a += 'b'\n", "a %= f'b'\n"] {
        only(
            Operator::AugmentedAssignment,
            text,
            &[&text.replace("+=", "=").replace("%=", "=")],
        );
    }
}

#[test]
fn slices_and_containers() {
    only(
        Operator::Slice,
        "x = a[b:c]\ny = a[:c:d]\nz = a[b:]\n",
        &[
            "x = a[:c]\ny = a[:c:d]\nz = a[b:]\n",
            "x = a[b:]\ny = a[:c:d]\nz = a[b:]\n",
            "x = a[b:c]\ny = a[::d]\nz = a[b:]\n",
            "x = a[b:c]\ny = a[:c:d]\nz = a[:]\n",
        ],
    );
    // Bounds that say what is so without them.
    only(
        Operator::Slice,
        "x = a[0:n], a[0::2], a[None:n:None], a[m:None]\n",
        &[
            "x = a[0:], a[0::2], a[None:n:None], a[m:None]\n",
            "x = a[0:n], a[0::2], a[None::None], a[m:None]\n",
            "x = a[0:n], a[0::2], a[None:n:None], a[:None]\n",
        ],
    );
    for text in ["x = a[0::-1]\n", "x = a[0::step]\n"] {
        only(Operator::Slice, text, &[&text.replace("0", "")]);
    }
    // What is assigned to stays; what is evaluated in it does not.
    only(Operator::Slice, "a[b:c] = d\n", &[]);
    only(Operator::Slice, "a[b:].c = d\n", &["a[:].c = d\n"]);
    only(
        Operator::Container,
        "f([a], {b: c}, {d}, (e,), [], {}, ())\n",
        &[
            "f([], {b: c}, {d}, (e,), [], {}, ())\n",
            "f([a], {}, {d}, (e,), [], {}, ())\n",
            "f([a], {b: c}, set(), (e,), [], {}, ())\n",
            "f([a], {b: c}, {d}, (), [], {}, ())\n",
        ],
    );
    only(
        Operator::Container,
        "x = a, b\ny, z = a, b\nfor i in a, b: pass\n",
        &[
            "x = ()\ny, z = a, b\nfor i in a, b: pass\n",
            "x = a, b\ny, z = a, b\nfor i in (): pass\n",
        ],
    );
    only(
        Operator::Container,
        "x = [  # why\n    a,\n]\n",
        &["x = [\n\n]\n"],
    );
}

#[test]
fn exception_handlers() {
    check(
        "try:\n    a()\nexcept (B, C) as e:\n    # why\n    d()\n    e()\nexcept F: pass\nexcept G:\n    raise\n",
        &[
            (
                "removed-call",
                "try:\n    pass\nexcept (B, C) as e:\n    # why\n    d()\n    e()\nexcept F: pass\nexcept G:\n    raise\n",
            ),
            (
                "removed-call",
                "try:\n    a()\nexcept (B, C) as e:\n    # why\n    pass\n    e()\nexcept F: pass\nexcept G:\n    raise\n",
            ),
            (
                "exception-handler",
                "try:\n    a()\nexcept (B, C) as e:\n    # why\n    raise\n\nexcept F: pass\nexcept G:\n    raise\n",
            ),
            (
                "removed-call",
                "try:\n    a()\nexcept (B, C) as e:\n    # why\n    d()\n    pass\nexcept F: pass\nexcept G:\n    raise\n",
            ),
            (
                "exception-handler",
                "try:\n    a()\nexcept (B, C) as e:\n    # why\n    d()\n    e()\nexcept F: raise\nexcept G:\n    raise\n",
            ),
            (
                "removed-statement",
                "try:\n    a()\nexcept (B, C) as e:\n    # why\n    d()\n    e()\nexcept F: pass\nexcept G:\n    pass\n",
            ),
        ],
    );
}

#[test]
fn default_arguments() {
    check(
        "def f(a, b=1, *, c: int = g(), d=None):\n    pass\n",
        &[
            (
                "default-argument",
                "def f(a, b=2, *, c: int = g(), d=None):\n    pass\n",
            ),
            (
                "default-argument",
                "def f(a, b=0, *, c: int = g(), d=None):\n    pass\n",
            ),
            (
                "default-argument",
                "def f(a, b=1, *, c: int = None, d=None):\n    pass\n",
            ),
            (
                "default-argument",
                "def f(a, b=1, *, c: int = g(), d=\"XX\"):\n    pass\n",
            ),
        ],
    );
}

#[test]
fn decorators() {
    let text = "@a\n@b(\n  1)  # why\ndef f():\n    pass\n";
    check(
        text,
        &[
            ("decorator", "\n@b(\n  1)  # why\ndef f():\n    pass\n"),
            ("decorator", "@a\n\n  # why\ndef f():\n    pass\n"),
            ("number", "@a\n@b(\n  2)  # why\ndef f():\n    pass\n"),
            ("number", "@a\n@b(\n  0)  # why\ndef f():\n    pass\n"),
        ],
    );
    assert_eq!(
        of(text).mutations[1].apply_probed(text),
        "@a\n@__flakelab_seen__\n  # why\ndef f():\n    pass\n"
    );
}

#[test]
fn what_is_left_alone() {
    for text in [
        "'''Doc.'''\nfrom __future__ import annotations\nimport a.b as c\n",
        "x: List[1] \ndef f(a: 'b', *c: 1) -> d[2]:\n    '''Doc.'''\n    global e\n    'comment'\n    ...\n",
        "class A(b(1), c=2):\n    '''Doc.'''\n    x: int\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "if typing.TYPE_CHECKING:\n    x = 1\n",
        "if __name__ == '__main__':\n    x = 1\n",
        "__version__ = '1'\n__author__ = 'me'\n__license__ = 'MIT'\n__all__ = ['a']\n__all__ += ['b']\n",
        "match a:\n    case 1 | 'x' | [True, None]:\n        pass\n",
        "for a in b:\n    pass\nwith c as d:\n    pass\n",
        "@typing.overload\n@final\ndef f(a=1): ...\n",
        "class A:\n    @overload\n    def f(self, a: int = 2) -> int:\n        raise NotImplementedError\n",
    ] {
        check(text, &[]);
    }
    // But what is done instead is not.
    only(
        Operator::Number,
        "if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 2\n",
        &["if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 3\n"],
    );
    // In a function, `__all__` is a name like any other.
    only(
        Operator::Number,
        "def f():\n    __all__ = 3\n",
        &["def f():\n    __all__ = 4\n"],
    );
}

#[test]
fn every_operator_has_a_word_of_its_own() {
    let mut words: Vec<&str> = Operator::ALL.iter().map(|o| o.word()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Operator::ALL.len());
    for operator in Operator::ALL {
        assert_eq!(Operator::named(operator.word()), Some(operator));
        assert!(!operator.says().is_empty());
    }
    assert_eq!(Operator::named("other"), None);
}
