//! From what a run recorded to assertions: elements are gathered by the statement they stand in.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use flakelab_filter::{Identity, joined, place};
use flakelab_source::{Source, Spot, decode};

/// Where a recorder says an assertion is: file, line, column.
pub(super) type Site = (String, u32, u32);

/// One assertion in one run of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observed {
    pub(super) value: String,
    pub(super) held: bool,
    /// Of its verdict, for whoever is to filter it.
    pub(super) site: Site,
    /// How the site lies from the start of the statement: lines, and columns on the same line.
    pub(super) offset: (u32, i64),
}

/// The project's files, parsed when they are first asked for.
#[derive(Debug)]
pub(super) struct Sources {
    project: PathBuf,
    files: HashMap<String, Option<Source>>,
    spots: HashMap<Site, Option<Spot>>,
}

impl Sources {
    pub(super) fn new(project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            files: HashMap::new(),
            spots: HashMap::new(),
        }
    }

    pub(super) fn file(&mut self, path: &str) -> Option<&Source> {
        let project = &self.project;
        self.files
            .entry(path.to_owned())
            .or_insert_with(|| {
                let bytes = std::fs::read(project.join(path)).ok()?;
                Source::parse(&decode(&bytes)?)
            })
            .as_ref()
    }

    fn spot(&mut self, site: &Site) -> Option<Spot> {
        if let Some(spot) = self.spots.get(site) {
            return spot.clone();
        }
        let (path, line, column) = site;
        let spot = self
            .file(path)
            .and_then(|source| source.spot(*line as usize, *column as usize));
        self.spots.insert(site.clone(), spot.clone());
        spot
    }

    /// The assertions of one run of a test.
    pub(super) fn observe<'a>(
        &mut self,
        test: &str,
        values: impl Iterator<Item = (&'a str, &'a str)>,
        verdicts: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> BTreeMap<Identity, Observed> {
        let mut operands: BTreeMap<Identity, Vec<(&str, &str)>> = BTreeMap::new();
        for (element, value) in values {
            if let Some((identity, _, _)) = self.identity(test, element) {
                operands.entry(identity).or_default().push((element, value));
            }
        }
        let mut found: BTreeMap<Identity, Observed> = BTreeMap::new();
        for (element, verdict) in verdicts {
            let Some((identity, site, offset)) = self.identity(test, element) else {
                continue;
            };
            let held = verdict != "fail";
            let seen = found.entry(identity).or_insert(Observed {
                value: String::new(),
                held,
                site,
                offset,
            });
            seen.held &= held;
        }
        for (identity, mut seen) in operands {
            // By name, because recorders write them as they come.
            seen.sort_unstable();
            if let Some(observed) = found.get_mut(&identity) {
                observed.value = joined(seen.iter().map(|(_, value)| *value));
            }
        }
        found
    }

    fn identity(&mut self, test: &str, element: &str) -> Option<(Identity, Site, (u32, i64))> {
        let (path, line, column) = place(element)?;
        let site = (path.to_owned(), line, column);
        let spot = self.spot(&site)?;
        let lines = line.saturating_sub(spot.line as u32);
        let columns = if lines == 0 {
            i64::from(column) - spot.column as i64
        } else {
            i64::from(column)
        };
        let identity = Identity {
            test: test.to_owned(),
            file: path.to_owned(),
            scope: spot.scope.join("."),
            text: spot.text,
            ordinal: spot.ordinal,
        };
        Some((identity, site, (lines, columns)))
    }

    /// The statement at `file:line`, which is all that a failure tells.
    pub(super) fn at_line(&mut self, test: &str, at: &str) -> Option<Identity> {
        let (file, line) = at.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        let source = self.file(file)?;
        let text = source.text().lines().nth(line.checked_sub(1)?)?;
        let column = text.len() - text.trim_start().len();
        let element = format!("{file}:{line}:{column}");
        self.identity(test, &element)
            .map(|(identity, _, _)| identity)
    }

    /// Where an assertion stands now, as a recorder would say it.
    pub(super) fn site(&mut self, identity: &Identity, offset: (u32, i64)) -> Option<Site> {
        let source = self.file(&identity.file)?;
        let scope: Vec<String> = identity.scope.split('.').map(str::to_owned).collect();
        let scope = if identity.scope.is_empty() {
            Vec::new()
        } else {
            scope
        };
        let spots = source.spots(&scope, &identity.text);
        let (line, column) = *spots.get(identity.ordinal)?;
        let column = if offset.0 == 0 {
            column as i64 + offset.1
        } else {
            offset.1
        };
        Some((
            identity.file.clone(),
            line as u32 + offset.0,
            u32::try_from(column).ok()?,
        ))
    }

    /// What else stands in the scope of an assertion, as identities it may have become.
    pub(super) fn neighbours(&mut self, identity: &Identity) -> Vec<Identity> {
        let scope: Vec<String> = identity.scope.split('.').map(str::to_owned).collect();
        let Some(source) = self.file(&identity.file) else {
            return Vec::new();
        };
        let mut seen: HashMap<String, usize> = HashMap::new();
        source
            .statements_in(&scope)
            .into_iter()
            .map(|text| {
                let ordinal = *seen
                    .entry(text.clone())
                    .and_modify(|n| *n += 1)
                    .or_insert(0);
                Identity {
                    text,
                    ordinal,
                    ..identity.clone()
                }
            })
            .collect()
    }
}
