//! Literals and what they become.

/// What an integer or float becomes: the next one; for 0 and 1 also the one before. What is too large to be counted
/// becomes 0. Empty if it is no number of Python 3.
pub(super) fn numbers(literal: &str) -> Vec<String> {
    let plain = literal.replace('_', "").to_ascii_lowercase();
    let based = ["0x", "0o", "0b"]
        .into_iter()
        .zip([16, 8, 2])
        .find_map(|(lead, base)| Some((plain.strip_prefix(lead)?, base)));
    if let Some((digits, base)) = based {
        return match (u128::from_str_radix(digits, base), base) {
            (Ok(0), _) => vec!["1".into(), "-1".into()],
            (Ok(number), _) if number == u128::MAX => vec!["0".into()],
            (Ok(number), 16) => vec![format!("{:#x}", number + 1)],
            (Ok(number), 8) => vec![format!("{:#o}", number + 1)],
            (Ok(number), _) => vec![format!("{:#b}", number + 1)],
            (Err(_), _) => vec!["0".into()],
        };
    }
    let (digits, suffix) = match plain.strip_suffix('j') {
        Some(digits) => (digits, "j"),
        None => (plain.as_str(), ""),
    };
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match digits.parse::<u128>() {
            Ok(0) => vec![format!("1{suffix}"), format!("-1{suffix}")],
            Ok(1) => vec![format!("2{suffix}"), format!("0{suffix}")],
            Ok(number) if number < u128::MAX => vec![format!("{}{suffix}", number + 1)],
            _ => vec![format!("0{suffix}")],
        };
    }
    match digits.parse::<f64>() {
        Ok(number) if (number + 1.0).is_finite() && number + 1.0 != number => {
            vec![format!("{:?}{suffix}", number + 1.0)]
        }
        Ok(_) => vec![format!("0.0{suffix}")],
        Err(_) => Vec::new(),
    }
}

/// A string literal with `XX` at both ends, or just `XX` where there was nothing. `first` and `last` are the
/// lengths of what opens and closes it, quotes and prefix.
pub(super) fn marked(literal: &str, first: usize, last: usize) -> Option<String> {
    let end = literal.len().checked_sub(last)?;
    let (open, inner, close) = (
        literal.get(..first)?,
        literal.get(first..end)?,
        literal.get(end..)?,
    );
    Some(if inner.is_empty() {
        format!("{open}XX{close}")
    } else {
        format!("{open}XX{inner}XX{close}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_others() {
        for (from, to) in [
            ("0", &["1", "-1"][..]),
            ("1", &["2", "0"]),
            ("41", &["42"]),
            ("1_000", &["1001"]),
            ("0xFF", &["0x100"]),
            ("0o17", &["0o20"]),
            ("0B1", &["0b10"]),
            ("0x0", &["1", "-1"]),
            ("3j", &["4j"]),
            ("1.5", &["2.5"]),
            (".5", &["1.5"]),
            ("2.", &["3.0"]),
            ("1e3j", &["1001.0j"]),
            ("1e300", &["0.0"]),
            ("1e999", &["0.0"]),
            ("340282366920938463463374607431768211455", &["0"]),
            ("99999999999999999999999999999999999999999999", &["0"]),
            ("10L", &[]),
        ] {
            assert_eq!(numbers(from), to, "{from}");
        }
    }

    #[test]
    fn strings_are_marked_at_both_ends() {
        assert_eq!(marked("''", 1, 1).as_deref(), Some("'XX'"));
        assert_eq!(
            marked("rb\"\"\"a\nb\"\"\"", 5, 3).as_deref(),
            Some("rb\"\"\"XXa\nbXX\"\"\"")
        );
        assert_eq!(marked("'", 1, 1), None);
    }
}
