use flakelab_lab::{Sink, Spent};
use flakelab_model::{Pursued, Suite};
use flakelab_source::mutants::UnitKind;

use super::*;
use crate::chase::Purpose;
use crate::control::Controls;
use crate::pair::PairVerdict;
use crate::planted::{Planted, failed, record, settings};
use crate::settings::Settings;
use crate::subject::Lane;

const TEXT: &str =
    "def add(a, b):\n    return a + b - 1\n\n\ndef half(a, by=2):\n    return a / by\n";

/// Executes looks as a table says: (body, test) that fails, and one that ends the process.
struct Scripted {
    suite: Suite,
    kills: Vec<(&'static str, u32)>,
    ends: Option<(&'static str, u32)>,
    /// The changed bodies and tests that were executed, for each process.
    seen: Vec<Vec<(String, u32)>>,
}

impl Lab for Scripted {
    fn suite(&self) -> &Suite {
        &self.suite
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        for (request, asked) in batch.iter().enumerate() {
            let Some(Changed::InTurn { bodies, which }) =
                asked.mutation.as_ref().map(|mutation| &mutation.code)
            else {
                panic!("only looks are asked for");
            };
            let (mut seen, mut pursued, mut through) = (Vec::new(), Vec::new(), BTreeSet::new());
            let mut ending = Ending::Completed;
            for (place, (test, body)) in asked.order.0.iter().zip(which).enumerate() {
                if through.contains(body) {
                    continue;
                }
                let text = &bodies[*body as usize].text;
                let is = |(part, number): (&str, u32)| text.contains(part) && test.0 == number;
                seen.push((text.clone(), test.0));
                let outcome = if self.ends.is_some_and(is) {
                    ending = Ending::TimedOut;
                    match failed("no end") {
                        Outcome::Failed(failure) => Outcome::TimedOut(failure),
                        other => other,
                    }
                } else if self.kills.iter().copied().any(is) {
                    through.insert(*body);
                    failed("assert")
                } else {
                    Outcome::Passed
                };
                pursued.push(Pursued {
                    test: *test,
                    place: place as u32,
                    outcome,
                    micros: 1,
                    hit: true,
                    hits: 1,
                    earlier: true,
                });
                if ending == Ending::TimedOut {
                    break;
                }
            }
            self.seen.push(seen);
            let _ = sink(record(request, ending, pursued));
        }
        Ok(())
    }
}

/// Every mutant of [`TEXT`] after somebody has looked.
fn each(lab: &mut Scripted, settings: &Settings, see: &mut dyn FnMut(&mut Chase<'_>)) {
    let planted = Planted::new(TEXT, &lab.suite);
    let mut executor = Executor {
        settings,
        controls: Controls::default(),
        spent: Spent::default(),
    };
    let mut chases = planted.chases(Lane::Swap, settings);
    executor.scout(lab, &mut chases).expect("scouted");
    chases.iter_mut().for_each(see);
}

/// What each of them is told to begin with, by what it changes.
fn scouted(lab: &mut Scripted, settings: &Settings) -> Vec<(String, Vec<u32>)> {
    let mut found = Vec::new();
    each(lab, settings, &mut |chase| {
        let asks = chase.next(&settings.reruns).into_iter();
        let asks = asks.filter(|ask| ask.purpose == Purpose::Suspect);
        let text = chase.subject.late().expect("of a function").text;
        found.push((text, asks.map(|ask| ask.tests[0].0).collect()));
    });
    found
}

/// Test 1 has executed the change.
fn pursued(outcome: Outcome) -> Pursued {
    Pursued {
        test: TestIndex(1),
        place: 0,
        outcome,
        micros: 1,
        hit: true,
        hits: 1,
        earlier: false,
    }
}

/// A suspect is killed alone by the failure that was seen before; another failure must show once more.
#[test]
fn a_failure_unlike_the_one_that_was_seen_is_the_first_of_its_kind() {
    for (messages, purposes) in [
        (&["assert"][..], &[Purpose::Suspect][..]),
        (&["other", "other"], &[Purpose::Suspect, Purpose::Kill]),
    ] {
        let settings = settings();
        let mut lab = lab(&[("a - b", 1)]);
        each(&mut lab, &settings, &mut |chase| {
            if !chase.subject.body().text.contains("a - b") {
                return;
            }
            let mut controls = Controls::default();
            for (message, purpose) in messages.iter().zip(purposes) {
                assert!(chase.kills.is_empty());
                let asks = chase.next(&settings.reruns);
                let [ask] = asks.as_slice() else {
                    panic!("{asks:?}");
                };
                assert_eq!((ask.purpose, ask.tests[0]), (*purpose, TestIndex(1)));
                let record = record(0, Ending::Completed, vec![pursued(failed(message))]);
                chase.take(ask, &record, &settings.reruns, &mut controls);
            }
            assert_eq!(chase.kills.len(), 1);
            assert!(chase.next(&settings.reruns).is_empty());
        });
    }
}

/// It must show again, and is one of the two that decide.
#[test]
fn a_suspect_that_does_not_end_is_one_timeout() {
    let settings = settings();
    let mut lab = lab(&[("a - b", 1)]);
    each(&mut lab, &settings, &mut |chase| {
        if !chase.subject.body().text.contains("a - b") {
            return;
        }
        let mut controls = Controls::default();
        for purpose in [Purpose::Suspect, Purpose::Count, Purpose::Timeout] {
            let asks = chase.next(&settings.reruns);
            let [ask] = asks.as_slice() else {
                panic!("{asks:?}");
            };
            assert_eq!((ask.purpose, ask.tests[0]), (purpose, TestIndex(1)));
            let Outcome::Failed(failure) = failed("no end") else {
                panic!("not a failure");
            };
            let record = record(
                0,
                Ending::TimedOut,
                vec![pursued(Outcome::TimedOut(failure))],
            );
            chase.take(ask, &record, &settings.reruns, &mut controls);
        }
        let timeouts = chase.pairs.values();
        assert_eq!(
            timeouts
                .filter(|p| p.verdict == PairVerdict::Timeout)
                .count(),
            1
        );
        let asks = chase.next(&settings.reruns);
        let others: Vec<u32> = asks[0].tests.iter().map(|test| test.0).collect();
        assert_eq!((asks[0].purpose, others), (Purpose::Sweep, vec![0, 2, 3]));
    });
}

fn lab(kills: &[(&'static str, u32)]) -> Scripted {
    let ids = ["a[1]", "a[2]", "a[3]", "b"].map(|name| format!("test_calc.py::test_{name}"));
    Scripted {
        suite: Suite::new(ids),
        kills: kills.to_vec(),
        ends: None,
        seen: Vec::new(),
    }
}

fn of<'a>(scouted: &'a [(String, Vec<u32>)], part: &str) -> &'a [u32] {
    let found = scouted.iter().find(|(text, _)| text.contains(part));
    &found.expect("such a mutant").1
}

#[test]
fn mutants_begin_with_the_test_that_failed_and_others_as_if_nobody_had_looked() {
    let mut lab = lab(&[("a - b", 1), ("a * by", 3)]);
    let scouted = scouted(&mut lab, &settings());
    assert_eq!(of(&scouted, "a - b"), [1]);
    assert_eq!(of(&scouted, "a * by"), [3]);
    let suspects = scouted.iter().filter(|(_, tests)| !tests.is_empty());
    assert_eq!(suspects.count(), 2);
    assert_eq!(lab.seen.len(), 1, "one process for all");
    // One of each function first, then other parameters.
    let tests: Vec<u32> = lab.seen[0].iter().map(|(_, test)| *test).collect();
    let first_three = scouted.len() * 2;
    assert!(
        tests[..first_three]
            .iter()
            .all(|test| [0, 3].contains(test))
    );
}

#[test]
fn a_change_that_ends_the_process_is_no_suspect_and_the_others_go_on_in_another_one() {
    let mut lab = lab(&[("a * by", 3)]);
    lab.ends = Some(("a - b", 0));
    let scouted = scouted(&mut lab, &settings());
    assert_eq!(of(&scouted, "a - b"), [] as [u32; 0]);
    assert_eq!(of(&scouted, "a * by"), [3]);
    assert_eq!(lab.seen.len(), 2);
    assert!(lab.seen[1].iter().all(|(text, _)| !text.contains("a - b")));
}

#[test]
fn nobody_looks_where_every_pair_is_run_or_nothing_can_be_forked() {
    let matrix = Settings {
        matrix: true,
        ..settings()
    };
    let unforked = Settings {
        forks: false,
        ..settings()
    };
    for settings in [matrix, unforked] {
        let mut lab = lab(&[("a - b", 1)]);
        scouted(&mut lab, &settings);
        assert!(lab.seen.is_empty());
    }
}

#[test]
fn defaults_are_tried_in_the_function_they_belong_to() {
    let mut lab = lab(&[("by=(__flakelab_hit__() or 3)", 3)]);
    each(&mut lab, &settings(), &mut |chase| {
        let is_default = chase.subject.unit.kind == UnitKind::Import;
        let late = chase.subject.late().expect("of a function");
        assert_eq!(
            (late.defaults, late.name == "half"),
            (is_default, is_default || late.text.contains("half"))
        );
        let asks = chase.next(&settings().reruns);
        let suspect = late.text.contains("or 3)");
        assert_eq!(asks[0].purpose == Purpose::Suspect, suspect, "{late:?}");
    });
}
