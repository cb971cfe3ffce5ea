//! What a misspelt word was meant to be.

/// Less alike is no help: nobody takes `zzz` for a slip of `test_cart`.
const LIKENESS: f64 = 0.75;

/// How alike two words are, or one and the last name of an id.
fn likeness(word: &str, candidate: &str) -> f64 {
    let name = candidate.rsplit("::").next().unwrap_or(candidate);
    strsim::jaro_winkler(word, candidate).max(strsim::jaro_winkler(word, name))
}

/// The known word that is most like this one, if any is.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (likeness(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_word() {
        let known = [
            "tests/test_cart.py::test_total",
            "tests/test_cart.py::test_empty",
        ];
        let slip = "tests/test_cart.py::test_totl";
        assert_eq!(nearest(slip, known), Some(known[0]));
        assert_eq!(nearest("test_emty", known), Some(known[1]));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("zzz", []), None);
    }
}
