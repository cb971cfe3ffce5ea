//! What tests of several views share.

use std::path::Path;
use std::process::Command;

use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};

/// A view for the terminal without its colours; nothing else in it may drive a terminal.
pub(crate) fn plain(mut text: String) -> String {
    for style in [BOLD, DIM, GREEN, OFF, RED, YELLOW] {
        text = text.replace(style, "");
    }
    assert!(
        !text.contains('\u{1b}'),
        "a suite's text drives the terminal"
    );
    text
}

/// Opens a page in chromium and uses it: `check` is a script of `tests/browser`, which gets the document too, if any.
#[track_caller]
pub(crate) fn use_in_browser(check: &str, name: &str, page: &str, document: Option<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().expect("a directory");
    let html = dir.path().join("page.html");
    std::fs::write(&html, page).expect("written");
    let mut command = Command::new(root.join(".venvs/browser/bin/python"));
    command
        .arg(root.join("tests/browser").join(check))
        .arg(&html);
    if let Some(document) = document {
        let json = dir.path().join("document.json");
        std::fs::write(&json, document).expect("written");
        command.arg("--document").arg(json);
    }
    let checked = command
        .output()
        .expect("there is no environment `browser`: run scripts/test");
    let said = String::from_utf8_lossy(&checked.stderr);
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{name}: {told}{said}");
}
