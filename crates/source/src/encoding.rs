//! Bytes of a Python file to text and back, as its encoding line says (PEP 263).

use encoding_rs::{Encoding, UTF_8};

/// `None` if the bytes are not what the file says they are.
pub fn decode(bytes: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    let (text, _, wrong) = declared(&head)?.decode(bytes);
    (!wrong).then(|| text.into_owned())
}

/// The text as bytes of a file with the text's own encoding line.
pub fn encode(text: &str) -> Vec<u8> {
    encode_like(text, text)
}

/// A part of a file, or a diff of it, in the encoding of the whole.
pub fn encode_like(whole: &str, part: &str) -> Vec<u8> {
    match declared(whole) {
        Some(encoding) if encoding != UTF_8 => encoding.encode(part).0.into_owned(),
        _ => part.as_bytes().to_vec(),
    }
}

/// The inverse of [`encode_like`].
pub fn decode_like(whole: &str, part: Vec<u8>) -> Option<String> {
    match declared(whole) {
        Some(encoding) if encoding != UTF_8 => {
            let (text, _, wrong) = encoding.decode(&part);
            (!wrong).then(|| text.into_owned())
        }
        _ => String::from_utf8(part).ok(),
    }
}

fn declared(text: &str) -> Option<&'static Encoding> {
    let line = text
        .lines()
        .take(2)
        .find(|line| line.starts_with('#') && line.contains("coding"))?;
    let (_, after) = line.split_once("coding")?;
    let label: String = after
        .trim_start_matches([':', '='])
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .collect();
    // Python knows `latin-1`, the web `latin1`.
    let label = match label.to_ascii_lowercase().as_str() {
        "latin-1" | "latin_1" => "latin1".to_owned(),
        other => other.replace('_', "-"),
    };
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_as_it_was() {
        let latin = b"# -*- coding: latin-1 -*-\nx = '\xe4'\n";
        let text = decode(latin).expect("text");
        assert!(text.contains('ä'));
        assert_eq!(encode(&text), latin);
        let utf8 = "x = 'ä'\r\n";
        assert_eq!(decode(utf8.as_bytes()).as_deref(), Some(utf8));
        assert_eq!(encode(utf8), utf8.as_bytes());
        assert_eq!(decode(b"\xff\xfe"), None);
        for whole in [text.as_str(), utf8] {
            let part = encode_like(whole, "+ä");
            assert_eq!(part.len(), if whole == utf8 { 3 } else { 2 });
            assert_eq!(decode_like(whole, part).as_deref(), Some("+ä"));
        }
    }
}
