//! Which statements of a test can be deleted.

use flakelab_source::{Assertions, Source};

/// `depth text` of every statement of `test`.
fn listed(text: &str, path: &[&str], assertions: &Assertions) -> Vec<String> {
    let source = Source::parse(text).expect("it parses");
    let function = source.function(path).expect("a test");
    function
        .statements(assertions)
        .iter()
        .map(|statement| format!("{} {}", statement.depth(), statement.text()))
        .collect()
}

fn check(body: &str, expected: &[&str]) {
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("def test():\n{indented}");
    assert_eq!(
        listed(&text, &["test"], &Assertions::default()),
        expected,
        "{text}"
    );
}

#[test]
fn every_statement_but_assertions() {
    check(
        "reset()\nx = f()\nassert x\nself.assertTrue(x)\nmock.assert_called()\nx.close()",
        &["0 reset()", "0 x = f()", "0 x.close()"],
    );
    check(
        "import a\nfrom b import c\ndel d\nreturn e",
        &["0 import a", "0 from b import c", "0 del d", "0 return e"],
    );
    check("a(); b(); assert c; d()", &["0 a()", "0 b()", "0 d()"]);
}

#[test]
fn what_does_nothing_is_no_helper() {
    check("'''Doc.'''\npass", &[]);
    check("'a' 'b'\n...\nglobal x\nnonlocal y\n'late'", &[]);
    check("f'{a()}'", &["0 f'{a()}'"]);
    check("yield", &["0 yield"]);
}

#[test]
fn a_compound_statement_is_one_and_those_inside_are_further_ones() {
    check(
        "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()",
        &["0 if a:…", "1 b()", "1 d()", "1 e()"],
    );
    check(
        "for a in b:\n    c()\nelse:\n    d()\nwhile e: f()",
        &[
            "0 for a in b:…",
            "1 c()",
            "1 d()",
            "0 while e: f()",
            "1 f()",
        ],
    );
    check(
        "try:\n    a()\nexcept E as e:\n    b()\nelse:\n    c()\nfinally:\n    d()",
        &["0 try:…", "1 a()", "1 b()", "1 c()", "1 d()"],
    );
    check(
        "with a as b:\n    with c:\n        d()\nasync def e():\n    async with f:\n        await g()",
        &[
            "0 with a as b:…",
            "1 with c:…",
            "2 d()",
            "0 async def e():…",
            "1 async with f:…",
            "2 await g()",
        ],
    );
    check(
        "match a:\n    case 1:\n        b()\n    case _: c()",
        &["0 match a:…", "1 b()", "1 c()"],
    );
    check(
        "@a\ndef b():\n    '''Doc.'''\n    return c\nclass D:\n    e = 1\n    def f(self): g()",
        &[
            "0 @a…",
            "1 return c",
            "0 class D:…",
            "1 e = 1",
            "1 def f(self): g()",
            "2 g()",
        ],
    );
}

#[test]
fn an_assertion_keeps_what_is_around_it() {
    check(
        "with lock:\n    for a in b:\n        c()\n        assert a\n    d()",
        &["2 c()", "1 d()"],
    );
    check(
        "with pytest.raises(E):\n    a()\nwith suppress(E):\n    b()",
        &["1 a()", "0 with suppress(E):…", "1 b()"],
    );
    check(
        "def check(x):\n    y = f(x)\n    assert y\ncheck(1)",
        &["1 y = f(x)", "0 check(1)"],
    );
    check("if a: assert b", &[]);
    check("c = pytest.raises(E, f)\nawait assert_soon(x)", &[]);
}

#[test]
fn further_assertions_are_configured() {
    let text = "def test():\n    a()\n    verify(b)\n";
    assert_eq!(
        listed(text, &["test"], &Assertions::default()),
        ["0 a()", "0 verify(b)"]
    );
    assert_eq!(
        listed(text, &["test"], &Assertions::with(["verify"])),
        ["0 a()"]
    );
}

#[test]
fn methods_and_bodies_on_one_line() {
    let text = "class T:\n    @mark\n    def test_a(self): a(); b()\n";
    assert_eq!(
        listed(text, &["T", "test_a"], &Assertions::default()),
        ["0 a()", "0 b()"]
    );
}

#[test]
fn a_statement_says_where_it_is_and_shows_its_first_line() {
    let long = "y".repeat(300);
    let text = format!("def test():\n    # why\n    x = f(\n        1,\n    )\n    {long}()\n");
    let source = Source::parse(&text).expect("it parses");
    let function = source.function(&["test"]).expect("a test");
    let found = function.statements(&Assertions::default());
    assert_eq!((found[0].line(), found[1].line()), (3, 6));
    assert_eq!(found[0].text(), "x = f(…");
    assert_eq!(&text[found[0].range()], "x = f(\n        1,\n    )");
    assert_eq!(found[1].text(), format!("{}…", "y".repeat(120)));
}

#[test]
fn what_is_deeper_than_python_allows_is_not_looked_at() {
    let nested = |levels: usize| {
        let lines: String = (1..=levels)
            .map(|n| format!("{}if x:\n", " ".repeat(n)))
            .collect();
        format!("def test():\n{lines}{}x()\n", " ".repeat(levels + 1))
    };
    let all = listed(&nested(90), &["test"], &Assertions::default());
    assert_eq!(all.len(), 91);
    let Some(source) = Source::parse(&nested(150)) else {
        return;
    };
    let function = source.function(&["test"]).expect("a test");
    assert!(function.statements(&Assertions::default()).is_empty());
}
