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

/// Two orders with nothing before the test that should differ in its verdict if only what follows decides:
/// one of them is the test alone, the other has a test after it. `None` if no teardown error was seen.
pub(crate) fn question(
    session: &Session<'_>,
    test: TestIndex,
    fails_alone: bool,
) -> Option<(Vec<TestIndex>, Polarity)> {
    let evidence = &session.evidence;
    let teardown = |s: &Sighting| matches!(evidence.outcome(*s), Outcome::Errored(f) if f.phase == Phase::Teardown);
    if !evidence
        .with_polarity(test, Polarity::Fail)
        .any(|s| teardown(&s))
    {
        return None;
    }
    let next = |s: Sighting| evidence.run(s).order.0.get(s.at as usize + 1).copied();
    let suite = session.lab.suite();
    let near = |next: &TestIndex| step(suite, test, Some(*next));
    if fails_alone {
        // The nearer the next test, the less is torn down before it.
        let companion = evidence
            .with_polarity(test, Polarity::Pass)
            .filter_map(next)
            .min_by_key(near)?;
        Some((vec![test, companion], Polarity::Pass))
    } else {
        let failing = evidence
            .with_polarity(test, Polarity::Fail)
            .filter(teardown);
        let stranger = failing.filter_map(next).max_by_key(near)?;
        Some((vec![test, stranger], Polarity::Fail))
    }
}
