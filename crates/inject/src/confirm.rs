//! What goes into the data set holds on the written file, in fresh interpreters, and its causes are known.

use flakelab_lab::{BorrowedLab, Lab, LabError, Variants, pristine};
use flakelab_model::{Order, Polarity, RunRequest, TestIndex};
use flakelab_source::Tree;

use crate::entry::{Class, Cleaning, Entry};
use crate::evaluate::{Bench, Candidate};
use crate::mutant::Mutant;
use crate::select::run;

/// Who matters for an order-dependent test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Causes {
    /// Polluters of a victim, state-setters of a brittle.
    pub culprits: Vec<Vec<String>>,
    pub cleaners: Vec<Cleaning>,
}

/// Finds who matters; `orders` show the other verdict than the test alone, which is the last of each.
pub trait Explain {
    fn explain(
        &mut self,
        lab: BorrowedLab<'_>,
        test: TestIndex,
        victim: bool,
        orders: Vec<Order>,
    ) -> Result<Causes, LabError>;
}

/// Orders handed on to the search for causes.
const MOST_ORDERS: usize = 3;

impl Bench<'_> {
    /// Confirms an order-dependent mutant, or says why it is none.
    pub(crate) fn confirm(
        &self,
        lab: &mut dyn Lab,
        variants: &mut dyn Variants,
        tree: &dyn Tree,
        explain: &mut dyn Explain,
        mutant: &Mutant,
        candidate: &mut Candidate,
    ) -> Result<(), LabError> {
        let (entry, Some(test)) = (&mut candidate.entry, candidate.test) else {
            return Ok(());
        };
        let victim = entry.class == Class::Victim;
        let through = |number: &usize| -> Option<Order> {
            let order = self.selection.orders.get(*number)?;
            let at = order.position(test)?;
            Some(Order(order.0[..=at].to_vec()))
        };
        let mut failing: Vec<Order> = entry.failing_orders.iter().filter_map(through).collect();
        let mut passing: Vec<Order> = entry.passing_orders.iter().filter_map(through).collect();
        failing.sort_by_key(|order| order.0.len());
        passing.sort_by_key(|order| order.0.len());
        let Some(shortest) = failing.first() else {
            return Ok(());
        };
        // Without the deletion the test passes in the very order.
        if self.ask(lab, shortest)? != (self.settings.confirmations, self.settings.confirmations) {
            return reject(entry, "the test itself fails in that order now and then");
        }
        let text = tree.read(&mutant.file).unwrap_or_default();
        let files = [(mutant.file.clone(), mutant.text(&text))];
        let Some(mut written) = variants.open(&files)? else {
            return reject(entry, "the suite does not collect with the written file");
        };
        let alone = Order(vec![test]);
        let all = self.settings.confirmations;
        let (good, bad) = if victim {
            (Some(&alone), Some(shortest))
        } else {
            (passing.first(), Some(&alone))
        };
        for (order, wanted) in [(good, all), (bad, 0)] {
            let Some(order) = order else { continue };
            let (passed, of) = self.ask(&mut *written, order)?;
            if passed != wanted || of != all {
                return reject(entry, "fresh interpreters did not agree");
            }
        }
        let mut shows = if victim { failing } else { passing };
        shows.truncate(MOST_ORDERS);
        let causes = explain.explain(written, test, victim, shows)?;
        if victim {
            entry.polluters = causes.culprits;
        } else {
            entry.state_setters = causes.culprits;
        }
        entry.cleaners = causes.cleaners;
        Ok(())
    }

    /// Passes among fresh interpreters that run this order, for its last test.
    fn ask(&self, lab: &mut dyn Lab, order: &Order) -> Result<(u32, u32), LabError> {
        let batch: Vec<RunRequest> = (0..self.settings.confirmations)
            .map(|nth| {
                let isolation = pristine::isolation(nth);
                RunRequest {
                    attempt: nth,
                    hash_seed: Some(pristine::hash_seed(self.settings.seed, isolation, nth)),
                    ..RunRequest::new(order.clone(), isolation, self.selection.timeout)
                }
            })
            .collect();
        let (mut passed, mut of) = (0, 0);
        run(lab, &batch, |record| {
            if let Some(last) = record.executions.last() {
                of += 1;
                passed += u32::from(last.outcome.polarity() == Polarity::Pass);
            }
        })?;
        Ok((passed, of))
    }
}

#[allow(clippy::unnecessary_wraps, reason = "ends a confirmation")]
fn reject(entry: &mut Entry, why: &str) -> Result<(), LabError> {
    entry.class = Class::NonDeterministic;
    entry.note = Some(why.to_owned());
    Ok(())
}
