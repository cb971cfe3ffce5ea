//! What else is mounted below a directory: an overlay shows only the file system it was laid over.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The mounts below a directory, as it is now; one that contains another comes before it.
pub(super) fn below(root: &Path) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    inside(points(&table), root)
}

/// The mount points of a table as `/proc/self/mountinfo` has it.
fn points(table: &[u8]) -> Vec<PathBuf> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(OsString::from_vec(unescaped(field))))
        .collect()
}

/// Blanks, line ends and backslashes are octal numbers there.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(byte);
                rest = &tail[3..];
            }
            None => {
                text.push(*first);
                rest = tail;
            }
        }
    }
    text
}

fn inside(points: Vec<PathBuf>, root: &Path) -> Vec<PathBuf> {
    let mut inside: Vec<PathBuf> = points
        .into_iter()
        .filter(|point| point.starts_with(root) && point != root)
        .collect();
    inside.sort();
    inside.dedup();
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"27 1 254:0 / / rw - ext4 /dev/vda rw\n\
        28 27 0:25 / /srv/app rw,relatime - tmpfs t rw\n\
        29 28 0:26 / /srv/app/.venv rw shared:1 - ext4 /dev/vdb rw\n\
        30 29 0:27 / /srv/app/.venv/lib rw - tmpfs t rw\n\
        31 28 0:28 / /srv/app/a\\040b\\134c rw - tmpfs t rw\n\
        32 27 0:29 / /srv/application rw - tmpfs t rw\n\
        garbage\n";

    #[test]
    fn mounts_below_a_directory_are_read_from_the_table() {
        let found = inside(points(TABLE), Path::new("/srv/app"));
        let expected = ["/srv/app/.venv", "/srv/app/.venv/lib", "/srv/app/a b\\c"];
        assert_eq!(found, expected.map(PathBuf::from));
        assert!(inside(points(TABLE), Path::new("/srv/application")).is_empty());
    }
}
