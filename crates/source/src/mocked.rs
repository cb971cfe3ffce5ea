//! Which parameters of a function `unittest.mock.patch` fills: they are no fixtures, and nobody passes them.

use tree_sitter::Node;

use crate::python::{Function, Source};

impl Function<'_> {
    /// Parameters that a caller has to give: without `self`, and without those that decorators fill. pytest counts those in
    /// the same way (`num_mock_patch_args`), and takes them off the front.
    pub fn arguments(self) -> Vec<String> {
        let own = self.parameters().into_iter();
        let own = own.filter(|name| !matches!(name.as_str(), "self" | "cls"));
        own.skip(self.mocks()).collect()
    }

    /// Parameters that decorators of it or of its class fill.
    pub fn mocked(self) -> Vec<String> {
        let own = self.parameters().into_iter();
        let own = own.filter(|name| !matches!(name.as_str(), "self" | "cls"));
        own.take(self.mocks()).collect()
    }

    fn mocks(self) -> usize {
        let own = self.decorators();
        let name = self.node.child_by_field_name("name");
        let is_test = name.is_some_and(|name| self.source.of(name).starts_with("test"));
        let class = self.outer.parent().and_then(|body| body.parent());
        let class = class
            .filter(|class| is_test && class.kind() == "class_definition")
            .and_then(|class| class.parent())
            .filter(|outer| outer.kind() == "decorated_definition");
        let mut above: Vec<Node<'_>> = Vec::new();
        if let Some(class) = class {
            let mut cursor = class.walk();
            let all = class.named_children(&mut cursor);
            above.extend(all.filter(|node| node.kind() == "decorator"));
        }
        let all = own.into_iter().chain(above);
        all.filter(|decorator| self.source.fills(*decorator))
            .count()
    }
}

impl Source {
    /// `@patch("shop.pay")` or `@patch.object(shop, "pay")` that say nothing of what comes in its place.
    fn fills(&self, decorator: Node<'_>) -> bool {
        let call = decorator
            .named_child(0)
            .filter(|node| node.kind() == "call");
        let of = |field: &str| call.and_then(|call| call.child_by_field_name(field));
        let (Some(function), Some(arguments)) = (of("function"), of("arguments")) else {
            return false;
        };
        let named: Vec<&str> = self.of(function).split('.').collect();
        let most = match named.as_slice() {
            [.., "patch"] => 1,
            [.., "patch", "object"] => 2,
            _ => return false,
        };
        let mut cursor = arguments.walk();
        let mut given = 0;
        for argument in arguments.named_children(&mut cursor) {
            match argument.kind() {
                "comment" => {}
                "keyword_argument" => {
                    let name = argument.child_by_field_name("name");
                    if name.is_some_and(|name| self.of(name) == "new") {
                        return false;
                    }
                }
                _ => given += 1,
            }
        }
        given <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_mocks_fill_are_no_arguments() {
        for (decorators, arguments) in [
            ("", "a b box"),
            ("@mock.patch(\"x\")", "b box"),
            (
                "@patch.object(x, \"y\")\n    @patch(\"z\", autospec=True)",
                "box",
            ),
            (
                "@patch(\"x\", new=1)\n    @patch.object(x, \"y\", 2)",
                "a b box",
            ),
            (
                "@patch.dict(x)\n    @patch.multiple(x, y=1)\n    @mark.skip(\"x\")",
                "a b box",
            ),
        ] {
            let text = format!(
                "class T:\n    {decorators}\n    def test_a(self, a, b, box):\n        pass\n"
            );
            let source = Source::parse(&text).expect("parses");
            let function = source.function(&["T", "test_a"]).expect("found");
            assert_eq!(function.arguments().join(" "), arguments, "{decorators}");
        }
        let text = "@patch(\"x\")\nclass T:\n    def test_a(self, a):\n        pass\n\n    def setUp(self, a):\n        pass\n";
        let source = Source::parse(text).expect("parses");
        let of = |name: &str| source.function(&["T", name]).expect("found");
        assert_eq!(of("test_a").mocked(), ["a"]);
        assert_eq!(of("setUp").arguments(), ["a"]);
    }
}
