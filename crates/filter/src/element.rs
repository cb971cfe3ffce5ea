//! Names of elements as recorders write them: `path:line:column`, then which operand, then which time.

/// The place an element stands at: file, line (from 1), column (from 0).
pub fn place(element: &str) -> Option<(&str, u32, u32)> {
    let mut from = 0;
    while let Some(at) = element[from..].find(':') {
        let colon = from + at;
        if let Some((line, rest)) = number(&element[colon + 1..])
            && let Some((column, rest)) = rest.strip_prefix(':').and_then(number)
            && (rest.is_empty() || rest.starts_with([' ', '#']))
        {
            return Some((&element[..colon], line, column));
        }
        from = colon + 1;
    }
    None
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_whatever_follows() {
        for element in [
            "t/a.py:12:4",
            "t/a.py:12:4 left",
            "t/a.py:12:4 operand 2#3",
            "t/a.py:12:4#33…",
        ] {
            assert_eq!(place(element), Some(("t/a.py", 12, 4)), "{element}");
        }
        assert_eq!(place("a:1:b.py:7:0 left"), Some(("a:1:b.py", 7, 0)));
        for element in ["…", "a.py:f", "a.py:1", "outcome", "a.py:99999999999:1"] {
            assert_eq!(place(element), None, "{element}");
        }
    }
}
