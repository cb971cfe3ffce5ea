//! Processes as the drill sees them: who belongs to a flakelab, who is killed, who is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Numbers of a seeded generator (splitmix64), so that a drill that failed can be repeated.
#[derive(Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let most = u64::try_from(all.len()).ok().filter(|most| *most > 0)?;
        all.get(usize::try_from(self.next() % most).ok()?)
    }
}

/// Processes below this one, with how far below; those that have ended and wait to be collected are none.
pub(crate) fn below(root: u32) -> Vec<(u32, u32)> {
    let mut found = vec![(root, 0)];
    let mut at = 0;
    while let Some((parent, depth)) = found.get(at).copied() {
        found.extend(children(parent).into_iter().map(|pid| (pid, depth + 1)));
        at += 1;
    }
    found.remove(0);
    found.retain(|(pid, _)| !is_dead(*pid));
    found
}

/// CPU time of a process, of those below it, and of all that these have collected; that is how far a campaign has
/// come, however busy the machine is.
pub(crate) fn cpu_time(root: u32) -> Duration {
    let below = below(root).into_iter().map(|(pid, _)| pid);
    let ticks: u64 = below.chain([root]).map(ticks).sum();
    Duration::from_millis(ticks * 10)
}

/// Of a hundredth of a second each, as Linux tells them.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let times = fields.split(' ').skip(11).take(4);
    times.filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn children(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

fn is_dead(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// Whether it is an interpreter with flakelab's part in it, and not one that is asked for its version.
pub(crate) fn runs_tests(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| String::from_utf8_lossy(&line).contains("flakelab_shim"))
}

#[allow(unsafe_code, reason = "std cannot kill what it did not start")]
pub(crate) fn kill(pid: u32) {
    // SAFETY: a plain system call on a process below one that the test has started.
    unsafe {
        libc::kill(i32::try_from(pid).expect("a pid"), libc::SIGKILL);
    }
}

/// Processes that carry this word in their environment and are still there after a while. What a flakelab
/// started has its environment, whoever is the parent by now.
pub(crate) fn left_of(word: &str) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let found: Vec<String> = fs::read_dir("/proc")
            .expect("proc")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| carries(path, word))
            .map(|path| {
                let line = fs::read(path.join("cmdline")).unwrap_or_default();
                format!("{} {}", path.display(), String::from_utf8_lossy(&line))
            })
            .collect();
        if found.is_empty() || Instant::now() > end {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn carries(process: &Path, word: &str) -> bool {
    let environ = fs::read(process.join("environ")).unwrap_or_default();
    environ
        .windows(word.len())
        .any(|window| window == word.as_bytes())
}

/// What belongs to the machine and the moment: times, and how many processes were started.
fn is_compared(key: &str) -> bool {
    !key.ends_with("seconds") && key != "processes"
}

/// A document without what differs between two runs of the same, the name of the directory included.
pub(crate) fn timeless(document: &Value, name: &str) -> Value {
    match document {
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .filter(|(key, _)| is_compared(key))
                .map(|(key, value)| (key.clone(), timeless(value, name)))
                .collect(),
        ),
        Value::Array(entries) => entries.iter().map(|e| timeless(e, name)).collect(),
        Value::String(text) => Value::String(text.replace(name, "PROJECT")),
        other => other.clone(),
    }
}

/// Where two documents differ.
pub(crate) fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (one, other) = (leaves(one), leaves(other));
    let mut all: Vec<&String> = one.keys().chain(other.keys()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .filter(|key| one.get(*key) != other.get(*key))
        .map(|key| format!("{key}: {:?}, {:?}", one.get(key), other.get(key)))
        .collect()
}

fn leaves(document: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut left = vec![(String::new(), document)];
    while let Some((place, value)) = left.pop() {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                left.extend(entries.iter().map(|(k, v)| (format!("{place}/{k}"), v)));
            }
            Value::Array(entries) if !entries.is_empty() => {
                let numbered = entries.iter().enumerate();
                left.extend(numbered.map(|(n, v)| (format!("{place}/{n}"), v)));
            }
            leaf => {
                found.insert(place, leaf.clone());
            }
        }
    }
    found
}
