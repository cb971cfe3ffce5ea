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

/// A page to open, by a name, with the document it was made of, if the check asks for one.
pub(crate) struct Opened {
    pub(crate) name: &'static str,
    pub(crate) page: String,
    pub(crate) document: Option<String>,
}

/// Opens pages in chromium and uses them: `check` is a script of `tests/browser`, which gets the documents too.
#[track_caller]
pub(crate) fn use_in_browser(check: &str, pages: impl IntoIterator<Item = Opened>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(root.join(".venvs/browser/bin/python"));
    command.arg(root.join("tests/browser").join(check));
    let mut paths = Vec::new();
    for opened in pages {
        let html = dir.path().join(opened.name).with_extension("html");
        std::fs::write(&html, opened.page).expect("written");
        if let Some(document) = opened.document {
            let json = html.with_extension("json");
            std::fs::write(&json, document).expect("written");
            command.arg("--document").arg(json);
        }
        paths.push(html);
    }
    command.args(paths);
    let checked = command
        .output()
        .expect("there is no environment `browser`: run scripts/test");
    let said = String::from_utf8_lossy(&checked.stderr);
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{told}{said}");
}
