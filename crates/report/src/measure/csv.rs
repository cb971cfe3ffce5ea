//! One row for each configuration, layer and test: what box plots and tables are made of elsewhere.

use std::fmt::Write as _;

use super::Document;
use crate::csv::cell;

pub fn csv(document: &Document) -> String {
    let mut out = "configuration,layer,test,runs,entropy,range,groups\n".to_owned();
    for configuration in &document.configurations {
        let name = cell(&configuration.name);
        for layer in &configuration.layers {
            for test in &layer.tests {
                let f = &test.flakiness;
                let groups: Vec<String> = f.groups.iter().map(usize::to_string).collect();
                let _ = writeln!(
                    out,
                    "{name},{},{},{},{},{},{}",
                    cell(&layer.layer),
                    cell(&test.id),
                    configuration.runs,
                    entropy(f.entropy),
                    f.range,
                    groups.join("/"),
                );
            }
        }
    }
    out
}

/// One run of a thousand that differs makes 0.008: more digits are noise.
fn entropy(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.6}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::example;

    #[test]
    fn a_row_for_each_configuration_layer_and_test() {
        insta::assert_snapshot!(csv(&example::shop()), @r#"
        configuration,layer,test,runs,entropy,range,groups
        controlled,outcome,tests/test_cart.py::test_order,10,0,0,10
        controlled,outcome,"tests/test_cart.py::test_speed[a,""b""]",10,0,0,10
        controlled,outcome,tests/test_cart.py::test_empty,10,0,0,10
        controlled,assertion,tests/test_cart.py::test_order,10,0,0,10
        controlled,assertion,"tests/test_cart.py::test_speed[a,""b""]",10,0.897946,1,6/3/1
        controlled,assertion,tests/test_cart.py::test_empty,10,0,0,10
        hash_seed,outcome,tests/test_cart.py::test_order,10,0,0,10
        hash_seed,outcome,"tests/test_cart.py::test_speed[a,""b""]",10,0,0,10
        hash_seed,outcome,tests/test_cart.py::test_empty,10,0,0,10
        hash_seed,assertion,tests/test_cart.py::test_order,10,0.673012,1,6/4
        hash_seed,assertion,"tests/test_cart.py::test_speed[a,""b""]",10,0.897946,1,6/3/1
        hash_seed,assertion,tests/test_cart.py::test_empty,10,0,0,10
        "#);
    }
}
