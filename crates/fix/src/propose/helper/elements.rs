//! What a helper consists of: fixtures it asks for, statements around and in it, parameters it is given.

use std::collections::BTreeSet;

use flakelab_model::Place;
use flakelab_source::{Names, Piece, Source, Tree, locate};

/// A part of a helper that can be left out.
#[derive(Debug, Clone)]
pub(super) enum Element {
    Fixture(String),
    Code(Piece),
}

impl Element {
    fn names(&self) -> Option<Names> {
        match self {
            Element::Fixture(_) => Some(Names::default()),
            Element::Code(piece) => Names::of(&piece.at("")),
        }
    }
}

/// What is left where nobody says what these names are: code that uses them does not run, nor does what uses the names that
/// it would have bound.
fn without(elements: &mut Vec<Element>, names: &[String]) {
    let mut lost: BTreeSet<String> = names.iter().cloned().collect();
    elements.retain(|element| {
        let Some(names) = element.names() else {
            return lost.is_empty();
        };
        let kept = names.free.is_disjoint(&lost);
        for name in names.bound {
            if kept {
                lost.remove(&name);
            } else {
                lost.insert(name);
            }
        }
        kept
    });
}

/// One helper, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) file: String,
    pub(super) source: Source,
    /// Fixtures among its parameters.
    pub(super) fixtures: Vec<String>,
    /// Parameters with the source of their values.
    pub(super) bindings: Vec<(String, String)>,
    pub(super) elements: Vec<Element>,
}

impl Origin {
    /// Without what asks the helper's own object.
    pub(super) fn drop_self(&mut self) {
        without(&mut self.elements, &["self".to_owned()]);
    }

    /// Without the fixtures, and the code that uses them. A helper need not need all that it asks for.
    pub(super) fn drop_fixtures(&mut self) {
        self.elements
            .retain(|element| matches!(element, Element::Code(_)));
        without(&mut self.elements, &self.fixtures);
        self.fixtures.clear();
    }

    /// `suite` are all ids in their order: they tell which set of parameters an id stands for.
    pub(super) fn of(
        id: &str,
        target: &Place,
        tree: &dyn Tree,
        suite: &[String],
    ) -> Result<Self, String> {
        let place = Place::of(id).ok_or_else(|| format!("`{id}` is no test in a file"))?;
        let located = locate::test(&place, tree)
            .ok_or_else(|| format!("the code of `{id}` was not found in the project"))?;
        let function = located.function().ok_or("its helper was not found")?;
        let bindings = if place.parametrised {
            parameters(id, &place, function, suite)?
        } else {
            Vec::new()
        };
        let fixtures: Vec<String> = function
            .arguments()
            .into_iter()
            .filter(|name| !bindings.iter().any(|(bound, _)| bound == name))
            .collect();
        let same_class = place.file == target.file && place.classes == target.classes;
        let mut elements: Vec<Element> = fixtures.iter().cloned().map(Element::Fixture).collect();
        let mut add = |found: Option<locate::Located>| {
            elements.extend(code(found, &located.file));
        };
        if !same_class {
            if place.file != target.file {
                for name in ["setUpModule", "setup_module"] {
                    add(in_module(&place, name, tree));
                }
                if place.classes.is_empty() {
                    add(in_module(&place, "setup_function", tree));
                }
            }
            for name in ["setUp", "asyncSetUp", "setup_method"] {
                add(locate::method(&place, name, tree));
            }
        }
        add(locate::test(&place, tree));
        without(&mut elements, &function.mocked());
        let mut add = |found: Option<locate::Located>| {
            elements.extend(code(found, &located.file));
        };
        for name in ["asyncTearDown", "tearDown", "teardown_method"] {
            add(locate::method(&place, name, tree));
        }
        if place.classes.is_empty() {
            add(in_module(&place, "teardown_function", tree));
        }
        Ok(Self {
            fixtures,
            bindings,
            elements,
            file: located.file.clone(),
            source: located.source,
        })
    }
}

/// The statements of a function of this file: those of another one would need that file's names.
fn code(found: Option<locate::Located>, file: &str) -> Vec<Element> {
    let found = found.filter(|found| found.file == file);
    let pieces = found
        .as_ref()
        .and_then(|found| Some(found.function()?.pieces()));
    let pieces = pieces.into_iter().flatten();
    let fits = |piece: &Piece| !piece.leaves && !piece.at("").starts_with("super()");
    pieces.filter(fits).map(Element::Code).collect()
}

fn in_module(place: &Place, name: &str, tree: &dyn Tree) -> Option<locate::Located> {
    let module = Place {
        file: place.file.clone(),
        classes: Vec::new(),
        function: name.to_owned(),
        parametrised: false,
    };
    locate::test(&module, tree)
}

/// Names and values of the set of parameters that an id stands for.
pub(super) fn parameters(
    id: &str,
    place: &Place,
    function: flakelab_source::Function<'_>,
    suite: &[String],
) -> Result<Vec<(String, String)>, String> {
    let base = format!("{}[", place.base());
    let same: Vec<&String> = suite
        .iter()
        .filter(|other| other.starts_with(&base))
        .collect();
    let nth = same.iter().position(|other| *other == id);
    nth.and_then(|nth| function.parameter_set(nth, same.len()))
        .ok_or_else(|| format!("the parameters of `{id}` are not written out in its decorators"))
}
