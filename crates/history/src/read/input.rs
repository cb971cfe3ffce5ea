//! Bytes as UTF-8 text, in bounded pieces.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::Broken;

/// The largest event: an element with its attributes, a text, a string.
pub(super) const MOST_EVENT: usize = 16 << 20;
const BUFFER: usize = 64 << 10;
/// Where an XML declaration must be over, with any whitespace before it.
const PROLOGUE: usize = 1024;

/// (the first byte that is no whitespace, the text)
pub(super) fn open<R: Read>(mut source: R) -> Result<(u8, BufReader<Text<R>>), Broken> {
    let mut start = Vec::with_capacity(PROLOGUE);
    let first = source
        .by_ref()
        .take(PROLOGUE as u64)
        .read_to_end(&mut start);
    first.map_err(Broken::Io)?;
    let (encoding, mark) = encoding(&start)?;
    start.drain(..mark);
    let text = Text {
        source: Cursor::new(start).chain(source),
        decoding: (encoding != UTF_8).then(|| Decoding::new(encoding)),
    };
    let mut text = BufReader::with_capacity(BUFFER, text);
    loop {
        let buffer = text.fill_buf().map_err(from_io)?;
        if buffer.is_empty() {
            return Err(Broken::Empty);
        }
        let blank = buffer
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        if let Some(byte) = buffer.get(blank) {
            let byte = *byte;
            text.consume(blank);
            return Ok((byte, text));
        }
        text.consume(blank);
    }
}

/// (the encoding, the length of its byte order mark)
fn encoding(start: &[u8]) -> Result<(&'static Encoding, usize), Broken> {
    if let Some((encoding, length)) = Encoding::for_bom(start) {
        return Ok((encoding, length));
    }
    match start {
        [b'<' | b'{', 0, ..] => return Ok((UTF_16LE, 0)),
        [0, b'<' | b'{', ..] => return Ok((UTF_16BE, 0)),
        _ => {}
    }
    let Some(label) = declared(start) else {
        return Ok((UTF_8, 0));
    };
    match Encoding::for_label(label) {
        // What could be read up to here is no UTF-16.
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Ok((UTF_8, 0)),
        Some(encoding) => Ok((encoding, 0)),
        None => Err(Broken::Encoding(format!(
            "its encoding `{}` is not known",
            String::from_utf8_lossy(label)
                .chars()
                .take(40)
                .collect::<String>()
        ))),
    }
}

/// `encoding="…"` of an XML declaration.
fn declared(start: &[u8]) -> Option<&[u8]> {
    let start = start.trim_ascii_start();
    let end = start.windows(2).position(|two| two == b"?>")?;
    let declaration = start[..end].strip_prefix(b"<?xml")?;
    let word = b"encoding";
    let at = declaration.windows(word.len()).position(|w| w == word)?;
    let rest = declaration[at + word.len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first()?;
    rest.split(|byte| byte == quote).next()
}

/// A stream in any encoding, read as UTF-8. What is UTF-8 already is checked by those who read it.
#[derive(Debug)]
pub(super) struct Text<R> {
    source: io::Chain<Cursor<Vec<u8>>, R>,
    decoding: Option<Decoding>,
}

struct Decoding {
    decoder: Decoder,
    name: &'static str,
    input: Vec<u8>,
    /// What of the input is not decoded yet.
    left: std::ops::Range<usize>,
    ended: bool,
    output: Vec<u8>,
    /// What of the output is not read yet.
    ready: std::ops::Range<usize>,
    done: bool,
}

impl std::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Decoding").field(&self.name).finish()
    }
}

impl Decoding {
    fn new(encoding: &'static Encoding) -> Self {
        Self {
            decoder: encoding.new_decoder_without_bom_handling(),
            name: encoding.name(),
            input: vec![0; BUFFER],
            left: 0..0,
            ended: false,
            output: vec![0; BUFFER],
            ready: 0..0,
            done: false,
        }
    }

    fn read(&mut self, source: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !self.done {
            self.decode(source)?;
        }
        let length = self.ready.len().min(out.len());
        let start = self.ready.start;
        out[..length].copy_from_slice(&self.output[start..start + length]);
        self.ready.start += length;
        Ok(length)
    }

    fn decode(&mut self, source: &mut impl Read) -> io::Result<()> {
        if self.left.is_empty() && !self.ended {
            let read = source.read(&mut self.input)?;
            self.left = 0..read;
            self.ended = read == 0;
        }
        let input = &self.input[self.left.clone()];
        let (result, read, written) =
            self.decoder
                .decode_to_utf8_without_replacement(input, &mut self.output, self.ended);
        self.left.start += read;
        self.ready = 0..written;
        match result {
            DecoderResult::Malformed(..) => {
                let why = format!("it is not valid {}", self.name);
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            DecoderResult::InputEmpty => self.done = self.ended,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoding {
            None => self.source.read(out),
            Some(decoding) => decoding.read(&mut self.source, out),
        }
    }
}

/// A stream that gives no more than [`MOST_EVENT`] bytes until it is renewed.
#[derive(Debug)]
pub(super) struct Rationed<R> {
    source: R,
    left: usize,
}

/// What a [`Rationed`] stream fails with.
#[derive(Debug, thiserror::Error)]
#[error("larger than 16 MiB")]
pub(super) struct Exhausted;

impl<R> Rationed<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            left: MOST_EVENT,
        }
    }

    pub(super) fn renew(&mut self) {
        self.left = MOST_EVENT;
    }
}

impl<R: BufRead> Read for Rationed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let buffer = self.fill_buf()?;
        let length = buffer.len().min(out.len());
        out[..length].copy_from_slice(&buffer[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Rationed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::Error::other(Exhausted));
        }
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount);
        self.source.consume(amount);
    }
}

pub(super) fn is_exhausted(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Exhausted>())
}

/// An error of a text is one of its encoding, or of reading it.
pub(super) fn from_io(error: io::Error) -> Broken {
    if error.kind() == io::ErrorKind::InvalidData {
        Broken::Encoding(error.to_string())
    } else {
        Broken::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<String, Broken> {
        let (_, mut text) = open(bytes)?;
        let mut out = String::new();
        text.read_to_string(&mut out).map_err(from_io)?;
        Ok(out)
    }

    #[test]
    fn encodings_are_told_by_mark_or_declaration() {
        let utf16 = |s: &str| {
            s.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        assert_eq!(text(b"\xef\xbb\xbf <a/>").expect("text"), "<a/>");
        assert_eq!(text(&utf16("\u{feff}<é/>")).expect("text"), "<é/>");
        assert_eq!(text(&utf16("<é/>")).expect("text"), "<é/>");
        let latin = b"<?xml version='1.0' encoding = 'ISO-8859-1'?><a b='\xe9'/>";
        assert!(text(latin).expect("text").ends_with("<a b='é'/>"));
        let long = format!("<a>{}</a>", "é".repeat(100_000));
        let bytes = utf16(&format!("\u{feff}{long}"));
        assert!(text(&bytes).expect("text") == long);
    }

    #[test]
    fn what_cannot_be_decoded_is_said() {
        assert!(matches!(text(b" \n"), Err(Broken::Empty)));
        let odd = text(b"<?xml version='1.0' encoding='klingon'?><a/>").expect_err("unknown");
        assert_eq!(odd.to_string(), "its encoding `klingon` is not known");
        let half = text(b"\xff\xfe<\0a").expect_err("half a character");
        assert_eq!(half.to_string(), "it is not valid UTF-16LE");
    }
}
