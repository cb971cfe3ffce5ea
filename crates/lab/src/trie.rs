//! Orders merged into tries: what a lab walks by fork.
//!
//! Nodes are numbered depth first, so that a node's only successor is the next number; only branch
//! points list theirs. Requests with different attempt numbers are never merged.

use std::collections::{BTreeMap, HashMap};

use flakelab_model::{Isolation, RunRequest, TestIndex};

/// Stands for "the order ends here" among the successors of a node.
pub const END: i64 = -1;

/// One trie with a common first test (or a single order), executed by one lineage.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Trie {
    /// The test at each node.
    pub tests: Vec<TestIndex>,
    /// The node before each node.
    parents: Vec<Option<u32>>,
    /// Successors of the nodes that have not exactly the next node.
    pub branches: BTreeMap<u32, Vec<i64>>,
    /// For each request of the batch that this trie serves, the node its order ends at.
    pub leaves: Vec<(usize, u32)>,
}

impl Trie {
    /// The nodes of one order, first to last.
    pub fn path(&self, leaf: u32) -> Vec<u32> {
        let mut path = vec![leaf];
        let mut node = leaf;
        while let Some(parent) = self.parents[node as usize] {
            path.push(parent);
            node = parent;
        }
        path.reverse();
        path
    }
}

/// Merges a batch: shared orders by common prefix, all others each on its own. Empty orders are
/// served by no trie.
pub fn merge<'a>(batch: impl IntoIterator<Item = (usize, &'a RunRequest)>) -> Vec<Trie> {
    let mut tries = Vec::new();
    // By attempt and first test: what can be one trie.
    let mut shared: BTreeMap<(u32, TestIndex), Vec<Numbered<'a>>> = BTreeMap::new();
    for (number, request) in batch {
        let order = request.order.0.as_slice();
        let Some(first) = order.first() else { continue };
        let alike = request.experiment.is_none() && request.factors.is_plain();
        if request.isolation == Isolation::Shared && alike {
            shared
                .entry((request.attempt, *first))
                .or_default()
                .push((number, order));
        } else {
            tries.push(build(vec![(number, order)]));
        }
    }
    tries.extend(shared.into_values().map(build));
    tries
}

/// An order with the number of its request.
type Numbered<'a> = (usize, &'a [TestIndex]);

/// A node under construction; children in order of arrival.
#[derive(Default)]
struct Draft {
    children: Vec<(TestIndex, usize)>,
    lookup: HashMap<TestIndex, usize>,
    ends: Vec<usize>,
}

fn build(orders: Vec<Numbered<'_>>) -> Trie {
    let mut drafts = vec![Draft::default()];
    for (number, order) in &orders {
        let mut at = 0;
        for test in *order {
            at = match drafts[at].lookup.get(test) {
                Some(child) => *child,
                None => {
                    let child = drafts.len();
                    drafts.push(Draft::default());
                    drafts[at].children.push((*test, child));
                    drafts[at].lookup.insert(*test, child);
                    child
                }
            };
        }
        drafts[at].ends.push(*number);
    }
    number(&drafts)
}

/// Depth-first numbering, without recursion: orders are as long as suites are.
fn number(drafts: &[Draft]) -> Trie {
    let mut trie = Trie::default();
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let mut pending: Vec<(TestIndex, usize, Option<u32>)> = drafts[0]
        .children
        .iter()
        .rev()
        .map(|(test, draft)| (*test, *draft, None))
        .collect();
    while let Some((test, draft, parent)) = pending.pop() {
        let node = trie.tests.len() as u32;
        numbers.insert(draft, node);
        trie.tests.push(test);
        trie.parents.push(parent);
        for number in &drafts[draft].ends {
            trie.leaves.push((*number, node));
        }
        for (test, child) in drafts[draft].children.iter().rev() {
            pending.push((*test, *child, Some(node)));
        }
    }
    for (draft, node) in &numbers {
        let children = drafts[*draft]
            .children
            .iter()
            .map(|(_, child)| i64::from(numbers[child]));
        let ends = (!drafts[*draft].ends.is_empty()).then_some(END);
        let successors: Vec<i64> = ends.into_iter().chain(children).collect();
        if successors != [i64::from(*node) + 1] {
            trie.branches.insert(*node, successors);
        }
    }
    trie
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flakelab_model::{Order, Timeout};
    use proptest::prelude::*;

    use super::*;

    fn request(order: &[u32], isolation: Isolation, attempt: u32) -> RunRequest {
        let order = Order(order.iter().copied().map(TestIndex).collect());
        let timeout = Timeout {
            test: Duration::MAX,
            run: Duration::MAX,
        };
        RunRequest {
            attempt,
            ..RunRequest::new(order, isolation, timeout)
        }
    }

    #[test]
    fn a_shared_prefix_stands_once() {
        let batch = [
            request(&[1, 2, 3], Isolation::Shared, 0),
            request(&[1, 2], Isolation::Shared, 0),
            request(&[1, 2, 4], Isolation::Shared, 0),
            request(&[1, 2, 4], Isolation::Shared, 1),
            request(&[1, 2], Isolation::Fork, 0),
        ];
        let tries = merge(batch.iter().enumerate());
        assert_eq!(tries.len(), 3);
        let shared = tries.iter().find(|t| t.leaves.len() == 3).expect("merged");
        assert_eq!(shared.tests, [1, 2, 3, 4].map(TestIndex));
        assert_eq!(shared.branches[&1], [END, 2, 3]);
        assert_eq!(shared.branches[&2], [END]);
    }

    proptest! {
        #[test]
        fn every_order_is_a_path(orders in prop::collection::vec(prop::collection::vec(0u32..4, 0..6), 0..12)) {
            let batch: Vec<_> = orders.iter().map(|o| request(o, Isolation::Shared, 0)).collect();
            let tries = merge(batch.iter().enumerate());
            let mut served = vec![];
            for trie in &tries {
                for (number, leaf) in &trie.leaves {
                    let path = trie.path(*leaf);
                    let tests: Vec<_> = path.iter().map(|n| trie.tests[*n as usize]).collect();
                    prop_assert_eq!(&tests, &batch[*number].order.0);
                    for pair in path.windows(2) {
                        let next = i64::from(pair[1]);
                        let listed = trie.branches.get(&pair[0]);
                        prop_assert!(listed.map_or(next == i64::from(pair[0]) + 1, |l| l.contains(&next)));
                    }
                    served.push(*number);
                }
            }
            served.sort_unstable();
            let wanted: Vec<_> = (0..batch.len()).filter(|n| !batch[*n].order.0.is_empty()).collect();
            prop_assert_eq!(served, wanted);
        }
    }
}
