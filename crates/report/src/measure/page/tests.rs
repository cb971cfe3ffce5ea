use super::super::example;
use super::*;
use crate::tests::{Opened, use_in_browser};

#[test]
fn nothing_of_a_suite_becomes_markup_and_nothing_is_loaded() {
    let mut document = example::shop();
    document.project = "<script>alert(1)</script>".into();
    document.notes.push("<img src=x>".into());
    let page = page(&document);
    assert_eq!(page.matches("<script>").count(), 1, "only the filter's");
    for markup in ["<img", "<b>\u{1b}", "http:", "https:", "src=", "<link"] {
        let known = page.replace("http-equiv", "").replace("img src=x&gt;", "");
        assert!(!known.contains(markup), "{markup}");
    }
    assert!(page.contains("&lt;b&gt;\u{fffd}[31m0.02&lt;/b&gt; &lt; 0.1"));
    assert!(page.contains("test_speed[a,&quot;b&quot;]"));
}

#[test]
fn every_number_of_the_way_down_is_there() {
    let page = page(&example::shop());
    for text in [
        "<title>flakelab measure: shop</title>",
        "<b>hash_seed</b> explains 0.41 of the assertion entropy where nothing else differs (p 0.0005), 0.59 is unexplained",
        "assertion: entropy of tests by configuration",
        "range 1, runs alike 6/3/1",
        "<i>not there</i>",
        "<td>6×</td><th><code>['apple'",
        "libfaketime is not installed",
        "<td class=\"n\">0.0123</td><td class=\"n\">0.0800</td><td class=\"n\">0.0312</td>",
        "0 | 1 | 2",
        "4f1c2d9",
        "1 test was left out",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_suite_that_never_varies_says_so() {
    let page = page(&example::quiet());
    assert!(page.contains("Nothing varies: all runs were alike"));
    assert!(!page.contains("id=\"filter\" "), "nothing to filter");
}

#[test]
fn a_large_suite_fits_and_says_what_was_left_out() {
    let document = example::many(2_500, 14, 6);
    let page = page(&document);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("which the JSON document and the CSV table list"));
    for at in 0..14 {
        assert!(page.contains(&format!("id=\"configuration{at}\"")), "{at}");
    }
    let layers = page.matches("<details class=\"l\">").count();
    assert!(page.matches("<details class=\"e\">").count() > layers);
}

/// One test with more than there is room for.
#[test]
fn elements_are_bounded_and_the_rest_is_counted() {
    let page = page(&example::many(40, 2, 60));
    assert!(page.contains("… and 10 more elements"));
}

/// Console, network, keyboard, plots, night and narrow screens: `tests/browser/check_measure.py`.
#[test]
fn pages_of_all_sizes_work_in_a_browser() {
    let pages = [
        ("shop", example::shop()),
        ("quiet", example::quiet()),
        ("large", example::many(2_500, 14, 6)),
    ];
    let pages = pages.map(|(name, document)| Opened {
        name,
        page: page(&document),
        document: Some(serde_json::to_string(&document).expect("a document")),
    });
    use_in_browser("check_measure.py", pages);
}
