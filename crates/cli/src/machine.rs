//! What this machine offers: probed where a verb wants to use it, and by `doctor`.
//!
//! Every probe says what is there, or why it is not. Knows nothing of who asks.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use flakelab_runners::process;
use flakelab_runners::pytest::clock as faketime;

/// What is there, or why it is not.
pub(crate) type Found = Result<String, String>;

/// Programs that open a page, the one that flakelab's own pages are tested with first.
const BROWSERS: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "firefox",
    "xdg-open",
];

/// Whether interpreters can be started with a wrong clock.
pub(crate) fn clock(python: &Path) -> Found {
    let library = faketime::library(python).ok_or(
        "there is no libfaketime (a Python package of that name, or `faketime` of the system)",
    )?;
    Ok(library.display().to_string())
}

/// Whether a run can get a network with nothing in it.
pub(crate) fn network() -> Found {
    process::offline_works()
        .map(|()| "a run can have a network of its own".to_owned())
        .map_err(|why| format!("this system does not allow a network of one's own: {why}"))
}

/// Whether memory can be laid out the same in every run.
pub(crate) fn addresses() -> Found {
    process::fixed_addresses_work()
        .map(|()| "a run can have a fixed layout of memory".to_owned())
        .map_err(|why| format!("this system does not allow a fixed layout of memory: {why}"))
}

pub(crate) fn git(dir: &Path) -> Found {
    process::git::version(dir).ok_or_else(|| "there is no git on the path".to_owned())
}

/// The first program on the path that opens a page.
pub(crate) fn browser(path: Option<&OsStr>) -> Found {
    let folders: Vec<PathBuf> = path
        .map(std::env::split_paths)
        .into_iter()
        .flatten()
        .collect();
    BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |dir| dir.join(name)))
        .find(|candidate| candidate.is_file())
        .map(|found| found.display().to_string())
        .ok_or_else(|| "there is no browser on the path".to_owned())
}

/// What a process of a run may take at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) bytes: u64,
    /// Whether a control group sets it, and not the machine.
    pub(crate) of_group: bool,
}

/// All the memory there is, so that one runaway test gets an error before the machine gets stuck, or the
/// control group (of a container) kills what it likes.
pub(crate) fn memory() -> Result<Memory, String> {
    memory_below(Path::new("/"))
}

fn memory_below(root: &Path) -> Result<Memory, String> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let machine = in_meminfo(&read("proc/meminfo")).ok_or("/proc/meminfo does not say")?;
    let group = limits_of_groups(&read("proc/self/cgroup"))
        .iter()
        .filter_map(|path| read(path).trim().parse::<u64>().ok())
        .min();
    Ok(match group {
        Some(bytes) if bytes < machine => Memory {
            bytes,
            of_group: true,
        },
        _ => Memory {
            bytes: machine,
            of_group: false,
        },
    })
}

fn in_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// The files that limit the memory of our control group and those around it, in both versions of the
/// interface. Inside a container the root of the hierarchy is the container's own group.
fn limits_of_groups(own: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (base, name) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for around in Path::new(group).ancestors() {
            let around = around.display().to_string();
            files.push(format!("{base}/{}/{name}", around.trim_start_matches('/')));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Result<Memory, String> {
        let root = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            std::fs::write(path, text).expect("written");
        }
        memory_below(root.path())
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:  2048 kB\nMemFree: 1 kB\n");

    #[test]
    fn the_tightest_group_around_us_counts() {
        let found = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "4096\n"),
        ]);
        let expected = Memory {
            bytes: 4096,
            of_group: true,
        };
        assert_eq!(found, Ok(expected));
        let found = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/x\n4:memory,x:/c\n"),
            ("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "8192\n"),
        ]);
        assert_eq!(found.map(|m| m.bytes), Ok(8192));
    }

    #[test]
    fn a_group_that_allows_more_than_there_is_does_not_count() {
        let whole = Memory {
            bytes: 2 << 20,
            of_group: false,
        };
        assert_eq!(machine(&[MEMINFO]), Ok(whole));
        let found = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "nonsense\n0::/\n"),
            ("sys/fs/cgroup/memory.max", "9223372036854771712\n"),
        ]);
        assert_eq!(found, Ok(whole));
        assert!(machine(&[]).is_err());
    }

    #[test]
    fn a_browser_is_looked_for_on_the_path() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = Some(folder.path().as_os_str());
        assert!(browser(path).is_err());
        assert!(browser(None).is_err());
        std::fs::write(folder.path().join("firefox"), "").expect("written");
        assert!(browser(path).is_ok_and(|found| found.ends_with("/firefox")));
    }
}
