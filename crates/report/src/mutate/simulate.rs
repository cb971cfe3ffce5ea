//! The document of `flakelab mutate simulate`, and its table: table 6 of the paper. Fields are only ever added within a major
//! version.

use std::fmt::Write as _;

use serde::Serialize;

use crate::detect::Schema;
use crate::style::{BOLD, DIM, OFF};
use crate::wording::{count, first_line, thousands};

/// Characters of a project's name that keep the columns aligned.
const NAME: usize = 24;
const CELL: usize = 12;

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    /// Of the random orders.
    pub seed: u64,
    /// One for each matrix.
    pub rows: Vec<Row>,
    /// Of several projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Row>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub project: String,
    pub tests: u64,
    pub mutants: u64,
    /// Mutants that some test kills: those that count.
    pub killable: u64,
    pub schemes: Vec<Scheme>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Scheme {
    /// `random`, `coverage`, `time`, `best` or `worst`.
    pub scheme: &'static str,
    /// A test that did not hit the mutant runs again at once.
    pub immediate: Cost,
    /// Or when all others have run.
    pub later: Cost,
    /// `null` where both cost the same everywhere.
    pub wilcoxon: Option<Wilcoxon>,
}

/// Until every mutant that counts is killed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cost {
    pub seconds: f64,
    pub executions: f64,
}

/// Do the times of the two strategies differ? Over mutants for one project, over projects in the total.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Wilcoxon {
    pub w: f64,
    /// Two-sided.
    pub p: f64,
    /// How many were paired.
    pub of: u64,
}

pub fn terminal(document: &Document) -> String {
    let mut out = String::new();
    if let Some(total) = &document.total {
        for (title, cost) in [
            ("rerun immediately, s", immediate as fn(&Scheme) -> Cost),
            ("not immediately, s", later),
        ] {
            by_project(&mut out, title, document, total, cost);
        }
        by_scheme(&mut out, total, "projects");
    } else {
        for row in &document.rows {
            by_scheme(&mut out, row, "mutants");
        }
    }
    let _ = writeln!(
        out,
        "{DIM}random is the average of 10 orders, seed {}; best and worst know every verdict{OFF}",
        document.seed
    );
    out
}

fn immediate(scheme: &Scheme) -> Cost {
    scheme.immediate
}

fn later(scheme: &Scheme) -> Cost {
    scheme.later
}

/// One half of table 6.
fn by_project(
    out: &mut String,
    title: &str,
    document: &Document,
    total: &Row,
    cost: fn(&Scheme) -> Cost,
) {
    let _ = write!(out, "{BOLD}{title:<NAME$}{OFF}{DIM}");
    for scheme in &total.schemes {
        let _ = write!(out, "{:>CELL$}", scheme.scheme);
    }
    let _ = writeln!(out, "{OFF}");
    for row in document.rows.iter().chain([total]) {
        let _ = write!(out, "{:<NAME$}", first_line(&row.project, NAME - 2));
        for scheme in &row.schemes {
            let _ = write!(out, "{:>CELL$}", seconds(cost(scheme).seconds));
        }
        out.push('\n');
    }
    out.push('\n');
}

fn by_scheme(out: &mut String, row: &Row, paired: &str) {
    let _ = writeln!(
        out,
        "{BOLD}{}{OFF}: {} of {} killed by some test, {}",
        first_line(&row.project, 100),
        thousands(row.killable),
        count(row.mutants, "mutant", "mutants"),
        count(row.tests, "test", "tests")
    );
    if row.killable == 0 {
        let _ = writeln!(out, "  nothing to compare: no test kills a mutant\n");
        return;
    }
    let _ = writeln!(
        out,
        "{DIM}  {:<10}{:>26}{:>28}{OFF}",
        "", "rerun immediately", "not immediately"
    );
    let _ = writeln!(
        out,
        "{DIM}  {:<10}{:>12}{:>14}{:>14}{:>14}  Wilcoxon over {paired}{OFF}",
        "", "seconds", "executions", "seconds", "executions"
    );
    for scheme in &row.schemes {
        let (a, b) = (scheme.immediate, scheme.later);
        let _ = writeln!(
            out,
            "  {:<10}{:>12}{:>14}{:>14}{:>14}  {}",
            scheme.scheme,
            seconds(a.seconds),
            executions(a.executions),
            seconds(b.seconds),
            executions(b.executions),
            wilcoxon(scheme)
        );
    }
    out.push('\n');
}

/// One unit, so that a column can be read down; decimals as far as they tell something.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.01 => format!("{s:.6}"),
        s if s < 10.0 => format!("{s:.3}"),
        s if s < 1_000.0 => format!("{s:.1}"),
        s => thousands(s.round() as u64),
    }
}

fn executions(number: f64) -> String {
    if number.fract() == 0.0 {
        thousands(number as u64)
    } else {
        let tenth = (number * 10.0).round() as u64;
        format!("{}.{}", thousands(tenth / 10), tenth % 10)
    }
}

fn wilcoxon(scheme: &Scheme) -> String {
    match scheme.wilcoxon {
        Some(found) if found.p < 0.001 => "p < 0.001".into(),
        Some(found) => format!("p = {:.3}", found.p),
        None => "no difference".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(project: &str, times: f64) -> Row {
        let cost = |seconds: f64, executions: f64| Cost {
            seconds: seconds * times,
            executions,
        };
        let scheme = |scheme, immediate, later, p: Option<f64>| Scheme {
            scheme,
            immediate,
            later,
            wilcoxon: p.map(|p| Wilcoxon { w: 3.0, p, of: 12 }),
        };
        let differ = Some(0.0004);
        Row {
            project: project.into(),
            tests: 40,
            mutants: 120,
            killable: 93,
            schemes: vec![
                scheme("random", cost(2.5, 141.7), cost(2.75, 150.0), Some(0.2)),
                scheme("coverage", cost(0.75, 110.0), cost(1.0, 120.0), differ),
                scheme("time", cost(0.75, 110.0), cost(1.0, 120.0), differ),
                scheme("best", cost(0.5, 93.0), cost(0.5, 93.0), None),
                scheme(
                    "worst",
                    cost(2_000.0, 3_004.0),
                    cost(1_900.0, 2_950.0),
                    None,
                ),
            ],
        }
    }

    fn plain(document: &Document) -> String {
        let mut text = terminal(document);
        for style in [BOLD, DIM, OFF] {
            text = text.replace(style, "");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
        text
    }

    fn document(rows: Vec<Row>, total: Option<Row>) -> Document {
        Document {
            schema: Schema::MUTATE_SIMULATE,
            flakelab: "0.1.0".into(),
            seed: 7,
            rows,
            total,
        }
    }

    #[test]
    fn one_project_scheme_by_scheme() {
        let one = document(vec![row("shop", 1.0)], None);
        insta::assert_snapshot!(plain(&one), @r#"
    shop: 93 of 120 mutants killed by some test, 40 tests
                         rerun immediately             not immediately
                     seconds    executions       seconds    executions  Wilcoxon over mutants
      random           2.500         141.7         2.750           150  p = 0.200
      coverage         0.750           110         1.000           120  p < 0.001
      time             0.750           110         1.000           120  p < 0.001
      best             0.500            93         0.500            93  no difference
      worst            2,000         3,004         1,900         2,950  no difference

    random is the average of 10 orders, seed 7; best and worst know every verdict
    "#);
    }

    #[test]
    fn several_projects_as_table_6() {
        let rows = vec![row("shop", 1.0), row("\u{1b}[31mbank\n and more", 2.0)];
        let several = document(rows, Some(row("2 projects", 3.0)));
        insta::assert_snapshot!(plain(&several), @r#"
    rerun immediately, s          random    coverage        time        best       worst
    shop                           2.500       0.750       0.750       0.500       2,000
    �[31mbank                      5.000       1.500       1.500       1.000       4,000
    2 projects                     7.500       2.250       2.250       1.500       6,000

    not immediately, s            random    coverage        time        best       worst
    shop                           2.750       1.000       1.000       0.500       1,900
    �[31mbank                      5.500       2.000       2.000       1.000       3,800
    2 projects                     8.250       3.000       3.000       1.500       5,700

    2 projects: 93 of 120 mutants killed by some test, 40 tests
                         rerun immediately             not immediately
                     seconds    executions       seconds    executions  Wilcoxon over projects
      random           7.500         141.7         8.250           150  p = 0.200
      coverage         2.250           110         3.000           120  p < 0.001
      time             2.250           110         3.000           120  p < 0.001
      best             1.500            93         1.500            93  no difference
      worst            6,000         3,004         5,700         2,950  no difference

    random is the average of 10 orders, seed 7; best and worst know every verdict
    "#);
    }

    #[test]
    fn nothing_killed_is_said() {
        let mut none = row("shop", 1.0);
        none.killable = 0;
        let text = plain(&document(vec![none], None));
        assert!(text.contains("no test kills a mutant"), "{text}");
    }

    #[test]
    fn what_programs_read() {
        let value = serde_json::to_value(document(vec![row("shop", 1.0)], None)).expect("JSON");
        assert_eq!(value["schema"]["name"], "flakelab.mutate.simulate");
        let coverage = &value["rows"][0]["schemes"][1];
        assert_eq!(coverage["scheme"], "coverage");
        assert_eq!(coverage["immediate"]["seconds"], 0.75);
        assert_eq!(coverage["later"]["executions"], 120.0);
        assert_eq!(coverage["wilcoxon"]["p"], 0.0004);
        assert!(value["rows"][0]["schemes"][3]["wilcoxon"].is_null());
        assert!(value.get("total").is_none());
    }
}
