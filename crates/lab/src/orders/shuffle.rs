//! Random orders at three grains.

use flakelab_model::{Order, Suite, TestId, TestIndex};

use super::Stream;

pub(super) fn global(tests: &[TestIndex], stream: &mut Stream) -> Order {
    let mut order = tests.to_vec();
    stream.shuffle(&mut order);
    Order(order)
}

pub(super) fn nested(suite: &Suite, tests: &[TestIndex], stream: &mut Stream) -> Order {
    let mut order = Vec::with_capacity(tests.len());
    let mut modules = group(suite, tests, TestId::module);
    stream.shuffle(&mut modules);
    for module in modules {
        let mut classes = group(suite, &module, TestId::class_scope);
        stream.shuffle(&mut classes);
        for mut class in classes {
            stream.shuffle(&mut class);
            order.extend(class);
        }
    }
    Order(order)
}

pub(super) fn classes(suite: &Suite, tests: &[TestIndex], stream: &mut Stream) -> Order {
    let mut classes = group(suite, tests, TestId::class_scope);
    stream.shuffle(&mut classes);
    Order(classes.concat())
}

/// The tests by scope; scopes and tests in their original order.
pub(super) fn group(
    suite: &Suite,
    tests: &[TestIndex],
    scope: fn(&TestId) -> &str,
) -> Vec<Vec<TestIndex>> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Vec<Vec<TestIndex>> = Vec::new();
    for test in tests {
        let place = *places.entry(scope(suite.id(*test))).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(*test);
    }
    groups
}
