//! `flakelab explain` on real suites: who, and what exactly leaks. What it names is checked with plain
//! pytest.

use crate::support::Project;
use crate::support::order::FEW;
use serde_json::{Value, json};

fn causal(explanation: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    explanation["leaks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|leak| leak["causal"] == true)
        .map(|leak| (text(&leak["name"]), text(&leak["where"])))
        .collect()
}

#[track_caller]
fn assert_cause(explanation: &Value, name: &str, place: &str) {
    let wanted = (name.to_owned(), place.to_owned());
    assert_eq!(
        causal(explanation).first(),
        Some(&wanted),
        "{explanation:#}"
    );
}

#[test]
fn the_shop_is_explained_down_to_the_state() {
    let (project, run) = Project::explained_shop();
    assert_eq!(run.code, 1, "{}", run.stderr);
    let e = |id: &str| run.explanation(id);

    let rate = e("tests/test_pricing.py::test_default_rate");
    assert_eq!(
        rate["polluters"],
        json!([["tests/test_pricing.py::test_tax_override"]])
    );
    assert_eq!(
        rate["cleaners"],
        json!([{
            "polluters": ["tests/test_pricing.py::test_tax_override"],
            "cleaners": ["tests/test_pricing.py::test_reset"],
        }])
    );
    assert_cause(
        rate,
        r#"shop.pricing.RATES["default"]"#,
        "tests/test_pricing.py:12",
    );
    assert_cause(
        e("tests/test_config.py::test_currency_default"),
        r#"os.environ["SHOP_CURRENCY"]"#,
        "tests/test_config.py:12",
    );
    let lamp = e("tests/test_catalog.py::test_price_of_a_lamp");
    assert_eq!(lamp["polluters"].as_array().map(Vec::len), Some(1));
    assert_eq!(lamp["polluters"][0].as_array().map(Vec::len), Some(2));
    assert_cause(lamp, "shop.catalog.CAMPAIGNS", "shop/catalog.py:11");
    let take = e("tests/test_inventory.py::test_take");
    assert_eq!(
        take["state_setters"],
        json!([["tests/test_inventory.py::test_load"]])
    );
    assert_cause(
        take,
        r#"shop.inventory.STOCK["pen"]"#,
        "shop/inventory.py:11",
    );
    let twice = e("tests/test_users.py::Accounts::test_register");
    assert_cause(twice, r#"shop.users.ACCOUNTS["ada"]"#, "shop/users.py:15");
    let report = e("tests/test_report.py::test_first_customer");
    let decides: Vec<&Value> = report["factors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|f| f["decides"] == true)
        .map(|f| &f["factor"])
        .collect();
    assert_eq!(decides, [&json!("hash_seed")]);

    for explanation in run.document["explanations"].as_array().expect("a list") {
        let command = explanation["reproduce"].as_str().expect("a command");
        let plain = project.shell("", command);
        assert_eq!(plain.code, Some(1), "{command}\n{}", plain.said);
    }
    let text = &run.stdout;
    assert!(
        text.contains("fails after  tests/test_pricing.py::test_tax_override"),
        "{text}"
    );
    assert!(text.contains("in between"), "{text}");
}

/// One victim for every way to leak; each polluter is the test right before it.
const WAYS: &str = r#"
import collections, decimal, functools, locale, logging, os, random, signal, sys, time, warnings
import umask_probe

RATES = {"vat": 0.1}
PLAIN = []


class Shelf:
    items = []


class Box:
    def __init__(self):
        self.full = False


BOXES = [Box(), Box()]


@functools.lru_cache(maxsize=None)
def price(item):
    return PLAIN[-1] if PLAIN else 1


def collect(item, into=[]):
    into.append(item)
    return into


def make_counter():
    count = 0

    def counter():
        nonlocal count
        count += 1
        return count

    return counter


counter = make_counter()


def test_p_class_attribute():
    Shelf.items.append(1)


def test_v_class_attribute():
    assert Shelf.items == []


def test_p_attribute():
    BOXES[1].full = True


def test_v_attribute():
    assert not BOXES[1].full


def test_p_cache():
    PLAIN.append(7)
    price("pen")
    PLAIN.clear()


def test_v_cache():
    assert price("pen") == 1


def test_p_default():
    collect(1)


def test_v_default():
    assert collect(2) == [2]


def test_p_closure():
    counter()


def test_v_closure():
    assert counter() == 1


def test_p_cwd(tmp_path):
    os.chdir(tmp_path)


def test_v_cwd():
    assert os.path.exists("test_ways.py")


def test_p_builtin():
    time.time = lambda: 0


def test_v_builtin():
    assert time.time() > 0


def test_p_module():
    import unittest.mock

    sys.modules["colorsys"] = unittest.mock.Mock()


def test_v_module():
    import colorsys

    assert colorsys.rgb_to_hls(0, 0, 0) == (0.0, 0.0, 0.0)


def test_p_logging():
    logging.getLogger("shop").setLevel(logging.ERROR)


def test_v_logging():
    assert logging.getLogger("shop").isEnabledFor(logging.WARNING)


def test_p_decimal():
    decimal.getcontext().prec = 2


def test_v_decimal():
    assert decimal.Decimal(1) / 3 > decimal.Decimal("0.333")


def test_p_signal():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def test_v_signal():
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL


def test_p_umask():
    os.umask(0o077)


def test_v_umask():
    assert umask_probe.current() != 0o077


def test_p_random():
    random.seed(4)


def test_v_random():
    assert random.Random(4).getstate() != random.getstate()


def test_p_file():
    with open("left.txt", "w") as file:
        file.write("x")


def test_v_file():
    assert not os.path.exists("left.txt")


def test_p_home():
    with open(os.path.expanduser("~/.shoprc"), "w") as file:
        file.write("x")


def test_v_home():
    assert not os.path.exists(os.path.expanduser("~/.shoprc"))


def test_p_path():
    sys.path.insert(0, "/nowhere")


def test_v_path():
    assert "/nowhere" not in sys.path


def test_p_timezone():
    os.environ["TZ"] = "XYZ-5"
    time.tzset()


def test_v_timezone():
    assert time.tzname[0] != "XYZ"
"#;

#[test]
fn every_way_to_leak_is_named() {
    let project = Project::new(&[
        ("test_ways.py", WAYS),
        (
            "umask_probe.py",
            "import os\n\n\ndef current():\n    mask = os.umask(0)\n    os.umask(mask)\n    return mask\n",
        ),
    ]);
    let expected = [
        (
            "class_attribute",
            "class_attribute",
            "test_ways.Shelf.items",
        ),
        ("attribute", "attribute", "test_ways.BOXES[1].full"),
        ("cache", "cache", "test_ways.price"),
        ("default", "closure", "test_ways.collect"),
        ("closure", "closure", "test_ways.counter"),
        ("cwd", "cwd", "working directory"),
        ("builtin", "builtin", "time.time"),
        ("module", "module", "colorsys"),
        ("logging", "logging", "shop"),
        ("decimal", "decimal", "prec"),
        ("signal", "signal", "SIGUSR1"),
        ("umask", "umask", "umask"),
        ("random", "random", "random"),
        ("file", "file", "left.txt"),
        ("home", "file", ".shoprc"),
        ("path", "sys_path", "sys.path"),
        ("timezone", "", ""),
    ];
    let victims: Vec<String> = expected
        .iter()
        .map(|(way, ..)| format!("test_ways.py::test_v_{way}"))
        .collect();
    let mut args: Vec<&str> = victims.iter().map(String::as_str).collect();
    args.extend(["--mode", "pairs", "--confirmations", "1"]);
    let run = project.explain(&args);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let mut wrong = Vec::new();
    for (way, kind, name) in expected {
        let explanation = run.explanation(&format!("test_ways.py::test_v_{way}"));
        let polluter = format!("test_ways.py::test_p_{way}");
        let leaks = explanation["leaks"].as_array().cloned().unwrap_or_default();
        let first = leaks.iter().find(|leak| leak["causal"] == true);
        let named = first.is_some_and(|leak| {
            let text = |key: &str| leak[key].as_str().unwrap_or_default().to_owned();
            text("kind").contains(kind) && text("name").contains(name)
        });
        let blamed = explanation["polluters"] == json!([[polluter]]);
        if !named || !blamed {
            wrong.push(format!("{way}: {explanation:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_order_from_ci_is_enough() {
    let project = Project::new(&[
        (
            "test_a.py",
            "import state\n\n\ndef test_fine():\n    pass\n\n\ndef test_dirty():\n    state.x = 2\n\n\n\
         def test_victim():\n    assert state.x == 1\n\n\ndef test_broken():\n    assert False\n",
        ),
        ("state.py", "x = 1\n"),
    ]);
    let junit = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(
        junit.path(),
        r#"<testsuites><testsuite>
        <testcase classname="test_a" name="test_fine"/><testcase classname="test_a" name="test_broken"><failure/></testcase>
        <testcase classname="test_a" name="test_dirty"/><testcase classname="test_a" name="test_victim"><failure/></testcase>
        </testsuite></testsuites>"#,
    )
    .expect("written");
    let path = junit.path().to_str().expect("utf-8");
    let run = project.explain(&["--order", path]);
    let tests: Vec<&Value> = run.document["explanations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|e| &e["test"])
        .collect();
    assert_eq!(tests, [&json!("test_a.py::test_victim")]);
    let e = run.explanation("test_a.py::test_victim");
    assert_eq!(e["polluters"], json!([["test_a.py::test_dirty"]]));
    assert_cause(e, "state.x", "test_a.py:9");

    // A log as CI systems show it.
    let words = ["fine PASSED", "dirty PASSED", "victim FAILED"];
    let log: String = words
        .iter()
        .filter_map(|entry| entry.split_once(' '))
        .map(|(name, word)| format!("test_a.py::test_{name} \x1b[32m{word}\x1b[0m [ 33%]\n"))
        .collect();
    std::fs::write(junit.path(), log).expect("written");
    let run = project.detect(&["--orders", "0", "--order", path]);
    assert_eq!(run.test("test_a.py::test_victim")["class"], "victim");
}

#[test]
fn who_pollutes_whom_is_a_graph() {
    let project = Project::example("tiny");
    project.detect(&["--orders", "10"]);
    for (format, edge) in [("dot", " -> "), ("mermaid", "-->|\"pollutes\"|")] {
        let python = project.python();
        let output = project
            .flakelab(&[
                "explain",
                "--python",
                python.to_str().expect("utf-8"),
                "--graph",
                format,
            ])
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(edge), "{text}");
    }
}

#[test]
fn nothing_to_explain_and_unknown_tests_are_said_so() {
    let project = Project::example("tiny");
    let run = project.explain(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("flakelab detect"), "{}", run.stderr);
    let run = project.explain(&["test_prices.py::test_defalt"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("did you mean"), "{}", run.stderr);
}

#[test]
fn an_interrupted_explanation_goes_on() {
    let project = Project::example("shop");
    let first = project.explain(&["test_default_rate", "--budget", "4s"]);
    assert!([1, 4].contains(&first.code), "{}", first.stderr);
    let again = project.explain(&["test_default_rate", "--resume"]);
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(
        again.stderr.contains("taken from the store"),
        "{}",
        again.stderr
    );
    let e = again.explanation("tests/test_pricing.py::test_default_rate");
    assert_eq!(causal(e).len(), 1);
}

/// What a file does when it is imported, to a test that runs before any of its tests as well.
#[test]
fn a_test_that_fails_beside_another_file_is_explained_by_that_file() {
    let mut files = vec![
        ("state.py".to_owned(), "REG = []\n".to_owned()),
        (
            "test_a.py".to_owned(),
            "import state\ndef test_reg(): assert state.REG == []\ndef test_one(): pass\n"
                .to_owned(),
        ),
        (
            "test_b.py".to_owned(),
            "import state; state.REG.append('b')\ndef test_b(): assert state.REG\n".to_owned(),
        ),
    ];
    for name in ["c", "d"] {
        let text = format!("def test_{name}(): pass\n");
        files.push((format!("test_{name}.py"), text));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let project = Project::new(&files);
    let test = "test_a.py::test_reg";
    let found = project.detect(&FEW);
    found.expect(&[(test, "collection_dependent")]);
    let command = &found.test(test)["reproduce"]["command"];
    assert_eq!(command, "pytest test_b.py::test_b test_a.py::test_reg");
    assert_eq!(found.test(test)["reproduce"]["verified"], true);
    project.reproduces_victim(&found, test);

    let order = "test_b.py::test_b\ntest_c.py::test_c\ntest_a.py::test_reg\n";
    std::fs::write(project.path().join("order.txt"), order).expect("written");
    for args in [&[][..], &[test], &["--order", "order.txt"]] {
        let run = project.explain(args);
        let explanation = run.explanation(test);
        assert_eq!(
            explanation["class"], "collection_dependent",
            "{explanation:#}"
        );
        let culprits = &explanation["polluters"];
        assert_eq!(
            *culprits,
            serde_json::json!([["test_b.py::test_b"]]),
            "{args:?}"
        );
        assert_eq!(run.code, 1, "{}", run.stdout);
    }
}

/// One culprit by what it runs and one by what is imported with it are told apart.
#[test]
fn a_file_that_is_enough_to_be_imported_does_not_hide_a_polluter() {
    let polluter = "import state\ndef test_pollute(): state.SEEN.append(1)\n";
    let project = Project::new(&[
        ("state.py", "REG = []\nSEEN = []\n"),
        (
            "test_a.py",
            "import state\ndef test_both(): assert not state.REG and not state.SEEN\n",
        ),
        (
            "test_b.py",
            "import state; state.REG.append('b')\ndef test_b(): pass\n",
        ),
        ("test_c.py", polluter),
    ]);
    let order = "test_b.py::test_b\ntest_c.py::test_pollute\ntest_a.py::test_both\n";
    std::fs::write(project.path().join("order.txt"), order).expect("written");
    let test = "test_a.py::test_both";
    let run = project.explain(&[test, "--all", "--order", "order.txt"]);
    let explanation = run.explanation(test);
    assert_eq!(explanation["class"], "victim", "{explanation:#}");
    assert_eq!(
        explanation["polluters"],
        serde_json::json!([["test_b.py::test_b"], ["test_c.py::test_pollute"]])
    );
    let notes = explanation["notes"].to_string();
    assert!(
        notes.contains("it fails before test_b.py::test_b as well"),
        "{notes}"
    );
    assert!(!notes.contains("test_pollute"), "{notes}");
    let leaks = explanation["leaks"].to_string();
    assert!(leaks.contains("SEEN"), "{leaks}");
}

/// What `detect` has found out of tests that no other test decides is not taken back.
#[test]
fn what_no_test_before_it_decides_keeps_its_class() {
    let project = Project::new(&[(
        "test_a.py",
        "import os, pytest, unittest\nLEFT = []\n\
         class TestBox(unittest.TestCase):\n    @classmethod\n    def tearDownClass(cls):\n        assert LEFT[-1] != 'dirty'\n\
         \x20   def test_clean(self): LEFT.append('clean')\n    def test_dirty(self): LEFT.append('dirty')\n    def test_z(self): LEFT.append('z')\n\
         def test_login(): os.environ['TOKEN'] = 'x'\n\
         def test_needs():\n    if 'TOKEN' not in os.environ: pytest.skip('no token')\n",
    )]);
    let found = project.detect(&["--orders", "12", "--isolated-runs", "3"]);
    let expected = [
        ("test_a.py::TestBox::test_dirty", "position_dependent"),
        ("test_a.py::test_needs", "masked"),
    ];
    for (test, class) in expected {
        assert_eq!(found.test(test)["class"], class);
        let run = project.explain(&[test]);
        assert_eq!(run.explanation(test)["class"], class, "{}", run.stdout);
    }

    // A run that shows something else counts more.
    let text = std::fs::read_to_string(project.path().join("test_a.py")).expect("there");
    let now = text.replace(
        "if 'TOKEN' not in os.environ: pytest.skip('no token')",
        "assert 'TOKEN' not in os.environ",
    );
    std::fs::write(project.path().join("test_a.py"), now).expect("written");
    let order = "test_a.py::test_login\ntest_a.py::test_needs\n";
    std::fs::write(project.path().join("order.txt"), order).expect("written");
    let test = "test_a.py::test_needs";
    let run = project.explain(&[test, "--order", "order.txt"]);
    assert_eq!(run.explanation(test)["class"], "victim", "{}", run.stdout);
}
