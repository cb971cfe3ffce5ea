use std::collections::HashSet;

use super::example::{self, DIFF, HOSTILE};
use super::*;
use crate::tests::{Opened, use_in_browser};

/// What attributes of one name say.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let parts = page.split(start.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// Every link leads somewhere, no two things have one name, and headings leave out no level.
fn check(page: &str) {
    let ids = values(page, "id");
    let unique: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "names that are used twice");
    for link in values(page, "href") {
        let target = link.strip_prefix('#').expect("a link within the page");
        assert!(unique.contains(target), "{link} leads nowhere");
    }
    let mut last = 0;
    for part in page.split("<h").skip(1) {
        let Some(level) = part.chars().next().and_then(|c| c.to_digit(10)) else {
            continue;
        };
        assert!(
            level <= last + 1,
            "h{level} after h{last}: {}",
            &part[..80.min(part.len())]
        );
        last = level;
    }
}

#[test]
fn a_part_that_was_never_run_says_how_to_run_it() {
    let page = page(&example::empty());
    check(&page);
    for command in [
        "flakelab detect",
        "flakelab explain",
        "flakelab fix",
        "flakelab measure",
        "flakelab filter learn",
        "flakelab mutate",
        "flakelab inject -o data",
        "flakelab ingest build/reports",
    ] {
        assert!(
            page.contains(&format!("<code class=\"cmd\">{command}</code>")),
            "{command}"
        );
    }
}

#[test]
fn a_document_that_cannot_be_read_costs_its_own_part_only() {
    let mut whole = example::shop();
    whole.measure = Part::Unreadable("missing field `<x>`".into());
    whole.detect = Part::Unreadable("oh".into());
    let page = page(&whole);
    check(&page);
    assert!(page.contains("cannot be read: missing field `&lt;x&gt;`"));
    assert!(page.contains("The last detect cannot be read: oh."));
    assert!(page.contains("Score <b>"), "the mutants are there");
}

#[test]
fn what_is_known_of_a_test_is_on_its_card() {
    let page = page(&example::shop());
    check(&page);
    for text in [
        "<title>flakelab: shop</title>",
        // Those that fail most first: the last one, in 11 of 100 orders.
        "id=\"t0\"><summary><span class=\"chip other\">non-idempotent</span> <h3><code>tests/test_a.py::TestA::test_11[x-11]</code></h3> \
         <span class=\"dim\">fails in 11 % of 100 orders (1–90 %), cause known</span></summary>",
        "in 11 of 100 random orders (11 %, 95 % interval 1–90 %)",
        "<td class=\"text\">9 passed, 9 failed</td>",
        "this very command was seen to fail in a fresh interpreter",
        "<li><code>tests/test_b.py::one</code> and <code>tests/test_b.py::two</code></li>",
        "<code>shop.RATES</code>",
        "<code>tests/test_a.py:30</code>",
        "changes the verdict",
        "Score <b>",
        "one that fails in at least 4.5 % would have been missed with probability 1 %",
        "failure rates: ",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("class=\"t test\"").count(), 12);
}

/// Patches first, the one that takes away most before others; then causes; then what no test notices.
#[test]
fn what_to_fix_first_is_ordered() {
    let page = page(&example::shop());
    let (_, steps) = page.split_once("<ol class=\"steps\">").expect("steps");
    let (steps, _) = steps.split_once("</ol>").expect("an end");
    let places = [
        "Apply <a href=\"#patch0\">",
        "Apply <a href=\"#patch1\">",
        "Put back <code>shop.RATES</code>",
        "Check what",
    ];
    let places = places.map(|text| {
        steps
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {steps}"))
    });
    assert!(places.is_sorted(), "{places:?}: {steps}");
    // 8 and 10 by one patch; 0, 2, 4 and 6 by the other.
    assert!(
        steps.contains("mends 2 tests, together 0.18 failures in each random order"),
        "{steps}"
    );
    assert!(
        steps.contains("mends 4 tests, together 0.12 failures in each random order"),
        "{steps}"
    );
}

/// `fix --apply` does not write it, so nobody is sent there; what is left is said.
#[test]
fn a_partial_patch_is_shown_and_no_step() {
    let mut whole = example::shop();
    whole.fixes.truncate(1);
    let section = |page: &str| {
        let (_, rest) = page.split_once("id=\"patches\"").expect("patches");
        rest.to_owned()
    };
    let fixed = page(&whole);
    assert!(
        fixed.contains("Apply <a href=\"#patch0\">") && fixed.contains("<b>1</b> verified patches")
    );
    let fix = &mut whole.fixes[0].what;
    fix.status = "partial".into();
    fix.reason = "test_b.py::test_left still pollutes it".into();
    let partial = page(&whole);
    check(&partial);
    assert!(!partial.contains("Apply <a") && partial.contains("<b>0</b> verified patches"));
    let patches = section(&partial);
    assert!(patches.contains("in part: test_b.py::test_left still pollutes it"));
    assert!(!patches.contains("flakelab fix --apply<"), "{patches}");
}

#[test]
fn a_patch_is_there_once_and_whole() {
    let mut whole = example::shop();
    whole.fixes.truncate(2);
    let page = page(&whole);
    let (_, text) = page
        .split_once("<pre class=\"d patch\" tabindex=\"0\">")
        .expect("a patch");
    let (text, rest) = text.split_once("</pre>").expect("an end");
    assert!(!rest.contains("<pre class=\"d patch\""), "once");
    let plain = ["<ins>", "</ins>", "<del>", "</del>"]
        .iter()
        .fold(text.to_owned(), |text, tag| text.replace(tag, ""));
    let plain = plain.replace("&lt;", "<").replace("&quot;", "\"");
    assert_eq!(plain, DIFF.replace("\"x\"", "\"x0\""));
}

#[test]
fn nothing_of_a_suite_becomes_markup_and_nothing_is_loaded() {
    let page = page(&example::hostile());
    check(&page);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert_eq!(page.matches("<script>").count(), 1, "only ours");
    for bad in [
        "<img", "\u{1b}", "\u{0}", "<link", "http:", "https:", "url(", "@import",
    ] {
        assert!(!page.replace("http-equiv", "").contains(bad), "{bad:?}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // A command that cannot be copied as it is is not there.
    for command in page.split("<code class=\"cmd\">").skip(1) {
        let command = command.split("</code>").next().expect("an end");
        assert!(
            !command.contains('\u{fffd}') && !command.contains('…'),
            "{command}"
        );
    }
    assert!(HOSTILE.contains('\u{1b}'));
}

/// The promise of the documentation: under 2 MB for a suite of 2,000 tests, and every test on the page.
#[test]
fn a_large_suite_stays_small() {
    let whole = example::large(2_000);
    let page = page(&whole);
    check(&page);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.len() > 1_000_000, "{}: there was room", page.len());
    assert_eq!(page.matches("class=\"t test\"").count(), 2_000);
    let opened = page.matches("<details class=\"t test\"").count();
    assert!(opened > 100, "{opened} with details");
    let nodes = page.matches("<g class=\"node").count();
    assert!((20..=120).contains(&nodes), "{nodes} in the graph");
    assert!(page.contains("more relations, which the tests above name"));
}

/// Console, network, search, keyboard, copies, night, paper: `tests/browser/check_report.py`.
#[test]
fn pages_of_all_sizes_work_in_a_browser() {
    let pages = [
        ("empty", example::empty()),
        ("shop", example::shop()),
        ("hostile", example::hostile()),
        ("large", example::large(2_000)),
    ];
    let pages = pages.map(|(name, whole)| Opened {
        name,
        page: page(&whole),
        document: None,
    });
    use_in_browser("check_report.py", pages);
}
