//! What a compiler would say to the deletion of a statement. `# <-` marks the one that is deleted.

use flakelab_source::{Assertions, Function, Source};

/// The body of a test, its deleted statement, and the names that are left unbound.
fn check(body: &str, unbound: &[&str]) {
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    check_file(
        &format!(
            "import os\nSHARED = []\n\n\ndef test(fixture, *args, key=None, **rest):\n{indented}"
        ),
        unbound,
    );
}

fn check_file(text: &str, unbound: &[&str]) {
    let source = Source::parse(text).expect("it parses");
    let function: Function<'_> = source.function(&["test"]).expect("a test");
    let line = 1 + text
        .lines()
        .position(|line| line.contains("# <-"))
        .expect("a mark");
    let statement = function
        .statements(&Assertions::default())
        .into_iter()
        .find(|statement| statement.line() == line)
        .expect("a statement at the mark");
    assert_eq!(statement.leaves_unbound(), unbound, "{text}");
}

#[test]
fn a_name_that_nothing_else_binds() {
    check("x = 1  # <-\nuse(x)", &["x"]);
    check("x = 1  # <-\nassert x", &["x"]);
    check("x = y = 1  # <-\nuse(y, x)", &["y", "x"]);
    check("a, (b, *c) = f()  # <-\nuse(a, b, c)", &["a", "b", "c"]);
    check("[a, b] = f()  # <-\nuse(b)", &["b"]);
    check("x: int = 1  # <-\nuse(x)", &["x"]);
    check("x = 1  # <-", &[]);
    check("x = 1\nuse(x)  # <-", &[]);
    check("x = 1  # <-\nuse(x)\nuse(x)", &["x"]);
}

#[test]
fn a_name_that_is_bound_again() {
    check("x = 1  # <-\nx = 2\nuse(x)", &[]);
    check("x = 1\nx = 2  # <-\nuse(x)", &[]);
    check("x = 1  # <-\nuse(x)\nx = 2", &["x"]);
    check("fixture = 1  # <-\nuse(fixture)", &[]);
    check("args = 1  # <-\nuse(args)", &[]);
    check("key = rest = 1  # <-\nuse(key, rest)", &[]);
}

#[test]
fn a_name_that_becomes_a_global_one() {
    check("SHARED = [1]  # <-\nuse(SHARED)", &[]);
    check("os = fake()  # <-\nuse(os.path)", &[]);
    check("list = [1]  # <-\nuse(list)", &[]);
    check("test = 1  # <-\nuse(test)", &[]);
    check("SHARED = [1]  # <-\nuse(SHARED)\nSHARED = []", &["SHARED"]);
    check_file(
        "from a import *\ndef test():\n    x = 1  # <-\n    use(x)\n",
        &[],
    );
    check_file(
        "try:\n    import a as x\nexcept ImportError:\n    x = None\ndef test():\n    x = 1  # <-\n    use(x)\n",
        &[],
    );
    check_file(
        "class A:\n    x = 1\ndef test():\n    x = 1  # <-\n    use(x)\n",
        &["x"],
    );
}

#[test]
fn attributes_and_items_are_no_names() {
    check("fixture.x = 1  # <-\nuse(fixture.x)", &[]);
    check("fixture['x'] = 1  # <-\nuse(fixture['x'])", &[]);
    check("x = 1  # <-\nuse(fixture.x, x=2)", &[]);
    check("x = 1  # <-\nfixture.x = 2", &[]);
    check("x = 1  # <-\nfixture[x] = 2", &["x"]);
    check("x = 1  # <-\nx.y = 2", &["x"]);
}

#[test]
fn branches() {
    check("if a():\n    x = 1  # <-\nelse:\n    x = 2\nuse(x)", &["x"]);
    check("x = 0\nif a():\n    x = 1  # <-\nuse(x)", &[]);
    check("x = 0  # <-\nif a():\n    x = 1\nuse(x)", &["x"]);
    check(
        "x = 0  # <-\nif a():\n    x = 1\nelse:\n    x = 2\nuse(x)",
        &[],
    );
    check(
        "x = 0  # <-\nif a():\n    x = 1\nelif b():\n    x = 2\nuse(x)",
        &["x"],
    );
    // It had a value on some paths; now on none.
    check("if a():\n    x = 1  # <-\nuse(x)", &["x"]);
    check("if a():\n    x = 1  # <-\nif b():\n    x = 2\nuse(x)", &[]);
    check("if a():  # <-\n    x = 1\nelse:\n    x = 2\nuse(x)", &["x"]);
    check(
        "if a():\n    return  # <-\nelse:\n    x = 1\nuse(x)",
        &["x"],
    );
    check(
        "if a():\n    raise E  # <-\nelse:\n    x = 1\nuse(x)",
        &["x"],
    );
    check("x = 1  # <-\nuse(2 if x else 3)", &["x"]);
}

#[test]
fn loops() {
    check("for x in y():  # <-\n    pass\nuse(x)", &["x"]);
    check("for x in y():\n    z = x  # <-\n    use(z)", &["z"]);
    check("for x in y():\n    z = x  # <-\nuse(z)", &["z"]);
    check("z = 0\nfor x in y():\n    z = x  # <-\nuse(z)", &[]);
    check("z = 0  # <-\nfor x in y():\n    z += x", &["z"]);
    check("z = 0  # <-\nfor x in y():\n    z = x\nuse(z)", &["z"]);
    check("z = 0  # <-\nwhile a():\n    z = 1\nuse(z)", &["z"]);
    check(
        "while True:\n    z = 1  # <-\n    if z: break\nuse(z)",
        &["z"],
    );
    check(
        "z = 0  # <-\nwhile True:\n    z = 1\n    break\nuse(z)",
        &[],
    );
    check(
        "for x in y():\n    z = 1\n    break\nelse:\n    z = 2  # <-\nuse(z)",
        &["z"],
    );
    check(
        "for x in y():\n    if a():\n        continue  # <-\n    else:\n        z = 1\n    use(z)",
        &["z"],
    );
    check(
        "for x in y():\n    for w in x:\n        z = w  # <-\n        use(z)",
        &["z"],
    );
    check("for fixture.x in y():  # <-\n    pass", &[]);
}

#[test]
fn exceptions() {
    check(
        "try:\n    x = f()  # <-\nexcept E:\n    x = 1\nuse(x)",
        &["x"],
    );
    check(
        "x = 0  # <-\ntry:\n    x = f()\nexcept E:\n    pass\nuse(x)",
        &["x"],
    );
    check(
        "x = 0\ntry:\n    x = f()  # <-\nexcept E:\n    pass\nuse(x)",
        &[],
    );
    check(
        "x = 0  # <-\ntry:\n    x = f()\nexcept E:\n    return\nuse(x)",
        &[],
    );
    check(
        "x = 0  # <-\ntry:\n    x = f()\nfinally:\n    use(x)",
        &["x"],
    );
    check(
        "x = 0  # <-\ntry:\n    f()\nfinally:\n    x = 1\nuse(x)",
        &[],
    );
    check("try:\n    f()\nfinally:\n    x = 1  # <-\nuse(x)", &["x"]);
    check("try:\n    x = f()  # <-\nfinally:\n    g()\nuse(x)", &["x"]);
    check(
        "try:\n    f()\nexcept E:\n    x = 1\nelse:\n    x = 2  # <-\nuse(x)",
        &["x"],
    );
    check(
        "try:\n    f()\nexcept E as e:\n    e = 1  # <-\n    use(e)",
        &[],
    );
    check(
        "e = 0  # <-\ntry:\n    f()\nexcept E as e:\n    return\nuse(e)",
        &["e"],
    );
    check(
        "try:\n    f()\nexcept* E as e:\n    x = e  # <-\n    use(x)",
        &["x"],
    );
    check(
        "E = make()  # <-\ntry:\n    f()\nexcept (E, V):\n    pass",
        &["E"],
    );
}

#[test]
fn context_managers() {
    check("with open(a) as f:  # <-\n    pass\nuse(f)", &["f"]);
    check("with open(a) as f:\n    x = f.read()  # <-\nuse(x)", &["x"]);
    check(
        "with (a() as b, c(b) as (d, e)):  # <-\n    pass\nuse(e)",
        &["e"],
    );
    check(
        "path = p()  # <-\nwith open(path) as f:\n    pass",
        &["path"],
    );
    // What a `with` swallows does not end the test.
    check(
        "x = 1  # <-\nwith pytest.raises(E):\n    raise E\nuse(x)",
        &["x"],
    );
    check(
        "async def go():\n    async with a() as b:  # <-\n        pass\n    use(b)",
        &["b"],
    );
}

#[test]
fn patterns() {
    check(
        "match v():  # <-\n    case [x, *y]:\n        pass\nuse(x, y)",
        &["x", "y"],
    );
    check(
        "match v():\n    case {'k': x, **kw} as m:\n        z = x, kw, m  # <-\n        use(z)",
        &["z"],
    );
    check(
        "x = 0  # <-\nmatch v():\n    case P(a=x):\n        pass\n    case _:\n        x = 1\nuse(x)",
        &[],
    );
    check(
        "x = 0  # <-\nmatch v():\n    case 1 | 2:\n        x = 1\nuse(x)",
        &["x"],
    );
    check(
        "x = 0  # <-\nmatch v():\n    case x:\n        pass\nuse(x)",
        &[],
    );
    check(
        "x = 0  # <-\nmatch v():\n    case x if x:\n        pass\nuse(x)",
        &["x"],
    );
    check(
        "P = p()  # <-\nmatch v():\n    case P(a=1):\n        pass",
        &["P"],
    );
    check(
        "c = p()  # <-\nmatch v():\n    case c.RED:\n        pass",
        &["c"],
    );
}

#[test]
fn imports_and_definitions() {
    check("import a.b  # <-\nuse(a.b)", &["a"]);
    check("import a.b as c  # <-\nuse(c, a)", &["c"]);
    check("from a import b, c as d  # <-\nuse(b, d)", &["b", "d"]);
    check("import a.b  # <-\nimport a.c\nuse(a.b)", &[]);
    check("def g():  # <-\n    return 1\nuse(g)", &["g"]);
    check("class A:  # <-\n    pass\nuse(A())", &["A"]);
    check("@decorated  # <-\ndef g():\n    return 1\nuse(g)", &["g"]);
    check("d = 1  # <-\n@d\ndef g(): pass", &["d"]);
    check("d = 1  # <-\ndef g(a=d, *, b: int = 2): pass", &["d"]);
    check("T = 1  # <-\ndef g(a: T) -> T: pass", &["T"]);
    check_file(
        "from __future__ import annotations\ndef test():\n    T = 1  # <-\n    def g(a: T) -> T: pass\n",
        &[],
    );
    check("type X = int  # <-\nuse(X)", &["X"]);
}

#[test]
fn augmented_assignment_walrus_and_del() {
    check("x = 1  # <-\nx += 1", &["x"]);
    check("x = 1\nx += 1  # <-\nuse(x)", &[]);
    check("if (x := f()):  # <-\n    pass\nuse(x)", &["x"]);
    check("use(y := f())  # <-\nuse(y)", &["y"]);
    check("use([y := i for i in z()])  # <-\nuse(y)", &["y"]);
    check("x = 1  # <-\ndel x", &["x"]);
    check("x = 1\ndel x  # <-\nx = 2", &[]);
    check("x = 1\ndel x\nx = 2  # <-\nuse(x)", &["x"]);
}

#[test]
fn comprehensions_have_their_own_names() {
    check("x = 1  # <-\nuse([x for x in y()])", &[]);
    check("x = 1  # <-\nuse([x for x in x])", &["x"]);
    check("x = 1  # <-\nuse({a: x for a in y()})", &["x"]);
    check("x = 1  # <-\nuse(a for a in y() if a != x)", &["x"]);
    check("x = 1  # <-\nuse(b for a in y() for b in (a, x))", &["x"]);
    check("x = 1  # <-\nuse({x for a in y() for x in a})", &[]);
    check("x = 1  # <-\nuse(f'{x!r:>{1}}')", &["x"]);
    check("w = 1  # <-\nuse(f'{1:{w}}')", &["w"]);
    check("x = 1  # <-\nuse('x')  # x", &[]);
}

#[test]
fn functions_inside_use_the_names_around() {
    check("x = 1  # <-\ndef g():\n    return x\nuse(g())", &["x"]);
    check("def g():\n    return x\nx = 1  # <-\nuse(g())", &["x"]);
    check("def g():\n    return x\nx = 1  # <-\nx = 2\nuse(g())", &[]);
    check("x = 1  # <-\nuse(lambda: x)", &["x"]);
    check("x = 1  # <-\nuse(lambda x: x)", &[]);
    check("x = 1  # <-\nuse(lambda y=x: y)", &["x"]);
    check("x = 1  # <-\ndef g(x):\n    return x", &[]);
    check("x = 1  # <-\ndef g():\n    x = 2\n    return x", &[]);
    check(
        "x = 1  # <-\nclass A:\n    y = x\n    def m(self): return x",
        &["x"],
    );
    check("x = 1\nclass A:\n    x = 2  # <-\n    y = x", &[]);
    check("class A:\n    x = 2  # <-\n    y = x", &["x"]);
    check(
        "class A:\n    x = 2  # <-\n    def m(self): return self.x",
        &[],
    );
}

#[test]
fn statements_of_functions_inside() {
    check("def g():\n    x = 1  # <-\n    return x", &["x"]);
    check("x = 0\ndef g():\n    x = 1  # <-\n    return x", &[]);
    check("def g(x):\n    x = 1  # <-\n    return x", &[]);
    check(
        "def g():\n    def h():\n        x = 1  # <-\n        return x\n    return h",
        &["x"],
    );
}

#[test]
fn global_and_nonlocal() {
    check("global SHARED\nSHARED = [1]  # <-\nuse(SHARED)", &[]);
    check("global other\nother = 1  # <-\nuse(other)", &["other"]);
    // Another test binds it: this is how brittle tests come about.
    check_file(
        "def test():\n    global cache\n    cache = 1  # <-\n    use(cache)\ndef test_b():\n    global cache\n    cache = 2\n",
        &[],
    );
    // Without the binding `nonlocal` does not compile.
    check(
        "n = 0  # <-\ndef g():\n    nonlocal n\n    n = 1\ng()",
        &["n"],
    );
    check(
        "n = 0  # <-\ndef g():\n    nonlocal n\n    n += 1\ng()\nn = 1",
        &["n"],
    );
    check(
        "n = 0\ndef g():\n    nonlocal n\n    n = 1  # <-\ng()\nuse(n)",
        &[],
    );
}

#[test]
fn code_that_is_never_reached_does_not_count() {
    check("x = 1  # <-\nreturn\nuse(x)", &[]);
    check("x = 1  # <-\nwhile True:\n    pass\nuse(x)", &[]);
}

#[test]
fn what_was_wrong_before_is_not_held_against_the_deletion() {
    check("use(nowhere)\nx = 1  # <-", &[]);
    check("use(x)\nx = 1\nx = 2  # <-", &[]);
}

#[test]
fn long_expressions_do_not_exhaust_the_stack() {
    let sum = vec!["x"; 5_000].join(" + ");
    check(&format!("x = 1  # <-\nuse({sum})"), &["x"]);
    let dots = ".a()".repeat(5_000);
    check(&format!("x = 1  # <-\nx{dots}"), &["x"]);
}
