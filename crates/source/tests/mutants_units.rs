//! What is put in place as a whole, how mutations are named, and files that are no pleasure.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_source::mutants::{Mutants, Mutation, Operator, UnitKind};
use flakelab_source::{Source, mutants};

fn of(text: &str) -> Mutants {
    mutants(&Source::parse(text).expect("it parses"))
}

fn removed<'m>(all: &'m Mutants, text: &str, call: &str) -> &'m Mutation {
    all.mutations
        .iter()
        .find(|one| one.operator == Operator::RemovedCall && &text[one.span.clone()] == call)
        .expect("a removed call")
}

const NESTED: &str = "\
top()


@deco
class Cart:
    inner()

    @property
    async def total(self, tax=dflt()):
        def helper():
            deep()
        class Local:
            def method(self):
                deeper()
        return 1

    if cond:
        def other(self): same()
    else:
        early()

try:
    from a import b
except ImportError:
    def b():
        fallback()
";

#[test]
fn the_outermost_function_is_a_unit_and_so_is_each_statement_at_import() {
    use UnitKind::{Function, Import};
    let all = of(NESTED);
    for (call, kind, path, classes, name, lines) in [
        ("top()", Import, "<module>", &[][..], "", (1, 1)),
        ("inner()", Import, "Cart", &["Cart"], "", (6, 6)),
        ("deep()", Function, "Cart.total", &["Cart"], "total", (8, 9)),
        (
            "deeper()",
            Function,
            "Cart.total",
            &["Cart"],
            "total",
            (8, 9),
        ),
        (
            "same()",
            Function,
            "Cart.other",
            &["Cart"],
            "other",
            (18, 18),
        ),
        ("early()", Import, "Cart", &["Cart"], "", (20, 20)),
        ("fallback()", Function, "b", &[], "b", (25, 25)),
    ] {
        let unit = &all.units[removed(&all, NESTED, call).unit];
        assert_eq!(unit.kind, kind, "{call}");
        assert_eq!(unit.path, path, "{call}");
        assert_eq!(unit.classes, classes, "{call}");
        assert_eq!(unit.name, name, "{call}");
        assert_eq!((unit.first_line, unit.line), lines, "{call}");
    }
    let at = |operator| {
        let one = all.mutations.iter().filter(|one| one.operator == operator);
        one.map(|one| &all.units[one.unit]).collect::<Vec<_>>()
    };
    // Decorators and defaults run where the definition stands.
    let decorated = at(Operator::Decorator);
    assert_eq!(decorated.len(), 2);
    assert_eq!((decorated[0].kind, decorated[0].first_line), (Import, 4));
    assert_eq!((decorated[1].kind, decorated[1].first_line), (Import, 8));
    let defaults = at(Operator::DefaultArgument);
    assert_eq!(
        (defaults[0].kind, defaults[0].path.as_str()),
        (Import, "Cart.total")
    );
    let conditions = at(Operator::Condition);
    assert_eq!((conditions[0].kind, conditions[0].line), (Import, 17));
}

#[test]
fn the_text_of_a_unit_is_what_takes_its_place() {
    let text = "class A:\n    @d\n    def f(self):\n        g()\n        return x\n\ny = 1\n";
    let all = of(text);
    let one = removed(&all, text, "g()");
    let unit = &all.units[one.unit];
    assert_eq!(
        one.unit_text(text, unit),
        "    def f(self):\n        pass\n        return x\n"
    );
    assert_eq!(
        one.probed_unit_text(text, unit),
        "    def f(self):\n        __flakelab_hit__(); pass\n        return x\n"
    );
    let last = all.mutations.last().expect("some");
    assert_eq!(last.unit_text(text, &all.units[last.unit]), "y = 0\n");
}

#[test]
fn points_tell_the_statement_they_stand_in() {
    let text = "def f(a):\n    if a > 1 and a < 5:\n        g(\n            2)\n";
    let all = of(text);
    let statements: Vec<&str> = all
        .points
        .iter()
        .map(|point| &text[point.statement.clone()])
        .collect();
    let header = "if a > 1 and a < 5:";
    let call = "g(\n            2)";
    assert_eq!(statements, [header, header, header, header, call, call]);
    assert_eq!(
        all.instrumented(text, 10),
        "def f(a):\n    if (__flakelab_hit__(10, 1) or a) > (__flakelab_hit__(11, 1) or 1) and \
         (__flakelab_hit__(12, 1) or a) < (__flakelab_hit__(13, 1) or 5):\n        \
         __flakelab_hit__(14, 1); g(\n            (__flakelab_hit__(15, 1) or 2))\n"
    );
}

fn ids(text: &str) -> BTreeMap<String, String> {
    let all = of(text);
    let found: BTreeMap<String, String> = all
        .mutations
        .iter()
        .map(|one| (one.id.clone(), one.replacement.clone()))
        .collect();
    assert_eq!(found.len(), all.mutations.len(), "one id, one mutation");
    found
}

#[test]
fn ids_stay_when_other_lines_change() {
    let before = ids(NESTED);
    assert_eq!(ids(&format!("import os\n\n\n{NESTED}")), before);
    let more = ids(&NESTED.replace("deep()", "new(1)\n            deep()"));
    assert!(before.keys().all(|id| more.contains_key(id)));
    assert!(more.len() > before.len());
    // What is edited is another mutation; what is not stays.
    let other = ids(&NESTED.replace("return 1", "return 2"));
    let kept = before.keys().filter(|id| other.contains_key(*id)).count();
    assert_eq!(before.len() - kept, 3);
    // Equals are told apart by their number.
    assert_eq!(ids("def f():\n    g(1)\n    g(1)\n").len(), 6);
}

#[test]
fn lines_and_columns_count_characters_from_one() {
    let text = "é = 'ä'; f(g ==  h)\n";
    let all = of(text);
    let found: BTreeSet<(&str, usize, usize)> = all
        .mutations
        .iter()
        .map(|one| (one.operator.word(), one.line, one.column))
        .collect();
    assert!(found.contains(&("comparison-negation", 1, 14)), "{found:?}");
    assert!(found.contains(&("string", 1, 5)), "{found:?}");
}

#[test]
fn long_and_deep_files_are_read_to_their_end() {
    let chain = format!("x = {}\n", vec!["a"; 4_000].join(" + "));
    let deep = format!("x = {}1{}\n", "[".repeat(3_000), "]".repeat(3_000));
    let calls = format!("x = a{}\n", ".b(1)[2:3]".repeat(1_000));
    let wide = format!("x = [{}]\n", vec!["7"; 5_000].join(", "));
    let many: String = (0..1_000)
        .map(|n| format!("def f{n}(a):\n    return a + {n}\n"))
        .collect();
    for (text, least) in [
        (chain, 500),
        (deep, 3_000),
        (calls, 1_000),
        (wide, 5_000),
        (many, 3_000),
    ] {
        let all = of(&text);
        assert!(all.mutations.len() >= least, "{}", all.mutations.len());
        let instrumented = all.instrumented(&text, 0);
        assert!(instrumented.len() > text.len());
    }
}

#[test]
fn a_file_of_nothing_but_chains_takes_no_more_memory_than_it_may() {
    let line = format!("x = {}\n", vec!["a"; 4_000].join("<"));
    let all = of(&line.repeat(3));
    let bytes: usize = all
        .mutations
        .iter()
        .map(|one| one.replacement.len() + one.probed.len())
        .sum();
    assert!(bytes < 65 << 20, "{bytes}");
}
