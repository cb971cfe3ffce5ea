//! Mutants with their verdicts, on disk as they come: memory does not grow with how many there are.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use flakelab_report::mutate::{Document, Mutant};
use serde::{Serialize, Serializer};

/// A file without a name: it is gone with the process, however that ends.
pub(super) struct Spool(BufWriter<File>);

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(BufWriter::new(tempfile::tempfile()?)))
    }

    pub(super) fn push(&mut self, mutant: &Mutant) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, mutant)?;
        self.0.write_all(b"\n")
    }

    pub(super) fn finish(self) -> io::Result<Spooled> {
        Ok(Spooled(self.0.into_inner().map_err(io::Error::from)?))
    }
}

/// All mutants of a campaign. Written as a list of them.
pub(super) struct Spooled(File);

impl Spooled {
    pub(super) fn iter(&self) -> io::Result<impl Iterator<Item = io::Result<Mutant>>> {
        let mut file = &self.0;
        file.rewind()?;
        let lines = BufReader::new(file).lines();
        Ok(lines.map(|line| serde_json::from_str(&line?).map_err(io::Error::from)))
    }
}

impl Serialize for Spooled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error, SerializeSeq};

        let mut list = serializer.serialize_seq(None)?;
        for mutant in self.iter().map_err(S::Error::custom)? {
            list.serialize_element(&mutant.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// The document with all mutants, as it is delivered; with how many bytes it has.
pub(super) fn written(document: &Document<&Spooled>) -> io::Result<(File, usize)> {
    let mut out = BufWriter::new(tempfile::tempfile()?);
    serde_json::to_writer_pretty(&mut out, document)?;
    let mut file = out.into_inner().map_err(io::Error::from)?;
    let bytes = usize::try_from(file.stream_position()?).unwrap_or(usize::MAX);
    file.rewind()?;
    Ok((file, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_list_of_mutants() {
        let mutant = |number: usize| -> Mutant {
            serde_json::from_value(serde_json::json!({
                "id": format!("a.py:{number}"), "file": "a.py", "line": number, "column": 1, "scope": "f",
                "operator": "number", "says": "`1`\nbecame `2`", "status": "not covered", "killed_by": [],
                "diff": "-1\n+2\n", "tests": 0, "reused": false, "confirmed": false,
            }))
            .expect("a mutant")
        };
        let mut spool = Spool::new().expect("a file");
        for number in 0..3 {
            spool.push(&mutant(number)).expect("written");
        }
        let spooled = spool.finish().expect("flushed");
        // Twice: the document and other views.
        for _ in 0..2 {
            let list: Vec<Mutant> =
                serde_json::from_str(&serde_json::to_string(&spooled).expect("a list"))
                    .expect("mutants");
            assert_eq!(list, [mutant(0), mutant(1), mutant(2)]);
        }
    }
}
