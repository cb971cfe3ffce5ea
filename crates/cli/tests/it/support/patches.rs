//! Patches judged as a maintainer would: applied by git, run by plain pytest, read line by line.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Project, Run, environment};

/// For cases that are deterministic: one fresh interpreter knows what three do, and three shuffles what twenty do.
pub(crate) const QUICK: [&str; 4] = ["--shuffles", "3", "--confirmations", "1"];

pub(crate) fn git(project: &Project, args: &[&str], input: Option<&str>) -> (bool, String) {
    let mut child = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(args)
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git");
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(input.unwrap_or_default().as_bytes())
            .expect("written");
    }
    let output = child.wait_with_output().expect("git ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

/// Makes the project a repository with everything in it committed.
pub(crate) fn commit(project: &Project) {
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "all"],
    ] {
        let (done, said) = git(project, args, None);
        assert!(done, "{said}");
    }
}

pub(crate) fn fix_of<'a>(run: &'a Run, id: &str) -> &'a Value {
    run.document["fixes"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|fix| fix["test"] == id)
        .unwrap_or_else(|| panic!("no fix for {id}\n{}\n{}", run.stdout, run.stderr))
}

/// The first diff of a fix; empty if there is none.
pub(crate) fn diff_of(fix: &Value) -> &str {
    fix["patches"][0]["diff"].as_str().unwrap_or_default()
}

/// The patch applies, and then the culprits no longer matter.
#[track_caller]
pub(crate) fn holds(project: &Project, fix: &Value, orders: &[&str]) {
    if let Err(complaint) = verdict(project, fix, orders) {
        panic!("{complaint}");
    }
}

/// Whether it holds, for those who collect complaints.
pub(crate) fn verdict(project: &Project, fix: &Value, orders: &[&str]) -> Result<(), String> {
    if fix["status"] != "fixed" {
        return Err(format!("not fixed: {fix:#}"));
    }
    let commands: Vec<String> = orders.iter().map(|o| format!("pytest {o}")).collect();
    patched(project, diff_of(fix), &commands)
}

/// Whether all commands succeed with the patch in place, which is then taken back.
pub(crate) fn patched(project: &Project, diff: &str, commands: &[String]) -> Result<(), String> {
    let (applied, said) = git(project, &["apply", "-"], Some(diff));
    if !applied {
        return Err(format!("git apply: {said}\n{diff}"));
    }
    let failed = commands.iter().find_map(|command| {
        let plain = project.shell("", command);
        (plain.code != Some(0)).then(|| format!("{command}\n{diff}\n{}", plain.said))
    });
    let (back, said) = git(project, &["apply", "-R", "-"], Some(diff));
    assert!(back, "{said}");
    failed.map_or(Ok(()), Err)
}

/// The lines a diff adds, without the sign.
pub(crate) fn added(diff: &str) -> Vec<&str> {
    signed(diff, '+')
}

/// The lines a diff removes, without the sign.
pub(crate) fn removed(diff: &str) -> Vec<&str> {
    signed(diff, '-')
}

/// The files a diff changes.
pub(crate) fn files(diff: &str) -> Vec<&str> {
    diff.lines()
        .filter_map(|line| line.strip_prefix("+++ b/"))
        .map(|file| file.trim_end_matches('\t'))
        .collect()
}

fn signed(diff: &str, sign: char) -> Vec<&str> {
    let mut in_hunk = false;
    // Not `lines`, which would hide the line ends of the file.
    diff.split_terminator('\n')
        .filter_map(|line| {
            if line.starts_with("diff --git ") {
                in_hunk = false;
            } else if line.starts_with("@@ ") {
                in_hunk = true;
            }
            line.strip_prefix(sign).filter(|_| in_hunk)
        })
        .collect()
}

/// What no patch may do, whatever its strategy: touch an assertion or a comment, or import what the
/// file has already.
pub(crate) fn manners(project: &Project, diff: &str) -> Result<(), String> {
    let (news, olds) = (added(diff), removed(diff));
    for (line, word) in olds.iter().flat_map(|l| [(l, "assert"), (l, "#")]) {
        let kept = line
            .find(word)
            .is_none_or(|at| news.iter().any(|new| new.ends_with(&line[at..])));
        if !kept {
            return Err(format!("`{line}` was not to be touched\n{diff}"));
        }
    }
    for part in diff.split("diff --git ").skip(1) {
        let part = format!("diff --git {part}");
        let file = files(&part).first().copied().unwrap_or_default().to_owned();
        let bytes = std::fs::read(project.path().join(file)).unwrap_or_default();
        let code = String::from_utf8_lossy(&bytes).into_owned();
        let added = added(&part);
        for (number, line) in added.iter().enumerate() {
            let word = line.split_whitespace().next();
            if !matches!(word, Some("import" | "from")) {
                continue;
            }
            let known = code.lines().any(|own| own == line.trim())
                && !self::removed(&part).contains(line)
                || added[..number].iter().any(|own| own == line);
            if known {
                return Err(format!("`{line}` is imported twice\n{diff}"));
            }
        }
    }
    Ok(())
}

/// `fix` with the patches saved into a folder.
pub(crate) fn save(project: &Project, folder: &std::path::Path) -> std::process::Output {
    let python = project.python();
    let (python, folder) = (python.to_str(), folder.to_str());
    let words = ["fix", "--seed", "1", "--python"];
    let mut args = words.to_vec();
    args.extend([python.expect("utf-8"), "-o", folder.expect("utf-8")]);
    args.extend(QUICK);
    project.flakelab(&args).output().expect("it runs")
}

fn minor_version(python: &std::path::Path) -> u32 {
    let said = Command::new(python)
        .args(["-c", "import sys; print(sys.version_info[1])"])
        .output()
        .expect("python");
    let said = String::from_utf8_lossy(&said.stdout);
    said.trim().parse().expect("a number")
}

/// A defect: modules that show it, and what plain pytest fails to run without a patch.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The minor version of Python 3 that knows its syntax.
    pub(crate) since: u32,
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Each flaky test, with an order that fails: of its culprits and itself, or of itself if it is brittle.
    pub(crate) targets: &'static [(&'static str, &'static str)],
}

/// One project of all cases, one explanation and one run of `fix` with `args`; every complaint is
/// collected, so that one case does not hide the next.
pub(crate) fn judge(cases: &[Case], args: &[&str]) -> (Project, Run) {
    let (project, run, complaints) = examine(cases, args);
    none_of(cases, &complaints);
    (project, run)
}

/// The same in projects of a few cases each: a patch is tried with every other test, so many cases in one project take
/// longer than they do apart.
pub(crate) fn judge_apart(cases: &[Case], args: &[&str]) {
    let parts = cases.chunks(3).map(|part| examine(part, args));
    let complaints: Vec<String> = parts.flat_map(|(.., complaints)| complaints).collect();
    none_of(cases, &complaints);
}

#[track_caller]
fn none_of(cases: &[Case], complaints: &[String]) {
    assert!(
        complaints.is_empty(),
        "{} complaints about {} cases\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
}

fn examine(cases: &[Case], args: &[&str]) -> (Project, Run, Vec<String>) {
    let now = minor_version(&environment("pytest8").join("bin/python"));
    let cases: Vec<&Case> = cases.iter().filter(|case| case.since <= now).collect();
    let modules: Vec<(&str, &str)> = cases.iter().flat_map(|c| c.files).copied().collect();
    let project = Project::new(&modules);
    let ids: Vec<&str> = cases
        .iter()
        .flat_map(|case| case.targets)
        .map(|(id, _)| *id)
        .collect();
    project.explain(&[&ids[..], &["--confirmations", "1"]].concat());
    let run = project.fix(&[args, &QUICK].concat());
    assert!(!run.document.is_null(), "{}\n{}", run.stdout, run.stderr);
    let mut complaints = Vec::new();
    for case in cases {
        for (id, order) in case.targets {
            if let Err(said) = cured(&project, fix_of(&run, id), id, order) {
                complaints.push(format!("---- {}: {id}\n{said}", case.name));
            }
        }
    }
    (project, run, complaints)
}

/// The order fails as it is and passes with the patch, as does the test alone, and its module
/// if it did.
fn cured(project: &Project, fix: &Value, id: &str, order: &str) -> Result<(), String> {
    let plain = project.shell("", &format!("pytest {order}"));
    assert_ne!(
        plain.code,
        Some(0),
        "the case shows nothing: {order}\n{}",
        plain.said
    );
    // A module of several flaky tests need not pass with the patch of one.
    let module = id.split("::").next().unwrap_or(id);
    let passes = project.shell("", &format!("pytest {module}")).code == Some(0);
    let orders = [id, order, module];
    verdict(project, fix, if passes { &orders } else { &orders[..2] })?;
    manners(project, diff_of(fix))
}
