//! The order in JUnit XML as pytest writes it: `classname` is the dotted path and classes.

use std::collections::HashMap;

use flakelab_model::Suite;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ImportError;

pub(super) fn names(text: &str, suite: &Suite) -> Result<Vec<Vec<String>>, ImportError> {
    let known = known_names(suite);
    let xml = |error: &dyn std::fmt::Display| ImportError::Xml(error.to_string());
    let mut reader = Reader::from_str(text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().map_err(|e| xml(&e))? {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "testcase" => {
                let class = attribute(&tag, "classname").map_err(|e| xml(&e))?;
                let name = attribute(&tag, "name").map_err(|e| xml(&e))?;
                let key = (class, name);
                names.push(match known.get(&key) {
                    Some(id) => (*id).to_owned(),
                    None => format!("{}::{}", key.0, key.1),
                });
            }
            Event::Eof => break,
            _ => {}
        }
    }
    // pytest lists a test twice when both the test and its teardown failed.
    names.dedup();
    Ok(vec![names])
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<String, quick_xml::Error> {
    match tag.try_get_attribute(name)? {
        Some(found) => Ok(found
            .normalized_value(quick_xml::XmlVersion::default())?
            .into_owned()),
        None => Ok(String::new()),
    }
}

/// (classname, name) of every test, by the rule of pytest's own writer.
fn known_names(suite: &Suite) -> HashMap<(String, String), &str> {
    suite
        .ids()
        .iter()
        .map(|id| {
            let scope = id.class_scope();
            let name = id.as_str()[scope.len()..].trim_start_matches("::");
            let module = id.module();
            let path = module
                .strip_suffix(".py")
                .unwrap_or(module)
                .replace('/', ".");
            let class = format!("{path}{}", scope[module.len()..].replace("::", "."));
            ((class, name.to_owned()), id.as_str())
        })
        .collect()
}
