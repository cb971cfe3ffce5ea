use std::collections::HashSet;

use super::super::example;
use super::*;
use crate::tests::{Opened, use_in_browser};

const CART: &str = "\
class Cart:
    def total(self, limit):
        self.count += 1
        if self.sum < limit:
            return self.sum
        return limit

    def wait(self):
        while not self.done:
            wait(0.1)
        return \"<done>\"


DEFAULT = Cart()
";
const TAX: &str = "def tax(price, rate=0.2):\n    return price * rate\n";

fn sources() -> BTreeMap<String, String> {
    [("shop/cart.py", CART), ("shop/tax.py", TAX)]
        .map(|(file, text)| (file.to_owned(), text.to_owned()))
        .into()
}

fn hostile_sources() -> BTreeMap<String, String> {
    let document = example::hostile();
    let text = "x = '</script><img src=x onerror=alert(1)>'\u{1b}[31m\n".repeat(20);
    let files = document.mutants.iter().map(|m| m.file.clone());
    files.map(|file| (file, text.clone())).collect()
}

#[test]
fn every_mutant_stands_on_its_line() {
    let page = page(&example::shop(), &sources());
    for text in [
        "<title>flakelab mutate: shop</title>",
        "Score <b>40.0 % – 60.0 %</b>: 2 of 5 mutants killed; 1 is unknown, and leaves the range open.",
        // The lines of both, with and without mutants.
        "<div class=\"r\" data-n=\"6\"><code>        return limit</code></div>",
        "<summary data-n=\"4\"><code>        if self.sum &lt; limit:</code><span class=\"chips\">\
         <span class=\"chip survived\">survived</span><span class=\"chip killed\">killed</span></span></summary>",
        "<a href=\"#m0\">shop/cart.py:4</a>",
        "<article class=\"survived\" id=\"m0\">",
        "<del>-        if self.sum &lt; limit:</del>\n<ins>+        if self.sum &lt;= limit:</ins>",
        "<li><code>tests/test_cart.py::test_sum</code></li>",
        "with <code>AssertionError: assert 5 == 3</code>",
        "<p>Never hit by</p><ul><li><code>tests/test_cart.py::test_waits</code></li></ul>",
        "Because: more than 2.0 s of CPU time, twice",
        "Not part of the score: 1 ran out of time, 1 could not be run, 1 covered by no test.",
        // A file's own range, and everything's.
        "<a href=\"#file1\">shop/tax.py</a></th><td>0.0 %</td>",
        "<th scope=\"row\">all</th><td>40.0 % – 60.0 %</td>",
        "<tr><th scope=\"row\">tests</th><td>2 of 8 (25.0 %)</td></tr>",
        "<tr><th scope=\"row\">same process</th><td>1,204</td><td>0</td><td>1,204</td><td>3</td></tr>",
        "failed in coverage run 2 of 3",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    for at in 0..8 {
        assert_eq!(page.matches(&format!("id=\"m{at}\"")).count(), 1, "{at}");
    }
}

#[test]
fn what_stands_in_backticks_is_code() {
    assert_eq!(
        sentence("`<` became `<=`"),
        "<code>&lt;</code> became <code>&lt;=</code>"
    );
    assert_eq!(sentence("a ` <b> is no code"), "a ` &lt;b&gt; is no code");
}

#[test]
fn nothing_of_a_suite_becomes_markup_and_nothing_is_loaded() {
    let page = page(&example::hostile(), &hostile_sources());
    assert!(page.contains("script-src 'none'"));
    for markup in [
        "<script", "<img", "\u{1b}", "\u{0}", "http:", "https:", "<link",
    ] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(page.contains("a line that the source does not have"));
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn mutants_are_told_where_there_is_no_source() {
    let page = page(&example::shop(), &BTreeMap::new());
    assert!(page.contains("The source is not there."));
    assert_eq!(page.matches("<article").count(), 8);
}

#[test]
fn a_suite_that_notices_everything_says_so() {
    let page = page(&example::clean(), &sources());
    for text in [
        "Score <b>100.0 %</b>",
        "None: every mutant that all its tests hit was killed.",
        "None: every test hit the mutants it was to hit, or one killed them.",
        "None: every test reached the same code in every run.",
        "None: every test hit the mutants it was to hit at once.",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("id=\"show-survived\""), "nothing to filter");
}

#[test]
fn a_large_project_fits_and_says_what_was_left_out() {
    let (document, sources) = example::many(40, 1_000);
    assert_eq!(document.mutants.len(), 40_000);
    let page = page(&document, &sources);
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert!(page.len() > 2_000_000, "room is used: {}", page.len());
    assert_eq!(page.matches("<details class=\"f\"").count(), 40);
    assert!(page.contains("which the JSON document lists"));
    // What was not killed comes before what was, and before the lines around it.
    let of = |status: &str| {
        let articles = format!("<article class=\"{status}\"");
        page.matches(&articles).count() as u64
    };
    assert_eq!(of("survived"), document.totals.survived);
    assert_eq!(of("unknown"), document.totals.unknown);
    assert_eq!(of("killed"), 0);
    for link in page.split("href=\"#m").skip(1) {
        let at = link.split('"').next().expect("an end");
        assert!(page.contains(&format!("id=\"m{at}\"")), "{at}");
    }
}

/// Lines far from mutants are left out before any mutant is.
#[test]
fn a_file_without_room_for_all_shows_what_is_near() {
    let (mut document, mut sources) = example::many(1, 20_000);
    document.mutants.retain(|mutant| mutant.line % 29 == 1);
    for text in sources.values_mut() {
        *text = text.replace("call(value)", &"call(value) ".repeat(30));
    }
    let page = page(&document, &sources);
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert_eq!(page.matches("<article").count(), document.mutants.len());
    assert!(page.contains("<div class=\"gap\">"));
    assert!(!page.contains("There was no room for"));
}

#[test]
fn names_without_end_leave_the_page_bounded() {
    let mutant = |number: usize| Mutant {
        file: format!("{number:06}{}", "\"".repeat(1_000)),
        ..example::mutant(Status::Survived)
    };
    let mut document = example::clean();
    document.mutants = (0..3_000).map(mutant).collect();
    let page = page(&document, &BTreeMap::new());
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert!(page.contains("more files"));
    let numbers = |before: &'static str| {
        let found = page.split(before).skip(1);
        found.map(|rest| rest.split('"').next().expect("an end"))
    };
    let there: HashSet<&str> = numbers("id=\"file").collect();
    for at in numbers("href=\"#file") {
        assert!(there.contains(at), "{at}");
    }
    assert!(numbers("href=\"#file").next().is_some());
}

/// Console, network, filter, keyboard, night and narrow screens: `tests/browser/check_mutate.py`.
#[test]
fn pages_of_all_sizes_work_in_a_browser() {
    let (large, large_sources) = example::many(20, 1_000);
    let pages = [
        ("shop", example::shop(), sources()),
        ("clean", example::clean(), sources()),
        ("hostile", example::hostile(), hostile_sources()),
        ("large", large, large_sources),
    ];
    let pages = pages.map(|(name, document, sources)| Opened {
        name,
        page: page(&document, &sources),
        document: Some(serde_json::to_string(&document).expect("a document")),
    });
    use_in_browser("check_mutate.py", pages);
}
