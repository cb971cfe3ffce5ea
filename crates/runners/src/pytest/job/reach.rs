//! Which points a run of instrumented code reaches.

use std::collections::HashMap;

use flakelab_model::{Ranges, Reached};

#[derive(Debug, Default)]
pub(super) struct Reach {
    import: Ranges,
    nodes: HashMap<u32, Ranges>,
}

impl Reach {
    pub(super) fn imported(&mut self, numbers: &[u32]) {
        extend(&mut self.import, numbers);
    }

    pub(super) fn reached(&mut self, node: u32, numbers: &[u32]) {
        extend(self.nodes.entry(node).or_default(), numbers);
    }

    /// What these nodes reached, in turn.
    pub(super) fn of(&self, nodes: &[u32]) -> Reached {
        let of = |node: &u32| self.nodes.get(node).cloned().unwrap_or_default();
        Reached {
            import: self.import.clone(),
            tests: nodes.iter().map(of).collect(),
        }
    }
}

/// Adds (first, length) pairs; a shim sends them in order, and nothing else is believed.
fn extend(ranges: &mut Ranges, numbers: &[u32]) {
    for pair in numbers.chunks_exact(2) {
        let (first, length) = (pair[0], pair[1]);
        let end = ranges.last().map_or(0, |(first, length)| first + length);
        if length > 0 && first >= end && first.checked_add(length).is_some() {
            ranges.push((first, length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_numbers_are_passed_over() {
        let mut ranges = Vec::new();
        extend(&mut ranges, &[3, 2, 4, 9, 7, 0, u32::MAX, 1, 8, 1, 9]);
        assert_eq!(ranges, [(3, 2), (8, 1)]);
    }
}
