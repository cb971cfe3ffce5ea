//! A patch that brings over the statements of helpers, and can leave any of them out.

use flakelab_model::{Class, Place};
use flakelab_source::{Function, Located, Names, Piece, Tree, apply, locate};

use super::elements::{Element, Origin};
use super::{own_class, purpose, set_up};
use crate::case::Case;
use crate::patch::{Change, Patch, Site, Strategy};
use crate::propose::{Candidate, Refusals};

#[derive(Debug)]
pub(crate) struct Recipe {
    target: Located,
    unittest: bool,
    site: Site,
    class: Class,
    set: Vec<String>,
    origins: Vec<Origin>,
}

impl Recipe {
    /// The helpers of `set` at the start or the end of the test `at`.
    pub(super) fn new(
        case: &Case,
        set: &[String],
        at: &str,
        site: Site,
        tree: &dyn Tree,
        suite: &[String],
    ) -> Result<Self, String> {
        let place = Place::of(at).ok_or("it is no test in a file")?;
        let mut target = locate::test(&place, tree)
            .ok_or_else(|| format!("the code of `{at}` was not found in the project"))?;
        if target.file != place.file {
            target = own_class(&place, tree)?;
        }
        let mut origins = set
            .iter()
            .map(|id| Origin::of(id, &place, tree, suite))
            .collect::<Result<Vec<_>, _>>()?;
        if !target.is_method() {
            // What the helper asks of itself nobody can answer here; the rest may do.
            for origin in &mut origins {
                origin.elements.retain(|element| !element.uses("self"));
            }
        }
        Ok(Self {
            unittest: locate::is_unittest(&place, tree),
            target,
            site,
            class: case.class,
            set: set.to_vec(),
            origins,
        })
    }

    pub(super) fn candidate(self, tree: &dyn Tree, refused: &mut Refusals) -> Option<Candidate> {
        let all: Vec<usize> = (0..self.len()).collect();
        match self.build(&all, tree) {
            Ok(patch) => Some(Candidate {
                patch,
                recipe: Some(self),
            }),
            Err(why) => {
                refused.add(why);
                None
            }
        }
    }

    /// How many parts there are to leave out.
    pub(crate) fn len(&self) -> usize {
        self.origins.iter().map(|o| o.elements.len()).sum()
    }

    /// The patch with these parts only.
    pub(crate) fn build(&self, kept: &[usize], tree: &dyn Tree) -> Result<Patch, String> {
        let function = self.target.function();
        let target = function.map(Function::names).unwrap_or_default();
        let mut waits = false;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut fixtures: Vec<String> = Vec::new();
        let mut imports: Vec<String> = Vec::new();
        let mut bound = std::collections::BTreeSet::new();
        let mut number = 0;
        for origin in &self.origins {
            let mut own: Vec<Piece> = Vec::new();
            for element in &origin.elements {
                if kept.contains(&number) {
                    match element {
                        Element::Fixture(name) => fixtures.push(name.clone()),
                        Element::Code(piece) => own.push(piece.clone()),
                    }
                }
                number += 1;
            }
            let mut names = names_of(&own)?;
            let bindings: Vec<Piece> = origin
                .bindings
                .iter()
                .filter(|(name, _)| names.free.contains(name))
                .map(|(name, value)| Piece::line(&format!("{name} = {value}")))
                .collect();
            if !bindings.is_empty() {
                own.splice(0..0, bindings);
                names = names_of(&own)?;
            }
            let used = |name: &&String| names.free.contains(*name);
            fixtures.extend(origin.fixtures.iter().filter(used).cloned());
            waits |= own.iter().any(|piece| piece.at("").contains("await "));
            // A fixture that the helper's own module defines has to be imported to be found.
            let asked = fixtures.iter().filter(|f| origin.fixtures.contains(f));
            let needed = names.free.iter().filter(|name| !bound.contains(*name));
            for name in needed.chain(asked) {
                imports.extend(self.import(origin, name, tree)?);
            }
            bound.extend(names.bound);
            pieces.extend(own);
        }
        if pieces.is_empty() && fixtures.is_empty() {
            return Err("nothing is left of the helper".into());
        }
        fixtures.sort();
        fixtures.dedup();
        if self.unittest && !fixtures.is_empty() {
            return Err(format!(
                "the helper takes the fixture `{}`, which a unittest method cannot",
                fixtures[0]
            ));
        }
        let parameters = function.map(Function::parameters).unwrap_or_default();
        let taken = |name: &String| target.free.contains(name) || parameters.contains(name);
        let indent = self.target.source.indent();
        if waits && !function.is_some_and(Function::is_async) {
            // A test that is no coroutine has a loop of its own made for it.
            imports.push("asyncio".into());
            pieces = vec![wrapped(&pieces, indent, true)];
        } else if self.site == Site::Victim && bound.iter().any(taken) && !waits {
            pieces = vec![wrapped(&pieces, indent, false)];
        }
        let mut edits = Vec::new();
        match function {
            Some(function) => {
                if !pieces.is_empty() {
                    let edit = match self.site {
                        Site::Polluter => function.append_pieces(&pieces),
                        _ => function.prepend_pieces(&pieces),
                    };
                    edits.push(edit.ok_or("its body stands on the line of its `def`")?);
                }
                edits.extend(function.add_parameters(&fixtures));
            }
            None => {
                let lines = pieces.iter().flat_map(|piece| {
                    let text = piece.at("");
                    text.lines().map(str::to_owned).collect::<Vec<_>>()
                });
                let lines: Vec<String> = lines.collect();
                edits.push(set_up(&self.target, self.unittest, &lines, &fixtures)?);
            }
        }
        let needed: Vec<&str> = imports.iter().map(String::as_str).collect();
        edits.extend(self.target.source.add_imports(&needed));
        let before = self.target.source.text().to_owned();
        let whose = self.set.join(" and ");
        Ok(Patch {
            strategy: Strategy::Helper,
            site: self.site,
            reason: match self.site {
                Site::Polluter => format!("it ends with what {whose} does to clean up"),
                _ => format!(
                    "what {whose} does comes first, which {}",
                    purpose(self.class)
                ),
            },
            changes: vec![Change {
                path: self.target.file.clone(),
                after: apply(&before, &edits),
                before: Some(before),
            }],
        })
    }

    /// What a name of the helper's module takes in the target's.
    fn import(
        &self,
        origin: &Origin,
        name: &str,
        tree: &dyn Tree,
    ) -> Result<Option<String>, String> {
        if origin.file == self.target.file {
            return Ok(None);
        }
        let statement = if let Some(statement) = origin.source.import_of(name) {
            let folder = |file: &str| file.rsplit_once('/').map(|(f, _)| f.to_owned());
            let relative = statement.starts_with("from .");
            if relative && folder(&origin.file) != folder(&self.target.file) {
                return Err(format!(
                    "`{statement}` means something else where the test is"
                ));
            }
            statement
        } else if origin.source.defines(name) {
            let module = locate::module_name(&origin.file, tree)
                .ok_or_else(|| format!("`{}` cannot be imported", origin.file))?;
            format!("from {module} import {name}")
        } else {
            // A builtin, or it comes with a star.
            return Ok(None);
        };
        let source = &self.target.source;
        match source.import_of(name) {
            Some(same) if same == statement => Ok(None),
            Some(_) => Err(format!("`{name}` means something else where the test is")),
            None if source.defines(name) => {
                Err(format!("`{name}` means something else where the test is"))
            }
            None => Ok(Some(statement)),
        }
    }
}

fn names_of(pieces: &[Piece]) -> Result<Names, String> {
    let code: String = pieces.iter().map(|p| format!("{}\n", p.at(""))).collect();
    Names::of(&code).ok_or_else(|| "the helper's code does not stand alone".to_owned())
}

/// A function of its own for code whose names would get in the way.
fn wrapped(pieces: &[Piece], indent: &str, waits: bool) -> Piece {
    let mut text = if waits {
        "async def prepare():\n".to_owned()
    } else {
        "def prepare():\n".to_owned()
    };
    for piece in pieces {
        text.push_str(&piece.at(indent));
        text.push('\n');
    }
    text.push_str(if waits {
        "\nasyncio.run(prepare())\n\n"
    } else {
        "\nprepare()\n\n"
    });
    Piece::block(&text)
}
