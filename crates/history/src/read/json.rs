//! JSON reports: which one it is shows in the members of the outermost object.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{
    self, DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

use super::input::{self, Exhausted, MOST_EVENT};
use super::{Broken, Format, ReadError, Row, Sink, ctrf, playwright};

/// What all parts of a report write to.
pub(super) struct Rows<'s, S: Sink> {
    sink: &'s mut S,
    /// Why the sink would take no more.
    refused: Option<S::Error>,
    pub(super) name: String,
}

impl<S: Sink> Rows<'_, S> {
    /// The attempts of the test whose name was written to `name`.
    pub(super) fn emit<E: de::Error>(
        &mut self,
        attempts: impl IntoIterator<Item = flakelab_model::Reported>,
    ) -> Result<(), E> {
        for outcome in attempts {
            let row = Row {
                test: &self.name,
                outcome,
                suite: 0,
                sequel: flakelab_model::Sequel::Another,
            };
            if let Err(error) = self.sink.row(row) {
                self.refused = Some(error);
                return Err(E::custom("stopped"));
            }
        }
        Ok(())
    }
}

pub(super) fn read<S: Sink>(
    source: impl BufRead,
    sink: &mut S,
) -> Result<Format, ReadError<S::Error>> {
    let mut rows = Rows {
        sink,
        refused: None,
        name: String::new(),
    };
    let strings = io::BufReader::with_capacity(64 << 10, Strings::new(source));
    let mut reader = serde_json::Deserializer::from_reader(strings);
    let read = Document(&mut rows).deserialize(&mut reader);
    let read = read.and_then(|format| reader.end().map(|()| format));
    match (read, rows.refused) {
        (_, Some(refused)) => Err(ReadError::Sink(refused)),
        (Ok(Some(format)), None) => Ok(format),
        (Ok(None), None) => {
            Err(Broken::NoReport("JSON that is neither CTRF nor Playwright's".into()).into())
        }
        (Err(error), None) => Err(wrong(error).into()),
    }
}

fn wrong(error: serde_json::Error) -> Broken {
    if error.is_io() {
        let io = io::Error::from(error);
        if input::is_exhausted(&io) {
            return Broken::Large("a string");
        }
        return input::from_io(io);
    }
    let why = error.to_string();
    if why.starts_with("recursion limit") {
        return Broken::Deep;
    }
    Broken::Json(why)
}

struct Document<'r, 's, S: Sink>(&'r mut Rows<'s, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Document<'_, '_, S> {
    type Value = Option<Format>;

    fn deserialize<D: de::Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Document<'_, '_, S> {
    type Value = Option<Format>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut format = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "results" if format.is_none() => {
                    map.next_value_seed(ctrf::Results(&mut *self.0))?;
                    format = Some(Format::Ctrf);
                }
                "suites" if format.is_none() => {
                    map.next_value_seed(playwright::suites(&mut *self.0))?;
                    format = Some(Format::Playwright);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(format)
    }
}

/// A list whose elements are read one by one and not kept.
pub(super) struct Each<F>(pub(super) F);

/// Reads the next element of a list; says whether there was one.
pub(super) trait Element<'de> {
    fn next<A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error>;
}

impl<'de, F: Element<'de>> DeserializeSeed<'de> for Each<F> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de, F: Element<'de>> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while self.0.next(&mut list)? {}
        Ok(())
    }
}

/// A list that is kept, and must not grow without bound.
#[derive(Debug)]
pub(super) struct Few<T, const MOST: usize>(pub(super) Vec<T>);

impl<T, const MOST: usize> Default for Few<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: de::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for FewVisitor<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Few::default())
    }

    /// Where older versions of a format have one element in place of a list.
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(text.into_deserializer()).map(|one| Few(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut few = Vec::new();
        while let Some(one) = list.next_element()? {
            few.push(one);
            if few.len() > MOST {
                let why = format!("a list of one test has more than {MOST} entries");
                return Err(de::Error::custom(why));
            }
        }
        Ok(Few(few))
    }
}

/// JSON in which no string is longer than [`MOST_EVENT`].
struct Strings<R> {
    source: R,
    /// Bytes of the string so far.
    inside: Option<usize>,
    escaped: bool,
}

impl<R> Strings<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            inside: None,
            escaped: false,
        }
    }
}

impl<R: Read> Read for Strings<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(out)?;
        for byte in &out[..length] {
            match (&mut self.inside, *byte) {
                (None, b'"') => self.inside = Some(0),
                (None, _) => {}
                (Some(_), b'"') if !self.escaped => self.inside = None,
                (Some(length), byte) => {
                    *length += 1;
                    if *length > MOST_EVENT {
                        return Err(io::Error::other(Exhausted));
                    }
                    self.escaped = byte == b'\\' && !self.escaped;
                }
            }
        }
        Ok(length)
    }
}
