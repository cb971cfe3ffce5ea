//! Edits of `flakelab fix`: the rest of a file stays as it is, and code is cut down to what is needed, where it
//! is asked for.

use std::fs;

use crate::support::patches::{
    QUICK, added, commit, diff_of, files, fix_of, git, removed, verdict,
};
use crate::support::{Project, Run};

/// A victim of its own module, a comment and quotes beside everything, and a last test that is no business
/// of anybody.
const PLAIN: &str = r#"'''Prices, in cents.'''
import  sys   # two spaces too many

PRICES = {'tea': 3}  # kept as it is


def test_total():
    # Twice the price.
    assert PRICES["tea"]*2 == 6


def test_discount():
    PRICES['tea'] = 2
    assert PRICES['tea']<3 # no space


class TestMore:
    def test_class(self):
        '''Looks at nothing.'''
        assert sys.path


def test_last():
    assert len( sys.argv )"#;

/// The same in another dress, by the name of the module.
fn dressed() -> Vec<(&'static str, Vec<u8>)> {
    let with = |indent: &str| PLAIN.replace("    ", indent) + "\n";
    let latin = format!("# -*- coding: latin-1 -*-\n{PLAIN}\n")
        .replace("in cents", "en caf\u{e9}s")
        .replace("kept as it is", "gard\u{e9} tel quel")
        .replace("Twice the price", "Le prix doubl\u{e9}");
    let latin: Vec<u8> = latin
        .chars()
        .map(|c| u8::try_from(c).expect("latin-1"))
        .collect();
    vec![
        ("test_two.py", with("  ").into_bytes()),
        ("test_tabs.py", with("\t").into_bytes()),
        (
            "test_crlf.py",
            with("    ").replace('\n', "\r\n").into_bytes(),
        ),
        ("test_latin.py", latin),
        ("test_bom.py", format!("\u{feff}{PLAIN}\n").into_bytes()),
        ("test_end.py", PLAIN.as_bytes().to_vec()),
        // An editor took it for UTF-8; Python believes the line.
        (
            "test_line.py",
            format!("# -*- coding: latin-1 -*-\n{PLAIN}\n")
                .replace("in cents", "en caf\u{e9}s \u{2192}")
                .into_bytes(),
        ),
    ]
}

#[test]
fn a_patch_keeps_the_dress_of_a_file() {
    let project = Project::new(&[]);
    let modules = dressed();
    for (name, bytes) in &modules {
        fs::write(project.path().join(name), bytes).expect("written");
    }
    commit(&project);
    let ids: Vec<String> = modules
        .iter()
        .map(|(name, _)| format!("{name}::test_total"))
        .collect();
    let mut args: Vec<&str> = ids.iter().map(String::as_str).collect();
    args.extend(["--confirmations", "1"]);
    project.explain(&args);

    // As files for git, which takes bytes.
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path().to_str().expect("utf-8");
    let python = project.python();
    let python = python.to_str().expect("utf-8");
    let base = [&["fix", "--seed", "1", "--python", python][..], &QUICK].concat();
    let saved = project
        .flakelab(&[&base[..], &["-o", place]].concat())
        .output()
        .expect("it runs");
    let saved = Run::of(saved, folder.path());
    let mut patches: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    patches.sort();
    let mut complaints = Vec::new();
    for patch in &patches {
        let (applied, said) = git(&project, &["apply", patch.to_str().expect("utf-8")], None);
        if !applied {
            complaints.push(format!("{}: {said}", patch.display()));
        }
    }
    let by_git = project.tree();
    git(&project, &["checkout", "-q", "."], None);

    let written = project
        .flakelab(&[&base[..], &["--apply"]].concat())
        .output()
        .expect("it runs");
    let written = Run::of(written, folder.path());
    for (name, before) in &modules {
        let after = fs::read(project.path().join(name)).expect("a module");
        if by_git.get(std::path::Path::new(name)) != Some(&after) {
            complaints.push(format!("{name}: git and --apply disagree"));
        }
        if let Err(said) = dress(name, before, &after) {
            complaints.push(format!(
                "{name}: {said}\n{}",
                String::from_utf8_lossy(&after)
            ));
            continue;
        }
        for order in [
            format!("{name}::test_total"),
            format!("{name}::test_discount {name}::test_total"),
            (*name).to_owned(),
        ] {
            let plain = project.shell("", &format!("pytest {order}"));
            if plain.code != Some(0) {
                complaints.push(plain.said);
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{}\n{}\n{}\n{}",
        complaints.join("\n"),
        saved.stdout,
        saved.stderr,
        written.stderr
    );
}

/// What is new is dressed as the rest; what was there is there, but for the statement that leaks and
/// the signature of its test.
fn dress(name: &str, before: &[u8], after: &[u8]) -> Result<(), String> {
    if before == after {
        return Err("nothing was changed".into());
    }
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (old, new) = (lines(before), lines(after));
    let mut own: Vec<&Vec<u8>> = Vec::new();
    let mut rest = old.iter().peekable();
    for line in &new {
        while rest.peek().is_some_and(|old| may_go(old) && *old != line) && !old.contains(line) {
            rest.next();
        }
        if rest.peek().is_some_and(|old| *old == line) {
            rest.next();
        } else {
            own.push(line);
        }
    }
    if let Some(lost) = rest.find(|line| !may_go(line)) {
        return Err(format!("`{}` is lost", String::from_utf8_lossy(lost)));
    }
    let texts: Vec<String> = own
        .iter()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let ends = |end: &str| texts.iter().all(|text| text.ends_with(end));
    let indent = |text: &str| text[..text.len() - text.trim_start().len()].to_owned();
    let right = match name {
        "test_crlf.py" => ends("\r\n"),
        _ => ends("\n") && !texts.concat().contains('\r'),
    };
    if !right {
        return Err(format!("line ends of {texts:?}"));
    }
    let unit = match name {
        "test_two.py" => "  ",
        "test_tabs.py" => "\t",
        _ => "    ",
    };
    for pair in texts.windows(2) {
        let deeper = format!("{}{unit}", indent(&pair[0]));
        if pair[0].trim_end().ends_with(':') && indent(&pair[1]) != deeper {
            return Err(format!("indentation of {pair:?}"));
        }
    }
    if name == "test_tabs.py" && texts.iter().any(|text| indent(text).contains(' ')) {
        return Err(format!("spaces among tabs: {texts:?}"));
    }
    Ok(())
}

fn may_go(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let line = line.trim();
    line == "PRICES['tea'] = 2" || line == "def test_discount():" || line.is_empty()
}

const BASKET: &[(&str, &str)] = &[
    ("basket.py", "ITEMS = {}\n"),
    (
        "test_cleaner.py",
        r#"import basket


def test_inventory():
    lines = []
    for name in sorted(basket.ITEMS):
        lines.append(name)
    text = ", ".join(lines)
    basket.ITEMS.clear()
    basket.ITEMS.update({})
    assert basket.ITEMS == {}
    assert isinstance(text, str)
"#,
    ),
    (
        "test_polluter.py",
        "import basket\n\n\ndef test_put():\n    basket.ITEMS[\"tea\"] = 1\n    assert len(basket.ITEMS) == 1\n",
    ),
    (
        "test_victim.py",
        "import basket\n\n\ndef test_nothing():\n    \"\"\"As it comes from the shop.\"\"\"\n    assert len(basket.ITEMS) == 0\n",
    ),
];

#[test]
fn helper_code_is_cut_down_and_goes_to_the_site_that_is_asked_for() {
    let project = Project::new(BASKET);
    let victim = "test_victim.py::test_nothing";
    project.explain(&[victim, "--confirmations", "1"]);
    let mut complaints = Vec::new();
    for (site, file) in [
        ("victim", "test_victim.py"),
        ("polluter", "test_polluter.py"),
    ] {
        let run = project.fix(&[&["--strategy", "helper", "--site", site][..], &QUICK].concat());
        if run.document.is_null() {
            complaints.push(format!("{site}: {}", run.stderr));
            continue;
        }
        let fix = fix_of(&run, victim);
        let diff = diff_of(fix);
        let orders = [victim, "test_polluter.py test_victim.py", ""];
        if let Err(said) = verdict(&project, fix, &orders) {
            complaints.push(said);
            continue;
        }
        let code: Vec<&str> = added(diff)
            .into_iter()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if fix["patches"][0]["site"] != site || files(diff) != [file] {
            complaints.push(format!("not at the {site}\n{fix:#}"));
        }
        let minimal = code.len() <= 3
            && code.iter().any(|line| line.contains("ITEMS.clear()"))
            && !code.concat().contains("lines")
            && removed(diff).is_empty();
        if !minimal {
            complaints.push(format!("not minimal\n{diff}"));
        }
    }
    // Where the strategy that is asked for has nothing to offer, that is said.
    let run = project.fix(&[&["--strategy", "isolate"][..], &QUICK].concat());
    let fix = fix_of(&run, victim);
    if fix["status"] != "none" || fix["reason"].as_str().is_none_or(str::is_empty) {
        complaints.push(format!("no reason\n{fix:#}"));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
