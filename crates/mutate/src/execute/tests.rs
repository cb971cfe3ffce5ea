use flakelab_lab::Sink;
use flakelab_model::{Ending, Execution, Outcome, Pursued, Suite};

use super::*;
use crate::pair::Status;
use crate::planted::{Planted, failed, record, settings};
use crate::subject::Lane;

/// How a test of a request ends, and whether it reaches the change.
type Tells = fn(&RunRequest, TestIndex) -> (Outcome, bool);

/// Two tests that do what a function says.
struct Told {
    suite: Suite,
    tells: Tells,
    asked: Vec<(Isolation, bool)>,
}

impl Lab for Told {
    fn suite(&self) -> &Suite {
        &self.suite
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        for (number, request) in batch.iter().enumerate() {
            self.asked
                .push((request.isolation, request.mutation.is_some()));
            let mut pursued: Vec<Pursued> = Vec::new();
            let mut executions = Vec::new();
            for (place, test) in request.order.0.iter().enumerate() {
                let (outcome, hit) = (self.tells)(request, *test);
                executions.push(Execution {
                    test: *test,
                    outcome: outcome.clone(),
                    micros: 1,
                });
                let earlier = pursued.iter().any(|before| before.hit);
                pursued.push(Pursued {
                    test: *test,
                    place: place as u32,
                    outcome,
                    micros: 1,
                    hit,
                    hits: u64::from(hit),
                    earlier,
                });
            }
            let mut done = record(number, Ending::Completed, Vec::new());
            if request.mutation.is_some() {
                done.pursued = pursued;
            } else {
                done.executions = executions;
            }
            let _ = sink(done);
        }
        Ok(())
    }
}

/// The status of the only mutant of `LIMIT = 3`.
fn status(lane: Lane, lab: &mut Told) -> (Status, Controls) {
    let settings = settings();
    let planted = Planted::new("LIMIT = 3\n", &lab.suite);
    let mut chases = planted.chases(lane, &settings);
    chases.truncate(1);
    let mut executor = Executor {
        settings: &settings,
        controls: Controls::default(),
        spent: Spent::default(),
    };
    executor.run(lab, &mut chases).expect("run");
    (chases[0].status(), executor.controls)
}

fn told(tells: Tells) -> Told {
    Told {
        suite: Suite::new(["test_a.py::test_a", "test_b.py::test_b"].map(String::from)),
        tells,
        asked: Vec::new(),
    }
}

/// Passes in forks of the whole suite; what it needs is imported by the file of another test.
fn needs_another_file(request: &RunRequest, test: TestIndex) -> (Outcome, bool) {
    let alone = request.order.0.len() == 1 && request.isolation.is_pristine();
    let fails = test == TestIndex(1) && (alone || request.mutation.is_some());
    let outcome = if fails {
        failed("assert []")
    } else {
        Outcome::Passed
    };
    (outcome, true)
}

#[test]
fn a_test_that_fails_where_only_its_file_is_collected_kills_nothing_there() {
    let mut lab = told(needs_another_file);
    let (found, controls) = status(Lane::Import, &mut lab);
    assert_eq!(found, Status::Unknown);
    let mut without = lab.asked.iter().filter(|(_, mutant)| !mutant);
    assert!(without.all(|(kind, _)| kind.is_pristine()));
    assert_eq!(controls.unreliable().count(), 1);
    // In forks it passes, so there it counts.
    assert_eq!(status(Lane::Swap, &mut lab).0, Status::Killed);
}

/// The first test reaches the change in processes it shares with another one, and then that one fails.
fn fails_after_the_change(request: &RunRequest, test: TestIndex) -> (Outcome, bool) {
    let shared = request.order.0.len() > 1 && request.mutation.is_some();
    let climbs = request
        .mutation
        .as_ref()
        .is_some_and(|mutation| mutation.pursuit.reruns == 0);
    match (test.0, shared && climbs) {
        (0, climbs) => (Outcome::Passed, climbs),
        (_, true) => (failed("assert shop.open"), false),
        _ => (Outcome::Passed, false),
    }
}

#[test]
fn what_a_test_says_after_another_one_executed_the_change_is_not_said_without_a_mutant() {
    let mut lab = told(fails_after_the_change);
    let (_, controls) = status(Lane::Swap, &mut lab);
    assert_eq!(controls.unreliable().count(), 0);
}
