//! Numbers and nouns as people read them.

/// A share as a percentage with at most one decimal.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 10.0 || value == 0.0 || (value - value.round()).abs() < 0.05 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// 1234567 as `1,234,567`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn count(number: u64, singular: &str, plural: &str) -> String {
    let noun = if number == 1 { singular } else { plural };
    format!("{} {noun}", thousands(number))
}

pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {} s", s as u64 / 60, s as u64 % 60),
        s => format!("{} h {} min", s as u64 / 3600, s as u64 % 3600 / 60),
    }
}

/// A suite's text with control characters made visible.
pub fn visible(text: &str) -> String {
    text.chars().map(harmless).collect()
}

fn harmless(c: char) -> char {
    if drives_a_terminal(c) { '\u{fffd}' } else { c }
}

/// Control characters, and those that turn the direction of what follows: a text can be made to read as another one.
pub fn drives_a_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first line, cut to a length, with control characters made visible: it is a suite's text.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let mut shown: String = line.trim().chars().map(harmless).take(most).collect();
    if line.trim().chars().count() > most {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.0450), "4.5");
        assert_eq!(percent(0.31), "31");
        assert_eq!(percent(0.02), "2");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(duration(75.0), "1 min 15 s");
    }

    #[test]
    fn a_suites_text_cannot_drive_the_terminal() {
        assert_eq!(
            first_line("\n \u{1b}[31mred\u{7}", 20),
            "\u{fffd}[31mred\u{fffd}"
        );
        assert_eq!(first_line("abcdef", 3), "abc…");
    }
}
