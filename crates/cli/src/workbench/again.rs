//! The command that repeats a campaign, from what the store has of it.

use flakelab_model::shell_word;
use serde_json::Value;

/// How a part of a configuration is given on the command line.
enum How {
    /// A number or word after the option; an option alone if it is true.
    Given,
    /// One option for each of a list.
    Each,
    /// A list as one word.
    Joined,
    /// The word for `false`; nothing for `true`.
    Unless(&'static str),
    /// The word for `true`.
    If(&'static str),
}

type Options = &'static [(&'static str, &'static str, How)];

const DETECT: Options = &[
    ("orders", "--orders", How::Given),
    ("mix", "--mix", How::Joined),
    ("order_files", "--order", How::Each),
    ("rerun_orders", "--rerun-orders", How::Given),
    ("reruns", "--reruns", How::Given),
    ("isolated_runs", "--isolated-runs", How::Given),
    ("confirmations", "--confirmations", How::Given),
];
const EXPLAIN: Options = &[
    ("mode", "--mode", How::Given),
    ("all", "--all", How::Given),
    ("state", "", How::Unless("--no-state")),
    ("orders", "--orders", How::Given),
    ("order_files", "--order", How::Each),
    ("confirmations", "--confirmations", How::Given),
];
const FIX: Options = &[
    ("strategy", "--strategy", How::Given),
    ("site", "--site", How::Given),
    ("all", "", How::If("--patch-mode=all")),
    ("shuffles", "--shuffles", How::Given),
    ("confirmations", "--confirmations", How::Given),
];
const MEASURE: Options = &[
    ("runs", "--runs", How::Given),
    ("layers", "--layers", How::Joined),
    ("factors", "--factors", How::Joined),
    ("preset", "--preset", How::Given),
    ("runtimes", "--runtime", How::Each),
    ("unmask", "--unmask", How::Joined),
    ("sources", "--source", How::Each),
];
const LEARN: Options = &[
    ("version", "--version", How::Given),
    ("runs", "--runs", How::Given),
];
const MUTATE: Options = &[
    ("coverage", "--coverage", How::Given),
    ("coverage_reruns", "--coverage-reruns", How::Given),
    ("reruns", "--reruns", How::Joined),
    ("immediate", "", How::Unless("--rerun=later")),
    ("matrix", "--matrix", How::Given),
    ("sample", "--sample", How::Given),
    ("mutants", "--mutant", How::Each),
    ("diff", "--diff", How::Given),
    ("only", "--only", How::Each),
    ("exclude", "--exclude", How::Each),
    ("without", "--without", How::Joined),
    ("hits", "--hits", How::Given),
];
const INJECT: Options = &[
    ("reruns", "--reruns", How::Given),
    ("orders", "--orders", How::Given),
    ("scope", "--scope", How::Given),
    ("include_fixtures", "--include-fixtures", How::Given),
    ("assertions", "--assertion", How::Each),
];

fn options(verb: &str) -> Options {
    match verb {
        "detect" => DETECT,
        "explain" => EXPLAIN,
        "fix" => FIX,
        "measure" => MEASURE,
        "filter learn" => LEARN,
        "mutate" => MUTATE,
        "inject" => INJECT,
        _ => &[],
    }
}

/// For a POSIX shell in the project's directory; of the tests that were asked for only one, if it is given.
pub(crate) fn command(verb: &str, seed: u64, configuration: &str, test: Option<&str>) -> String {
    let asked: Value = serde_json::from_str(configuration).unwrap_or_default();
    words(verb, seed, &asked, test).join(" ")
}

/// What goes on with a campaign that was cut off.
pub(crate) fn resumed(verb: &str, seed: u64, configuration: &str) -> String {
    let asked: Value = serde_json::from_str(configuration).unwrap_or_default();
    let mut words = words(verb, seed, &asked, None);
    words.insert(1, "--resume".to_owned());
    words.join(" ")
}

/// Whether pytest was given arguments: then it may have collected less than the suite.
pub(crate) fn is_selection(configuration: &str) -> bool {
    let asked: Value = serde_json::from_str(configuration).unwrap_or_default();
    !list(&asked["pytest_args"]).is_empty()
}

fn words(verb: &str, seed: u64, asked: &Value, test: Option<&str>) -> Vec<String> {
    let mut words = vec![format!("flakelab {verb}")];
    let tests = test.map_or_else(|| list(&asked["tests"]), |test| vec![shell_word(test)]);
    words.extend(tests);
    words.extend(["--seed".to_owned(), seed.to_string()]);
    for (key, option, how) in options(verb) {
        let value = &asked[*key];
        let all = list(value);
        match (how, value) {
            (How::Given, Value::Bool(true)) => words.push((*option).to_owned()),
            (How::Given, Value::Number(_) | Value::String(_)) => {
                words.push((*option).to_owned());
                words.extend(all);
            }
            (How::Unless(word), Value::Bool(false)) | (How::If(word), Value::Bool(true)) => {
                words.push((*word).to_owned());
            }
            (How::Each, Value::Array(_)) => {
                for one in all {
                    words.extend([(*option).to_owned(), one]);
                }
            }
            (How::Joined, Value::Array(_)) if !all.is_empty() => {
                words.extend([(*option).to_owned(), all.join(",")]);
            }
            _ => {}
        }
    }
    if asked["isolation"] == "cold" {
        words.push("--isolation=cold".to_owned());
    }
    let args = list(&asked["pytest_args"]);
    if !args.is_empty() {
        words.push("--".to_owned());
        words.extend(args);
    }
    words
}

/// Words for a shell.
fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(list).collect(),
        Value::String(text) => vec![shell_word(text)],
        Value::Number(number) => vec![number.to_string()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::args::Cli;

    /// Every option is one that the verb has.
    #[test]
    fn what_is_printed_is_understood() {
        let asked = json!({
            "orders": 5, "mix": ["global", "nested"], "order_files": ["a b.txt"], "rerun_orders": 1, "reruns": 2,
            "isolated_runs": 3, "confirmations": 1, "mode": "delta", "all": true, "state": false, "strategy": "reset",
            "site": "victim", "shuffles": 4, "runs": 3, "layers": ["outcome"], "factors": ["hash_seed"], "preset": null,
            "runtimes": ["/usr/bin/python3"], "unmask": ["path"], "coverage": "default", "coverage_reruns": 2,
            "immediate": false, "matrix": true, "sample": 9, "mutants": ["m.py:1f"], "diff": "HEAD", "only": ["a*.py"], "exclude": ["b.py"],
            "without": ["string"], "hits": 100, "scope": "class", "include_fixtures": true, "assertions": ["check"],
            "isolation": "cold", "pytest_args": ["-k", "x"], "version": "v1", "tests": ["t.py::a"],
        });
        for verb in [
            "detect",
            "explain",
            "fix",
            "measure",
            "filter learn",
            "mutate",
            "inject",
        ] {
            let mut asked = asked.clone();
            if verb == "mutate" {
                asked["reruns"] = json!([1, 2, 3, 4]);
            }
            if !matches!(verb, "explain" | "fix") {
                asked["tests"] = json!([]);
            }
            if !matches!(verb, "detect" | "explain" | "fix") {
                asked["isolation"] = json!("auto");
            }
            let words = words(verb, 7, &asked, None).join(" ");
            let plain = words.replace("'a b.txt'", "a_b.txt").replace('\'', "");
            let parsed = Cli::try_parse_from(plain.split_whitespace());
            assert!(parsed.is_ok(), "{words}: {parsed:?}");
            for (key, option, how) in options(verb) {
                let word = match how {
                    How::Unless(word) | How::If(word) => word,
                    _ => option,
                };
                let given = !asked[*key].is_null();
                assert_eq!(words.contains(word), given, "{word} in {words}");
            }
        }
    }

    #[test]
    fn one_test_stands_for_all_that_were_asked_for() {
        let asked = json!({"tests": ["a", "b"], "all": false, "orders": null});
        assert_eq!(
            resumed("explain", 3, &asked.to_string()),
            "flakelab explain --resume a b --seed 3"
        );
        let words = words("explain", 3, &asked, Some("t.py::x[it's]"));
        assert_eq!(
            words.join(" "),
            r"flakelab explain 't.py::x[it'\''s]' --seed 3"
        );
        assert!(is_selection(r#"{"pytest_args": ["-x"]}"#));
        assert!(!is_selection(r#"{"pytest_args": []}"#) && !is_selection("no json"));
    }
}
