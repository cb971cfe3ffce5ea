//! What a shim says: one JSON packet an event. See `shims/pytest/flakelab_shim`.
//!
//! Packets come from processes that run other people's tests, so a packet that does not parse is
//! nothing: it is passed over, never trusted and never fatal.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The largest packet that is read; shims cut theirs to half of it.
pub(crate) const PACKET: usize = 128 * 1024;

#[derive(Debug, Deserialize)]
#[serde(tag = "k")]
pub(crate) enum Event {
    #[serde(rename = "tests")]
    Tests { list: Vec<String> },
    #[serde(rename = "collection_errors")]
    CollectionErrors { list: Vec<CollectionError> },
    #[serde(rename = "options")]
    Options { list: Vec<String> },
    #[serde(rename = "plain_options")]
    PlainOptions { list: Vec<String> },
    #[serde(rename = "positionals")]
    Positionals { list: Vec<String> },
    #[serde(rename = "hello")]
    Hello(Box<Hello>),
    #[serde(rename = "fatal")]
    Fatal(Fatal),
    /// A template is ready for its first request.
    #[serde(rename = "template")]
    Template { cpu_us: u64 },
    /// A lineage started.
    #[serde(rename = "begin")]
    Begin { pid: i32 },
    /// A cold interpreter found the tests of its order.
    #[serde(rename = "ready")]
    Ready { plain: bool },
    /// What the next test is torn down for, where that is not just the next node; in parts.
    #[serde(rename = "to")]
    Towards { list: Vec<i64> },
    /// A test starts.
    #[serde(rename = "s")]
    Start { n: u32 },
    /// A test's outcome.
    #[serde(rename = "o")]
    Outcome(OutcomeEvent),
    /// Changed code was executed, for the first time in this execution.
    #[serde(rename = "hit")]
    Hit {},
    /// Changed code was executed so often that the process ended itself.
    #[serde(rename = "circles")]
    Circles {},
    /// So many processes of the run were alive that it ended itself.
    #[serde(rename = "bomb")]
    Bomb {
        n: u32,
        #[serde(default)]
        group: i32,
    },
    /// Points reached while the suite was imported: first, length, first, length, …
    #[serde(rename = "imported")]
    Imported { r: Vec<u32> },
    /// Points reached by a test.
    #[serde(rename = "c")]
    Reached { n: u32, r: Vec<u32> },
    /// Something a watched run left behind.
    #[serde(rename = "leak")]
    Leak(flakelab_model::Leak),
    /// Where the last write of a leak was.
    #[serde(rename = "wrote")]
    Wrote { id: String, at: String },
    /// A leak that was to be put back and could not be.
    #[serde(rename = "stuck")]
    Stuck { id: String },
    /// The watch itself.
    #[serde(rename = "watched")]
    Watched {
        #[serde(default)]
        notes: Vec<String>,
        #[serde(default)]
        objects: u64,
        #[serde(default)]
        ms: u64,
    },
    /// A lineage has executed all it had to.
    #[serde(rename = "end")]
    End {},
    /// A branch of a lineage ended.
    #[serde(rename = "left")]
    Left { status: i32 },
    /// A lineage cannot be branched any more: what lies behind is to be run in another way.
    #[serde(rename = "unsharable")]
    Unsharable {},
    /// A lineage could not be set up.
    #[serde(rename = "lost")]
    Lost { m: String },
    /// The zygote is ready for the next request.
    #[serde(rename = "done")]
    Done { status: i32, cpu_us: u64 },
}

#[derive(Debug, Deserialize)]
pub(crate) struct OutcomeEvent {
    pub(crate) n: u32,
    pub(crate) o: String,
    #[serde(default)]
    pub(crate) us: u64,
    #[serde(default)]
    pub(crate) ph: Option<flakelab_model::Phase>,
    #[serde(default)]
    pub(crate) m: String,
    #[serde(default)]
    pub(crate) at: String,
    #[serde(default)]
    pub(crate) hit: bool,
    #[serde(default)]
    pub(crate) hits: u64,
    #[serde(default)]
    pub(crate) earlier: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CollectionError {
    pub id: String,
    #[serde(rename = "m")]
    pub message: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hello {
    pub(crate) python: String,
    pub(crate) pytest: String,
    pub(crate) rootdir: String,
    pub(crate) invocation_dir: String,
    pub(crate) plugins: Vec<String>,
    pub(crate) silenced: Vec<String>,
    #[serde(default)]
    pub(crate) places: BTreeMap<String, String>,
    pub(crate) rng: BTreeMap<String, u64>,
    pub(crate) obstacle: Option<String>,
    /// Whether templates may load plugins.
    #[serde(default)]
    pub(crate) ahead: bool,
    pub(crate) sandbox_error: Option<String>,
    pub(crate) cpu_us: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Fatal {
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) exit: i32,
    #[serde(default)]
    pub(crate) m: String,
}

pub(crate) fn decode(packet: &[u8]) -> Option<Event> {
    serde_json::from_slice(packet).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_passed_over() {
        for packet in [
            &b""[..],
            b"{}",
            b"\xff\xfe",
            b"{\"k\":\"o\"}",
            b"{\"k\":\"x\"}",
            b"[1]",
        ] {
            assert!(decode(packet).is_none(), "{packet:?}");
        }
    }

    #[test]
    fn an_outcome_is_read() {
        let Some(Event::Outcome(event)) =
            decode(br#"{"k":"o","n":3,"o":"f","ph":"call","m":"boom","us":12}"#)
        else {
            panic!("not an outcome");
        };
        assert_eq!((event.n, event.us), (3, 12));
    }
}
