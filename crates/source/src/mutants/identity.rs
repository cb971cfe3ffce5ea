//! From what was found to what is known by a number, a line and an id.

use std::collections::HashMap;
use std::ops::Range;

use super::units::UnitKind;
use super::walk::{Found, Walk};
use super::{Mutants, Mutation, Point};

/// Hexadecimal digits of an id: collisions in one file are out of the question.
const DIGITS: usize = 16;

pub(super) fn finish(walk: Walk<'_>) -> Mutants {
    let text = walk.layout.text;
    let Walk {
        mut found,
        slots,
        units,
        statements,
        excluded,
        ..
    } = walk;
    found.sort_by_key(|one| (one.at, one.span.start, one.operator));

    let drafts = slots.drafts;
    let mut used: Vec<usize> = found.iter().map(|one| one.point).collect();
    let points = compact(&mut used, |point| (drafts[point].form.start(), point));
    let mut owners: Vec<usize> = found
        .iter()
        .map(|one| one.unit)
        .chain(points.iter().map(|point| drafts[*point].unit))
        .collect();
    let kept = compact(&mut owners, |unit| {
        let import = units[unit].kind == UnitKind::Import;
        (units[unit].span.start, !import, unit)
    });
    let (unit_of_mutation, unit_of_point) = owners.split_at(found.len());

    let places = positions(
        text,
        points
            .iter()
            .map(|point| drafts[*point].form.start())
            .chain(found.iter().map(|one| one.at)),
    );
    let (of_points, of_mutations) = places.split_at(points.len());
    let ids = ids(text, &found, &statements, |unit| &units[unit].path);
    let points = points
        .iter()
        .zip(of_points)
        .zip(unit_of_point)
        .map(|((point, (line, column)), unit)| Point {
            line: *line,
            column: *column,
            unit: *unit,
            statement: statements[drafts[*point].statement].clone(),
            form: drafts[*point].form.clone(),
        })
        .collect();
    let mutations = found
        .into_iter()
        .zip(used.iter().zip(unit_of_mutation))
        .zip(of_mutations.iter().zip(ids))
        .map(|((one, (point, unit)), ((line, column), id))| Mutation {
            operator: one.operator,
            line: *line,
            column: *column,
            span: one.span,
            replacement: one.change.plain,
            probed: one.change.probed,
            point: *point,
            unit: *unit,
            id,
        })
        .collect();
    Mutants {
        points,
        units: kept.iter().map(|unit| units[*unit].clone()).collect(),
        mutations,
        excluded,
    }
}

/// What is used, sorted; the numbers become positions in that.
fn compact<K: Ord>(numbers: &mut [usize], key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut used = numbers.to_vec();
    used.sort_unstable();
    used.dedup();
    used.sort_by_key(|number| key(*number));
    let place: HashMap<usize, usize> = used.iter().copied().zip(0..).collect();
    for number in numbers {
        *number = place[number];
    }
    used
}

/// Line and column of each offset, from 1, in one pass over the text.
fn positions(text: &str, offsets: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let offsets: Vec<usize> = offsets.collect();
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|at| offsets[*at]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut line, mut column, mut done) = (1, 1, 0);
    for at in order {
        for c in text[done..offsets[at]].chars() {
            match c {
                '\n' => (line, column) = (line + 1, 1),
                _ => column += 1,
            }
        }
        done = offsets[at];
        places[at] = (line, column);
    }
    places
}

/// From the path, the statement, what changes in it and how, and the number among equals.
fn ids<'u>(
    text: &str,
    found: &[Found],
    statements: &[Range<usize>],
    path: impl Fn(usize) -> &'u str,
) -> Vec<String> {
    let mut digests: HashMap<usize, blake3::Hash> = HashMap::new();
    let mut equals: HashMap<blake3::Hash, usize> = HashMap::new();
    found
        .iter()
        .map(|one| {
            let statement = &statements[one.statement];
            let told = digests
                .entry(one.statement)
                .or_insert_with(|| blake3::hash(text[statement.clone()].as_bytes()));
            let mut hasher = blake3::Hasher::new();
            for part in [
                path(one.unit).as_bytes(),
                one.operator.word().as_bytes(),
                told.as_bytes(),
                one.change.plain.as_bytes(),
            ] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            let offset = one.at.saturating_sub(statement.start) as u64;
            hasher.update(&offset.to_le_bytes());
            let digest = hasher.finalize();
            let number = equals.entry(digest).or_default();
            *number += 1;
            let whole = blake3::Hasher::new()
                .update(digest.as_bytes())
                .update(&(*number as u64).to_le_bytes())
                .finalize();
            whole.to_hex()[..DIGITS].to_owned()
        })
        .collect()
}
