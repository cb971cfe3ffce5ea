//! kill -9 at moments drawn by chance: of flakelab, of a zygote, of a process that executes tests.
//!
//! Three moments to a campaign, thirty kills to a target, and every verb that can be resumed gets some.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use crate::support::Project;
use crate::support::drill::{
    Chance, below, cpu_time, differences, kill, left_of, runs_tests, timeless,
};
use serde_json::Value;

const TILL: &str = "\
def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def discount(price, percent):
    return price - price * percent // 100
";
const TESTS: &str = "\
import till

BOX = []


def test_total():
    assert till.total([1, 2]) == 3


def test_empty():
    assert BOX == []


def test_fill():
    BOX.append(1)
    assert len(BOX) > 0


def test_discount():
    price = till.discount(200, 10)
    assert price == 180
";

const MOMENTS: usize = 3;
const KILLS: u32 = 30;
/// The verbs of ten campaigns, each with as few runs as it takes. A campaign that is quicker than the one it is compared with
/// may end before its last moment; then the first ones are taken again.
const CAMPAIGNS: [&[&str]; 10] = [
    DETECT, MUTATE, MEASURE, DETECT, INJECT, EXPLAIN, DETECT, FIX, MUTATE, LEARN,
];
const DETECT: &[&str] = &[
    "detect",
    "--orders",
    "3",
    "--isolated-runs",
    "2",
    "--confirmations",
    "1",
];
const EXPLAIN: &[&str] = &["explain", "--confirmations", "1"];
const FIX: &[&str] = &["fix", "--shuffles", "3", "--confirmations", "1"];
const INJECT: &[&str] = &["inject", "--reruns", "2", "--orders", "3"];
const LEARN: &[&str] = &["filter", "learn", "--runs", "3", "--version", "1"];
const MEASURE: &[&str] = &["measure", "--runs", "3", "--factors", "hash-seed"];
const MUTATE: &[&str] = &["mutate"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Flakelab,
    /// An interpreter that was started by flakelab: a zygote or a template.
    Zygote,
    /// One that executes tests: a fork, a fork of that, or an interpreter started for one run.
    Child,
}

/// How a campaign ends when nothing happens to it, and how much CPU time that takes.
#[derive(Debug, Clone)]
struct Undisturbed {
    came_to: CameTo,
    takes: Duration,
}

#[derive(Debug, Clone, PartialEq)]
struct CameTo {
    code: Option<i32>,
    document: Value,
    files: BTreeMap<String, String>,
}

/// A project of its own for a campaign; those that work on what `detect` found get that.
struct Site {
    project: Project,
    word: String,
    verb: &'static [&'static str],
}

impl Site {
    fn new(verb: &'static [&'static str]) -> Self {
        let project = Project::new(&[("till.py", TILL), ("test_till.py", TESTS)]);
        let name = name_of(project.path());
        if verb == EXPLAIN || verb == FIX {
            let store = project.path().join(".flakelab/store.sqlite");
            fs::create_dir_all(store.parent().expect("a parent")).expect("a directory");
            fs::write(store, detected()).expect("a store");
        }
        Self {
            word: format!("DRILL={name}"),
            project,
            verb,
        }
    }

    fn command(&self, resume: bool) -> Command {
        let mut command = self.project.flakelab(self.verb);
        command
            .arg("--python")
            .arg(self.project.python())
            .args(["-j", "2", "--format", "json"])
            .args(if resume {
                &["--resume"][..]
            } else {
                &["--seed", "1"]
            });
        if self.verb == INJECT {
            command
                .arg("-o")
                .arg(self.project.path().join(".flakelab/set"));
        }
        let (name, value) = self.word.split_once('=').expect("a variable");
        command.env(name, value).env("TMPDIR", self.temporary());
        command
    }

    /// Where what a killed flakelab left behind goes with the project.
    fn temporary(&self) -> std::path::PathBuf {
        let dir = self.project.path().join(".flakelab/tmp");
        fs::create_dir_all(&dir).expect("a directory");
        dir
    }

    fn start(&self, resume: bool) -> Child {
        self.command(resume)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("flakelab starts")
    }

    fn finish(&self, child: Child) -> (CameTo, String) {
        let output = child.wait_with_output().expect("it ends");
        let name = name_of(self.project.path());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&name, "PROJECT");
        let document = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| Value::String(text(&output.stdout)));
        let mut files = BTreeMap::new();
        let set = self.project.path().join(".flakelab/set");
        for entry in fs::read_dir(set).into_iter().flatten().flatten() {
            if let Ok(bytes) = fs::read(entry.path()) {
                files.insert(
                    entry.file_name().to_string_lossy().into_owned(),
                    text(&bytes),
                );
            }
        }
        let came_to = CameTo {
            code: output.status.code(),
            document: timeless(&document, &name),
            files,
        };
        (came_to, text(&output.stderr))
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().expect("a name");
    name.to_string_lossy().into_owned()
}

/// The store after a `detect`.
fn detected() -> &'static [u8] {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    STORE.get_or_init(|| {
        let site = Site::new(DETECT);
        let (came_to, said) = site.finish(site.start(false));
        assert_eq!(came_to.code, Some(1), "{said}");
        fs::read(site.project.path().join(".flakelab/store.sqlite")).expect("a store")
    })
}

fn undisturbed(verb: &'static [&'static str]) -> Undisturbed {
    static KNOWN: Mutex<BTreeMap<&str, Undisturbed>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no panic before");
    let entry = known.entry(verb[0]).or_insert_with(|| {
        let site = Site::new(verb);
        let mut child = site.start(false);
        let mut takes = Duration::ZERO;
        // It prints little, and only at its end.
        while child.try_wait().expect("a child").is_none() {
            takes = takes.max(cpu_time(child.id()));
            std::thread::sleep(Duration::from_millis(5));
        }
        let (came_to, said) = site.finish(child);
        assert!(matches!(came_to.code, Some(0 | 1)), "{verb:?}: {said}");
        assert_ne!(came_to.document, Value::String(String::new()), "{said}");
        Undisturbed { came_to, takes }
    });
    entry.clone()
}

/// What is to be killed at present, if there is any.
fn targets(target: Target, flakelab: u32) -> Vec<u32> {
    let depth = |depth: u32| match target {
        Target::Flakelab => false,
        Target::Zygote => depth == 1,
        Target::Child => depth > 1,
    };
    below(flakelab)
        .into_iter()
        .filter(|(pid, at)| depth(*at) && runs_tests(*pid))
        .map(|(pid, _)| pid)
        .collect()
}

/// Sleeps until a campaign has come so far; false if it ended before.
fn until(moment: Duration, child: &mut Child) -> bool {
    while cpu_time(child.id()) < moment {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// The campaign goes on by itself whatever of it is killed. Returns how many kills there were.
fn disturb(target: Target, site: &Site, moments: &[Duration], chance: &mut Chance) -> (Child, u32) {
    let mut child = site.start(false);
    let (mut kills, mut later) = (0, Duration::ZERO);
    for moment in moments {
        if !until(*moment + later, &mut child) {
            break;
        }
        // Where there is none at that moment, the next one; all further moments are later by that.
        while child.try_wait().expect("a child").is_none() {
            if let Some(pid) = chance.pick(&targets(target, child.id())) {
                later = cpu_time(child.id()).saturating_sub(*moment).max(later);
                kill(*pid);
                kills += 1;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    (child, kills)
}

/// The campaign is resumed after each kill. Returns the last, which nobody kills.
fn kill_and_resume(site: &Site, moments: &[Duration]) -> (Child, u32) {
    let (mut resume, mut kills) = (false, 0);
    let mut before = Duration::ZERO;
    for moment in moments {
        let mut child = site.start(resume);
        let further = moment.saturating_sub(before);
        before = *moment;
        if !until(further, &mut child) {
            return (child, kills);
        }
        kill(child.id());
        child.wait().expect("it ends");
        kills += 1;
        assert_eq!(left_of(&site.word), Vec::<String>::new(), "{:?}", site.verb);
        resume = has_campaign(site);
    }
    (site.start(resume), kills)
}

/// Whether the campaign had begun.
fn has_campaign(site: &Site) -> bool {
    let store = site.project.path().join(".flakelab/store.sqlite");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let verb = site.verb[..site.verb.len().min(2)].join(" ");
    let count = || -> rusqlite::Result<i64> {
        let db = rusqlite::Connection::open_with_flags(&store, flags)?;
        let query = "SELECT count(*) FROM campaigns WHERE verb = ?1 OR verb = ?2";
        db.query_row(query, [site.verb[0], &verb], |row| row.get(0))
    };
    store.exists() && count().is_ok_and(|campaigns| campaigns > 0)
}

fn drill(target: Target, seed: u64) {
    let mut chance = Chance(seed);
    let mut kills = 0;
    for (campaign, verb) in CAMPAIGNS.into_iter().cycle().enumerate() {
        if kills >= KILLS && campaign >= CAMPAIGNS.len() {
            break;
        }
        assert!(campaign < 2 * CAMPAIGNS.len(), "only {kills} kills");
        let expected = undisturbed(verb);
        let site = Site::new(verb);
        let before = site.project.tree();
        let mut moments: Vec<Duration> = (0..MOMENTS)
            .map(|_| expected.takes.mul_f64(chance.share()))
            .collect();
        moments.sort_unstable();
        let (child, killed) = match target {
            Target::Flakelab => kill_and_resume(&site, &moments),
            _ => disturb(target, &site, &moments, &mut chance),
        };
        let (came_to, said) = site.finish(child);
        let about = format!("{target:?} {verb:?} at {moments:?}, {killed} kills\n{said}");
        assert_eq!(came_to.code, expected.came_to.code, "{about}");
        let other = differences(&came_to.document, &expected.came_to.document);
        assert_eq!(other, Vec::<String>::new(), "{about}");
        assert_eq!(came_to.files, expected.came_to.files, "{about}");
        assert_eq!(left_of(&site.word), Vec::<String>::new(), "{about}");
        assert_eq!(site.project.tree(), before, "{about}");
        kills += killed;
    }
}

#[test]
fn a_killed_flakelab_leaves_no_process_and_is_resumed_to_the_same_result() {
    drill(Target::Flakelab, 1);
}

#[test]
fn a_killed_zygote_changes_nothing() {
    drill(Target::Zygote, 2);
}

#[test]
fn a_killed_child_changes_nothing() {
    drill(Target::Child, 3);
}
