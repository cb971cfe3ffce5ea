//! The points, statements and units of all files, numbered through; and which mutations are wanted.

use std::collections::{BTreeSet, HashMap};

use flakelab_source::Source;
use flakelab_source::mutants::{Unit, UnitKind, mutants};

use crate::coverage::Coverage;
use crate::found::id;
use crate::reuse::{self, Units};
use crate::settings::{File, Settings};

/// The files with their points numbered through.
pub(crate) struct Layout {
    /// The number of the first point of each file.
    pub(crate) first: Vec<usize>,
    pub(crate) statement_of: Vec<usize>,
    pub(crate) statements: Vec<(String, usize)>,
    pub(crate) units: Units,
    pub(crate) excluded: u64,
    pub(crate) points: usize,
}

/// Numbers the points of all files, and writes their instrumented texts.
pub(crate) fn lay_out(files: &[File]) -> (Layout, Vec<(String, String)>) {
    let mut layout = Layout {
        first: Vec::new(),
        statement_of: Vec::new(),
        statements: Vec::new(),
        units: Units::default(),
        excluded: 0,
        points: 0,
    };
    let mut texts = Vec::new();
    let mut outside = Vec::new();
    for file in files {
        layout.first.push(layout.points);
        let Some(source) = Source::parse(&file.text) else {
            continue;
        };
        let found = mutants(&source);
        layout.excluded += found.excluded as u64;
        let mut statements: HashMap<usize, usize> = HashMap::new();
        let first_unit = layout.units.digests.len();
        for unit in &found.units {
            let text = &file.text[unit.span.clone()];
            layout
                .units
                .digests
                .push(reuse::digest(&(&file.path, text)));
        }
        for point in &found.points {
            let number = *statements.entry(point.statement.start).or_insert_with(|| {
                let line = file.text[..point.statement.start].matches('\n').count() + 1;
                layout.statements.push((file.path.clone(), line));
                layout.statements.len() - 1
            });
            layout.statement_of.push(number);
            layout.units.of_point.push((first_unit + point.unit) as u32);
        }
        outside.push((
            file.path.clone(),
            outside_functions(&file.text, &found.units),
        ));
        texts.push((
            file.absolute.clone(),
            found.instrumented(&file.text, layout.points),
        ));
        layout.points += found.points.len();
    }
    layout.units.outside = reuse::digest(&outside);
    (layout, texts)
}

/// What is left of a file without its functions.
fn outside_functions(text: &str, units: &[Unit]) -> String {
    let mut spans: Vec<_> = units
        .iter()
        .filter(|unit| unit.kind == UnitKind::Function)
        .map(|unit| unit.span.clone())
        .collect();
    spans.sort_by_key(|span| span.start);
    let (mut left, mut at) = (String::new(), 0);
    for span in spans {
        if span.start >= at {
            left.push_str(&text[at..span.start]);
            at = span.end;
        }
    }
    left.push_str(&text[at..]);
    left
}

/// For each file the numbers of the mutations that are wanted.
pub(crate) fn choose(
    files: &[File],
    layout: &Layout,
    coverage: &Coverage,
    settings: &Settings,
) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = Vec::new();
    for (file, first) in files.iter().zip(&layout.first) {
        let lines = settings.lines.as_ref().map(|lines| lines.get(&file.path));
        let found = Source::parse(&file.text).map(|source| mutants(&source));
        let wanted = found
            .iter()
            .flat_map(|found| found.mutations.iter().enumerate());
        chosen.push(
            wanted
                .filter(|(_, mutation)| {
                    let changed = lines.is_none_or(|ranges| {
                        let mut ranges = ranges.into_iter().flatten();
                        ranges.any(|(from, to)| (*from..=*to).contains(&mutation.line))
                    });
                    let named = settings.mutants.is_empty()
                        || settings.mutants.contains(&id(file, mutation));
                    changed
                        && named
                        && !settings
                            .without
                            .iter()
                            .any(|word| word == mutation.operator.word())
                })
                // A sample of what no test reaches says nothing.
                .filter(|(_, mutation)| {
                    settings.sample.is_none() || {
                        let point = (first + mutation.point) as u32;
                        coverage.is_imported(point) || !coverage.candidates(point).is_empty()
                    }
                })
                .map(|(number, _)| number)
                .collect(),
        );
    }
    let all: usize = chosen.iter().map(Vec::len).sum();
    if let Some(most) = settings.sample.filter(|most| *most < all) {
        let picked: BTreeSet<usize> = (0..most).map(|n| n * all / most.max(1)).collect();
        let mut at = 0;
        for numbers in &mut chosen {
            numbers.retain(|_| {
                at += 1;
                picked.contains(&(at - 1))
            });
        }
    }
    chosen
}

/// The ids of all mutants of a file.
pub fn ids(file: &File) -> impl Iterator<Item = String> {
    let found = Source::parse(&file.text).map(|source| mutants(&source));
    let mutations = found.into_iter().flat_map(|found| found.mutations);
    mutations.map(|mutation| id(file, &mutation))
}
