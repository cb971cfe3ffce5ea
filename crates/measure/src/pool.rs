//! Texts and snapshots, each kept once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The number of a text: an element's name, or a value.
pub type Text = u32;

/// What one execution looked like at one layer: (element, value), sorted.
pub type Content = Arc<[(Text, Text)]>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SnapshotId(pub u32);

#[derive(Debug, Default)]
pub struct Pool {
    texts: Vec<Arc<str>>,
    text_numbers: HashMap<Arc<str>, Text>,
    contents: Vec<Content>,
    content_numbers: HashMap<Content, SnapshotId>,
}

impl Pool {
    pub fn text(&mut self, text: &str) -> Text {
        if let Some(number) = self.text_numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as Text;
        let shared: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&shared));
        self.text_numbers.insert(shared, number);
        number
    }

    pub fn snapshot(&mut self, mut pairs: Vec<(Text, Text)>) -> SnapshotId {
        pairs.sort_unstable();
        pairs.dedup();
        let content: Content = pairs.into();
        if let Some(id) = self.content_numbers.get(&content) {
            return *id;
        }
        let id = SnapshotId(self.contents.len() as u32);
        self.contents.push(Arc::clone(&content));
        self.content_numbers.insert(content, id);
        id
    }

    pub fn name(&self, text: Text) -> &str {
        &self.texts[text as usize]
    }

    pub fn content(&self, id: SnapshotId) -> &Content {
        &self.contents[id.0 as usize]
    }

    /// Those from a number on, for whoever keeps them.
    pub fn texts_from(&self, first: usize) -> &[Arc<str>] {
        &self.texts[first.min(self.texts.len())..]
    }

    pub fn contents_from(&self, first: usize) -> &[Content] {
        &self.contents[first.min(self.contents.len())..]
    }

    /// How many texts and snapshots there are.
    pub fn size(&self) -> (usize, usize) {
        (self.texts.len(), self.contents.len())
    }

    /// The values of each element in a snapshot. One element may have several: a union of tests.
    pub(crate) fn elements(
        content: &[(Text, Text)],
    ) -> impl Iterator<Item = (Text, &[(Text, Text)])> {
        content
            .chunk_by(|a, b| a.0 == b.0)
            .map(|chunk| (chunk[0].0, chunk))
    }

    /// The elements that are not the same in all of these snapshots, definition 4.
    pub fn differing(&self, ids: &BTreeSet<SnapshotId>) -> BTreeSet<Text> {
        /// Values where it was first seen, how often it was seen, whether always with these.
        type Sightings<'a> = (&'a [(Text, Text)], usize, bool);
        let mut seen: HashMap<Text, Sightings<'_>> = HashMap::new();
        for id in ids {
            for (element, values) in Self::elements(self.content(*id)) {
                let entry = seen.entry(element).or_insert((values, 0, true));
                entry.1 += 1;
                entry.2 &= entry.0 == values;
            }
        }
        seen.into_iter()
            .filter(|(_, (_, times, same))| *times != ids.len() || !same)
            .map(|(element, _)| element)
            .collect()
    }
}

/// A snapshot as bytes: differences of element numbers, and value numbers, each as few bytes as it takes.
pub fn encode(content: &[(Text, Text)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() * 3);
    let mut last = 0;
    for (element, value) in content {
        put(&mut bytes, element.wrapping_sub(last));
        put(&mut bytes, *value);
        last = *element;
    }
    bytes
}

/// The inverse of [`encode`]; `None` if these bytes are none of its.
pub fn decode(mut bytes: &[u8]) -> Option<Vec<(Text, Text)>> {
    let mut content = Vec::new();
    let mut last: u32 = 0;
    while !bytes.is_empty() {
        last = last.wrapping_add(take(&mut bytes)?);
        content.push((last, take(&mut bytes)?));
    }
    Some(content)
}

fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_snapshots_are_kept_once() {
        let mut pool = Pool::default();
        let (a, b) = (pool.text("a"), pool.text("b"));
        assert_eq!(pool.text("a"), a);
        let one = pool.snapshot(vec![(b, a), (a, b), (a, b)]);
        let same = pool.snapshot(vec![(a, b), (b, a)]);
        assert_eq!(one, same);
        assert_eq!(pool.size(), (2, 1));
    }

    #[test]
    fn elements_differ_by_value_and_by_being_there() {
        let mut pool = Pool::default();
        let one = pool.snapshot(vec![(1, 1), (2, 1), (3, 1)]);
        let two = pool.snapshot(vec![(1, 1), (2, 2)]);
        let differing = pool.differing(&BTreeSet::from([one, two]));
        assert_eq!(differing, BTreeSet::from([2, 3]));
        assert!(pool.differing(&BTreeSet::from([one])).is_empty());
    }

    #[test]
    fn bytes_give_the_same_snapshot_again() {
        let content = [(0, 0), (0, 127), (1, 128), (300, u32::MAX), (u32::MAX, 5)];
        assert_eq!(decode(&encode(&content)).as_deref(), Some(&content[..]));
        assert_eq!(decode(&[0x80]), None);
        assert_eq!(decode(&[1]), None);
        assert_eq!(decode(&[0xff; 12]), None);
    }
}
