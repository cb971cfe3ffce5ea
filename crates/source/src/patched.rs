//! A unified diff put to use.

/// The text with a diff of one file applied; `None` if it does not fit.
pub fn patched(text: &str, diff: &str) -> Option<String> {
    let start = diff.find("--- ")?;
    let patch = diffy::Patch::from_str(&diff[start..]).ok()?;
    diffy::apply(text, &patch).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unified;

    #[test]
    fn a_diff_of_ours_fits_and_another_does_not() {
        let (before, after) = ("a\nb\r\nc", "a\nx\nc");
        let diff = unified("t.py", Some(before), after);
        assert_eq!(patched(before, &diff).as_deref(), Some(after));
        assert_eq!(patched("q\nw\ne\n", &diff), None);
    }
}
