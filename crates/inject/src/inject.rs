//! The whole campaign, chunk by chunk.

use std::cell::Cell;

use flakelab_lab::{Journal, Lab, LabError, Spent, Variants};
use flakelab_source::Tree;

use crate::confirm::Explain;
use crate::entry::Entry;
use crate::evaluate::Bench;
use crate::metrics::Counted;
use crate::mutant::{self, Mutant};
use crate::select::{Selection, select};
use crate::settings::{Settings, Stage, Watch};

/// Mutants evaluated together: each order is walked once for them. Memory grows with it, not with how many
/// there are.
const CHUNK: usize = 200;
/// The walk of a long order is worth more mutants.
const LARGEST_CHUNK: usize = 1_000;

/// What an injection works with, beside the lab of the project as it is.
#[allow(missing_debug_implementations)]
pub struct Surroundings<'a> {
    pub variants: &'a mut dyn Variants,
    pub tree: &'a dyn Tree,
    pub explain: &'a mut dyn Explain,
    pub journal: &'a mut dyn Journal,
    pub watch: &'a mut dyn Watch,
}

#[derive(Debug)]
pub struct Injection {
    pub selection: Selection,
    /// Counts of the mutants. They themselves were shown one by one: they would not all fit.
    pub counted: Counted,
    /// Stable tests whose code is not in the project.
    pub without_code: Vec<String>,
    /// What the orders with mutants have cost, in this session.
    pub evaluation: Spent,
}

/// `each` sees every mutant with its entry, in order.
pub fn inject(
    lab: &mut dyn Lab,
    around: &mut Surroundings<'_>,
    settings: &Settings,
    each: &mut dyn FnMut(&Mutant, &mut Entry) -> Result<(), LabError>,
) -> Result<Injection, LabError> {
    let selection = select(lab, settings, around.journal, around.watch)?;
    let suite = lab.suite().clone();
    let (sites, unknown) = mutant::sites(&suite, &selection.stable, around.tree, settings);
    around.watch.stage(Stage::Evaluate, sites.len());
    let bench = Bench {
        suite: &suite,
        selection: &selection,
        settings,
        spent: Cell::default(),
    };
    let at_once = (suite.len() / 5).clamp(CHUNK, LARGEST_CHUNK);
    let mut counted = Counted::default();
    let mut chunk: Vec<Mutant> = Vec::new();
    let mut waiting = 0;
    for (at, site) in sites.iter().enumerate() {
        chunk.extend(mutant::of(site, around.tree, settings));
        waiting += 1;
        if chunk.len() >= at_once || at + 1 == sites.len() {
            evaluate(&bench, lab, around, &chunk, &mut |mutant, entry| {
                counted.take(entry);
                each(mutant, entry)
            })?;
            chunk.clear();
            for _ in 0..std::mem::take(&mut waiting) {
                around.watch.step();
            }
        }
    }
    let without_code = unknown
        .into_iter()
        .map(|test| suite.id(test).to_string())
        .collect();
    Ok(Injection {
        counted,
        without_code,
        evaluation: bench.spent.get(),
        selection,
    })
}

/// Mutants that the journal has are not evaluated again.
fn evaluate(
    bench: &Bench<'_>,
    lab: &mut dyn Lab,
    around: &mut Surroundings<'_>,
    chunk: &[Mutant],
    each: &mut dyn FnMut(&Mutant, &mut Entry) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let key = |mutant: &Mutant| format!("mutant/{}", mutant.id);
    let known: Vec<Option<Entry>> = chunk
        .iter()
        .map(|mutant| serde_json::from_str(&around.journal.get(&key(mutant))?).ok())
        .collect();
    let open: Vec<Mutant> = chunk
        .iter()
        .zip(&known)
        .filter(|(_, known)| known.is_none())
        .map(|(mutant, _)| mutant.clone())
        .collect();
    let found = bench.evaluate(lab, around.variants, around.tree, &open)?;
    let mut fresh = open.iter().zip(found);
    for (mutant, known) in chunk.iter().zip(known) {
        let mut entry = match known {
            Some(entry) => entry,
            None => {
                let Some((_, mut candidate)) = fresh.next() else {
                    break;
                };
                if candidate.entry.class.is_order_dependent() {
                    bench.confirm(
                        lab,
                        around.variants,
                        around.tree,
                        around.explain,
                        mutant,
                        &mut candidate,
                    )?;
                }
                let text = serde_json::to_string(&candidate.entry).unwrap_or_default();
                around.journal.put(&key(mutant), &text)?;
                candidate.entry
            }
        };
        each(mutant, &mut entry)?;
    }
    Ok(())
}
