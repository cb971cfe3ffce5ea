//! Where a test stands, as its id says.

/// An id taken apart: `tests/test_a.py::TestB::test_c[x]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub classes: Vec<String>,
    pub function: String,
    pub parametrised: bool,
}

impl Place {
    /// `None` for an id that names no function of a file.
    pub fn of(id: &str) -> Option<Self> {
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

    /// Classes and function.
    pub fn path(&self) -> Vec<&str> {
        let classes = self.classes.iter().map(String::as_str);
        classes.chain([self.function.as_str()]).collect()
    }

    /// The id without its parameters.
    pub fn base(&self) -> String {
        format!("{}::{}", self.file, self.path().join("::"))
    }

    pub fn class_path(&self) -> Vec<&str> {
        self.classes.iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_taken_apart() {
        let place = Place::of("a/test_b.py::C::D::test_e[x::y[0]]").expect("a place");
        assert_eq!(place.file, "a/test_b.py");
        assert_eq!(place.path(), ["C", "D", "test_e"]);
        assert!(place.parametrised);
        assert_eq!(place.base(), "a/test_b.py::C::D::test_e");
        assert_eq!(Place::of("a.txt"), None);
    }
}
