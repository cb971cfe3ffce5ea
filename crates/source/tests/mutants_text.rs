//! Mutants as texts: insides of strings, lines that are to be left out, where probes go, line ends.

#[path = "operators/mod.rs"]
mod support;

use flakelab_source::mutants::Operator;
use support::{check, of, only};

#[test]
fn interiors_of_f_strings() {
    check(
        "f(f'a{b + 1!r:>{2}}{c=}{d[\"e\"]}{None}{x == 3}')\n",
        &[
            ("removed-call", "pass\n"),
            (
                "string",
                "f(f'XXa{b + 1!r:>{2}}{c=}{d[\"e\"]}{None}{x == 3}XX')\n",
            ),
            (
                "arithmetic",
                "f(f'a{b - 1!r:>{2}}{c=}{d[\"e\"]}{None}{x == 3}')\n",
            ),
            (
                "number",
                "f(f'a{b + 2!r:>{2}}{c=}{d[\"e\"]}{None}{x == 3}')\n",
            ),
            (
                "number",
                "f(f'a{b + 0!r:>{2}}{c=}{d[\"e\"]}{None}{x == 3}')\n",
            ),
            (
                "string",
                "f(f'a{b + 1!r:>{2}}{c=}{d[\"XXeXX\"]}{None}{x == 3}')\n",
            ),
            (
                "comparison-negation",
                "f(f'a{b + 1!r:>{2}}{c=}{d[\"e\"]}{None}{x != 3}')\n",
            ),
            (
                "number",
                "f(f'a{b + 1!r:>{2}}{c=}{d[\"e\"]}{None}{x == 4}')\n",
            ),
        ],
    );
}

#[test]
fn what_only_looks_like_an_expression_in_an_f_string() {
    check(
        "f(f'{x:=5}{y:{7}}{z!r:>8}')\n",
        &[
            ("removed-call", "pass\n"),
            ("string", "f(f'XX{x:=5}{y:{7}}{z!r:>8}XX')\n"),
        ],
    );
}

#[test]
fn pragmas_leave_lines_and_blocks_out_and_are_counted() {
    for (text, excluded) in [
        ("f(1)  # pragma: no mutate\n", 3),
        ("def f():  # pragma: no mutate\n    return 1\n", 3),
        (
            "class A:  # pragma: no mutate\n    def f(self, x=5):\n        g()\n",
            2,
        ),
        ("if a:  # pragma: no mutate\n    f()\n", 3),
        ("f(\n  5,  # pragma: no mutate\n)\n", 2),
    ] {
        let all = of(text);
        assert_eq!((all.mutations.len(), all.excluded), (0, excluded), "{text}");
        assert!(all.points.is_empty() && all.units.is_empty(), "{text}");
    }
    // The block, and not what follows it.
    only(
        Operator::RemovedCall,
        "if a:  # pragma: no mutate\n    f()\nelse:\n    g()\nh()\n",
        &[
            "if a:  # pragma: no mutate\n    f()\nelse:\n    pass\nh()\n",
            "if a:  # pragma: no mutate\n    f()\nelse:\n    g()\npass\n",
        ],
    );
    let alone = "@a  # pragma: no mutate\n@b\ndef f(): pass\n";
    only(
        Operator::Decorator,
        alone,
        &["@a  # pragma: no mutate\n\ndef f(): pass\n"],
    );
}

#[test]
fn probes_are_put_where_evaluation_begins() {
    for (text, at, probed) in [
        ("x = a + b\n", 1, "x = (__flakelab_hit__() or a - b)\n"),
        ("f()\n", 0, "__flakelab_hit__(); pass\n"),
        ("x += 1\n", 1, "__flakelab_hit__(); x -= 1\n"),
        (
            "def f():\n    x = yield a\n",
            1,
            "def f():\n    x = (__flakelab_hit__() or (yield None))\n",
        ),
        (
            "def f(a=b): pass\n",
            0,
            "def f(a=(__flakelab_hit__() or None)): pass\n",
        ),
        (
            "x = a or lambda: b\n",
            1,
            "x = (__flakelab_hit__() or (a and lambda: b))\n",
        ),
        (
            "try: pass\nexcept A: b\n",
            0,
            "try: pass\nexcept A: __flakelab_hit__(); raise\n",
        ),
        (
            "for a in b: break\n",
            0,
            "for a in b: __flakelab_hit__(); continue\n",
        ),
        (
            "f('''\n''')\n",
            1,
            "f((__flakelab_hit__() or '''XX\nXX'''))\n",
        ),
        ("x = [\n    a]\n", 1, "x = (__flakelab_hit__() or [\n])\n"),
    ] {
        let all = of(text);
        assert_eq!(all.mutations[at].apply_probed(text), probed);
    }
}

#[test]
fn line_ends_of_other_systems_stay() {
    let text = "f(\r\n  a,\r\n)\r\ng()\r\n";
    only(
        Operator::RemovedCall,
        text,
        &["pass\r\n\r\n\r\ng()\r\n", "f(\r\n  a,\r\n)\r\npass\r\n"],
    );
}
