//! Bytes of a Python file to text and back, as its encoding line says (PEP 263). What does not come back byte for byte is no
//! text: nothing is ever put in the place of what an encoding does not have.

use encoding_rs::{Encoding, UTF_8};

/// What the encoding line of a file says, if it says another one than UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Utf8,
    /// The web takes this name for that of another one; for Python each byte is the character of its number.
    Latin1,
    Other(&'static Encoding),
}

impl Codec {
    fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Codec::Utf8 => std::str::from_utf8(bytes).ok().map(str::to_owned),
            Codec::Latin1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Codec::Other(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                Some(text.into_owned())
            }
        }
    }

    fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Codec::Utf8 => Some(text.as_bytes().to_vec()),
            Codec::Latin1 => text.chars().map(|c| u8::try_from(c).ok()).collect(),
            Codec::Other(encoding) => {
                let (bytes, used, unmappable) = encoding.encode(text);
                (used == encoding && !unmappable).then(|| bytes.into_owned())
            }
        }
    }
}

/// `None` if the bytes are not what the file says they are. A file that says nothing wrong may still say something else than
/// its editor took it for: Python believes the line, and so the bytes that are no edit's stay as they are.
pub fn decode(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    let codec = declared(&head);
    let text = codec.decode(bytes)?;
    (codec.encode(&text)? == bytes).then_some(text)
}

/// The text as bytes of a file with the text's own encoding line; `None` if that encoding does not have all of it.
pub fn encode(text: &str) -> Option<Vec<u8>> {
    declared(text).encode(text)
}

/// The diff of a file in the encoding of the file; names of files are UTF-8.
pub fn encode_like(whole: &str, diff: &str) -> Option<Vec<u8>> {
    let (head, lines) = diff.split_at(head(diff.as_bytes()));
    let mut bytes = head.as_bytes().to_vec();
    bytes.extend(declared(whole).encode(lines)?);
    Some(bytes)
}

/// The inverse of [`encode_like`].
pub fn decode_like(whole: &str, diff: &[u8]) -> Option<String> {
    let (head, lines) = diff.split_at(head(diff));
    let head = std::str::from_utf8(head).ok()?;
    Some(head.to_owned() + &declared(whole).decode(lines)?)
}

/// How long what a diff says of the file itself is.
fn head(diff: &[u8]) -> usize {
    let is_head = |line: &&[u8]| {
        let starts: [&[u8]; 4] = [b"diff --git ", b"new file mode ", b"--- ", b"+++ "];
        starts.iter().any(|start| line.starts_with(start))
    };
    let lines = diff.split_inclusive(|byte| *byte == b'\n');
    lines.take_while(is_head).map(<[u8]>::len).sum()
}

fn declared(text: &str) -> Codec {
    // With a byte order mark it is UTF-8, or no Python.
    if text.starts_with('\u{feff}') {
        return Codec::Utf8;
    }
    let mut lines = text.lines().take(2);
    let is_comment = |line: &str| {
        line.trim_start_matches([' ', '\t', '\x0c'])
            .starts_with('#')
    };
    let Some(first) = lines.next() else {
        return Codec::Utf8;
    };
    let mut found = is_comment(first).then(|| label(first)).flatten();
    if found.is_none() && (is_comment(first) || first.trim().is_empty()) {
        let second = lines.next().filter(|line| is_comment(line));
        found = second.and_then(label);
    }
    let Some(label) = found else {
        return Codec::Utf8;
    };
    let label = label.to_ascii_lowercase().replace('_', "-");
    let is = |name: &str| label == name || label.starts_with(&format!("{name}-"));
    // As `tokenize` reads them.
    if ["latin-1", "iso-8859-1", "iso-latin-1", "latin1"]
        .into_iter()
        .any(is)
    {
        return Codec::Latin1;
    }
    match Encoding::for_label(label.as_bytes()) {
        Some(encoding) if encoding != UTF_8 => Codec::Other(encoding),
        // What nobody here knows is taken as it is: all that edits add is ASCII.
        _ => Codec::Utf8,
    }
}

/// `coding[:=][ \t]*([-_.a-zA-Z0-9]+)` in a comment.
fn label(line: &str) -> Option<&str> {
    line.match_indices("coding").find_map(|(at, word)| {
        let rest = &line[at + word.len()..];
        let rest = rest
            .strip_prefix([':', '='])?
            .trim_start_matches([' ', '\t']);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_as_it_was() {
        let latin = b"# -*- coding: latin-1 -*-\nx = '\xe4\x92'\n";
        let text = decode(latin).expect("text");
        assert!(text.contains("ä\u{92}"));
        assert_eq!(encode(&text).as_deref(), Some(&latin[..]));
        let utf8 = "x = 'ä'\r\n";
        assert_eq!(decode(utf8.as_bytes()).as_deref(), Some(utf8));
        assert_eq!(encode(utf8).as_deref(), Some(utf8.as_bytes()));
        assert_eq!(decode(b"\xff\xfe"), None);
        for whole in [text.as_str(), utf8] {
            let part = encode_like(whole, "+++ b/ä.py\n+ä").expect("bytes");
            assert_eq!(part.len(), if whole == utf8 { 15 } else { 14 });
            assert_eq!(decode_like(whole, &part).as_deref(), Some("+++ b/ä.py\n+ä"));
        }
    }

    #[test]
    fn what_python_reads_by_the_encoding_line_keeps_its_bytes() {
        // Saved as UTF-8 by an editor that passed over the line.
        for line in [
            "# -*- coding: latin-1 -*-",
            "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :",
            "\n  # coding=cp1252",
            "# encoding of this file\n# coding: koi8-r",
        ] {
            let bytes = format!("{line}\nx = 'é → ä'\n").into_bytes();
            if let Some(text) = decode(&bytes) {
                assert!(!text.contains('é'), "{line}");
                assert_eq!(encode(&text).as_ref(), Some(&bytes), "{line}");
                assert_eq!(encode(&format!("{text}y = '→'\n")), None, "{line}");
            }
        }
        // No encoding line: behind code, and without a name.
        for plain in ["x = 1\n# coding: latin-1\ny = 'é'", "# coding\nx = 'é'"] {
            assert_eq!(decode(plain.as_bytes()).as_deref(), Some(plain));
        }
    }
}
