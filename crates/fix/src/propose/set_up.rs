//! Pieces in the set-up that every test of a class gets: its own, or a new one, which goes on with what the class inherits.

use flakelab_model::Place;
use flakelab_source::{Class, Edit, Function, Piece, Tree, locate};

pub(super) struct SetUp<'a> {
    class: Class<'a>,
    own: Option<Function<'a>>,
    /// `def setUp(self):`
    head: String,
    /// What a new one begins with: the one that it would hide otherwise.
    first: Option<String>,
}

impl<'a> SetUp<'a> {
    /// `place` stands in the class, in the file that has the class.
    pub(super) fn of(class: Class<'a>, place: &Place, tree: &dyn Tree) -> Result<Self, String> {
        let unittest = locate::is_unittest(place, tree);
        let name = if unittest { "setUp" } else { "setup_method" };
        let own = class.method(name);
        let inherited = locate::inherited(place, name, tree);
        let inherited = inherited.as_ref().and_then(|located| located.function());
        let mut parameters = vec!["self".to_owned()];
        let mut first = unittest.then(|| "super().setUp()".to_owned());
        match inherited {
            _ if own.is_some() => {}
            Some(above) if above.is_decorated() || above.is_async() => {
                return Err(format!(
                    "its class inherits a `{name}` that is no plain method"
                ));
            }
            Some(above) => {
                let rest: Vec<String> = above.parameters().into_iter().skip(1).collect();
                first = Some(format!("super().{name}({})", rest.join(", ")));
                parameters.extend(rest);
            }
            None if !unittest && !locate::knows_bases(place, tree) => {
                return Err("what its class inherits is not the project's".into());
            }
            None => {}
        }
        Ok(Self {
            class,
            own,
            head: format!("def {name}({}):", parameters.join(", ")),
            first,
        })
    }

    /// What the method calls the test.
    pub(super) fn receiver(&self) -> String {
        let own = self.own.and_then(|own| own.parameters().into_iter().next());
        own.unwrap_or_else(|| "self".to_owned())
    }

    pub(super) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    pub(super) fn add(&self, pieces: &[Piece]) -> Result<Edit, String> {
        if let Some(own) = self.own {
            let edit = own.prepend_pieces(pieces);
            return edit.ok_or_else(|| "its set-up stands on one line".to_owned());
        }
        let first = self.first.iter().map(|line| Piece::line(line));
        let body: Vec<Piece> = first.chain(pieces.iter().cloned()).collect();
        let edit = self.class.add_method(&self.head, &body);
        edit.ok_or_else(|| "its class stands on one line".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use flakelab_source::Source;

    use super::*;

    struct Files(&'static [(&'static str, &'static str)]);

    impl Tree for Files {
        fn read(&self, path: &str) -> Option<String> {
            let found = self.0.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        }
    }

    fn with_set_up(files: &'static [(&'static str, &'static str)]) -> Result<String, String> {
        let place = Place::of("test_a.py::TestA::test_a").expect("a place");
        let source = Source::parse(files[0].1).expect("parses");
        let class = source.class(&["TestA"]).expect("a class");
        let edit = SetUp::of(class, &place, &Files(files))?.add(&[Piece::line("x()")])?;
        Ok(edit.applied(files[0].1))
    }

    #[test]
    fn a_set_up_that_the_class_inherits_still_runs() {
        let cases: [(&'static [(&str, &str)], &str); 3] = [
            (
                &[
                    (
                        "test_a.py",
                        "from base import Base\n\n\nclass TestA(Base):\n    y = 1\n",
                    ),
                    (
                        "base.py",
                        "class Base:\n    def setup_method(self, method):\n        pass\n",
                    ),
                ],
                "    def setup_method(self, method):\n        super().setup_method(method)\n        x()\n",
            ),
            (
                &[("test_a.py", "class TestA(TestCase):\n    y = 1\n")],
                "    def setUp(self):\n        super().setUp()\n        x()\n",
            ),
            (
                &[("test_a.py", "class TestA:\n    y = 1\n")],
                "    def setup_method(self):\n        x()\n",
            ),
        ];
        for (files, wanted) in cases {
            let out = with_set_up(files).expect("a set-up");
            assert!(out.contains(wanted), "{out}");
        }
        let refused = [
            "from other import Base\n\n\nclass TestA(Base):\n    y = 1\n",
            "class Base:\n    @pytest.fixture(autouse=True)\n    def setup_method(self):\n        pass\n\n\nclass TestA(Base):\n    y = 1\n",
        ];
        for text in refused {
            let files: &'static [(&str, &str)] = Box::leak(Box::new([("test_a.py", text)]));
            assert!(with_set_up(files).is_err(), "{text}");
        }
    }
}
