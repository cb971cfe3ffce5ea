//! Workflow commands of GitHub Actions: what may stand in them.

/// The text of a command.
pub(crate) fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, such as `file` or `title`.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_cannot_write_commands_of_its_own() {
        assert_eq!(data("a\n::error::x%"), "a%0A::error::x%25");
        assert_eq!(property("a,b:c"), "a%2Cb%3Ac");
    }
}
