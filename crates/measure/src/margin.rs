//! Latent flakes: numeric comparisons that held in every run, by less than they vary.

use std::collections::BTreeMap;

use flakelab_model::TestIndex;

use crate::measure::Run;
use crate::pool::Text;

/// Runs that say something about a spread.
const FEWEST_RUNS: usize = 5;
/// A margin within so many standard deviations of its bound will be overrun some day.
const REACH: f64 = 3.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Latent {
    pub test: TestIndex,
    pub element: Text,
    pub smallest: f64,
    pub mean: f64,
    /// Standard deviation.
    pub spread: f64,
    pub runs: usize,
}

/// Of runs under the same settings; those nearest to their bound, in their own measure, first.
pub fn latent(runs: &[Run]) -> Vec<Latent> {
    let mut seen: BTreeMap<(u32, Text), Vec<f64>> = BTreeMap::new();
    for run in runs {
        for (test, element, margin) in &run.margins {
            seen.entry((*test, *element)).or_default().push(*margin);
        }
    }
    let mut found: Vec<Latent> = seen
        .into_iter()
        .filter_map(|((test, element), margins)| {
            let count = margins.len() as f64;
            let smallest = margins.iter().copied().fold(f64::INFINITY, f64::min);
            let mean = margins.iter().sum::<f64>() / count;
            let squares: f64 = margins.iter().map(|margin| (margin - mean).powi(2)).sum();
            let spread = (squares / (count - 1.0)).sqrt();
            let close = smallest > 0.0 && spread > 0.0 && smallest <= REACH * spread;
            (margins.len() >= FEWEST_RUNS && close).then_some(Latent {
                test: TestIndex(test),
                element,
                smallest,
                mean,
                spread,
                runs: margins.len(),
            })
        })
        .collect();
    found.sort_by(|a, b| (a.smallest / a.spread).total_cmp(&(b.smallest / b.spread)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(margins: &[f64]) -> Vec<Run> {
        margins
            .iter()
            .map(|margin| Run {
                margins: vec![(0, 7, *margin)],
                ..Run::default()
            })
            .collect()
    }

    #[test]
    fn a_margin_within_reach_of_its_spread_is_latent() {
        let found = latent(&runs(&[0.5, 0.1, 0.4, 0.3, 0.2]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].smallest, found[0].runs), (0.1, 5));
        assert!((found[0].spread - 0.158_113_883).abs() < 1e-6);
    }

    #[test]
    fn wide_constant_overrun_or_rare_margins_are_not() {
        assert!(latent(&runs(&[100.5, 100.1, 100.4, 100.3, 100.2])).is_empty());
        assert!(latent(&runs(&[0.1; 5])).is_empty());
        assert!(latent(&runs(&[0.5, -0.1, 0.4, 0.3, 0.2])).is_empty());
        assert!(latent(&runs(&[0.5, 0.1, 0.4])).is_empty());
    }
}
