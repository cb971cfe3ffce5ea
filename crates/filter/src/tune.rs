//! Where to draw the line: flaky assertions removed (equation 5.4) against bug-revealing ones kept (5.5), over the
//! threshold; the same for tests (5.3).

/// An assertion, or a test, with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub score: f64,
    pub reveals_bug: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub threshold: f64,
    /// Of the flaky ones, the part whose score is above the threshold; `None` if none is flaky.
    pub removed: Option<f64>,
    /// Of those that reveal bugs, the part whose score is not; `None` if none does.
    pub kept: Option<f64>,
}

/// The distance of thresholds in figure 5.4.
const STEP: f64 = 0.1;

/// From 0 to where nothing is removed any more.
pub fn curve(scored: &[Scored]) -> Vec<Point> {
    let most = scored.iter().map(|s| s.score).fold(0.0, f64::max);
    let last = (most / STEP).ceil() as usize;
    (0..=last)
        .map(|step| point(scored, step as f64 * STEP))
        .collect()
}

pub fn point(scored: &[Scored], threshold: f64) -> Point {
    let share = |of: &dyn Fn(&Scored) -> bool, is: &dyn Fn(&Scored) -> bool| {
        let all = scored.iter().filter(|s| of(s)).count();
        let some = scored.iter().filter(|s| of(s) && is(s)).count();
        (all > 0).then(|| some as f64 / all as f64)
    };
    let above = |s: &Scored| s.score > threshold;
    Point {
        threshold,
        removed: share(&|s| s.score > 0.0, &above),
        kept: share(&|s| s.reveals_bug, &|s| !above(s)),
    }
}

/// Where the two curves meet: (threshold, share).
pub fn balance(curve: &[Point]) -> Option<(f64, f64)> {
    let lines = |point: &Point| point.removed.zip(point.kept);
    for pair in curve.windows(2) {
        let ((r0, k0), (r1, k1)) = (lines(&pair[0])?, lines(&pair[1])?);
        let (before, after) = (r0 - k0, r1 - k1);
        if before <= 0.0 {
            return Some((pair[0].threshold, r0.min(k0)));
        }
        if after <= 0.0 {
            let part = before / (before - after);
            let width = pair[1].threshold - pair[0].threshold;
            return Some((pair[0].threshold + part * width, r0 + part * (r1 - r0)));
        }
    }
    None
}

/// The threshold of the curve that removes most without losing a bug.
pub fn lossless(curve: &[Point]) -> Option<f64> {
    let whole = curve.iter().filter(|point| point.kept == Some(1.0));
    whole.map(|point| point.threshold).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 5.1: asr4 and asr5 reveal the bug.
    fn example() -> Vec<Scored> {
        let rows = [
            (0.0, false),
            (1.03, false),
            (1.28, false),
            (0.0, true),
            (0.33, true),
            (0.61, false),
        ];
        rows.map(|(score, reveals_bug)| Scored { score, reveals_bug })
            .to_vec()
    }

    #[test]
    fn between_0_4_and_0_6_three_quarters_go_and_every_bug_stays() {
        for threshold in [0.4, 0.5, 0.6] {
            let point = point(&example(), threshold);
            assert_eq!((point.removed, point.kept), (Some(0.75), Some(1.0)));
        }
        let all = point(&example(), 0.0);
        assert_eq!((all.removed, all.kept), (Some(1.0), Some(0.5)));
    }

    #[test]
    fn the_curves_meet_where_figure_5_4_has_them_meet() {
        let (threshold, share) = balance(&curve(&example())).expect("they meet");
        let round = |x: f64| (x * 100.0).round() / 100.0;
        assert_eq!((round(threshold), round(share)), (0.37, 0.83));
        assert!((lossless(&curve(&example())).expect("there is one") - 0.4).abs() < 1e-9);
    }

    #[test]
    fn without_flakes_or_bugs_there_is_nothing_to_balance() {
        let stable = [Scored {
            score: 0.0,
            reveals_bug: true,
        }];
        assert_eq!(point(&stable, 0.0).removed, None);
        assert_eq!(balance(&curve(&stable)), None);
        assert_eq!(balance(&curve(&[])), None);
    }
}
