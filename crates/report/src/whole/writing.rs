//! How names, commands and gaps are written on the page. All that comes from a suite is bounded and escaped here.

use std::fmt::Write as _;

use crate::html::escape;
use crate::wording::visible;

/// Characters of a name.
const NAME: usize = 300;
/// Characters of a command: one that is cut is none.
const COMMAND: usize = 4_000;

/// A name on one line, not escaped yet.
pub(super) fn plain(text: &str) -> String {
    cut(text, NAME)
}

pub(super) fn short(text: &str) -> String {
    escape(&plain(text))
}

/// At most so many characters, on one line.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown)
}

/// Lines of text, at most so many characters.
pub(super) fn block(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push_str("\n…");
    }
    escape(&shown)
}

/// A command that can be copied, if it can be shown as it is; else `instead`.
pub(super) fn command(out: &mut String, command: &str, instead: Option<&str>) {
    if let Some(code) = code(command) {
        let _ = writeln!(out, "<p class=\"run\">{code}</p>");
        return;
    }
    out.push_str("<p class=\"dim\">The command is too long for a page, or has characters that cannot be copied.</p>\n");
    if let Some(code) = instead.and_then(code) {
        let _ = writeln!(out, "<p class=\"run\">{code}</p>");
    }
}

/// A command within other things, whole or not at all.
pub(super) fn code(command: &str) -> Option<String> {
    let whole = command.chars().count() <= COMMAND && !command.chars().any(char::is_control);
    whole.then(|| format!("<code class=\"cmd\">{}</code>", escape(command)))
}

/// What is missing, and the command that brings it.
pub(super) fn missing(out: &mut String, what: &str, brings: &str) {
    let _ = writeln!(out, "<p>{what}</p>");
    command(out, brings, None);
}

/// Something that repeats what is shown.
pub(super) fn again(out: &mut String, when: &str, brings: &str) {
    let _ = writeln!(out, "<p class=\"dim\">From {}; again with</p>", short(when));
    command(out, brings, None);
}

/// What there was no room for.
pub(super) fn more(out: &mut String, all: usize, shown: usize, what: &str, where_else: &str) {
    if all > shown {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {} more {what}, which {where_else} lists.</p>",
            crate::wording::thousands((all - shown) as u64)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_whole_or_not_there() {
        let shown = |text: &str| {
            let mut out = String::new();
            command(&mut out, text, Some("flakelab explain x"));
            out
        };
        assert!(shown("pytest 'a<b'").contains(">pytest 'a&lt;b'</code>"));
        for bad in [
            "x".repeat(5_000),
            "pytest 'a\nb'".into(),
            "a\u{1b}[2J".into(),
        ] {
            let out = shown(&bad);
            assert!(out.contains("flakelab explain x"), "{out}");
            assert_eq!(out.matches("class=\"cmd\"").count(), 1);
        }
    }

    #[test]
    fn names_are_bounded_and_on_one_line() {
        assert_eq!(short("a\n<b>"), "a\u{fffd}&lt;b&gt;");
        assert_eq!(plain(&"é".repeat(400)).chars().count(), NAME + 1);
        assert_eq!(block("ab\ncd", 3), "ab\n\n…");
    }
}
