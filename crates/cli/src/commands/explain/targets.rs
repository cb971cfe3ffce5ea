//! Which tests to explain, and what earlier campaigns know of them.

use std::collections::BTreeMap;

use flakelab_explain::Target;
use flakelab_model::{Class, Order, Polarity, Suite, TestIndex};
use flakelab_store::{Finished, Store};

use crate::error::CliError;
use crate::nearest::nearest;
use crate::workbench::{Detected, means};

/// Orders taken from the store for one test.
const MOST_ORDERS: usize = 40;

pub(super) fn nothing_yet() -> CliError {
    CliError::usage("there is nothing to explain yet")
        .hint("run `flakelab detect` first, name a test, or give a failing order with --order")
}

/// The tests that are named, or those the last `detect` found.
pub(super) fn choose(
    names: &[String],
    suite: &Suite,
    store: &Store,
    mut note: impl FnMut(&str),
) -> Result<Vec<Target>, CliError> {
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    let mut known = match Detected::last(store)? {
        Some((last, found)) => {
            let targets = of_campaign(&last, &found, suite, store, &mut note)?;
            classes.extend(found.tests.into_iter().map(|test| (test.id, test.class)));
            targets
        }
        None if names.is_empty() => {
            return Err(nothing_yet());
        }
        None => BTreeMap::new(),
    };
    // What no test before it decides stays what it was found to be.
    let settled = |test: TestIndex| {
        let class = classes.get(suite.id(test).as_str()).copied();
        class.filter(|class| matches!(class, Class::PositionDependent | Class::Masked))
    };
    if names.is_empty() {
        return Ok(known.into_values().collect());
    }
    let mut targets: BTreeMap<TestIndex, Target> = BTreeMap::new();
    for name in names {
        for test in find(name, suite)? {
            let target = known.remove(&test).unwrap_or(Target {
                test,
                class: settled(test),
                orders: Vec::new(),
            });
            targets.entry(test).or_insert(target);
        }
    }
    Ok(targets.into_values().collect())
}

/// A test by its id; or all tests of a file, class or parametrised function.
fn find(name: &str, suite: &Suite) -> Result<Vec<TestIndex>, CliError> {
    if let Some(test) = suite.find(name) {
        return Ok(vec![test]);
    }
    let found: Vec<TestIndex> = suite
        .indices()
        .filter(|test| means(name, suite.id(*test).as_str()))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let error = CliError::usage(format!("the suite has no test `{name}`"));
    Err(
        match nearest(name, suite.ids().iter().map(|id| id.as_str())) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint("`pytest --collect-only -q` lists the ids"),
        },
    )
}

fn of_campaign(
    last: &Finished,
    found: &Detected,
    suite: &Suite,
    store: &Store,
    note: &mut impl FnMut(&str),
) -> Result<BTreeMap<TestIndex, Target>, CliError> {
    let numbers: BTreeMap<&str, u32> = (0u32..)
        .zip(&last.suite)
        .map(|(number, id)| (id.as_str(), number))
        .collect();
    let mut targets = BTreeMap::new();
    let mut gone = Vec::new();
    let mut wanted = Vec::new();
    for test in found.tests.iter().filter(|t| t.class.has_cause()) {
        let Some(index) = suite.find(&test.id) else {
            gone.push(test.id.as_str());
            continue;
        };
        wanted.extend(numbers.get(test.id.as_str()));
        let short = match test.class {
            Class::Victim | Class::CollectionDependent => test.reproduce.as_ref().map(|r| &r.order),
            Class::Brittle => test.passing_order.as_ref(),
            _ => None,
        };
        let ids = short.into_iter().flatten().map(String::as_str);
        let orders = order(ids, suite, index).into_iter().collect();
        targets.insert(
            index,
            Target {
                test: index,
                class: Some(test.class),
                orders,
            },
        );
    }
    if !gone.is_empty() {
        note(&format!(
            "{} of the last detect are not collected any more, e.g. `{}`",
            gone.len(),
            gone[0]
        ));
    }
    let sightings = store
        .sightings(last.id, &wanted, MOST_ORDERS)
        .map_err(CliError::store)?;
    for sighting in sightings {
        let id = |number: u32| last.suite.get(number as usize).map(String::as_str);
        let Some(index) = id(sighting.test).and_then(|id| suite.find(id)) else {
            continue;
        };
        let Some(target) = targets.get_mut(&index) else {
            continue;
        };
        let telling = match target.class {
            Some(Class::Victim | Class::CollectionDependent | Class::NonDeterministic) => {
                sighting.verdict == Polarity::Fail
            }
            Some(Class::Brittle) => sighting.verdict == Polarity::Pass,
            _ => false,
        };
        let ids = sighting.order.iter().filter_map(|number| id(*number));
        if telling && let Some(order) = order(ids, suite, index) {
            target.orders.push(order);
        }
    }
    Ok(targets)
}

/// An order that ends with the target; tests that are gone are left out.
fn order<'a>(
    ids: impl Iterator<Item = &'a str>,
    suite: &Suite,
    target: TestIndex,
) -> Option<Order> {
    let tests: Vec<TestIndex> = ids.filter_map(|id| suite.find(id)).collect();
    (tests.len() > 1 && tests.last() == Some(&target)).then_some(Order(tests))
}
