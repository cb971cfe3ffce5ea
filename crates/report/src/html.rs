//! The frame of every page: one file, readable by day and night and on paper, without a network.

/// Text for an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = include_str!("html/frame.css");

/// What a page has beyond the frame.
pub(crate) struct Extras {
    pub(crate) style: &'static str,
    pub(crate) script: Option<Script>,
}

#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) text: &'static str,
    /// As browsers want it before they run it: no other script runs, whatever a suite's text says. A browser that is
    /// given a wrong one says which is right.
    pub(crate) sha256: &'static str,
}

pub(crate) fn page(title: &str, body: &str) -> String {
    framed(title, body, "", "", "'none'")
}

pub(crate) fn page_with(title: &str, body: &str, extras: &Extras) -> String {
    let (script, allowed) = match extras.script {
        Some(Script { text, sha256 }) => (
            format!("<script>{text}</script>\n"),
            format!("'sha256-{sha256}'"),
        ),
        None => (String::new(), "'none'".into()),
    };
    framed(title, body, extras.style, &script, &allowed)
}

fn framed(title: &str, body: &str, style: &str, script: &str, allowed: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}{script}</body>\n</html>\n",
        escape(title)
    )
}

/// Where a piece of a page stands: on the page of its own verb, or on one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Of its headings.
    level: u8,
    /// What the names of its headings start with, so that no two are alike.
    prefix: &'static str,
}

impl Place {
    pub(crate) const OWN_PAGE: Place = Place {
        level: 2,
        prefix: "",
    };

    /// Below a heading of the second level.
    pub(crate) const fn within(prefix: &'static str) -> Self {
        Self { level: 3, prefix }
    }

    /// A heading that can be linked to; the title is ours.
    pub(crate) fn heading(self, out: &mut String, name: &str, title: &str) {
        let Self { level, prefix } = self;
        out.push_str(&format!(
            "<h{level} id=\"{prefix}{name}\">{title}</h{level}>\n"
        ));
    }

    /// The level of headings so far below.
    pub(crate) fn level(self, below: u8) -> u8 {
        self.level + below
    }

    pub(crate) fn link(self, name: &str) -> String {
        format!("#{}{name}", self.prefix)
    }
}

/// A line of a unified diff, escaped already, with what tells its kind.
pub(crate) fn diff_line(out: &mut String, line: &str) {
    out.push_str(&match line.as_bytes().first() {
        Some(b'+') => format!("<ins>{line}</ins>\n"),
        Some(b'-') => format!("<del>{line}</del>\n"),
        _ => format!("{line}\n"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_suite_becomes_markup() {
        assert_eq!(
            escape("<a b=\"c\">&\u{1b}[0m"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\u{fffd}[0m"
        );
    }
}
