//! What orders of tests would have cost until every mutant is killed (section 4.4, table 6), on a recorded matrix.
//!
//! A scheme says in which order the tests of a mutant run; a strategy says when a test that did not hit it runs again. Every
//! execution until the kill costs what the test took without a mutant. Each pair does what it was seen to do: it hits the
//! mutant in the execution in which it did, and then kills or does not. Mutants that nothing kills would cost the same under all
//! schemes, and are left out, as in the paper.
//!
//! Isolation is no part of the matrix: *immediately* means all recorded executions of a pair, over all rungs.

mod matrix;
#[cfg(test)]
mod tests;

use flakelab_lab::orders::Stream;
use flakelab_stats::wilcoxon;

use crate::priority::by_frequency;

pub use matrix::{
    Matrix, MatrixError, MatrixMutant, MatrixPair, MatrixSchema, MatrixTest, PairStatus,
};

/// As the paper has it.
const RANDOM_ORDERS: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// The average over 10 orders of the tests; all mutants share an order.
    Random,
    /// The most frequent hits first, then the fastest.
    Coverage,
    /// The fastest first: PIT's default.
    Time,
    /// The bounds: what an oracle would pay that knows every verdict. With coverage that does not vary they are the paper's: a test that
    /// kills, the fastest one; and all others first, then the slowest that kills. With coverage that varies, one that
    /// kills late may cost more than a slower one, so what counts is what is paid until the kill.
    Best,
    Worst,
}

impl Scheme {
    pub const ALL: [Scheme; 5] = [
        Scheme::Random,
        Scheme::Coverage,
        Scheme::Time,
        Scheme::Best,
        Scheme::Worst,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Scheme::Random => "random",
            Scheme::Coverage => "coverage",
            Scheme::Time => "time",
            Scheme::Best => "best",
            Scheme::Worst => "worst",
        }
    }
}

/// When a test runs again that did not hit the mutant (section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rerun {
    /// At once, until it does.
    Immediate,
    /// When all others have run, with all that did not hit it either.
    Later,
}

/// One line of table 6.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub project: String,
    pub tests: u64,
    pub mutants: u64,
    /// Mutants that some test kills: those that count.
    pub killable: u64,
    /// In the order of [`Scheme::ALL`].
    pub schemes: Vec<SchemeRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SchemeRow {
    pub scheme: Scheme,
    pub immediate: Cost,
    pub later: Cost,
    /// Do the times of the two differ? Over mutants in the row of a project, over projects in that of all. `None` if they are the
    /// same everywhere.
    pub wilcoxon: Option<Signed>,
}

/// Until every mutant that counts is killed. Averages for the random scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub seconds: f64,
    pub executions: f64,
}

/// Wilcoxon's signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signed {
    pub w: f64,
    /// Two-sided.
    pub p: f64,
    /// What was paired: mutants or projects.
    pub of: u64,
}

/// Table 6 for one project. The same seed gives the same random orders of the same tests, whatever the mutants.
pub fn simulate(matrix: &Matrix, seed: u64) -> Row {
    let killable: Vec<Vec<Step>> = matrix
        .mutants
        .iter()
        .map(|mutant| steps(matrix, mutant))
        .filter(|steps| steps.iter().any(|step| step.kills))
        .collect();
    let orders: Vec<Vec<usize>> = (0..RANDOM_ORDERS)
        .map(|number| ranks(matrix.tests.len(), seed, number))
        .collect();
    let schemes = Scheme::ALL.map(|scheme| {
        let [immediate, later] = [Rerun::Immediate, Rerun::Later].map(|strategy| {
            let of = |steps: &Vec<Step>| spent(steps, scheme, strategy, &orders);
            killable.iter().map(of).collect::<Vec<Spent>>()
        });
        let parts = match scheme {
            Scheme::Random => RANDOM_ORDERS,
            _ => 1,
        };
        SchemeRow {
            scheme,
            immediate: Cost::of(&immediate, parts),
            later: Cost::of(&later, parts),
            wilcoxon: signed(&micros(&immediate), &micros(&later)),
        }
    });
    Row {
        project: matrix.project.clone(),
        tests: matrix.tests.len() as u64,
        mutants: matrix.mutants.len() as u64,
        killable: killable.len() as u64,
        schemes: schemes.into(),
    }
}

/// The last line of table 6: sums, and the test over projects.
pub fn total(rows: &[Row]) -> Row {
    let schemes = Scheme::ALL.map(|scheme| {
        let of: Vec<&SchemeRow> = rows
            .iter()
            .flat_map(|row| row.schemes.iter().filter(|s| s.scheme == scheme))
            .collect();
        let sum = |cost: fn(&SchemeRow) -> Cost| Cost {
            seconds: of.iter().fold(0.0, |all, s| all + cost(s).seconds),
            executions: of.iter().fold(0.0, |all, s| all + cost(s).executions),
        };
        let seconds = |cost: fn(&SchemeRow) -> Cost| -> Vec<f64> {
            of.iter().map(|s| cost(s).seconds).collect()
        };
        SchemeRow {
            scheme,
            immediate: sum(|s| s.immediate),
            later: sum(|s| s.later),
            wilcoxon: signed(&seconds(|s| s.immediate), &seconds(|s| s.later)),
        }
    });
    let sum = |number: fn(&Row) -> u64| rows.iter().map(number).sum();
    Row {
        project: format!("{} projects", rows.len()),
        tests: sum(|row| row.tests),
        mutants: sum(|row| row.mutants),
        killable: sum(|row| row.killable),
        schemes: schemes.into(),
    }
}

/// What one pair did, with what a scheme may know of it.
#[derive(Debug, Clone, Copy)]
struct Step {
    test: usize,
    hits: (u32, u32),
    micros: u64,
    /// Until its first hit.
    executions: u64,
    kills: bool,
}

impl Step {
    /// Of all executions until its first hit.
    fn whole(&self) -> u64 {
        self.micros.saturating_mul(self.executions)
    }
}

/// Pairs of tests that the matrix does not know are passed over: [`Matrix::check`] names them.
fn steps(matrix: &Matrix, mutant: &MatrixMutant) -> Vec<Step> {
    let step = |pair: &MatrixPair| {
        let test = pair.test as usize;
        Some(Step {
            test,
            hits: (pair.seen, pair.of),
            micros: matrix.tests.get(test)?.micros,
            executions: pair.executions() as u64,
            kills: pair.kills(),
        })
    };
    mutant.pairs.iter().filter_map(step).collect()
}

/// For each test its place in a random order.
fn ranks(tests: usize, seed: u64, number: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tests).collect();
    Stream::new(seed, &format!("mutate simulate {number}")).shuffle(&mut order);
    let mut ranks = vec![0; tests];
    for (at, test) in order.into_iter().enumerate() {
        ranks[test] = at;
    }
    ranks
}

/// What one mutant costs until it is killed: the sum over all orders in the random scheme.
fn spent(steps: &[Step], scheme: Scheme, strategy: Rerun, orders: &[Vec<usize>]) -> Spent {
    let mut order = steps.to_vec();
    order.sort_by_key(|step| step.test);
    match scheme {
        Scheme::Random => {
            let mut sum = Spent::default();
            for ranks in orders {
                order.sort_by_key(|step| ranks[step.test]);
                sum.add(play(&order, strategy));
            }
            return sum;
        }
        Scheme::Coverage => {
            order.sort_by(|a, b| by_frequency(a.hits, b.hits).then_with(|| a.micros.cmp(&b.micros)))
        }
        Scheme::Time => order.sort_by_key(|step| step.micros),
        Scheme::Best => from_best(&mut order, strategy),
        Scheme::Worst => {
            from_best(&mut order, strategy);
            order.reverse();
        }
    }
    play(&order, strategy)
}

/// The least cost first, and backwards the most. Immediately: the kill that costs least as a whole. Later: all rounds before
/// the first one with a kill are run in full whatever the order, and in that one the fastest test that kills counts.
fn from_best(order: &mut [Step], strategy: Rerun) {
    order.sort_by_key(|step| match strategy {
        Rerun::Immediate => (!step.kills, step.whole(), step.executions),
        Rerun::Later => (!step.kills, step.executions, step.micros),
    });
}

/// Runs the tests of one mutant until it is killed.
fn play(order: &[Step], strategy: Rerun) -> Spent {
    let mut spent = Spent::default();
    match strategy {
        Rerun::Immediate => {
            for step in order {
                spent.add(Spent {
                    micros: step.whole(),
                    executions: step.executions,
                });
                if step.kills {
                    break;
                }
            }
        }
        Rerun::Later => {
            let rounds = order.iter().map(|step| step.executions).max().unwrap_or(0);
            'rounds: for round in 1..=rounds {
                for step in order.iter().filter(|step| step.executions >= round) {
                    spent.add(Spent {
                        micros: step.micros,
                        executions: 1,
                    });
                    if step.kills && step.executions == round {
                        break 'rounds;
                    }
                }
            }
        }
    }
    spent
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Spent {
    micros: u64,
    executions: u64,
}

impl Spent {
    fn add(&mut self, more: Spent) {
        self.micros = self.micros.saturating_add(more.micros);
        self.executions = self.executions.saturating_add(more.executions);
    }
}

impl Cost {
    /// Of all mutants, each summed over so many orders.
    fn of(mutants: &[Spent], orders: u64) -> Self {
        let mut sum = Spent::default();
        for mutant in mutants {
            sum.add(*mutant);
        }
        Self {
            seconds: sum.micros as f64 / orders as f64 / 1e6,
            executions: sum.executions as f64 / orders as f64,
        }
    }
}

fn micros(mutants: &[Spent]) -> Vec<f64> {
    mutants.iter().map(|spent| spent.micros as f64).collect()
}

fn signed(immediate: &[f64], later: &[f64]) -> Option<Signed> {
    wilcoxon(immediate, later).map(|found| Signed {
        // A sum of nothing is -0.
        w: found.w.abs(),
        p: found.p_value,
        of: immediate.len() as u64,
    })
}
