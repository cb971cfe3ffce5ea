//! Step 3, algorithm 1: the same random orders for every mutant, then the test alone.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use flakelab_lab::{Lab, LabError, Spent, Variants};
use flakelab_model::{
    CodeEdit, Ending, Isolation, Order, Polarity, RunRecord, RunRequest, Suite, TestIndex, Timeout,
};
use flakelab_source::Tree;

use crate::entry::{Class, Entry, Shown};
use crate::mutant::Mutant;
use crate::select::{Selection, run};
use crate::settings::Settings;

/// How a test did in the orders, with a mutant in place.
#[derive(Debug, Default, Clone)]
struct Tally {
    passing: Vec<usize>,
    failing: Vec<usize>,
    /// How it fails in the first of the failing orders, whichever came back first.
    shown: Option<(usize, Shown)>,
}

impl Tally {
    fn varies(&self) -> bool {
        !self.passing.is_empty() && !self.failing.is_empty()
    }

    fn take(&mut self, order: usize, outcome: &flakelab_model::Outcome) {
        match outcome.polarity() {
            Polarity::Pass => self.passing.push(order),
            Polarity::Fail => {
                self.failing.push(order);
                if self.shown.as_ref().is_none_or(|(known, _)| order < *known) {
                    self.shown = Shown::of(outcome).map(|shown| (order, shown));
                }
            }
            Polarity::Neutral => {}
        }
    }
}

/// An entry on its way into the data set.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) entry: Entry,
    /// The test of the entry.
    pub(crate) test: Option<TestIndex>,
}

/// What all mutants are evaluated with.
pub(crate) struct Bench<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) selection: &'a Selection,
    pub(crate) settings: &'a Settings,
    /// What running the orders with mutants has cost.
    pub(crate) spent: Cell<Spent>,
}

impl Bench<'_> {
    /// The entries of these mutants; those that depend on the order are not confirmed yet.
    pub(crate) fn evaluate(
        &self,
        lab: &mut dyn Lab,
        variants: &mut dyn Variants,
        tree: &dyn Tree,
        mutants: &[Mutant],
    ) -> Result<Vec<Candidate>, LabError> {
        let bodies: Vec<Option<Arc<CodeEdit>>> = mutants.iter().map(|m| Some(m.body())).collect();
        let (tallies, lost) = self.orders(lab, mutants, &bodies)?;
        let mut found = Vec::with_capacity(mutants.len());
        for (at, mutant) in mutants.iter().enumerate() {
            found.push(match lost.get(&at) {
                Some(why) => self.written(variants, tree, mutant, why)?,
                None => self.classify(lab, mutant, Some(mutant.body()), at, &tallies)?,
            });
        }
        Ok(found)
    }

    /// A body that cannot be swapped in is written into a view of the project.
    fn written(
        &self,
        variants: &mut dyn Variants,
        tree: &dyn Tree,
        mutant: &Mutant,
        why: &str,
    ) -> Result<Candidate, LabError> {
        let text = tree.read(&mutant.file).unwrap_or_default();
        let files = [(mutant.file.clone(), mutant.text(&text))];
        let invalid = |why: String| {
            let mutant = Mutant {
                why_invalid: Some(why),
                ..mutant.clone()
            };
            Candidate {
                entry: self.entry(&mutant, mutant.tests.first().copied()),
                test: None,
            }
        };
        let Some(mut lab) = variants.open(&files)? else {
            return Ok(invalid("the suite does not collect with it".into()));
        };
        let (tallies, _) = self.orders(&mut *lab, std::slice::from_ref(mutant), &[None])?;
        if tallies.is_empty() {
            return Ok(invalid(why.to_owned()));
        }
        self.classify(&mut *lab, mutant, None, 0, &tallies)
    }

    /// Every order with every mutant; also mutants that could not be run, and why.
    fn orders(
        &self,
        lab: &mut dyn Lab,
        mutants: &[Mutant],
        bodies: &[Option<Arc<CodeEdit>>],
    ) -> Result<(Tallies, BTreeMap<usize, String>), LabError> {
        let mut tallies: Tallies = BTreeMap::new();
        let mut lost = BTreeMap::new();
        let numbers: Vec<usize> = (0..self.selection.orders.len()).collect();
        for some in numbers.chunks(ORDERS_AT_ONCE) {
            let asked = self.requests(mutants, bodies, some);
            self.walk(lab, mutants, &asked, &mut tallies, &mut lost)?;
        }
        for tally in tallies.values_mut() {
            tally.passing.sort_unstable();
            tally.failing.sort_unstable();
        }
        tallies.retain(|(at, _), _| !lost.contains_key(at));
        Ok((tallies, lost))
    }

    /// These orders with every mutant: the mutant, the order, and the request.
    fn requests(
        &self,
        mutants: &[Mutant],
        bodies: &[Option<Arc<CodeEdit>>],
        orders: &[usize],
    ) -> Vec<Asked> {
        let mut asked: Vec<Asked> = Vec::new();
        for (at, mutant) in mutants.iter().enumerate() {
            if mutant.why_invalid.is_some() {
                continue;
            }
            for number in orders {
                let order = &self.selection.orders[*number];
                let places = mutant.tests.iter().filter_map(|test| order.position(*test));
                let ends: Vec<usize> = if mutant.fixture {
                    places.max().into_iter().collect()
                } else {
                    places.collect()
                };
                for end in ends {
                    let prefix = Order(order.0[..=end].to_vec());
                    let request = RunRequest {
                        // Orders are never mixed, so that they can be walked side by side.
                        attempt: u32::try_from(*number).unwrap_or(u32::MAX),
                        edit: bodies[at].clone(),
                        last_only: !mutant.fixture,
                        ..RunRequest::new(prefix, Isolation::Shared, self.selection.timeout)
                    };
                    asked.push((at, *number, request));
                }
            }
        }
        // A prefix before those that contain it, so that walking on is the last branch.
        asked.sort_by_key(|(_, number, request)| (*number, request.order.0.len()));
        asked
    }

    /// Runs what was asked, all of an order in one walk; what a walk left out, on its own.
    fn walk(
        &self,
        lab: &mut dyn Lab,
        mutants: &[Mutant],
        asked: &[Asked],
        tallies: &mut Tallies,
        lost: &mut BTreeMap<usize, String>,
    ) -> Result<(), LabError> {
        let mut waiting: Vec<usize> = (0..asked.len()).collect();
        for isolation in [Isolation::Shared, Isolation::Fork] {
            let batch: Vec<RunRequest> = waiting
                .iter()
                .map(|nth| RunRequest {
                    isolation,
                    ..asked[*nth].2.clone()
                })
                .collect();
            let mut cut = Vec::new();
            run(lab, &batch, |record| {
                let mut spent = self.spent.get();
                spent.add(&record);
                self.spent.set(spent);
                let (at, number, _) = &asked[waiting[record.request]];
                if let Ending::Lost(why) = &record.ending {
                    lost.insert(*at, why.clone());
                    return;
                }
                // A mutant that killed its parent ended the walk for those behind it. They walk alone.
                let shares = isolation == Isolation::Shared && !mutants[*at].fixture;
                if shares && record.ending == Ending::Stopped {
                    cut.push(waiting[record.request]);
                    return;
                }
                for execution in &record.executions {
                    if mutants[*at].tests.contains(&execution.test) {
                        let tally = tallies.entry((*at, execution.test)).or_default();
                        tally.take(*number, &execution.outcome);
                    }
                }
            })?;
            cut.sort_unstable();
            waiting = cut;
            if waiting.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn classify(
        &self,
        lab: &mut dyn Lab,
        mutant: &Mutant,
        body: Option<Arc<CodeEdit>>,
        at: usize,
        tallies: &Tallies,
    ) -> Result<Candidate, LabError> {
        let own: Vec<(TestIndex, &Tally)> = mutant
            .tests
            .iter()
            .filter_map(|test| Some((*test, tallies.get(&(at, *test))?)))
            .collect();
        let varying = own.iter().find(|(_, tally)| tally.varies());
        let shown = varying.or(own.first());
        let test = shown
            .map(|(test, _)| *test)
            .or(mutant.tests.first().copied());
        let mut entry = self.entry(mutant, test);
        if let Some((_, tally)) = shown {
            entry.passing_orders.clone_from(&tally.passing);
            entry.failing_orders.clone_from(&tally.failing);
            entry.failure = tally.shown.as_ref().map(|(_, shown)| shown.clone());
        }
        if let Some((test, _)) = varying {
            let (passed, of) = self.alone(lab, body, *test)?;
            entry.alone = Some((passed, of));
            entry.class = if passed == of {
                Class::Victim
            } else if passed == 0 {
                Class::Brittle
            } else {
                Class::NonDeterministic
            };
            entry.also = own
                .iter()
                .filter(|(other, tally)| other != test && tally.varies())
                .map(|(other, _)| self.suite.id(*other).to_string())
                .collect();
        }
        Ok(Candidate { entry, test })
    }

    /// What is known of a mutant before it ran.
    fn entry(&self, mutant: &Mutant, test: Option<TestIndex>) -> Entry {
        Entry {
            id: mutant.id.clone(),
            test: test.map_or_else(String::new, |test| self.suite.id(test).to_string()),
            also: Vec::new(),
            file: mutant.file.clone(),
            line: mutant.line,
            statement: mutant.statement.clone(),
            valid: mutant.why_invalid.is_none(),
            class: if mutant.why_invalid.is_some() {
                Class::Invalid
            } else {
                Class::Stable
            },
            why_invalid: mutant.why_invalid.clone(),
            note: None,
            patch: None,
            passing_orders: Vec::new(),
            failing_orders: Vec::new(),
            alone: None,
            failure: None,
            polluters: Vec::new(),
            state_setters: Vec::new(),
            cleaners: Vec::new(),
        }
    }

    /// Passes among runs of the test alone with the mutant in place: this body, or what the lab has.
    fn alone(
        &self,
        lab: &mut dyn Lab,
        body: Option<Arc<CodeEdit>>,
        test: TestIndex,
    ) -> Result<(u32, u32), LabError> {
        let timeout: Timeout = self.selection.timeout;
        let batch: Vec<RunRequest> = (0..self.settings.reruns)
            .map(|attempt| RunRequest {
                attempt,
                edit: body.clone(),
                ..RunRequest::new(Order(vec![test]), Isolation::Fork, timeout)
            })
            .collect();
        let (mut passed, mut of) = (0, 0);
        run(lab, &batch, |record: RunRecord| {
            if let Some(last) = record.executions.last() {
                match last.outcome.polarity() {
                    Polarity::Pass => passed += 1,
                    Polarity::Fail => {}
                    Polarity::Neutral => return,
                }
                of += 1;
            }
        })?;
        Ok((passed, of))
    }
}

/// Orders walked side by side. Memory grows with it, not with how many orders there are.
const ORDERS_AT_ONCE: usize = 4;

/// A mutant and an order, by number, and what runs them.
type Asked = (usize, usize, RunRequest);

/// By mutant and test.
type Tallies = BTreeMap<(usize, TestIndex), Tally>;
