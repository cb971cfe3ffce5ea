//! What all views of a measurement say in the same words.

use super::{Configuration, Document, Element, FactorEffect, Latent, Test};

/// The usual level of a test of significance.
const LEVEL: f64 = 0.05;

/// A true zero has no decimals, as in table 4.3 of the dissertation; `0.00` is very little.
pub(super) fn amount(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.2}")
    }
}

/// Per cent of false positives, equation 4.1.
pub(super) fn percentage(value: Option<f64>) -> String {
    match value {
        None => "–".into(),
        Some(0.0) => "0".into(),
        Some(value) => format!("{value:.1}"),
    }
}

/// Three digits that count: margins can be of any size.
pub(super) fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if !(1e-4..1e6).contains(&size) {
        format!("{value:.2e}")
    } else {
        let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    }
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 {
        return "p < 0.0001".into();
    }
    let text = format!("{p:.4}");
    format!("p {}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Whether a factor is said to matter: its own test says so, and at least one test case shows it.
pub(super) fn matters(effect: &FactorEffect) -> bool {
    effect.p <= LEVEL && !effect.tests.is_empty()
}

/// `hash_seed explains 0.41 of the assertion entropy where nothing else differs (p 0.0005), 0.59 is unexplained`.
pub(super) fn explains(effect: &FactorEffect) -> String {
    let rest = match effect.unexplained {
        Some(nats) if nats > 0.0 => format!(", {:.2} is unexplained", 1.0 - effect.share),
        _ => String::new(),
    };
    format!(
        "explains {:.2} of the {} entropy where nothing else differs ({}){rest}",
        effect.share,
        effect.layer,
        p_value(effect.p)
    )
}

/// Of the elements that vary with a factor, the one that varied most while only the factor did.
pub(super) fn most_unstable<'a>(
    document: &'a Document,
    effect: &'a FactorEffect,
) -> Option<(&'a str, Option<&'a Element>)> {
    let varied = document
        .configurations
        .iter()
        .find(|c| c.name == effect.factor)
        .and_then(|c| c.layers.iter().find(|l| l.layer == effect.layer));
    let mut found: Option<&Element> = None;
    for affected in &effect.tests {
        let test = varied.and_then(|l| l.tests.iter().find(|t| t.id == affected.id));
        let elements = test.map_or(&[][..], |t| &t.elements);
        for element in elements {
            if affected.elements.contains(&element.element)
                && found.is_none_or(|best| element.entropy > best.entropy)
            {
                found = Some(element);
            }
        }
    }
    match found {
        Some(element) => Some((&element.element, Some(element))),
        None => effect
            .tests
            .iter()
            .find_map(|t| t.elements.first())
            .map(|e| (e.as_str(), None)),
    }
}

/// Tests that vary, the most unstable first.
pub(super) fn unstable(tests: &[Test]) -> Vec<&Test> {
    let mut found: Vec<&Test> = tests.iter().filter(|t| t.flakiness.entropy > 0.0).collect();
    found.sort_by(|a, b| b.flakiness.entropy.total_cmp(&a.flakiness.entropy));
    found
}

/// How many tests vary at any layer.
pub(super) fn varying(configuration: &Configuration) -> usize {
    let mut ids: Vec<&str> = configuration
        .layers
        .iter()
        .flat_map(|l| &l.tests)
        .filter(|t| t.flakiness.entropy > 0.0)
        .map(|t| t.id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

/// How many tests vary in the configuration in which most do.
pub(crate) fn most_varying(document: &Document) -> usize {
    let all = document.configurations.iter().map(varying);
    all.max().unwrap_or(0)
}

pub(super) fn nothing_varies(configuration: &Configuration) -> bool {
    configuration.layers.iter().all(|layer| {
        layer.suite.entropy <= 0.0 && layer.tests.iter().all(|t| t.flakiness.entropy <= 0.0)
    })
}

/// Whether all runs of the campaign were alike, within configurations and between them.
pub(super) fn all_alike(document: &Document) -> bool {
    document.configurations.iter().all(nothing_varies) && !document.factors.iter().any(matters)
}

/// `6/3/1`.
pub(super) fn groups(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    sizes.join("/")
}

pub(crate) fn margin(latent: &Latent) -> String {
    format!(
        "held by {} at the least, {} ± {} on average",
        digits(latent.smallest),
        digits(latent.mean),
        digits(latent.spread)
    )
}

/// Values cut to a length. What long ones have in common at the start is left out: they differ further on.
pub(super) fn cut(values: &[&str], most: usize) -> Vec<String> {
    let chars: Vec<Vec<char>> = values.iter().map(|v| v.chars().collect()).collect();
    let long = chars.iter().any(|v| v.len() > most);
    let common = match chars.split_first() {
        Some((first, others)) if long && !others.is_empty() => (0..first.len())
            .take_while(|at| others.iter().all(|o| o.get(*at) == first.get(*at)))
            .count(),
        _ => 0,
    };
    // Some of it stays, so that one sees where one is.
    let skipped = if common > most / 2 {
        common - most / 4
    } else {
        0
    };
    chars
        .iter()
        .map(|value| {
            let mut shown = String::new();
            if skipped > 0 {
                shown.push('…');
            }
            shown.extend(value.iter().skip(skipped).take(most));
            if value.len() > skipped + most {
                shown.push('…');
            }
            shown
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        assert_eq!(amount(0.0), "0");
        assert_eq!(amount(0.001), "0.00");
        assert_eq!(digits(0.001234), "0.00123");
        assert_eq!(digits(1234.5), "1234");
        assert_eq!(digits(-2.5e-9), "-2.50e-9");
        assert_eq!(p_value(0.0005), "p 0.0005");
        assert_eq!(p_value(0.05), "p 0.05");
        assert_eq!(p_value(1.0), "p 1");
    }

    #[test]
    fn long_values_are_shown_where_they_differ() {
        assert_eq!(cut(&["short", "other"], 8), ["short", "other"]);
        assert_eq!(
            cut(&["0123456789abc", "0123456789abd"], 8),
            ["…abc", "…abd"]
        );
        assert_eq!(cut(&["0123456789"], 4), ["0123…"]);
        assert_eq!(cut(&["é".repeat(9).as_str()], 2), ["éé…"]);
        assert!(cut(&[], 4).is_empty());
    }
}
