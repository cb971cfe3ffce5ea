//! flakelab as users install it: the wheel in an environment of its own, and `cargo install` from a checkout.
//!
//! Both use what `cargo test` has compiled already.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Project, environment, root};
use serde_json::Value;

/// Where cargo has put what it compiled for this test.
fn compiled() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_flakelab"));
    let target = binary.parent().and_then(Path::parent);
    target.expect("a target directory").to_owned()
}

/// As maturin and cargo call it.
fn profile() -> &'static str {
    if env!("CARGO_BIN_EXE_flakelab").contains("/release/") {
        "release"
    } else {
        "dev"
    }
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

fn wheel(folder: &Path) -> PathBuf {
    run(Command::new(environment("wheel").join("bin/maturin"))
        .args(["build", "--locked", "--profile", profile(), "--out"])
        .arg(folder)
        .arg("--target-dir")
        .arg(compiled())
        .current_dir(root()));
    let built = std::fs::read_dir(folder).expect("readable").flatten();
    let wheels: Vec<PathBuf> = built.map(|entry| entry.path()).collect();
    match wheels.as_slice() {
        [wheel] => wheel.clone(),
        others => panic!("one wheel was expected: {others:?}"),
    }
}

/// As `pipx run` and `uvx` do it: the environment has flakelab and nothing else, and the project's own interpreter is
/// further down the path.
#[test]
fn the_wheel_finds_flaky_tests_from_an_environment_of_its_own() {
    let folder = tempfile::tempdir().expect("a directory");
    let wheel = wheel(&folder.path().join("dist"));
    let own = folder.path().join("own");
    let project = Project::example("shop");
    run(Command::new(project.python())
        .args(["-m", "venv"])
        .arg(&own));
    run(Command::new(own.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--no-index"])
        .arg("--disable-pip-version-check")
        .arg(&wheel));
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        own.join("bin").display(),
        environment("pytest8").join("bin").display()
    );
    let args = [
        "detect", "--format", "json", "--seed", "1", "--orders", "10",
    ];
    let output = project
        .installed(&own.join("bin/flakelab"), &args)
        .env("PATH", path)
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let mut tests = document["tests"].as_array().into_iter().flatten();
    let victim = tests.find(|test| test["class"] == "victim");
    let victim = victim.unwrap_or_else(|| panic!("nothing was found: {document:#}"));
    assert!(victim["reproduce"]["command"].is_string(), "{victim}");
}

#[test]
fn cargo_install_from_a_checkout_gives_the_binary() {
    let folder = tempfile::tempdir().expect("a directory");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["install", "--path", "crates/cli", "--locked", "--no-track"])
        .args(["--profile", profile(), "--target-dir"])
        .arg(compiled())
        .arg("--root")
        .arg(folder.path())
        .current_dir(root()));
    let said = run(Command::new(folder.path().join("bin/flakelab")).arg("--version"));
    let said = String::from_utf8_lossy(&said.stdout);
    assert_eq!(said.trim(), concat!("flakelab ", env!("CARGO_PKG_VERSION")));
}
