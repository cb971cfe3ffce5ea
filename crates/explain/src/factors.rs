//! Which surroundings decide a test that varies although the order does not.

use std::sync::Arc;

use flakelab_lab::LabError;
use flakelab_model::{Factors, Failure, FileOrder, Isolation, Polarity, RunRequest, TestIndex};

use crate::finding::{Explanation, Factor, FactorVerdict, Rate};
use crate::session::{Session, Stage, verdict};

/// Half a year, and a month and a half: another season, another month, another day of the week.
const DAYS: [i64; 3] = [0, 45, 183];

/// One setting of a factor.
struct Level {
    name: String,
    request: RunRequest,
}

pub(crate) fn vary(
    session: &mut Session<'_>,
    test: TestIndex,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let mut factors = vec![
        Factor::HashSeed,
        Factor::RandomSeed,
        Factor::Timezone,
        Factor::FileOrder,
        Factor::Load,
    ];
    if session.settings.clock {
        factors.push(Factor::Date);
    } else {
        explanation.note("the date was not varied: there is no libfaketime (a package of that name, or `faketime` of the system)");
    }
    for factor in factors {
        let (levels, times) = levels(session, factor, test);
        let requests: Vec<RunRequest> = levels.iter().map(|l| l.request.clone()).collect();
        let (found, failure) = measure(session, factor, levels, times)?;
        let failing = found.levels.iter().position(|(_, rate)| rate.failed > 0);
        if let Some(failing) = failing.filter(|_| found.decides) {
            let setting = &requests[failing];
            match factor {
                Factor::HashSeed => explanation.hash_seed = setting.hash_seed,
                Factor::Timezone => explanation.timezone.clone_from(&setting.factors.timezone),
                _ => {}
            }
            explanation.failure = explanation.failure.take().or(failure);
        }
        if session.out_of_budget {
            return Ok(());
        }
        explanation.factors.push(found);
    }
    Ok(())
}

/// The settings of a factor, and how often each is run: often enough that a coin would be caught.
fn levels(session: &Session<'_>, factor: Factor, test: TestIndex) -> (Vec<Level>, u32) {
    let level = |name: String, isolation: Isolation, factors: Factors| {
        let mut request = session.pristine(vec![test], isolation, 0);
        request.factors = factors;
        Level { name, request }
    };
    let fresh = |name: &str, factors: Factors| level(name.to_owned(), Isolation::Fresh, factors);
    match factor {
        Factor::HashSeed => {
            let levels = (0..4).map(|number| {
                let mut request = session.pristine(vec![test], Isolation::Fresh, number);
                request.attempt = 0;
                let name = format!("PYTHONHASHSEED={}", request.hash_seed.unwrap_or_default());
                Level { name, request }
            });
            (levels.collect(), 5)
        }
        Factor::RandomSeed => {
            let levels = (1..=6).map(|seed| {
                let factors = Factors {
                    random_seed: Some(seed),
                    ..Factors::default()
                };
                fresh(&format!("random.seed({seed})"), factors)
            });
            (levels.collect(), 4)
        }
        Factor::Timezone => {
            // Written out, so that no time zone database is needed.
            let zones = ["UTC0", "EST+12", "LINT-14"].map(|zone| {
                let factors = Factors {
                    timezone: Some(zone.into()),
                    ..Factors::default()
                };
                fresh(&format!("TZ={zone}"), factors)
            });
            (zones.into(), 5)
        }
        Factor::Date => {
            let days = DAYS.map(|days| {
                let factors = Factors {
                    clock_shift: Some(days * 86_400),
                    ..Factors::default()
                };
                level(format!("{days:+} days"), Isolation::Cold, factors)
            });
            (days.into(), 5)
        }
        Factor::Load => {
            let levels = [false, true].map(|pressure| {
                let factors = Factors {
                    pressure,
                    ..Factors::default()
                };
                fresh(if pressure { "busy" } else { "idle" }, factors)
            });
            (levels.into(), 8)
        }
        Factor::FileOrder => {
            let levels = [FileOrder::Sorted, FileOrder::Reversed].map(|order| {
                let factors = Factors {
                    file_order: Some(order),
                    ..Factors::default()
                };
                let name = match order {
                    FileOrder::Sorted => "names ascending",
                    FileOrder::Reversed => "names descending",
                };
                fresh(name, factors)
            });
            (levels.into(), 8)
        }
    }
}

fn measure(
    session: &mut Session<'_>,
    factor: Factor,
    levels: Vec<Level>,
    times: u32,
) -> Result<(FactorVerdict, Option<Arc<Failure>>), LabError> {
    let mut failure = None;
    let mut rates: Vec<Rate> = vec![Rate::default(); levels.len()];
    let batches: Vec<Vec<(usize, RunRequest)>> = {
        let all = levels.iter().enumerate().flat_map(|(at, level)| {
            (0..times).map(move |attempt| {
                let mut request = level.request.clone();
                // Apart from the attempts of every question.
                request.attempt = 2_000 + attempt;
                (at, request)
            })
        });
        if factor == Factor::Load {
            // Nothing beside it but the load that is asked for.
            all.map(|one| vec![one]).collect()
        } else {
            vec![all.collect()]
        }
    };
    for batch in batches {
        let (places, requests): (Vec<usize>, Vec<RunRequest>) = batch.into_iter().unzip();
        let records = session.run(Stage::Factors, requests)?;
        for (at, record) in places.into_iter().zip(records) {
            match record.as_ref().map(verdict) {
                Some(Polarity::Fail) => {
                    rates[at].failed += 1;
                    rates[at].of += 1;
                    let last = record.iter().flat_map(|r| &r.executions).next_back();
                    failure = failure.or(last.and_then(|e| e.outcome.failure().cloned()));
                }
                Some(Polarity::Pass) => rates[at].of += 1,
                _ => {}
            }
        }
    }
    let complete = rates.iter().all(|rate| rate.of == u64::from(times));
    let constant = rates
        .iter()
        .all(|rate| rate.failed == 0 || rate.failed == rate.of);
    let both =
        rates.iter().any(|rate| rate.failed == 0) && rates.iter().any(|rate| rate.failed > 0);
    let found = FactorVerdict {
        factor,
        decides: complete && constant && both,
        levels: levels
            .into_iter()
            .zip(rates)
            .map(|(level, rate)| (level.name, rate))
            .collect(),
    };
    Ok((found, failure))
}
