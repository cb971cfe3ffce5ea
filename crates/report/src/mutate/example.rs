//! Documents made by hand, for the tests of the views.

use std::collections::BTreeMap;

use super::*;
use crate::detect::Schema;

/// One of them with most fields empty.
pub(super) fn mutant(status: Status) -> Mutant {
    Mutant {
        id: "m0".into(),
        file: "shop/cart.py".into(),
        line: 1,
        column: 1,
        scope: "<module>".into(),
        operator: "comparison".into(),
        says: "`a` became `b`".into(),
        status,
        why: None,
        killed_by: Vec::new(),
        failure: None,
        diff: "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1 +1 @@\n-a\n+b\n".into(),
        tests: 2,
        unknown_pairs: Vec::new(),
        reused: false,
        confirmed: false,
    }
}

fn change(file: &str, line: usize, old: &str, new: &str) -> String {
    format!("--- a/{file}\n+++ b/{file}\n@@ -{line} +{line} @@\n-{old}\n+{new}\n")
}

fn document(mutants: Vec<Mutant>) -> Document {
    let mut totals = Totals {
        equal: 2,
        duplicate: 1,
        excluded: 3,
        ..Totals::default()
    };
    for mutant in &mutants {
        totals.add(mutant.status);
    }
    Document {
        schema: Schema::MUTATE,
        flakelab: "0.1.0".into(),
        project: "shop".into(),
        score: Score::of(&totals),
        totals,
        mutants,
        pairs: Pairs {
            killed: 9,
            survived: 12,
            unknown: 1,
            timeout: 2,
        },
        coverage: Coverage::default(),
        ladder: Vec::new(),
        unknown_at_first: 0,
        set_aside: Vec::new(),
        campaign: Campaign {
            seed: 7,
            coverage: "default".into(),
            coverage_reruns: 3,
            reruns: [5; 4],
            strategy: "immediate".into(),
            matrix: false,
            runs: 1_234,
            cpu_seconds: 130.0,
            wall_seconds: 75.0,
            python: "3.11.2".into(),
            pytest: "8.3.4".into(),
            diff_base: None,
            sample: None,
        },
    }
}

/// Two files, a mutant of every status.
pub(crate) fn shop() -> Document {
    let test = |name: &str| format!("tests/test_cart.py::{name}");
    let mut made = document(vec![
        Mutant {
            id: "m1".into(),
            line: 4,
            column: 20,
            scope: "Cart.total".into(),
            says: "`<` became `<=`".into(),
            diff: change(
                "shop/cart.py",
                4,
                "        if self.sum < limit:",
                "        if self.sum <= limit:",
            ),
            tests: 4,
            ..mutant(Status::Survived)
        },
        Mutant {
            id: "m2".into(),
            line: 4,
            column: 12,
            scope: "Cart.total".into(),
            operator: "condition".into(),
            says: "the condition became `False`".into(),
            killed_by: vec![test("test_sum"), test("test_limit")],
            failure: Some("AssertionError: assert 5 == 3".into()),
            diff: change(
                "shop/cart.py",
                4,
                "        if self.sum < limit:",
                "        if False:",
            ),
            tests: 4,
            confirmed: true,
            ..mutant(Status::Killed)
        },
        Mutant {
            id: "m3".into(),
            line: 3,
            column: 9,
            scope: "Cart.total".into(),
            operator: "augmented assignment".into(),
            says: "`+=` became `-=`".into(),
            killed_by: vec![test("test_sum")],
            diff: change(
                "shop/cart.py",
                3,
                "        self.count += 1",
                "        self.count -= 1",
            ),
            tests: 4,
            reused: true,
            confirmed: true,
            ..mutant(Status::Killed)
        },
        Mutant {
            id: "m4".into(),
            line: 10,
            column: 13,
            scope: "Cart.wait".into(),
            operator: "removed call".into(),
            says: "`wait` was removed".into(),
            diff: change(
                "shop/cart.py",
                10,
                "            wait(0.1)",
                "            pass",
            ),
            unknown_pairs: vec![test("test_waits")],
            ..mutant(Status::Unknown)
        },
        Mutant {
            id: "m5".into(),
            line: 9,
            column: 15,
            scope: "Cart.wait".into(),
            operator: "condition".into(),
            says: "the condition became `True`".into(),
            why: Some("more than 2.0 s of CPU time, twice".into()),
            diff: change(
                "shop/cart.py",
                9,
                "        while not self.done:",
                "        while True:",
            ),
            ..mutant(Status::Timeout)
        },
        Mutant {
            id: "m6".into(),
            line: 14,
            column: 11,
            operator: "removed call".into(),
            says: "`Cart()` became `None`".into(),
            why: Some("the interpreter could not be started".into()),
            diff: change("shop/cart.py", 14, "DEFAULT = Cart()", "DEFAULT = None"),
            ..mutant(Status::Error)
        },
        Mutant {
            id: "m7".into(),
            line: 11,
            column: 16,
            scope: "Cart.wait".into(),
            operator: "constant".into(),
            says: "`\"<done>\"` became `\"\"`".into(),
            diff: change(
                "shop/cart.py",
                11,
                "        return \"<done>\"",
                "        return \"\"",
            ),
            tests: 0,
            ..mutant(Status::NotCovered)
        },
        Mutant {
            id: "m8".into(),
            file: "shop/tax.py".into(),
            line: 1,
            column: 21,
            scope: "tax".into(),
            operator: "default argument".into(),
            says: "`0.2` became `1.2`".into(),
            diff: change(
                "shop/tax.py",
                1,
                "def tax(price, rate=0.2):",
                "def tax(price, rate=1.2):",
            ),
            tests: 1,
            ..mutant(Status::Survived)
        },
    ]);
    made.coverage = Coverage {
        statements: Share {
            varying: 3,
            of: 120,
        },
        tests: Share { varying: 2, of: 8 },
        pairs: Share {
            varying: 4,
            of: 310,
        },
        varying: vec![Varying {
            file: "shop/cart.py".into(),
            line: 10,
            test: test("test_waits"),
            seen: 1,
            of: 3,
        }],
    };
    let rung = |rung, attempt, pairs, mutants| Rung {
        rung,
        attempt,
        pairs,
        mutants,
    };
    made.ladder = vec![
        rung("same process".into(), 1, 1_204, 3),
        rung("same process".into(), 2, 0, 0),
        rung("process per mutant".into(), 1, 2, 1),
        rung("fresh interpreter".into(), 1, 1, 0),
    ];
    made.set_aside = vec![SetAside {
        test: test("test_flaky"),
        why: "failed in coverage run 2 of 3".into(),
    }];
    made
}

/// Nothing survives, nothing varies.
pub(super) fn clean() -> Document {
    let mut made = document(vec![Mutant {
        id: "m1".into(),
        killed_by: vec!["t".into()],
        confirmed: true,
        ..mutant(Status::Killed)
    }]);
    made.totals.equal = 0;
    made.totals.duplicate = 0;
    made.totals.excluded = 0;
    made
}

/// Every text wants to be more than text, and a lot of it.
pub(crate) fn hostile() -> Document {
    let bad = "</script><script>alert(1)</script>]]>\u{1b}[31m\u{0}a,b:c|d`e\"f'%0A::error::g";
    let text = |what: &str| format!("{what}{bad}\n::error::{what}\r\n| x |\n\u{202e}");
    let long = |what: &str| text(what).repeat(400);
    let of = |status| Mutant {
        id: long("id"),
        file: text("file"),
        line: usize::MAX,
        column: usize::MAX,
        scope: long("scope"),
        operator: long("operator"),
        says: long("says"),
        status,
        why: Some(long("why")),
        killed_by: vec![long("killer"); 30],
        failure: Some(long("failure")),
        diff: format!("--- a\n+++ b\n@@ -1 +1 @@\n-{}\n+{}", bad, long("diff")),
        tests: usize::MAX,
        unknown_pairs: vec![text("pair"); 30],
        reused: true,
        confirmed: true,
    };
    let mut made = document(Status::ALL.map(of).to_vec());
    made.project = text("project");
    made.set_aside = vec![
        SetAside {
            test: long("test"),
            why: long("why"),
        };
        30
    ];
    made.coverage = Coverage {
        varying: vec![
            Varying {
                file: long("file"),
                line: usize::MAX,
                test: long("test"),
                seen: 1,
                of: 2,
            };
            40
        ],
        pairs: Share {
            varying: 90,
            of: 100,
        },
        ..Coverage::default()
    };
    made.campaign.diff_base = Some(text("base"));
    made
}

/// A large project: so many files of so many lines, with mutants on every other line.
pub(crate) fn many(files: usize, lines: usize) -> (Document, BTreeMap<String, String>) {
    let mut mutants = Vec::new();
    let mut sources = BTreeMap::new();
    for number in 0..files {
        let file = format!("shop/part_{number:03}.py");
        let code =
            |line: usize| format!("    value_{line} = other_{line} < {line} and call(value)");
        let text: String = (1..=lines).map(|line| code(line) + "\n").collect();
        for line in (1..=lines).step_by(2) {
            for (at, says) in ["`<` became `<=`", "`and` became `or`"].iter().enumerate() {
                let status = match (line + number) % 29 {
                    0 => Status::Unknown,
                    1 | 2 if at == 0 => Status::Survived,
                    3 => Status::NotCovered,
                    _ => Status::Killed,
                };
                mutants.push(Mutant {
                    id: format!("{file}:{line}:{at}"),
                    file: file.clone(),
                    line,
                    column: 20 + at,
                    scope: format!("function_{}", line / 20),
                    says: (*says).into(),
                    killed_by: vec![format!("tests/test_part.py::test_{line}")],
                    diff: change(&file, line, &code(line), &code(line).replace('<', "<=")),
                    ..mutant(status)
                });
            }
        }
        sources.insert(file, text);
    }
    (document(mutants), sources)
}
