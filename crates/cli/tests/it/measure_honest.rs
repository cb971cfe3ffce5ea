//! What `flakelab measure` must not claim, and must not keep to itself. Each of these was wrong once.

use crate::support::Project;
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// (factor, test) of everything that is claimed at a layer.
fn claims(document: &Value, layer: &str) -> Vec<(String, String)> {
    let effects = list(&document["factors"])
        .iter()
        .filter(|e| e["layer"] == layer);
    effects
        .flat_map(|effect| {
            let factor = effect["factor"].as_str().expect("a factor").to_owned();
            list(&effect["tests"]).iter().map(move |test| {
                let id = test["id"].as_str().expect("an id");
                (
                    factor.clone(),
                    id.split("::").nth(1).expect("a name").to_owned(),
                )
            })
        })
        .collect()
}

#[test]
fn a_test_that_fails_under_one_setting_only_is_a_finding() {
    let project = Project::new(&[(
        "test_mask.py",
        "def test_mask(tmp_path):\n    path = tmp_path / 'f'\n    path.write_text('')\n    assert path.stat().st_mode & 0o777 == 0o644\n",
    )]);
    let run = project.measure(&["--runs", "6", "--factors", "umask"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(
        !run.stdout.contains("nothing varies: all runs"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("alike within every configuration"),
        "{}",
        run.stdout
    );
    assert_eq!(
        claims(&run.document, "outcome"),
        [("umask".into(), "test_mask".into())]
    );
    let levels = &run.document["factors"][0]["tests"][0]["levels"];
    assert_eq!(
        (&levels[0]["setting"], &levels[1]["setting"]),
        (&"022".into(), &"077".into())
    );
    assert_ne!(levels[0]["value"], levels[1]["value"]);
}

#[test]
fn what_drifts_with_time_is_no_factors_doing() {
    let project = Project::new(&[(
        "test_drift.py",
        "import time\n\n\ndef test_drift():\n    quarter = int(time.time() - 1_700_000_000) // 5 % 100\n    assert quarter >= 0\n",
    )]);
    let run = project.measure(&[
        "--runs",
        "6",
        "--factors",
        "umask,timezone,network,cpus,load",
    ]);
    assert_eq!(claims(&run.document, "assertions"), [], "{}", run.stdout);
}

#[test]
fn the_first_run_is_like_the_others() {
    let project = Project::new(&[(
        "test_first.py",
        "class Loop:\n    def __init__(self):\n        self.self = self\n\n    def __del__(self):\n        gone()\n\n\ndef gone():\n    pass\n\n\ndef test_loops():\n    for _ in range(50):\n        Loop()\n\n\ndef test_after():\n    assert [i for i in range(2000)]\n",
    )]);
    let run = project.measure(&[
        "--runs",
        "5",
        "--factors",
        "none",
        "--layers",
        "code,assertions",
    ]);
    let controlled = &run.document["configurations"][0];
    for layer in list(&controlled["layers"]) {
        assert_eq!(layer["suite"]["entropy"], 0.0, "{layer:#}");
    }
}

#[test]
fn control_leaves_alone_what_the_suite_has_settled_itself() {
    let project = Project::new(&[(
        "test_settled.py",
        "import os\nimport random\n\nimport pytest\n\nrandom.seed(42)\n\n\ndef test_golden():\n    assert random.randint(0, 10**6) == 670487\n\n\nclass Files:\n    listing = os.listdir\n\n\ndef test_listing():\n    assert Files().listing('/') and os.listdir in os.supports_fd\n\n\ndef test_no_child():\n    with pytest.raises(ChildProcessError):\n        os.waitpid(-1, os.WNOHANG)\n",
    )]);
    let run = project.measure(&["--runs", "5", "--factors", "load,locale,random-seed"]);
    for configuration in list(&run.document["configurations"]) {
        let outcomes = &configuration["layers"][0];
        assert_eq!(outcomes["layer"], "outcome");
        assert_eq!(outcomes["suite"]["entropy"], 0.0, "{configuration:#}");
    }
    assert_eq!(claims(&run.document, "outcome"), [], "{}", run.stdout);
    assert!(
        !run.document.to_string().contains("\"failed\""),
        "{:#}",
        run.document
    );
}

#[test]
fn tests_that_never_ran_and_too_few_runs_are_told() {
    let project = Project::new(&[(
        "test_end.py",
        "import os\n\n\ndef test_first():\n    assert 1 == 1\n\n\ndef test_end():\n    os._exit(3)\n\n\ndef test_behind():\n    assert 1 == 1\n",
    )]);
    let run = project.measure(&["--runs", "2", "--factors", "umask"]);
    let notes = run.document["notes"].to_string();
    assert!(
        notes.contains("1 tests did not run in some runs"),
        "{notes}"
    );
    assert!(
        notes.contains("with 2 runs of each configuration"),
        "{notes}"
    );
    assert!(
        run.stdout.contains("did not run in some runs"),
        "{}",
        run.stdout
    );
}

#[test]
fn settings_that_name_nothing_are_refused() {
    let project = Project::new(&[("test_a.py", "def test_a():\n    pass\n")]);
    for (setting, said) in [
        ("timezone = 'Mars/Phobos'", "no time zone `Mars/Phobos`"),
        ("locale = 'xx_YY'", "no locale `xx_YY`"),
        ("cpus = 4096", "processors, not 4096"),
    ] {
        let text = format!("[measure.configurations.x]\n{setting}\n");
        std::fs::write(project.path().join("flakelab.toml"), text).expect("written");
        let python = project.python();
        let run = project
            .flakelab(&["measure", "--python", python.to_str().expect("utf-8")])
            .output()
            .expect("flakelab runs");
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
}
