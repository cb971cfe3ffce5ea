//! What the culprits left, and what of it matters: put back, does the target say what it says alone?

use std::collections::BTreeSet;

use flakelab_lab::{LabError, delta};
use flakelab_model::{
    Experiment, Failure, Isolation, Leak, Observation, Polarity, RunRecord, TestIndex,
};

use crate::ask;
use crate::culprits::Case;
use crate::finding::{Explanation, FoundLeak};
use crate::session::{Session, Stage, before, verdict};

/// The most telling leaks, tried one by one before anything else.
const FIRST: usize = 4;
/// Leaks tried one by one if nothing together explains it.
const MOST_SINGLES: usize = 60;
/// Experiments that delta debugging may use.
const MOST_RUNS: usize = 120;
/// Leaks that mattered on their own and are confirmed.
const MOST_CAUSAL: usize = 3;
/// Leaks listed that did not matter.
const MOST_IDLE: usize = 10;
/// Sets of culprits whose leaks are looked for.
const MOST_SETS: usize = 1;
const MOST_SETS_OF_ALL: usize = 5;

pub(crate) fn find(
    session: &mut Session<'_>,
    case: Case,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let most = if session.settings.all {
        MOST_SETS_OF_ALL
    } else {
        MOST_SETS
    };
    for number in 0..explanation.culprits.len().min(most) {
        if session.out_of_budget {
            return Ok(());
        }
        if explanation.culprits[number].rate.is_none() {
            look(session, case, number, explanation)?;
        }
    }
    Ok(())
}

fn look(
    session: &mut Session<'_>,
    case: Case,
    number: usize,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let culprits = explanation.culprits[number].tests.clone();
    let mut trial = Trial {
        order: before(&culprits, case.target),
        case,
        signature: None,
        tee: false,
        stuck: BTreeSet::new(),
    };
    if case.alone == Polarity::Fail {
        trial.signature = alone_signature(session, case)?;
    }
    let mut control = trial.control(session)?;
    if control.is_none() && case.warm == Isolation::Fork {
        // Forks have collected the whole suite, which alone may change the verdict.
        trial.case.warm = Isolation::Fresh;
        control = trial.control(session)?;
    }
    let Some(seen) = control else {
        explanation
            .note("the verdict changes when the process is watched, so what leaks cannot be said");
        return Ok(());
    };
    let mut seen = seen;
    let mut groups = trial.causes(session, &seen)?;
    if groups.is_empty() && seen.leaks.iter().any(|leak| leak.kind == "generator") {
        trial.tee = true;
        if let Some(again) = trial.control(session)? {
            seen = again;
            groups = trial.causes(session, &seen)?;
        }
    }
    for leak in &mut seen.leaks {
        leak.restorable &= !trial.stuck.contains(&leak.id);
    }
    let mut confirmed: Vec<Vec<String>> = Vec::new();
    for group in groups.into_iter().take(MOST_CAUSAL) {
        if trial.confirm(session, &group)? {
            confirmed.push(group);
        }
    }
    if confirmed.is_empty() {
        // What was not looked into matters only now.
        for note in &seen.notes {
            explanation.note(note.clone());
        }
        if !session.out_of_budget {
            explanation.note(unexplained(&seen));
        }
    }
    let traced = trial.trace(session, &seen, &confirmed)?;
    publish(number, seen, &confirmed, &traced, explanation);
    Ok(())
}

/// What to say where nothing that was put back mattered.
fn unexplained(seen: &Observation) -> String {
    let fixed: Vec<&str> = seen
        .leaks
        .iter()
        .filter(|leak| !leak.restorable)
        .map(|leak| leak.name.as_str())
        .take(3)
        .collect();
    if !fixed.is_empty() {
        return format!(
            "what could be put back does not explain it; this could not be, and may be it: {}",
            fixed.join(", ")
        );
    }
    let outside = "an external service or state outside Python may carry it";
    if seen.leaks.is_empty() {
        format!("no difference in memory or files is left when the test starts: {outside}")
    } else {
        format!("none of the differences in memory or files explains it: {outside}")
    }
}

/// How the target fails alone: putting something back must not break it in another way.
fn alone_signature(session: &mut Session<'_>, case: Case) -> Result<Option<String>, LabError> {
    let batch = vec![session.request(vec![case.target], case.warm)];
    let record = session.run(Stage::State, batch)?.pop().flatten();
    Ok(record.as_ref().and_then(signature))
}

/// Where and with which exception the last test failed; messages carry values that differ by chance.
fn signature(record: &RunRecord) -> Option<String> {
    let last = record.executions.last()?;
    last.outcome.failure().map(|failure| manner(failure))
}

fn manner(failure: &Failure) -> String {
    let exception = failure.message.split([':', '\n', ' ']).next();
    format!(
        "{} {:?} {}",
        failure.at,
        failure.phase,
        exception.unwrap_or_default()
    )
}

struct Trial {
    order: Vec<TestIndex>,
    case: Case,
    /// For a target that fails alone, how.
    signature: Option<String>,
    tee: bool,
    /// Leaks that could not be put back when that was tried: a run with one of them says nothing of it.
    stuck: BTreeSet<String>,
}

impl Trial {
    fn experiment(&self, restore: &[String]) -> Experiment {
        Experiment {
            restore: restore.to_vec(),
            tee: self.tee,
            ..Experiment::default()
        }
    }

    fn run(
        &self,
        session: &mut Session<'_>,
        experiments: Vec<Experiment>,
    ) -> Result<Vec<Option<RunRecord>>, LabError> {
        let isolation = match self.case.warm {
            Isolation::Shared | Isolation::Fork => Isolation::Fork,
            other => other,
        };
        let batch = experiments
            .into_iter()
            .map(|experiment| {
                let mut request = session.request(self.order.clone(), isolation);
                request.experiment = Some(experiment);
                request
            })
            .collect();
        session.run(Stage::State, batch)
    }

    /// Watching alone must not change the verdict.
    fn control(&self, session: &mut Session<'_>) -> Result<Option<Observation>, LabError> {
        let record = self.run(session, vec![self.experiment(&[])])?.pop();
        Ok(record
            .flatten()
            .filter(|record| verdict(record) == self.case.other())
            .and_then(|record| record.observation))
    }

    /// Whether the target said what it says alone.
    fn as_alone(&self, record: &RunRecord) -> bool {
        verdict(record) == self.case.alone
            && (self.case.alone == Polarity::Pass || signature(record) == self.signature)
    }

    fn matters(
        &mut self,
        session: &mut Session<'_>,
        sets: &[Vec<String>],
    ) -> Result<Vec<bool>, LabError> {
        let experiments = sets.iter().map(|set| self.experiment(set)).collect();
        let records = self.run(session, experiments)?;
        for (set, record) in sets.iter().zip(&records) {
            let seen = record.as_ref().and_then(|r| r.observation.as_ref());
            let leaks = seen.into_iter().flat_map(|seen| &seen.leaks);
            let stuck = leaks.filter(|leak| !leak.restorable && set.contains(&leak.id));
            self.stuck.extend(stuck.map(|leak| leak.id.clone()));
        }
        Ok(records
            .iter()
            .map(|record| record.as_ref().is_some_and(|record| self.as_alone(record)))
            .collect())
    }

    /// Minimal groups of leaks that change the verdict back, by forks.
    fn causes(
        &mut self,
        session: &mut Session<'_>,
        seen: &Observation,
    ) -> Result<Vec<Vec<String>>, LabError> {
        let ids: Vec<String> = seen
            .leaks
            .iter()
            .filter(|leak| leak.restorable)
            .map(|leak| leak.id.clone())
            .collect();
        let first = self.singles(session, &ids[..ids.len().min(FIRST)])?;
        if !first.is_empty() || ids.len() < 2 {
            return Ok(first);
        }
        // Modules that were merely imported break things when they are taken away.
        let solid: Vec<String> = seen
            .leaks
            .iter()
            .filter(|leak| leak.restorable && !imported(leak))
            .map(|leak| leak.id.clone())
            .collect();
        let mut sets = vec![solid];
        if sets[0].len() != ids.len() {
            sets.push(ids.clone());
        }
        let answers = self.matters(session, &sets)?;
        for (set, works) in sets.into_iter().zip(answers) {
            if works {
                return Ok(vec![self.reduce(session, set)?]);
            }
        }
        let rest = &ids[ids.len().min(FIRST)..ids.len().min(MOST_SINGLES)];
        self.singles(session, rest)
    }

    fn singles(
        &mut self,
        session: &mut Session<'_>,
        ids: &[String],
    ) -> Result<Vec<Vec<String>>, LabError> {
        let sets: Vec<Vec<String>> = ids.iter().map(|id| vec![id.clone()]).collect();
        let answers = self.matters(session, &sets)?;
        Ok(sets
            .into_iter()
            .zip(answers)
            .filter(|(_, works)| *works)
            .map(|(set, _)| set)
            .collect())
    }

    fn reduce(
        &mut self,
        session: &mut Session<'_>,
        set: Vec<String>,
    ) -> Result<Vec<String>, LabError> {
        delta::minimise(set, MOST_RUNS, &mut |parts| {
            if session.out_of_budget {
                return Ok(Vec::new());
            }
            self.matters(session, parts)
        })
    }

    /// In interpreters that collect the order's own files, or else the whole suite, as the forks did.
    fn confirm(&self, session: &mut Session<'_>, group: &[String]) -> Result<bool, LabError> {
        for whole in [false, true] {
            let experiment = Experiment {
                whole,
                ..self.experiment(group)
            };
            if self.agreed(session, &experiment)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn agreed(&self, session: &mut Session<'_>, experiment: &Experiment) -> Result<bool, LabError> {
        let orders = [self.order.clone()];
        let answers = ask::ask_with(session, &orders, Some(experiment))?;
        Ok(answers.iter().all(|answer| {
            let how = answer.failure.as_ref().map(|failure| manner(failure));
            answer.all(self.case.alone)
                && (self.case.alone == Polarity::Pass || how == self.signature)
        }))
    }

    /// One more run that finds the lines of the writes.
    fn trace(
        &self,
        session: &mut Session<'_>,
        seen: &Observation,
        confirmed: &[Vec<String>],
    ) -> Result<Vec<Leak>, LabError> {
        let idle = seen.leaks.iter().take(MOST_IDLE).map(|leak| &leak.id);
        let mut trace: Vec<String> = confirmed.iter().flatten().chain(idle).cloned().collect();
        trace.sort();
        trace.dedup();
        if trace.is_empty() {
            return Ok(Vec::new());
        }
        let experiment = Experiment {
            trace,
            ..self.experiment(&[])
        };
        let record = self.run(session, vec![experiment])?.pop().flatten();
        Ok(record
            .and_then(|record| record.observation)
            .map(|seen| seen.leaks)
            .unwrap_or_default())
    }
}

fn imported(leak: &Leak) -> bool {
    leak.kind == "module"
}

fn publish(
    culprits: usize,
    seen: Observation,
    confirmed: &[Vec<String>],
    traced: &[Leak],
    explanation: &mut Explanation,
) {
    let group = |id: &str| {
        confirmed
            .iter()
            .position(|group| group.iter().any(|member| member == id))
    };
    let (causal, idle): (Vec<Leak>, Vec<Leak>) = seen
        .leaks
        .into_iter()
        .partition(|leak| group(&leak.id).is_some());
    let mut causal = causal;
    causal.sort_by_key(|leak| group(&leak.id));
    let listed = causal.into_iter().chain(
        idle.into_iter()
            .filter(|leak| !imported(leak))
            .take(MOST_IDLE),
    );
    for mut leak in listed {
        if let Some(found) = traced.iter().find(|t| t.id == leak.id) {
            leak.at.clone_from(&found.at);
        }
        let group = group(&leak.id);
        explanation.leaks.push(FoundLeak {
            causal: group.is_some(),
            group,
            culprits,
            leak,
        });
    }
}
