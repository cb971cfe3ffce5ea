//! A patch that brings over the statements of helpers, and can leave any of them out.

use flakelab_model::{Class, Place};
use flakelab_source::{Edit, Function, Located, Names, Piece, Tree, apply, locate};

use super::elements::{Element, Origin};
use super::{Spot, guarded, own_class, prepare, purpose, set_up};
use crate::case::Case;
use crate::patch::{Change, Patch, Site, Strategy};
use crate::propose::block::{free_name, using};
use crate::propose::guard::Guard;
use crate::propose::{Candidate, Refusals};

#[derive(Debug)]
pub(crate) struct Recipe {
    /// The test that it is for, and where its code is to go.
    place: Place,
    target: Located,
    unittest: bool,
    site: Site,
    spot: Spot,
    guard: Option<Guard>,
    /// What a fixture of it is called.
    fixture: String,
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
                origin.drop_self();
            }
        }
        Ok(Self {
            unittest: locate::is_unittest(&place, tree),
            target,
            site,
            spot: Spot::Body,
            guard: None,
            fixture: prepare(&place),
            place,
            class: case.class,
            set: set.to_vec(),
            origins,
        })
    }

    /// The same in a fixture of the file, where the state is missing.
    pub(super) fn in_fixture(mut self, guard: Option<Guard>) -> Self {
        for origin in &mut self.origins {
            origin.drop_self();
        }
        self.unittest = false;
        self.spot = Spot::Fixture;
        self.guard = guard;
        self
    }

    pub(super) fn candidate(
        mut self,
        tree: &dyn Tree,
        refused: &mut Refusals,
    ) -> Option<Candidate> {
        let whole = |recipe: &Self| {
            let all: Vec<usize> = (0..recipe.len()).collect();
            recipe.build(&all, tree)
        };
        let patch = whole(&self).or_else(|why| {
            for origin in &mut self.origins {
                origin.drop_fixtures();
            }
            whole(&self).map_err(|_| why)
        });
        match patch {
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
        let function = match self.spot {
            Spot::Body => self.target.function(),
            Spot::Fixture => None,
        };
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
            None if self.spot == Spot::Fixture => {
                let imports = std::mem::take(&mut imports);
                edits.extend(self.in_block(&pieces, &fixtures, imports, tree)?);
            }
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
                edits.push(set_up(&self.target, &self.place, tree, &pieces, &fixtures)?);
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
                after: apply(&before, &edits).ok_or("its parts do not go together")?,
                before: Some(before),
            }],
        })
    }

    /// A fixture of these pieces.
    fn in_block(
        &self,
        pieces: &[Piece],
        fixtures: &[String],
        mut imports: Vec<String>,
        tree: &dyn Tree,
    ) -> Result<Vec<Edit>, String> {
        let source = &self.target.source;
        let indent = source.indent();
        // What its fixtures do cannot be left out.
        let guard = self.guard.as_ref().filter(|_| !pieces.is_empty());
        let deep = match guard {
            Some(_) => indent.repeat(2),
            None => indent.to_owned(),
        };
        let name = free_name(source, &self.fixture, &self.target.file, tree);
        let mut block = format!("@pytest.fixture\ndef {name}({}):\n", fixtures.join(", "));
        for head in guarded(Vec::new(), guard, indent) {
            block.push_str(&format!("{indent}{head}\n"));
        }
        for piece in pieces {
            block.push_str(&piece.at(&deep));
            block.push('\n');
        }
        if pieces.is_empty() {
            block.push_str(&format!("{deep}pass\n"));
        }
        imports.extend(guard.and_then(|guard| guard.import.clone()));
        imports.push("pytest".into());
        let needed: Vec<&str> = imports.iter().map(String::as_str).collect();
        let mut edits = vec![source.add_block(&needed, &block)];
        edits.push(using(&self.target, &name).ok_or("its code was not found in the project")?);
        Ok(edits)
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
                let module = locate::module_name(&origin.file, tree);
                let absolute = module.and_then(|module| absolute(&statement, &module));
                absolute.ok_or_else(|| {
                    format!("`{statement}` means something else where the test is")
                })?
            } else {
                statement
            }
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
            // Both files may say the same of it.
            None if origin.source.definition_of(name).is_some()
                && origin.source.definition_of(name) == source.definition_of(name) =>
            {
                Ok(None)
            }
            None if source.defines(name) => {
                Err(format!("`{name}` means something else where the test is"))
            }
            None => Ok(Some(statement)),
        }
    }
}

/// `from .shelf import box` of a module `shop.tests.test_a` with the whole name of what it imports from.
fn absolute(statement: &str, module: &str) -> Option<String> {
    let (from, names) = statement.strip_prefix("from ")?.split_once(" import ")?;
    let rest = from.trim_start_matches('.');
    let mut package: Vec<&str> = module.split('.').collect();
    package.truncate(package.len().checked_sub(from.len() - rest.len())?);
    if package.is_empty() {
        return None;
    }
    package.extend(Some(rest).filter(|rest| !rest.is_empty()));
    Some(format!("from {} import {names}", package.join(".")))
}

fn names_of(pieces: &[Piece]) -> Result<Names, String> {
    let code: String = pieces.iter().map(|p| format!("{}\n", p.at(""))).collect();
    Names::of(&code).ok_or_else(|| "the helper's code does not stand alone".to_owned())
}

/// A function of its own for code whose names would get in the way.
fn wrapped(pieces: &[Piece], indent: &str, waits: bool) -> Piece {
    let (head, call) = if waits {
        ("async def prepare():", "asyncio.run(prepare())")
    } else {
        ("def prepare():", "prepare()")
    };
    Piece::wrap(&[head], pieces, indent, &["", call, ""])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports_get_whole_names() {
        for (statement, module, whole) in [
            ("from . import a", "shop.test_b", Some("from shop import a")),
            (
                "from .a import b as c",
                "shop.tests.test_b",
                Some("from shop.tests.a import b as c"),
            ),
            (
                "from ..a import b",
                "shop.tests.test_b",
                Some("from shop.a import b"),
            ),
            ("from . import a", "test_b", None),
            ("from ... import a", "shop.test_b", None),
        ] {
            assert_eq!(absolute(statement, module).as_deref(), whole, "{statement}");
        }
    }
}
