//! Teardown errors of a class, module or session land on whichever test runs last in it. Such a test
//! is neither victim nor brittle: nothing before it matters, only what comes next.

use flakelab_model::{Outcome, Phase, Polarity, Suite, TestIndex};

use crate::evidence::Sighting;
use crate::session::Session;

/// How far away the next test is: the wider the step, the more is torn down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    SameClass,
    SameModule,
    SameDirectory,
    Elsewhere,
    End,
}

fn step(suite: &Suite, test: TestIndex, next: Option<TestIndex>) -> Step {
    let Some(next) = next else { return Step::End };
    let (a, b) = (suite.id(test), suite.id(next));
    let directory = |module: &str| module.rsplit_once('/').map(|(dir, _)| dir.to_owned());
    if a.class_scope() == b.class_scope() {
        Step::SameClass
    } else if a.module() == b.module() {
        Step::SameModule
    } else if directory(a.module()) == directory(b.module()) {
        Step::SameDirectory
    } else {
        Step::Elsewhere
    }
}

/// Whether every failure is a teardown error, and whether it comes is decided by the next test alone.
pub(crate) fn decided_by_what_follows(session: &Session<'_>, test: TestIndex) -> bool {
    let suite = session.lab.suite();
    let step_of = |sighting: Sighting| {
        let order = &session.evidence.run(sighting).order.0;
        step(suite, test, order.get(sighting.at as usize + 1).copied())
    };
    let teardown = |sighting: &Sighting| matches!(session.evidence.outcome(*sighting), Outcome::Errored(f) if f.phase == Phase::Teardown);
    let failing: Vec<Sighting> = session
        .evidence
        .with_polarity(test, Polarity::Fail)
        .collect();
    let nearest_failure = failing.iter().map(|s| step_of(*s)).min();
    let furthest_pass = session
        .evidence
        .with_polarity(test, Polarity::Pass)
        .map(step_of)
        .max();
    failing.iter().all(teardown) && furthest_pass < nearest_failure
}

/// A test whose presence right after `test` keeps the scope open, taken from a passing run.
pub(crate) fn companion(session: &Session<'_>, test: TestIndex) -> Option<TestIndex> {
    session
        .evidence
        .with_polarity(test, Polarity::Pass)
        .find_map(|s| {
            session
                .evidence
                .run(s)
                .order
                .0
                .get(s.at as usize + 1)
                .copied()
        })
}
