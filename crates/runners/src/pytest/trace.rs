//! Reads what a run wrote down: JSON lines made beside other people's tests.
//!
//! A line that does not parse, or that speaks of a text or point nobody defined, is passed over.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flakelab_model::{Datum, Point, Sample, TestTrace, Trace};
use serde::Deserialize;
use serde_json::Value;

/// The largest file that is read; shims stop at half of it.
const MOST_BYTES: u64 = 512 << 20;
const MOST_LINE: u64 = 64 << 20;
const MOST_NOTES: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    x: Vec<String>,
    p: Option<(u32, Vec<u32>)>,
    note: Option<String>,
    n: Option<u32>,
    a: Vec<(u32, u32)>,
    v: Vec<(u32, u32)>,
    q: Vec<(u32, u32)>,
    m: Vec<(u32, f64)>,
    f: Vec<u32>,
    l: Vec<(u32, Vec<u32>)>,
    b: Vec<(u32, Vec<Value>)>,
}

/// A run that wrote nothing gives an empty trace.
pub(super) fn read(path: &Path) -> io::Result<Trace> {
    let mut trace = Trace::default();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(trace),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file.take(MOST_BYTES));
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader
            .by_ref()
            .take(MOST_LINE)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(trace);
        }
        if let Ok(line) = serde_json::from_slice(&line) {
            take(&mut trace, line);
        }
    }
}

fn take(trace: &mut Trace, line: Line) {
    trace.texts.extend(line.x);
    let texts = trace.texts.len();
    let known = |text: &u32| (*text as usize) < texts;
    if let Some((name, variables)) = line.p
        && known(&name)
        && variables.iter().all(known)
    {
        trace.points.push(Point { name, variables });
    }
    if let Some(note) = line.note
        && trace.notes.len() < MOST_NOTES
        && !trace.notes.contains(&note)
    {
        trace.notes.push(note);
    }
    let Some(position) = line.n else { return };
    let pairs = |pairs: Vec<(u32, u32)>| -> Vec<(u32, u32)> {
        let sound = |(element, value): &(u32, u32)| known(element) && known(value);
        pairs.into_iter().filter(sound).collect()
    };
    let points = &trace.points;
    let samples = line.b.into_iter().filter_map(|(point, values)| {
        let wanted = points.get(point as usize)?.variables.len();
        let values: Vec<Datum> = values.iter().map(|value| datum(value, texts)).collect();
        (values.len() == wanted).then_some(Sample { point, values })
    });
    let test = TestTrace {
        position,
        values: pairs(line.a),
        verdicts: pairs(line.v),
        filtered: pairs(line.q),
        margins: line.m.into_iter().filter(|(e, _)| known(e)).collect(),
        functions: line.f.into_iter().filter(known).collect(),
        lines: line
            .l
            .into_iter()
            .filter(|(file, _)| known(file))
            .flat_map(|(file, lines)| lines.into_iter().map(move |line| (file, line)))
            .collect(),
        samples: samples.collect(),
    };
    trace.tests.push(test);
}

fn datum(value: &Value, texts: usize) -> Datum {
    let text = |value: Option<&Value>| {
        let number = value.and_then(Value::as_u64).filter(|n| *n < texts as u64);
        number.map(|n| n as u32)
    };
    let length = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or_default();
    match value {
        Value::Null => Datum::None,
        Value::Bool(flag) => Datum::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Datum::Int(whole),
            (None, Some(real)) => Datum::Float(real),
            _ => Datum::Missing,
        },
        Value::Array(parts) => {
            let kind = parts.first().and_then(Value::as_str).unwrap_or_default();
            match (kind, text(parts.get(1))) {
                ("s", Some(text)) => Datum::Text {
                    text,
                    length: length(parts.get(2)),
                },
                ("c", Some(kind)) => Datum::Sized {
                    kind,
                    length: length(parts.get(2)),
                },
                ("o", Some(kind)) => Datum::Other { kind },
                ("n", _) => Datum::Numbers {
                    length: length(parts.get(1)),
                    items: parts
                        .get(2)
                        .and_then(Value::as_array)
                        .map(|items| items.iter().filter_map(Value::as_f64).collect())
                        .unwrap_or_default(),
                },
                _ => Datum::Missing,
            }
        }
        _ => Datum::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Trace {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("trace");
        std::fs::write(&path, text).expect("write");
        read(&path).expect("readable")
    }

    #[test]
    fn a_trace_is_read_and_what_makes_no_sense_is_passed_over() {
        let trace = read_text(concat!(
            "{\"x\":[\"a.py:1:4 left\",\"1\",\"f\",\"x\"]}\n",
            "{\"p\":[2,[3]]}\n",
            "not json\n",
            "{\"p\":[99,[0]]}\n",
            "{\"n\":0,\"a\":[[0,1],[0,77]],\"m\":[[0,0.5]],\"q\":[[0,3],[0,99]],\"f\":[2,50],\"l\":[[0,[1,2]]],",
            "\"b\":[[0,[7]],[0,[1,2]],[9,[1]]]}\n",
            "{\"note\":\"n\"}\n",
            "{\"n\":1",
        ));
        assert_eq!(trace.texts.len(), 4);
        assert_eq!(trace.points.len(), 1);
        assert_eq!(trace.notes, ["n"]);
        let test = &trace.tests[0];
        assert_eq!(trace.tests.len(), 1, "a torn line is none");
        assert_eq!(test.values, [(0, 1)]);
        assert_eq!(test.filtered, [(0, 3)]);
        assert_eq!(test.functions, [2]);
        assert_eq!(test.lines, [(0, 1), (0, 2)]);
        assert_eq!(test.margins, [(0, 0.5)]);
        let sample = Sample {
            point: 0,
            values: vec![Datum::Int(7)],
        };
        assert_eq!(test.samples, [sample]);
    }

    #[test]
    fn values_keep_their_types() {
        let value = |text: &str| datum(&serde_json::from_str(text).expect("json"), 3);
        assert_eq!(value("null"), Datum::None);
        assert_eq!(value("1.5"), Datum::Float(1.5));
        assert_eq!(
            value("[\"s\",2,40]"),
            Datum::Text {
                text: 2,
                length: 40
            }
        );
        assert_eq!(value("[\"s\",3,40]"), Datum::Missing);
        assert_eq!(
            value("[\"n\",2,[1,2.5]]"),
            Datum::Numbers {
                length: 2,
                items: vec![1.0, 2.5]
            }
        );
        assert_eq!(value("[\"u\"]"), Datum::Missing);
    }
}
