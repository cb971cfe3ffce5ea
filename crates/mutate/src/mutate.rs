//! The whole campaign: coverage, mutants of covered code, verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use flakelab_lab::{Lab, LabError, Spent};
use flakelab_model::{Isolation, Suite, TestIndex};
use flakelab_source::Source;
use flakelab_source::mutants::{Mutants, Mutation, Point, Unit, UnitKind, mutants};

use crate::chase::Chase;
use crate::collect::collect;
use crate::control::Controls;
use crate::coverage::{Coverage, Stability};
use crate::execute::Executor;
use crate::found::{Counts, Found, Verdict, describe, matrix_pairs};
use crate::layout::{Layout, choose, lay_out};
use crate::pair::{Climbed, Ladder, PairVerdict, Status};
use crate::priority::{Candidate, prioritise};
use crate::reuse::{self, Tests};
use crate::settings::{Code, File, Settings, Stage, Surroundings};
use crate::simulate::MatrixPair;
use crate::subject::{Lane, Subject, function_of};
use crate::test_files::TestFiles;

/// Mutants brought to their verdicts together. Memory grows with it, not with how many there are.
const CHUNK: usize = 64;

/// Mutants whose bytecode is asked for at once; each comes with the whole text of its function.
const CODES: usize = 500;

/// Failures without a mutant are kept under this name.
const FAILURES: &str = "failures";

/// What a campaign found, beside the mutants: those were shown one by one.
#[derive(Debug)]
pub struct Mutating {
    pub stability: Stability,
    /// Where each statement of [`Stability`] stands: (file, line).
    pub statements: Vec<(String, usize)>,
    /// Tests that take no part, and why.
    pub set_aside: Vec<(String, String)>,
    /// Tests that took part, and were seen to fail without a mutant; each with how.
    pub unreliable: Vec<(String, String)>,
    pub ladder: Ladder,
    /// Mutants with the bytecode of the original, with that of another mutant, and left out on request.
    pub equal: u64,
    pub duplicate: u64,
    pub excluded: u64,
    /// What running mutants has cost, in this session.
    pub spent: Spent,
    /// How long each test took, for a matrix.
    pub micros: Vec<u32>,
}

/// `each` sees every mutant with its verdict, in the order of the files.
pub fn mutate(
    lab: &mut dyn Lab,
    around: &mut Surroundings<'_>,
    files: &[File],
    settings: &Settings,
    each: &mut dyn FnMut(Found) -> Result<(), LabError>,
) -> Result<Mutating, LabError> {
    let suite = lab.suite().clone();
    let (layout, texts) = lay_out(files);
    let coverage = cover(&suite, around, &layout, &texts, settings)?;
    drop(texts);
    let chosen = choose(files, &layout, &coverage, settings);
    around
        .watch
        .stage(Stage::Mutants, chosen.iter().map(Vec::len).sum());
    let mut campaign = Campaign {
        suite: &suite,
        files: &TestFiles::new(&suite),
        settings,
        coverage: &coverage,
        executor: Executor {
            settings,
            controls: known_failures(&suite, &coverage, around),
            spent: Spent::default(),
        },
        tests: Tests::new(
            &suite,
            &coverage,
            &layout.units,
            around.tree,
            &settings.environment,
        ),
        ladder: Ladder::new(&settings.reruns),
        equal: 0,
        duplicate: 0,
        excluded: layout.excluded,
        killed: 0,
        done: 0,
    };
    for (at, (file, numbers)) in files.iter().zip(&chosen).enumerate() {
        if numbers.is_empty() {
            continue;
        }
        let Some(source) = Source::parse(&file.text) else {
            continue;
        };
        campaign.file(lab, around, file, &source, numbers, layout.first[at], each)?;
    }
    let set_aside: Vec<(String, String)> = coverage
        .tests
        .iter()
        .zip(suite.ids())
        .filter_map(|(covered, id)| Some((id.to_string(), covered.set_aside.clone()?)))
        .collect();
    let unreliable = campaign.executor.controls.unreliable();
    let unreliable = unreliable.map(|(test, how, isolation)| {
        let when = if isolation.is_pristine() {
            "where only its own file is collected"
        } else {
            "in other orders, or now and then"
        };
        let why = format!("fails {when}, without a mutant: {how}");
        (suite.id(test).to_string(), why)
    });
    let unreliable = unreliable.collect();
    Ok(Mutating {
        stability: coverage.stability(&layout.statement_of),
        set_aside,
        unreliable,
        ladder: campaign.ladder,
        equal: campaign.equal,
        duplicate: campaign.duplicate,
        excluded: campaign.excluded,
        spent: campaign.executor.spent,
        micros: coverage
            .tests
            .iter()
            .map(|covered| covered.micros)
            .collect(),
        statements: layout.statements,
    })
}

/// What coverage runs have shown of tests that take part, and mutants before an interruption.
fn known_failures(suite: &Suite, coverage: &Coverage, around: &Surroundings<'_>) -> Controls {
    let kept = around.journal.get(FAILURES);
    let kept = kept.and_then(|text| serde_json::from_str(&text).ok());
    let mut controls = Controls::again(suite, kept.unwrap_or_default());
    for (at, covered) in coverage.tests.iter().enumerate() {
        if let (None, Some(how)) = (&covered.set_aside, &covered.apart) {
            controls.fails(TestIndex(at as u32), how.clone(), Isolation::Fresh);
        }
    }
    controls
}

/// The coverage of before in a campaign that goes on, else that of new runs.
fn cover(
    suite: &Suite,
    around: &mut Surroundings<'_>,
    layout: &Layout,
    texts: &[(String, String)],
    settings: &Settings,
) -> Result<Coverage, LabError> {
    let key = format!("coverage/{:032x}", reuse::digest(&texts));
    let known: Option<Coverage> = around
        .journal
        .get(&key)
        .and_then(|text| serde_json::from_str(&text).ok())
        .filter(|known: &Coverage| known.tests.len() == suite.len());
    if let Some(known) = known {
        return Ok(known);
    }
    let found = {
        let mut lab = around.tools.instrumented(texts, layout.points)?;
        let found = collect(&mut *lab, settings, around.watch)?;
        by_index(found, lab.suite(), suite)
    };
    let text = serde_json::to_string(&found).map_err(|e| LabError::broken(e.to_string()))?;
    around.journal.put(&key, &text)?;
    Ok(found)
}

/// The instrumented suite may have been collected in another order.
fn by_index(mut found: Coverage, theirs: &Suite, ours: &Suite) -> Coverage {
    let tests = ours.ids().iter().map(|id| {
        let at = theirs.find(id.as_str());
        at.map(|at| std::mem::take(&mut found.tests[at.at()]))
            .unwrap_or_default()
    });
    Coverage {
        tests: tests.collect(),
        import: found.import.clone(),
        by_file: found.by_file.clone(),
    }
}

struct Campaign<'a> {
    suite: &'a Suite,
    files: &'a TestFiles,
    settings: &'a Settings,
    coverage: &'a Coverage,
    executor: Executor<'a>,
    tests: Tests<'a>,
    ladder: Ladder,
    equal: u64,
    duplicate: u64,
    excluded: u64,
    killed: u64,
    done: u64,
}

/// Tests that execute something of a file, and of those of its functions that were asked for.
struct Covering {
    file: BTreeSet<TestIndex>,
    units: BTreeMap<usize, BTreeSet<TestIndex>>,
}

/// How many units before it have the same name and text: a verdict is that of one of them.
fn twin(found: &Mutants, unit: usize, text: &str) -> usize {
    let own = &found.units[unit];
    let same = |other: &&Unit| {
        (&other.classes, &other.name) == (&own.classes, &own.name)
            && text[other.span.clone()] == text[own.span.clone()]
    };
    found.units[..unit].iter().filter(same).count()
}

/// From the first point of a unit to its last, what is nested in between included.
fn points_of(found: &Mutants, unit: usize, first: usize) -> Range<usize> {
    let of = |point: &Point| point.unit == unit;
    let from = found.points.iter().position(of).unwrap_or(0);
    let to = found.points.iter().rposition(of).map_or(0, |last| last + 1);
    first + from..first + to
}

/// A mutant that waits for its verdict.
struct Waiting<'a> {
    mutation: &'a Mutation,
    tests: usize,
    key: String,
    verdict: Option<(Verdict, bool)>,
    pairs: Vec<MatrixPair>,
}

impl<'a> Campaign<'a> {
    #[allow(clippy::too_many_arguments, reason = "called from one place")]
    fn file(
        &mut self,
        lab: &mut dyn Lab,
        around: &mut Surroundings<'_>,
        file: &'a File,
        source: &Source,
        numbers: &[usize],
        first: usize,
        each: &mut dyn FnMut(Found) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let found = &mutants(source);
        let at_import: BTreeSet<usize> = found
            .points
            .iter()
            .enumerate()
            .filter(|(at, _)| self.coverage.is_imported((first + at) as u32))
            .map(|(_, point)| point.unit)
            .collect();
        let mut covering = Covering {
            file: self.covering(first..first + found.points.len()),
            units: BTreeMap::new(),
        };
        let different = self.different(around, file, found, numbers)?;
        for chunk in different.chunks(CHUNK) {
            let mut waiting = Vec::new();
            let mut chases: Vec<(usize, Chase<'_>)> = Vec::new();
            for (mutation, broken) in chunk {
                let unit = &found.units[mutation.unit];
                let point = (first + mutation.point) as u32;
                // Tests of this function are the first to notice, also where another one evaluates its defaults.
                let near = function_of(found, mutation).unwrap_or(mutation.unit);
                let of_unit = covering
                    .units
                    .entry(near)
                    .or_insert_with(|| self.covering(points_of(found, near, first)));
                let order = self.order(point, of_unit, &covering.file);
                let tests: Vec<TestIndex> = order.iter().map(|c| c.test).collect();
                let change = reuse::digest(&(
                    (&file.path, &unit.classes, &unit.name),
                    twin(found, mutation.unit, &file.text),
                    &file.text[unit.span.clone()],
                    mutation.unit_text(&file.text, unit),
                    self.settings.matrix,
                ));
                let key = self.tests.key(change, &tests);
                let known = if *broken {
                    let why = "the change does not compile".to_owned();
                    Some((Verdict::bare(Status::Error, Some(why)), false))
                } else if tests.is_empty() {
                    Some((Verdict::bare(Status::NotCovered, None), false))
                } else {
                    self.known(around, &key)
                };
                if known.is_none() {
                    // A function that importing calls is the same up to a point that importing does not reach.
                    let too_late = self.coverage.is_imported(point)
                        || at_import.contains(&mutation.unit) && mutation.is_nested(source, unit);
                    let swapped =
                        unit.kind == UnitKind::Function && self.settings.forks && !too_late;
                    let subject = Subject {
                        file,
                        unit,
                        change: mutation,
                        found,
                        lane: if swapped { Lane::Swap } else { Lane::Import },
                        order,
                        files: self.files,
                    };
                    chases.push((waiting.len(), Chase::new(subject, self.settings)));
                }
                waiting.push(Waiting {
                    mutation,
                    tests: tests.len(),
                    key,
                    verdict: known,
                    pairs: Vec::new(),
                });
            }
            let (places, mut running): (Vec<usize>, Vec<Chase<'_>>) = chases.into_iter().unzip();
            self.executor.scout(lab, &mut running)?;
            self.executor.run(lab, &mut running)?;
            for (place, chase) in places.iter().zip(&running) {
                if self.settings.matrix {
                    waiting[*place].pairs = matrix_pairs(chase);
                }
                waiting[*place].verdict = Some((self.verdict(chase), false));
            }
            // Together: whoever goes on after an interruption finds all of them, or looks at all of them once more.
            let finished = places.iter().map(|place| &waiting[*place]);
            let failures = serde_json::to_string(&self.executor.controls.kept(self.suite));
            let finished: Vec<(&str, String)> = finished
                .filter_map(|one| Some((one.key.as_str(), one.verdict.as_ref()?)))
                .map(|(key, (verdict, _))| Ok((key, serde_json::to_string(verdict)?)))
                .chain([failures.map(|text| (FAILURES, text))])
                .collect::<Result<_, serde_json::Error>>()
                .map_err(|e| LabError::broken(e.to_string()))?;
            around.journal.put_all(&finished)?;
            for one in waiting {
                around.watch.step();
                let unit = &found.units[one.mutation.unit];
                let Some((verdict, reused)) = one.verdict else {
                    continue;
                };
                if let Some(climbed) = &verdict.climbed {
                    self.ladder.add(climbed);
                }
                self.done += 1;
                self.killed += u64::from(verdict.status == Status::Killed);
                each(Found {
                    verdict,
                    reused,
                    tests: one.tests,
                    pairs: one.pairs,
                    ..describe(file, unit, one.mutation)
                })?;
            }
            around.watch.tally(self.killed, self.done);
        }
        Ok(())
    }

    /// A verdict of this campaign before it was interrupted, or of an earlier one.
    fn known(&self, around: &Surroundings<'_>, key: &str) -> Option<(Verdict, bool)> {
        // A matrix wants its pairs, which are not kept.
        if self.settings.matrix {
            return None;
        }
        let read = |text: String| serde_json::from_str::<Verdict>(&text).ok();
        if let Some(verdict) = around.journal.get(key).and_then(read) {
            return Some((verdict, false));
        }
        let verdict = around.earlier.get(key).and_then(read)?;
        verdict.holds().then_some((verdict, true))
    }

    /// Mutations that compile to something of their own; with whether they do not compile at all.
    fn different<'m>(
        &mut self,
        around: &mut Surroundings<'_>,
        file: &File,
        found: &'m Mutants,
        numbers: &[usize],
    ) -> Result<Vec<(&'m Mutation, bool)>, LabError> {
        let code = |unit: &Unit, text: String| Code {
            classes: unit.classes.clone(),
            text,
        };
        let wanted: Vec<&Mutation> = numbers.iter().map(|n| &found.mutations[*n]).collect();
        let mut own: BTreeMap<usize, Option<String>> = BTreeMap::new();
        let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut kept = Vec::new();
        for some in wanted.chunks(CODES) {
            // Functions and their mutants in one question: each takes an interpreter.
            let units: BTreeSet<usize> = some.iter().map(|mutation| mutation.unit).collect();
            let units: Vec<usize> = units.into_iter().filter(|u| !own.contains_key(u)).collect();
            let originals = units.iter().map(|unit| &found.units[*unit]);
            let originals =
                originals.map(|unit| code(unit, file.text[unit.span.clone()].to_owned()));
            let changed = some.iter().map(|mutation| {
                let unit = &found.units[mutation.unit];
                code(unit, mutation.unit_text(&file.text, unit))
            });
            let codes: Vec<Code> = originals.chain(changed).collect();
            let mut digests = around.tools.digests(&codes)?.into_iter();
            own.extend(units.into_iter().zip(digests.by_ref()));
            for (mutation, digest) in some.iter().zip(digests) {
                let Some(digest) = digest else {
                    kept.push((*mutation, true));
                    continue;
                };
                if own
                    .get(&mutation.unit)
                    .is_some_and(|own| own.as_ref() == Some(&digest))
                {
                    self.equal += 1;
                } else if seen.insert((mutation.unit, digest)) {
                    kept.push((*mutation, false));
                } else {
                    self.duplicate += 1;
                }
            }
        }
        Ok(kept)
    }

    /// Tests that execute any of these points.
    fn covering(&self, points: Range<usize>) -> BTreeSet<TestIndex> {
        let (from, to) = (points.start as u32, points.end as u32);
        let overlaps = |(start, length): &(u32, u32)| *start < to && start + length > from;
        let tests = self.coverage.tests.iter().enumerate();
        tests
            .filter(|(_, covered)| covered.runs.iter().flatten().any(overlaps))
            .map(|(at, _)| TestIndex(at as u32))
            .collect()
    }

    /// The tests that decide about a point, in order of priority. What runs at import concerns every test whose file
    /// imports it; those that execute something of the function go first, then those of the file.
    fn order(
        &self,
        point: u32,
        of_unit: &BTreeSet<TestIndex>,
        of_file: &BTreeSet<TestIndex>,
    ) -> Vec<Candidate> {
        let mut order = self.coverage.candidates(point);
        let importers = self.files.numbers(&self.coverage.importers(point));
        if !importers.is_empty() {
            let known: BTreeSet<TestIndex> = order.iter().map(|c| c.test).collect();
            for test in self.suite.indices() {
                let covered = &self.coverage.tests[test.at()];
                if known.contains(&test)
                    || covered.set_aside.is_some()
                    || covered.runs.is_empty()
                    || !importers.contains(&self.files.of(test))
                {
                    continue;
                }
                let of = covered.runs.len() as u32;
                order.push(Candidate {
                    test,
                    seen: of,
                    of,
                    micros: covered.micros.into(),
                });
            }
        }
        prioritise(&mut order);
        if !importers.is_empty() {
            order.sort_by_key(|candidate| {
                let test = &candidate.test;
                (!of_unit.contains(test), !of_file.contains(test))
            });
        }
        order
    }

    fn verdict(&self, chase: &Chase<'_>) -> Verdict {
        let name = |test: TestIndex| self.suite.id(test).to_string();
        let mut counts = Counts::default();
        for pair in chase.pairs.values() {
            *match pair.verdict {
                PairVerdict::Killed => &mut counts.killed,
                PairVerdict::Survived => &mut counts.survived,
                PairVerdict::Unknown => &mut counts.unknown,
                PairVerdict::Timeout => &mut counts.timeout,
            } += 1;
        }
        let status = chase.status();
        let why = chase.error().map(str::to_owned).or_else(|| {
            chase
                .notes
                .last()
                .cloned()
                .filter(|_| status != Status::Killed)
        });
        Verdict {
            status,
            why,
            killed_by: chase.kills.iter().map(|kill| name(kill.test)).collect(),
            failure: chase.kills.first().map(|kill| kill.signature.clone()),
            unknown_pairs: chase.unknown().into_iter().map(name).collect(),
            climbed: Some(Climbed::of(&self.settings.reruns, chase.pairs.values())),
            counts,
        }
    }
}
