//! `flakelab init`: the file, what it refuses, and that its defaults are the defaults.

use crate::support::Project;

fn init(project: &Project, args: &[&str]) -> (Option<i32>, String, String) {
    let args = [&["init"], args].concat();
    let output = project.flakelab(&args).output().expect("flakelab runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn written(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("flakelab.toml")).expect("written")
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    let (code, said, _) = init(&project, &[]);
    assert_eq!(code, Some(0));
    assert!(said.contains("nothing in it is necessary"), "{said}");
    std::fs::write(project.path().join("flakelab.toml"), "jobs = 1\n").expect("written");
    let (code, said, error) = init(&project, &[]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    assert!(error.contains("is there already"), "{error}");
    assert!(error.contains("hint: "), "{error}");
    assert_eq!(written(&project), "jobs = 1\n");
}

#[test]
fn stdout_is_the_same_text_and_writes_nothing() {
    let project = Project::new(&[]);
    let (code, text, _) = init(&project, &["--stdout"]);
    assert_eq!(code, Some(0));
    assert!(project.tree().is_empty());
    init(&project, &[]);
    assert_eq!(written(&project), text);
}

#[test]
fn settings_in_pyproject_are_not_hidden() {
    let project = Project::new(&[("pyproject.toml", "[tool.flakelab]\njobs = 1\n")]);
    let (code, _, error) = init(&project, &[]);
    assert_eq!(code, Some(2));
    assert!(error.contains("would hide"), "{error}");
    assert!(!project.path().join("flakelab.toml").exists());
}

/// What a campaign of each verb was asked to do, as the store has it.
fn asked(project: &Project) -> Vec<(String, String)> {
    let store = project.path().join(".flakelab/store.sqlite");
    let store = rusqlite::Connection::open(store).expect("a store");
    let mut rows = store
        .prepare("SELECT verb, configuration FROM campaigns ORDER BY id")
        .expect("a table");
    let rows = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

/// Those that have a default switched on: campaigns must be what they are without a file.
#[test]
fn the_defaults_are_the_defaults() {
    let suite = "STATE = []\ndef test_a(): STATE.append(1)\ndef test_b():\n    x = 1\n    assert not STATE\n";
    let run = |file: Option<&str>| {
        let project = Project::new(&[("test_a.py", suite)]);
        if let Some(text) = file {
            std::fs::write(project.path().join("flakelab.toml"), text).expect("written");
        }
        for verb in ["detect", "explain", "inject"] {
            let python = project.python();
            let args = [verb, "--seed", "1", "--python", &python.to_string_lossy()];
            let output = project.flakelab(&args).output().expect("flakelab runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{verb}: {said}"
            );
        }
        asked(&project)
    };
    let template = Project::new(&[]);
    init(&template, &[]);
    let mut lines: Vec<String> = Vec::new();
    let mut explanation = String::new();
    for line in written(&template).lines() {
        match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') && !explanation.contains("no default") => {
                lines.push(setting.to_owned());
            }
            Some(prose) if prose.starts_with(' ') => explanation = prose.to_owned(),
            Some(_) => {}
            None => lines.push(line.to_owned()),
        }
    }
    let set = lines.iter().filter(|line| line.contains(" = ")).count();
    assert!(set > 15, "{lines:?}");
    let with = run(Some(&lines.join("\n")));
    assert_eq!(with.len(), 3);
    assert_eq!(with, run(None));
}
