//! The values of parametrised tests, as they are written in the decorators.

use tree_sitter::Node;

use crate::python::Function;

impl Function<'_> {
    /// (name, source of the value) of the `nth` of `of` sets of parameters. `None` if the decorators do not
    /// say it literally.
    pub fn parameter_set(self, nth: usize, of: usize) -> Option<Vec<(String, String)>> {
        let mut sets: Vec<Vec<Vec<(String, String)>>> = Vec::new();
        for decorator in self.decorators() {
            let call = decorator.named_child(0)?;
            let is = call.kind() == "call"
                && call
                    .child_by_field_name("function")
                    .is_some_and(|f| self.source.of(f).ends_with("mark.parametrize"));
            if is {
                sets.push(self.sets(call)?);
            }
        }
        let product: usize = sets.iter().map(Vec::len).product();
        if sets.is_empty() || product != of {
            return None;
        }
        // The topmost decorator varies fastest.
        let mut rest = nth;
        let mut found = Vec::new();
        for set in &sets {
            found.extend(set.get(rest % set.len())?.clone());
            rest /= set.len();
        }
        Some(found)
    }

    fn sets(self, call: Node<'_>) -> Option<Vec<Vec<(String, String)>>> {
        let arguments = call.child_by_field_name("arguments")?;
        let names = arguments.named_child(0)?;
        let values = arguments.named_child(1)?;
        let names: Vec<String> = match names.kind() {
            "string" => self
                .source
                .of(names)
                .trim_matches(['"', '\''])
                .split(',')
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect(),
            "list" | "tuple" => elements(names)
                .into_iter()
                .map(|node| self.source.of(node).trim_matches(['"', '\'']).to_owned())
                .collect(),
            _ => return None,
        };
        if !matches!(values.kind(), "list" | "tuple") {
            return None;
        }
        elements(values)
            .into_iter()
            .map(|value| {
                let parts: Vec<Node<'_>> = if value.kind() == "call" {
                    let function = value.child_by_field_name("function")?;
                    if !self.source.of(function).ends_with("param") {
                        vec![value]
                    } else {
                        elements(value.child_by_field_name("arguments")?)
                            .into_iter()
                            .filter(|node| node.kind() != "keyword_argument")
                            .collect()
                    }
                } else if names.len() > 1 {
                    elements(value)
                } else {
                    vec![value]
                };
                if parts.len() != names.len() {
                    return None;
                }
                let texts = parts.iter().map(|node| self.source.of(*node).to_owned());
                Some(names.iter().cloned().zip(texts).collect())
            })
            .collect()
    }
}

fn elements(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::Source;

    #[test]
    fn the_topmost_decorator_varies_fastest() {
        let text = "@pytest.mark.parametrize('a', [1, x])\n@pytest.mark.parametrize('b, c', [(3, 4), pytest.param(5, [6], id='i')])\ndef test_a(a, b, c):\n    pass\n";
        let source = Source::parse(text).expect("parses");
        let function = source.function(&["test_a"]).expect("found");
        let set = |nth| {
            let set = function.parameter_set(nth, 4).expect("a set");
            let texts: Vec<String> = set.iter().map(|(n, v)| format!("{n}={v}")).collect();
            texts.join(" ")
        };
        assert_eq!(set(0), "a=1 b=3 c=4");
        assert_eq!(set(1), "a=x b=3 c=4");
        assert_eq!(set(2), "a=1 b=5 c=[6]");
        assert!(function.parameter_set(0, 5).is_none());
    }
}
