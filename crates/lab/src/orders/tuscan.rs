//! Tuscan squares: sets of orders in which every ordered pair of tests is adjacent (Wei et al.,
//! TACAS 2021, probabilistic and systematic coverage of consecutive test-method pairs).

use flakelab_model::{Order, Suite, TestId, TestIndex};

use super::Stream;
use super::shuffle::group;

/// The rows of a square over `0..n`. For even `n` this is Williams' construction: the zigzag
/// 0, 1, n-1, 2, n-2, … has all differences once, so its n translates have every ordered pair
/// adjacent exactly once. No such square exists for n = 3 and 5 and none is this simple for other odd
/// numbers; there the square of n + 1 is used with the extra element left out, which keeps every pair
/// and costs one more row.
pub(super) fn square(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..rows(n)).map(move |number| row(n, number).collect())
}

fn rows(n: usize) -> usize {
    if n < 2 { n } else { n + n % 2 }
}

/// One row, without the others: a square of a large suite does not fit into memory.
fn row(n: usize, number: usize) -> impl Iterator<Item = usize> {
    let even = n + n % 2;
    let zigzag = move |at: usize| {
        if at % 2 == 1 {
            at.div_ceil(2)
        } else {
            (even - at / 2) % even
        }
    };
    (0..even)
        .map(move |at| (zigzag(at) + number) % even)
        .filter(move |value| *value < n)
}

/// Rows composed per module and class, so that a large suite stays practical: every ordered pair of
/// tests of one class, of classes of one module and of modules is adjacent in some row. The number of
/// rows is that of the largest square among them.
pub(super) fn compose(
    suite: &Suite,
    tests: &[TestIndex],
    most: usize,
    stream: &mut Stream,
) -> Vec<Order> {
    let mut modules: Vec<Vec<Vec<TestIndex>>> = group(suite, tests, TestId::module)
        .iter()
        .map(|module| group(suite, module, TestId::class_scope))
        .collect();
    stream.shuffle(&mut modules);
    for module in &mut modules {
        stream.shuffle(module);
        for class in module {
            stream.shuffle(class);
        }
    }
    let largest = modules
        .iter()
        .flat_map(|m| {
            m.iter()
                .map(|class| rows(class.len()))
                .chain([rows(m.len())])
        })
        .chain([rows(modules.len())])
        .max()
        .unwrap_or(0);
    (0..largest.min(most))
        .map(|row| {
            let mut order = Vec::with_capacity(tests.len());
            for module in row_of(&modules, row) {
                for class in row_of(module, row) {
                    order.extend(row_of(class, row).copied());
                }
            }
            Order(order)
        })
        .collect()
}

fn row_of<T>(things: &[T], number: usize) -> impl Iterator<Item = &T> {
    let number = number % rows(things.len()).max(1);
    row(things.len(), number).map(|place| &things[place])
}
