//! Orders merged into tries: what a lab walks by fork.
//!
//! Nodes are numbered depth first, so that a node's only successor is the next number; only branch
//! points list theirs. Requests with different attempt numbers are never merged.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use flakelab_model::{CodeEdit, Isolation, RunRequest, TestIndex};

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
    /// Nodes whose test runs with another body.
    pub edits: BTreeMap<u32, Arc<CodeEdit>>,
    /// Whether only the last execution of each order is wanted.
    pub last_only: bool,
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
    // By attempt, first step and what is wanted: what can be one trie.
    let mut shared: BTreeMap<(u32, Step, bool), Vec<Numbered<'a>>> = BTreeMap::new();
    for (number, request) in batch {
        let Some(first) = request.order.0.first() else {
            continue;
        };
        let alike = request.experiment.is_none()
            && request.factors.is_plain()
            && request.mutation.is_none()
            && request.edit.as_ref().is_none_or(|edit| !edit.from_start);
        let edit = request.edit.clone().filter(|_| request.order.0.len() == 1);
        if request.isolation == Isolation::Shared && alike {
            shared
                .entry((request.attempt, (*first, edit), request.last_only))
                .or_default()
                .push((number, request));
        } else {
            tries.push(build(vec![(number, request)]));
        }
    }
    tries.extend(shared.into_values().map(build));
    tries
}

/// A request with its number.
type Numbered<'a> = (usize, &'a RunRequest);

/// A test as it is, or with another body.
type Step = (TestIndex, Option<Arc<CodeEdit>>);

/// A node under construction; children in order of arrival.
#[derive(Default)]
struct Draft {
    children: Vec<(Step, usize)>,
    lookup: HashMap<Step, usize>,
    ends: Vec<usize>,
}

fn build(orders: Vec<Numbered<'_>>) -> Trie {
    let mut drafts = vec![Draft::default()];
    for (number, request) in &orders {
        let mut at = 0;
        let order = &request.order.0;
        for (place, test) in order.iter().enumerate() {
            let edit = request.edit.clone().filter(|edit| {
                let wanted = if edit.from_start { 0 } else { order.len() - 1 };
                place == wanted
            });
            let step = (*test, edit);
            at = match drafts[at].lookup.get(&step) {
                Some(child) => *child,
                None => {
                    let child = drafts.len();
                    drafts.push(Draft::default());
                    drafts[at].children.push((step.clone(), child));
                    drafts[at].lookup.insert(step, child);
                    child
                }
            };
        }
        drafts[at].ends.push(*number);
    }
    let last_only = orders.iter().all(|(_, request)| request.last_only);
    Trie {
        last_only,
        ..number(&drafts)
    }
}

/// Depth-first numbering, without recursion: orders are as long as suites are.
fn number(drafts: &[Draft]) -> Trie {
    let mut trie = Trie::default();
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let mut pending: Vec<(&Step, usize, Option<u32>)> = drafts[0]
        .children
        .iter()
        .rev()
        .map(|(step, draft)| (step, *draft, None))
        .collect();
    while let Some(((test, edit), draft, parent)) = pending.pop() {
        let node = trie.tests.len() as u32;
        numbers.insert(draft, node);
        if let Some(edit) = edit {
            trie.edits.insert(node, Arc::clone(edit));
        }
        trie.tests.push(*test);
        trie.parents.push(parent);
        for number in &drafts[draft].ends {
            trie.leaves.push((*number, node));
        }
        for (step, child) in drafts[draft].children.iter().rev() {
            pending.push((step, *child, Some(node)));
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

    #[test]
    fn bodies_branch_off_at_the_last_test() {
        let edit = |text: &str| {
            Some(Arc::new(CodeEdit {
                file: "a.py".into(),
                classes: Vec::new(),
                name: "test_a".into(),
                first_line: 1,
                line: 1,
                text: text.into(),
                from_start: false,
                defaults: false,
            }))
        };
        let with = |order: &[u32], text: &str| RunRequest {
            edit: edit(text),
            ..request(order, Isolation::Shared, 0)
        };
        let batch = [
            with(&[1, 2], "x"),
            with(&[1, 2], "y"),
            with(&[1, 2, 2], "x"),
            request(&[1, 2, 3], Isolation::Shared, 0),
            with(&[1], "x"),
        ];
        let tries = merge(batch.iter().enumerate());
        let [trie, first] = tries.as_slice() else {
            panic!("{tries:?}");
        };
        assert_eq!((first.tests.len(), first.edits.len()), (1, 1));
        assert_eq!(trie.tests, [1, 2, 2, 2, 2, 3].map(TestIndex));
        let edited: Vec<u32> = trie.edits.keys().copied().collect();
        assert_eq!(edited, [1, 2, 4]);
        assert_eq!(trie.branches[&0], [1, 2, 3]);
        assert_eq!(trie.branches[&3], [4, 5]);
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
