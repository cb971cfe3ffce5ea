//! What counts as an assertion: the statements that mutation leaves alone (FLAKER, section III-A, step 2).
//!
//! By name, as a reader would tell: nothing is imported or resolved.

use tree_sitter::Node;

use crate::python::Source;

/// Names that check nothing by their prefix, but do: nose's, and pytest's as functions.
const EXACT: [&str; 7] = [
    "eq_",
    "ok_",
    "raises",
    "warns",
    "deprecated_call",
    "RaisesGroup",
    "RaisesExc",
];

/// Modules and objects whose `raises`, `fail` and the like are meant.
const OWNERS: [&str; 4] = ["self", "cls", "pytest", "py.test"];

/// Tells assertions from other statements.
///
/// `assert`; calls of anything whose name starts with `assert` (unittest, mock, `numpy.testing`, hamcrest);
/// `self.fail*`; `pytest.raises`, `warns` and `fail`, called or in a `with`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assertions {
    extra: Vec<String>,
}

impl Assertions {
    /// With further names: `check`, `page.expect` (an end of the dotted name), `verify*` (a prefix).
    pub fn with(extra: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            extra: extra.into_iter().map(Into::into).collect(),
        }
    }

    /// Where the assertions below a node begin, in source order.
    pub(crate) fn below(&self, source: &Source, node: Node<'_>) -> Vec<usize> {
        let mut found: Vec<usize> = self
            .nodes(source, node)
            .iter()
            .map(Node::start_byte)
            .collect();
        found.sort_unstable();
        found
    }

    /// The text of every assertion of a file.
    pub fn texts(&self, source: &Source) -> Vec<String> {
        let nodes = self.nodes(source, source.root());
        nodes.into_iter().map(|n| source.of(n).to_owned()).collect()
    }

    fn nodes<'a>(&self, source: &'a Source, node: Node<'a>) -> Vec<Node<'a>> {
        let mut found = Vec::new();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            let is = match node.kind() {
                "assert_statement" => true,
                "call" => node
                    .child_by_field_name("function")
                    .is_some_and(|function| self.named(source, function)),
                _ => false,
            };
            if is {
                found.push(node);
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        found
    }

    fn named(&self, source: &Source, function: Node<'_>) -> bool {
        let (owner, name) = match function.kind() {
            "identifier" => (None, source.of(function)),
            "attribute" => match (
                function.child_by_field_name("object"),
                function.child_by_field_name("attribute"),
            ) {
                (Some(owner), Some(name)) => (Some(source.of(owner)), source.of(name)),
                _ => return false,
            },
            _ => return false,
        };
        let plain = name.trim_start_matches('_');
        let own = owner.is_none_or(|owner| OWNERS.contains(&owner));
        plain.starts_with("assert")
            || own && EXACT.contains(&name)
            || owner.is_some() && own && fails(name)
            || self.extra.iter().any(|extra| {
                let (wanted, prefix) = match extra.strip_suffix('*') {
                    Some(prefix) => (prefix, true),
                    None => (extra.as_str(), false),
                };
                let dotted = match owner {
                    Some(owner) if wanted.contains('.') => &format!("{owner}.{name}"),
                    _ => name,
                };
                match prefix {
                    true => dotted.starts_with(wanted),
                    false => {
                        dotted == wanted
                            || wanted.contains('.') && dotted.ends_with(&format!(".{wanted}"))
                    }
                }
            })
    }
}

/// `fail`, `failIf`, `failUnlessEqual`, and not `failover`.
fn fails(name: &str) -> bool {
    name.strip_prefix("fail")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(assertions: &Assertions, text: &str) -> usize {
        let source = Source::parse(text).expect("it parses");
        assertions.below(&source, source.root()).len()
    }

    #[test]
    fn assertions_are_known_by_their_names() {
        for text in [
            "assert x\n",
            "self.assertEqual(a, b)\n",
            "self.assert_(a)\n",
            "self.fail()\n",
            "self.failUnlessEqual(a, b)\n",
            "self._assert_same(a)\n",
            "pytest.fail('no')\n",
            "pytest.raises(E, f)\n",
            "with pytest.raises(E):\n    f()\n",
            "with pytest.warns(W) as w, raises(E):\n    f()\n",
            "with self.assertRaises(E) as c:\n    f()\n",
            "async with pytest.deprecated_call():\n    f()\n",
            "mock.assert_called_once_with(1)\n",
            "await mock.assert_awaited()\n",
            "np.testing.assert_allclose(a, b)\n",
            "pd.testing.assert_frame_equal(a, b)\n",
            "assert_that(a, is_(b))\n",
            "assert_that(a).is_equal_to(b)\n",
            "c = assert_raises(E, f)\n",
            "eq_(a, b)\n",
            "for x in y:\n    assert x\n",
            "def check():\n    assert x\n",
            "check = lambda x: self.assertTrue(x)\n",
        ] {
            assert!(count(&Assertions::default(), text) > 0, "{text}");
        }
    }

    #[test]
    fn other_statements_are_none() {
        for text in [
            "x = 1\n",
            "self.failover()\n",
            "job.fail()\n",
            "fail(job)\n",
            "excinfo.raises(1)\n",
            "check(x)\n",
            "self.addCleanup(mock.assert_called)\n",
            "x.assertion = 1\n",
            "'assert x'\n",
            "raise AssertionError\n",
        ] {
            assert_eq!(count(&Assertions::default(), text), 0, "{text}");
        }
    }

    #[test]
    fn further_names_are_whole_names_ends_of_dotted_ones_or_prefixes() {
        let assertions = Assertions::with(["check", "page.expect", "verify*"]);
        for (text, is) in [
            ("check(x)\n", true),
            ("self.check(x)\n", true),
            ("checked(x)\n", false),
            ("page.expect(x)\n", true),
            ("self.page.expect(x)\n", true),
            ("homepage.expect(x)\n", false),
            ("job.expect(x)\n", false),
            ("verify_all(x)\n", true),
            ("self.verify_all(x)\n", true),
        ] {
            assert_eq!(count(&assertions, text) > 0, is, "{text}");
        }
    }
}
