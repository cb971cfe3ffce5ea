//! Delta debugging (Zeller and Hildebrandt): a part of a list that still does it, from which nothing can
//! be left out.

/// Says of each candidate whether it still does it.
pub type Test<'a, T, E> = dyn FnMut(&[Vec<T>]) -> Result<Vec<bool>, E> + 'a;

/// The complements of one round are tried together, so `test` sees whole batches. Ends early, with what
/// it has, after `most` tries or when `test` answers nothing.
pub fn minimise<T: Clone, E>(
    items: Vec<T>,
    most: usize,
    test: &mut Test<'_, T, E>,
) -> Result<Vec<T>, E> {
    let mut kept = items;
    let mut parts = 2;
    let mut used = 0;
    while kept.len() > 1 && used < most {
        let size = kept.len().div_ceil(parts);
        let chunks: Vec<&[T]> = kept.chunks(size).collect();
        let whole = chunks.len();
        let subsets = chunks.iter().map(|chunk| chunk.to_vec());
        let complements = (0..whole).map(|skip| {
            chunks
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != skip)
                .flat_map(|(_, chunk)| chunk.iter().cloned())
                .collect::<Vec<_>>()
        });
        let candidates: Vec<Vec<T>> = if whole == 2 {
            subsets.collect()
        } else {
            subsets.chain(complements).collect()
        };
        used += candidates.len();
        let answers = test(&candidates)?;
        if answers.is_empty() {
            break;
        }
        match answers.into_iter().position(|hit| hit) {
            Some(at) if at < whole => {
                kept = candidates[at].clone();
                parts = 2;
            }
            Some(at) => {
                kept = candidates[at].clone();
                parts = (whole - 1).max(2);
            }
            None if size == 1 => break,
            None => parts = (whole * 2).min(kept.len()),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn exactly_the_needed_items_stay(
            needed in prop::collection::btree_set(0usize..60, 1..5),
        ) {
            let mut tries = 0;
            let found = minimise((0..60).collect(), usize::MAX, &mut |candidates: &[Vec<usize>]| {
                tries += candidates.len();
                Ok::<_, Infallible>(
                    candidates
                        .iter()
                        .map(|c| needed.iter().all(|n| c.contains(n)))
                        .collect(),
                )
            });
            let wanted: Vec<usize> = needed.into_iter().collect();
            prop_assert_eq!(found, Ok(wanted));
            prop_assert!(tries < 600, "{} tries", tries);
        }
    }

    #[test]
    fn no_answer_ends_it() {
        let found = minimise(vec![1, 2, 3], 100, &mut |_| Ok::<_, Infallible>(Vec::new()));
        assert_eq!(found, Ok(vec![1, 2, 3]));
    }
}
