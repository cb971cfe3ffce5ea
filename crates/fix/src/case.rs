//! What is known of a test that is to be fixed.

use flakelab_model::Class;

/// One order-dependent test with its causes; tests by id.
#[derive(Debug, Clone)]
pub struct Case {
    pub test: String,
    pub class: Class,
    /// Polluters of a victim, state-setters of a brittle.
    pub culprits: Vec<Vec<String>>,
    /// Cleaners of a victim.
    pub cleaners: Vec<Vec<String>>,
    /// Groups of leaks that carry it; the members of one only work together.
    pub causes: Vec<Vec<CausalLeak>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CausalLeak {
    pub kind: String,
    pub name: String,
    pub before: String,
    pub after: String,
    /// The line that writes it: file and number from 1.
    pub at: Option<(String, usize)>,
    /// The tests that leave it.
    pub left_by: Vec<String>,
}

/// The project's files, relative to where pytest runs.
pub trait Tree {
    /// `None` if there is no such file, or it is no text.
    fn read(&self, path: &str) -> Option<String>;
}

/// An id taken apart: `tests/test_a.py::TestB::test_c[x]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) classes: Vec<String>,
    pub(crate) function: String,
    pub(crate) parametrised: bool,
}

impl Place {
    pub(crate) fn of(id: &str) -> Option<Self> {
        let (file, rest) = id.split_once("::")?;
        // Parameters may contain anything, also `::`.
        let (names, parametrised) = match rest.find('[') {
            Some(at) => (&rest[..at], true),
            None => (rest, false),
        };
        let mut parts: Vec<String> = names.split("::").map(str::to_owned).collect();
        let function = parts.pop()?;
        Some(Self {
            file: file.to_owned(),
            classes: parts,
            function,
            parametrised,
        })
    }

    pub(crate) fn path(&self) -> Vec<&str> {
        let classes = self.classes.iter().map(String::as_str);
        classes.chain([self.function.as_str()]).collect()
    }

    /// The id without its parameters.
    pub(crate) fn base(&self) -> String {
        format!("{}::{}", self.file, self.path().join("::"))
    }

    pub(crate) fn class_path(&self) -> Vec<&str> {
        self.classes.iter().map(String::as_str).collect()
    }
}
