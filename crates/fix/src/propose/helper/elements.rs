//! What a helper consists of: fixtures it asks for, statements around and in it, parameters it is given.

use flakelab_model::Place;
use flakelab_source::{Names, Piece, Source, Tree, locate};

/// A part of a helper that can be left out.
#[derive(Debug, Clone)]
pub(super) enum Element {
    Fixture(String),
    Code(Piece),
}

impl Element {
    pub(super) fn uses(&self, name: &str) -> bool {
        match self {
            Element::Fixture(_) => false,
            Element::Code(piece) => {
                Names::of(&piece.at("")).is_none_or(|names| names.free.contains(name))
            }
        }
    }
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
            .parameters()
            .into_iter()
            .filter(|name| !matches!(name.as_str(), "self" | "cls"))
            .filter(|name| !bindings.iter().any(|(bound, _)| bound == name))
            .collect();
        let same_class = place.file == target.file && place.classes == target.classes;
        let mut elements: Vec<Element> = fixtures.iter().cloned().map(Element::Fixture).collect();
        let mut add = |found: Option<locate::Located>| {
            let Some(found) = found else { return };
            // Code of another file would need that file's names.
            if found.file != located.file {
                return;
            }
            let Some(function) = found.function() else {
                return;
            };
            elements.extend(
                function
                    .pieces()
                    .into_iter()
                    .filter(|piece| !piece.leaves && !piece.at("").starts_with("super()"))
                    .map(Element::Code),
            );
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
