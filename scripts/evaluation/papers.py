"""Figures of the papers that flakelab comes from, each with the place where it stands."""

# By quantity: the figure, and where it stands. The page puts its own figure beside it.
FIGURES = {
    "found": (
        "57 % of 1,978 tests that earlier work had called order-dependent; nobody has confirmed them, and up to 43 % "
        "of these are not, or not flaky",
        "iPFlakies, section 4.3.1 (answer A1)",
    ),
    "fixed": (
        "175 of 537 tests with a cleaner or state-setter (33 %), which is 15 % of all 1,151 order-dependent tests",
        "iPFlakies, section 4.3.2 (answer A2)",
    ),
    "unknown": ("2,866 of 66,518 mutants (4 %)", "Shi, Bell, Marinov, table 2 and section 1"),
    "score": (
        "77.7 % – 82.0 %, before anything was done about flakiness; none is given for afterwards",
        "Shi, Bell, Marinov, table 2",
    ),
    "resolved": ("2,275 of 2,866 unknown mutants (79.4 %)", "Shi, Bell, Marinov, table 4"),
    "statements": ("22 %, in 17 runs of each test in a process of its own", "Shi, Bell, Marinov, table 1"),
    "tests": ("16 %", "Shi, Bell, Marinov, table 1"),
    "pairs": ("6 %", "Shi, Bell, Marinov, table 1"),
    "controlled": ("0 – 1.23 over applications and systems, lines, 10 runs", "Gao, table 4.3"),
    "uncontrolled": ("0 – 2.16 over applications and systems, lines, 10 runs", "Gao, table 4.3"),
    "false_positives": ("up to 6 % controlled, up to 96 % uncontrolled, of the state of the screen", "Gao, table 4.3"),
}
WORKS = """\
- iPFlakies: Wang, Chen, Lam, *iPFlakies: A Framework for Detecting and Fixing Python Order-Dependent Flaky Tests*
  (2022), 1,978 tests of 365 Python projects.
- Shi, Bell, Marinov, *Mitigating the Effects of Flaky Tests on Mutation Testing* (2019), 30 Java projects.
- Gao, *Quantifying Flakiness and Minimizing its Effects on Software Testing* (2017), five Java programs with graphical
  interfaces.
- FLAKER: Habchi, Cordy, Papadakis, Le Traon, *On the Use of Mutation in Injecting Test Order-Dependency* (2021), is the
  plan of a study; it has no figures to put beside those of `inject`, which is no part of this page.
"""
