//! Reads an invariant as a person would, and looks whether a sample satisfies it.

use std::collections::BTreeSet;

use flakelab_model::Datum;

/// Variables and their values in one sample.
pub(crate) struct Row<'a> {
    pub(crate) names: &'a [&'a str],
    pub(crate) values: &'a [Datum],
}

impl Row<'_> {
    fn value(&self, name: &str) -> &Datum {
        let at = self.names.iter().position(|known| *known == name);
        &self.values[at.expect("a variable")]
    }

    /// Numbers here are small enough for floats to be exact.
    fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Datum::Int(value) => *value as f64,
            Datum::Float(value) => *value,
            other => panic!("{name} is {other:?}"),
        }
    }

    fn items(&self, name: &str) -> &[f64] {
        match self.value(name) {
            Datum::Numbers { items, .. } => items,
            other => panic!("{name} is {other:?}"),
        }
    }

    /// One side of an equation: a sum of products.
    fn evaluate(&self, side: &str) -> f64 {
        let side = side.replace(" - ", " + -1*");
        let product = |product: &str| {
            product.split('*').fold(1.0, |so_far, factor| {
                let (sign, factor) = match factor.strip_prefix('-') {
                    Some(rest) => (-1.0, rest),
                    None => (1.0, factor),
                };
                let value = factor.parse().unwrap_or_else(|_| self.number(factor));
                so_far * sign * value
            })
        };
        side.split(" + ").map(product).sum()
    }
}

fn shown(value: &Datum) -> String {
    match value {
        Datum::None => "None".to_owned(),
        Datum::Bool(true) => "True".to_owned(),
        Datum::Bool(false) => "False".to_owned(),
        Datum::Int(value) => value.to_string(),
        Datum::Float(value) => format!("{value:?}"),
        Datum::Text { text, .. } => format!("\"w{text}\""),
        Datum::Numbers { items, .. } => format!("{items:?}"),
        other => panic!("{other:?} cannot be listed"),
    }
}

fn kind(value: &Datum) -> String {
    match value {
        Datum::Bool(_) => "bool".to_owned(),
        Datum::Int(_) => "int".to_owned(),
        Datum::Float(_) => "float".to_owned(),
        Datum::Text { .. } => "str".to_owned(),
        Datum::Numbers { .. } => "numbers".to_owned(),
        Datum::Sized { kind, .. } | Datum::Other { kind } => format!("w{kind}"),
        Datum::None | Datum::Missing => "NoneType".to_owned(),
    }
}

fn is_listed(list: &str, value: &str) -> bool {
    let inside = list.strip_prefix('{').and_then(|l| l.strip_suffix('}'));
    // No text of these tests has a comma; lists do.
    let padded = format!(", {}, ", inside.unwrap_or(list));
    padded.contains(&format!(", {value}, "))
}

/// Whether the sample satisfies the invariant.
pub(crate) fn holds(element: &str, value: &str, row: &Row) -> bool {
    let parts: Vec<&str> = element.split("  ").collect();
    let [_, variables, what] = parts.as_slice() else {
        panic!("{element} has not three parts");
    };
    let admits = |words: &str| value.split("or ").any(|part| part.trim() == words);
    let end = value.find("or None").or(value.find("or missing"));
    let parameter = value[..end.unwrap_or(value.len())].trim();
    let plain: Vec<&str> = variables
        .split(", ")
        .map(|name| {
            name.strip_prefix("len(")
                .map_or(name, |n| n.trim_end_matches(')'))
        })
        .collect();
    let lists = matches!(*what, "constant" | "one of") && !variables.starts_with("len(");
    for name in &plain {
        match row.value(name) {
            Datum::Missing => return admits("missing"),
            Datum::None if !lists => return admits("None"),
            _ => {}
        }
    }
    let limit = || parameter.parse::<f64>().expect("a number");
    match (*what, plain.as_slice()) {
        ("constant" | "one of", [x]) if lists => is_listed(parameter, &shown(row.value(x))),
        ("constant" | "one of", [x]) => is_listed(parameter, &size(row.value(x)).to_string()),
        ("lower bound", [x]) => measure(row, variables, x) >= limit(),
        ("upper bound", [x]) => measure(row, variables, x) <= limit(),
        ("modulus", [x]) => {
            let (rest, modulus) = parameter.split_once(" mod ").expect("a modulus");
            let modulus: f64 = modulus.parse().expect("a number");
            row.number(x).rem_euclid(modulus) == rest.parse::<f64>().expect("a number")
        }
        ("not zero", [x]) => row.number(x) != 0.0,
        ("not None", [_]) if parameter.is_empty() => true,
        ("not None" | "type", [x]) => is_listed(parameter, &kind(row.value(x))),
        ("ascending", [x]) => row.items(x).is_sorted(),
        ("descending", [x]) => row.items(x).iter().rev().is_sorted(),
        ("no duplicates", [x]) => {
            let different: BTreeSet<u64> = row.items(x).iter().map(|i| i.to_bits()).collect();
            different.len() == row.items(x).len()
        }
        ("==", [x, y]) => match (row.value(x), row.value(y)) {
            (Datum::Int(_) | Datum::Float(_), _) => row.number(x) == row.number(y),
            (x, y) => x == y,
        },
        ("<", [x, y]) => row.number(x) < row.number(y),
        ("<=", [x, y]) => row.number(x) <= row.number(y),
        ("linear", [_, _]) => {
            let (left, right) = parameter.split_once(" = ").expect("an equation");
            let (left, right) = (row.evaluate(left), row.evaluate(right));
            (left - right).abs() <= 1e-6 * left.abs().max(right.abs()).max(1.0)
        }
        ("in", [x, y]) => row.items(y).contains(&row.number(x)),
        ("subset", [x, y]) => within(row.items(x), row.items(y)),
        ("same elements", [x, y]) => {
            within(row.items(x), row.items(y)) && within(row.items(y), row.items(x))
        }
        _ => panic!("{element} is of no known kind"),
    }
}

fn within(inner: &[f64], outer: &[f64]) -> bool {
    inner.iter().all(|item| outer.contains(item))
}

fn size(value: &Datum) -> u64 {
    match value {
        Datum::Text { length, .. }
        | Datum::Numbers { length, .. }
        | Datum::Sized { length, .. } => *length,
        other => panic!("{other:?} has no length"),
    }
}

fn measure(row: &Row, variables: &str, name: &str) -> f64 {
    if variables.starts_with("len(") {
        size(row.value(name)) as f64
    } else {
        row.number(name)
    }
}
