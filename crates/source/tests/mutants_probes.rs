//! Points and probes fire exactly for what is evaluated.

#[path = "mutants/mod.rs"]
mod support;

use std::fs;
use std::path::Path;

use flakelab_source::Source;
use serde_json::{Value, json};
use support::{described, library, run};

/// A program, what to do with it, and the points that fire, in this order, as `line:column`.
fn program(text: &str, work: &str, fired: Option<&[&str]>) -> Value {
    let source = Source::parse(text).expect("it parses");
    let mut value = described(Path::new("program"), text, &source);
    value["work"] = json!(work);
    value["fired"] = json!(fired);
    value
}

fn check(text: &str, work: &str, fired: &[&str]) {
    let (content, said) = run("probes.py", [program(text, work, Some(fired))].into_iter());
    assert!(content, "{text}\n{said}");
}

#[test]
fn short_circuits() {
    let text = "def f(a, b):\n    return a and b + 1 or 2\n";
    check(text, "f(0, 0)", &["2:5", "2:27"]);
    check(text, "f(1, 0)", &["2:5", "2:18", "2:22"]);
    check(text, "f(1, -1)", &["2:5", "2:18", "2:22", "2:27"]);
    let text = "def f(a, b, c):\n    return a < b + 1 < c - 2\n";
    check(text, "f(5, 1, 9)", &["2:5", "2:16", "2:20"]);
    check(text, "f(1, 1, 9)", &["2:5", "2:16", "2:20", "2:24", "2:28"]);
    let text = "def f(a):\n    return 1 if a else 2\n";
    check(text, "f(1)", &["2:5", "2:12"]);
    check(text, "f(0)", &["2:5", "2:24"]);
}

#[test]
fn exceptions_keep_what_follows_from_being_reached() {
    let text = "def f(a):\n    x = g(a[1], 2)\n    y = 3\n";
    check(text, "try: f([])\nexcept NameError: pass", &["2:5"]);
    let text = "def g(*a): pass\ndef f(a):\n    x = g(a[1], 2)\n    y = 3\n";
    check(
        text,
        "try: f([])\nexcept IndexError: pass",
        &["3:5", "3:13"],
    );
    check(text, "f([0, 0])", &["3:5", "3:13", "3:17", "4:5"]);
    let text = "def f(a):\n    try:\n        x = a()\n    except KeyError:\n        return 1\n    finally:\n        y = 2\n";
    check(text, "f(dict)", &["3:9", "7:9"]);
    check(text, "f(lambda: {}[0])", &["3:9", "5:9", "7:9"]);
}

#[test]
fn comprehensions_and_generators_fire_as_they_go() {
    let text = "def f(a):\n    return [b + 1 for b in a if b > 0]\n";
    check(text, "f([])", &["2:5"]);
    check(text, "f([0])", &["2:5", "2:33", "2:37"]);
    check(text, "f([5])", &["2:5", "2:33", "2:37", "2:13", "2:17"]);
    let text = "def f(a):\n    x = (b + 1 for b in a())\n    return x\n";
    check(text, "f(list)", &["2:5", "3:5"]);
    check(
        text,
        "list(f(lambda: [7]))",
        &["2:5", "3:5", "2:10", "2:14"],
    );
    let text = "def f():\n    yield 5\n    yield 7\n";
    check(text, "f()", &[]);
    check(text, "next(f())", &["2:5"]);
    let text = "f = lambda a=5: a + 7\n";
    check(text, "", &["1:1", "1:14"]);
    check(text, "f()", &["1:1", "1:14", "1:17", "1:21"]);
    let text = "def f(a):\n    return {b + 2: b - 3 for c in a for b in c[4:]}\n";
    check(
        text,
        "f([[0] * 5])",
        &["2:5", "2:46", "2:48", "2:13", "2:17", "2:20", "2:24"],
    );
}

#[test]
fn definitions_fire_where_they_stand_and_bodies_when_they_are_called() {
    let text = "class A:\n    x = 5\n    def f(self, y=7, z=len('a')):\n        return y + 9\n";
    check(text, "", &["2:5", "3:19", "3:24", "3:28"]);
    check(
        text,
        "A().f()",
        &["2:5", "3:19", "3:24", "3:28", "4:9", "4:20"],
    );
    let text = "import functools\n\n@functools.lru_cache(\n    5)\n@staticmethod\ndef f():\n    @property\n    def g(): pass\n";
    check(text, "", &["3:2", "4:5", "5:2"]);
    check("@undefined\n@staticmethod\ndef f(): pass\n", "", &["1:2"]);
    let text = "def d(f): return f\n@d\ndef f():\n    @d\n    def g(): pass\n";
    check(text, "f()", &["2:2", "1:11", "4:6", "1:11"]);
}

#[test]
fn statements_and_conditions() {
    let text = "def f(a):\n    while a > 5:\n        a -= 1\n        if a == 7: break\n    else:\n        a.b = 3\n    return a\n";
    check(
        text,
        "f(9)",
        &[
            "2:11", "2:15", "3:9", "3:14", "4:12", "4:17", "2:11", "2:15", "3:9", "3:14", "4:12",
            "4:17", "4:20", "7:5",
        ],
    );
    let text =
        "def f(a):\n    a[g(1)] = h(2)\n    a[3] += 4\n    del a[5]\n    with a(6) as b: pass\n";
    check(text, "try: f({})\nexcept NameError: pass", &["2:5"]);
    let work = "h = g = lambda x: x\ntry: f({3: 0, 5: 0})\nexcept TypeError: pass";
    check(
        text,
        work,
        &[
            "2:5", "2:17", "2:9", "3:5", "3:7", "3:13", "4:5", "4:11", "5:12",
        ],
    );
    check(
        "x = f'{1 + 2}{3}'\ny = f'{4:{5}}{6=}'\n",
        "",
        &["1:1", "1:8", "1:12", "1:15", "2:1", "2:8"],
    );
}

/// Files of the standard library with something to do: the same result with points, and every probe as its point.
#[test]
#[expect(clippy::print_stdout, reason = "how many there were, for runs by hand")]
fn probes_of_the_standard_library_are_reached_exactly_if_their_points_are() {
    let library = library();
    let work = [
        (
            "textwrap.py",
            "print(wrap('a bc  def-ghi ' * 4, 9), fill('x ' * 9, 7, initial_indent='- '), dedent('  a\\n   b\\n'), shorten('hello big world', 11), indent('a\\n\\nb', '> '))",
        ),
        (
            "difflib.py",
            "a, b = ['one\\n', 'two\\n', 'three\\n'], ['ore\\n', 'tree\\n', 'emu\\n']\nprint(list(ndiff(a, b)), list(unified_diff(a, b)), get_close_matches('appel', ['ape', 'apple', 'peach']), list(context_diff(a, b)))",
        ),
        (
            "shlex.py",
            "print(split('a \"b c\" d\\\\ e # f', comments=True), quote(\"a'b\"), list(shlex('a&&b|c', punctuation_chars=True)))",
        ),
        (
            "fnmatch.py",
            "print(filter(['a.py', 'b.txt'], '*.py'), translate('[!a-c]?*'), fnmatchcase('ab', 'a[b]'))",
        ),
        (
            "graphlib.py",
            "print(list(TopologicalSorter({1: [2], 2: [3]}).static_order()))\ntry: TopologicalSorter({1: [2], 2: [1]}).prepare()\nexcept CycleError as e: print(e)",
        ),
        (
            "colorsys.py",
            "print(rgb_to_hls(.2, .4, .6), hsv_to_rgb(.3, .5, .7), rgb_to_yiq(1, 0, 0))",
        ),
        (
            "json/decoder.py",
            "print(JSONDecoder().decode('[1, {\"a\": 2.5, \"b\": null}] '), py_scanstring('a\\\\n\\\\u00e4\"', 0))",
        ),
        (
            "heapq.py",
            "h = []\nfor x in [5, 1, 4]: heappush(h, x)\nprint(heappop(h), list(merge([1, 4], [2])), nlargest(2, [3, 1, 2]))",
        ),
        (
            "quopri.py",
            "print(encodestring(b'a=\\xff \\n'), decodestring(b'a=3D'))",
        ),
        (
            "base64.py",
            "print(b85encode(b'hello'), b32decode(b'MFRGG==='), b64encode(b'x'))",
        ),
        (
            "bisect.py",
            "print(bisect_left([1, 2, 3], 2), bisect([1], 0))",
        ),
        (
            "fractions.py",
            "print(Fraction('3/4') + Fraction(1, 3), Fraction(1.5), Fraction(5, 3) ** -2, round(Fraction(7, 2)))",
        ),
        (
            "dataclasses.py",
            "@dataclass(order=True, frozen=True)\nclass A:\n    x: int\n    y: list = field(default_factory=list)\nprint(A(1), A(1) < A(2), replace(A(3), x=4), asdict(A(5)))",
        ),
    ];
    // By hand, all of them: MUTANTS_OF=all. Each mutant is a file to compile.
    let quick = [
        "textwrap.py",
        "shlex.py",
        "fnmatch.py",
        "graphlib.py",
        "colorsys.py",
        "bisect.py",
    ];
    let all = std::env::var_os("MUTANTS_OF").is_some();
    let chosen = work.iter().filter(|(name, _)| all || quick.contains(name));
    let programs = chosen.filter_map(|(name, work)| {
        let text = fs::read_to_string(library.join(name)).ok()?;
        let source = Source::parse(&text)?;
        let mut value = described(Path::new(name), &text, &source);
        value["work"] = json!(work);
        Some(value)
    });
    let (content, said) = run("probes.py", programs);
    println!("{said}");
    assert!(content, "see above");
}
