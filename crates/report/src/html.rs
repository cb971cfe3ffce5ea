//! The frame of every page: one file, readable by day and night, no script and no network.

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

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --line: #ccc; --bar: #2f6f9f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #161616; --line: #444; --bar: #7db3d8; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { border-bottom: 1px solid var(--line); padding: .2rem .8rem; text-align: left; font-weight: normal; }
td { text-align: right; font-variant-numeric: tabular-nums; } svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg rect { fill: var(--bar); }
";

pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
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
