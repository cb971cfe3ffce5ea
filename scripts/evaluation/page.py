"""docs/evaluation.md, from facts alone."""

import collections
import math

from .campaign import VERBS
from .intervals import interval
from .markdown import block, cell, code, estimate, paragraph, seconds, share, table
from .papers import FIGURES, WORKS

LAYERS = ("outcome", "assertions", "code")
SAMPLE = VERBS["mutate"][VERBS["mutate"].index("--sample") + 1]


def page(projects):
    suites = [each for each in projects if each["group"] == "suite"]
    known = [each for each in projects if each["group"] == "known"]
    parts = [head(projects), beside(projects, known)]
    if suites:
        parts += ["## Well-known suites\n", found(suites), findings(suites), explained(suites), measured(suites)]
        parts += [mutated(suites)]
    if known:
        parts += ["## Projects with known order-dependent tests\n", truth(known), findings(known)]
        parts += [measured(known), mutated(known)]
    parts += [failed(projects), "## The papers\n", WORKS]
    return "\n".join(part for part in parts if part)


def facts(project, verb):
    """What a verb said of a project; None if it was not run or gave no result."""
    return project["verbs"].get(verb, {}).get("facts")


def ran(projects, verb):
    return [(project, facts(project, verb)) for project in projects if facts(project, verb)]


def words(counts):
    return ", ".join(f"{number} {cell(name.replace('_', '-'))}" for name, number in counts.items()) or "–"


def head(projects):
    versions = sorted({said["flakelab"] for _, said in ran(projects, "detect")})
    budgets = sorted({spent["budget"] for project in projects for spent in project["verbs"].values()})
    commands = [
        f"$ flakelab {verb} --seed 1" + "".join(f" {word}" for word in options) for verb, options in VERBS.items()
    ]
    written = f"""
        Written by `scripts/evaluate write` from what `scripts/evaluate run` kept of its last runs:
        flakelab {", ".join(map(cell, versions))} on {len(projects)} projects, with
        {" or ".join(f"{each} s" for each in budgets)} as the budget of each verb that takes one. Times are
        wall / CPU seconds; wall times contain whatever else the machine did.
    """
    judge = """
        Plain pytest is the judge, in a new process and a copy of the project each time: it runs every command that was
        printed for a test that is not in the truth, twice, and tries every patch that was called a fix.
    """
    shown = "```console\n" + "\n".join(commands) + "\n```\n"
    return "\n".join(["# Evaluation\n", paragraph(written), shown, paragraph(judge)])


def beside(projects, known):
    """Own figures beside those of the papers, where both are the same quantity."""
    rows = []

    def row(key, quantity, own):
        figure, where = FIGURES[key]
        rows.append([quantity, own, figure, where])

    detected = ran(known, "detect")
    if detected:
        total = sum(project["known"] for project, _ in detected)
        right = sum(said["classified"] for _, said in detected)
        number = sum(said["found"] for _, said in detected)
        row("found", "order-dependent tests found, of those that plain pytest had shown to be", estimate(number, total))
        rows.append(["of these, called victim or brittle as the truth has it", estimate(right, number), "–", "–"])
    fixed = ran(known, "fix")
    if fixed:
        total = sum(project["known"] for project, _ in fixed)
        row(
            "fixed",
            "order-dependent tests with a patch that holds",
            estimate(sum(s["known_held"] for _, s in fixed), total),
        )
    mutated = [said for _, said in ran(projects, "mutate")]
    if mutated:
        mutants = added(mutated, "totals")
        decided = mutants["killed"] + mutants["survived"] + mutants["unknown"]
        first = sum(said["unknown_at_first"] for said in mutated)
        row("unknown", "mutants unknown after one execution", estimate(first, decided))
        resolved = estimate(first - mutants["unknown"], first) if first else "there were none"
        row("resolved", "of these, resolved by reruns and isolation", resolved)
        row("score", "mutation score, after all reruns", scored(mutants["killed"], mutants["unknown"], decided))
        for what, quantity in (
            ("statements", "statements whose coverage varies"),
            ("tests", "tests whose coverage varies"),
            ("pairs", "pairs of both that vary"),
        ):
            part = sum(said["coverage"][what]["varying"] for said in mutated)
            whole = sum(said["coverage"][what]["of"] for said in mutated)
            row(what, quantity, estimate(part, whole, 1))
    measured = [said["layers"] for _, said in ran(projects, "measure")]
    for name in ("controlled", "uncontrolled"):
        values = [layers["code"][name]["suite"] for layers in measured if name in layers.get("code", {})]
        if values:
            row(
                name,
                f"entropy of a suite, {name}",
                f"{min(values):.2f} – {max(values):.2f}, functions, up to {runs(projects)} runs",
            )
    positives = [
        max(
            (
                layers["assertions"][name]["false_positives"] or 0
                for layers in measured
                if name in layers.get("assertions", {})
            ),
            default=0,
        )
        for name in ("controlled", "uncontrolled")
    ]
    if measured:
        own = f"up to {positives[0]:.1f} % controlled, up to {positives[1]:.1f} % uncontrolled, of what assertions saw"
        row("false_positives", "runs of tests that differ from the first", own)
    text = """
        Other projects, other languages and other numbers of runs: what stands side by side is the same quantity, not
        the same experiment. flakelab was developed with these projects at hand: they show what it does, not what it
        would do on projects that nobody had looked at. Behind a share stands its 95 % interval (Clopper and Pearson),
        as if what is counted were independent; tests and mutants of one project are less so, and the truth is wider.
    """
    head = ["quantity", "here", "in the paper", "where"]
    return "\n".join(["## Beside the papers\n", paragraph(text), table(head, rows).replace("---:", "---")])


def scored(killed, unknown, decided):
    """A range, from all that are unknown survived to all killed, and the interval around both ends."""
    if not decided:
        return "–"
    low, high = (100 * count / decided for count in (killed, killed + unknown))
    least, most = (100 * interval(killed, decided)[0], 100 * interval(killed + unknown, decided)[1])
    return f"{low:.1f} % – {high:.1f} % ({least:.1f} – {most:.1f} %)"


def runs(projects):
    """Of each configuration of `measure`; facts that do not say so are of campaigns with three."""
    return max((said.get("each", 3) for _, said in ran(projects, "measure")), default=0)


def added(said, key):
    total = collections.Counter()
    for each in said:
        total.update(each[key])
    return total


def name_of(project):
    return f"{cell(project['name'])} {cell(project['version'])}"


def found(suites):
    rows = []
    for project, said in ran(suites, "detect"):
        orders = f"{said['orders']}" + (" (budget used up)" if said["out_of_budget"] else "")
        # No random order was run, or something could not be confirmed.
        orders += ", inconclusive" if project["verbs"]["detect"]["exit"] == 4 else ""
        cells = [name_of(project), str(said["tests"]), orders, words(said["classes"]), str(said["always_failing"])]
        rows.append([*cells, seconds(project["verbs"]["detect"])])
    head = ["suite", "tests", "orders", "flaky", "always failing", "`detect`"]
    python = sorted({f"Python {said['python']}, pytest {said['pytest']}" for _, said in ran(suites, "detect")})
    return f"From their sdists; {'; '.join(map(cell, python))}.\n\n" + table(head, rows)


def findings(projects):
    """Every finding that no truth lists, with what plain pytest said."""
    text, checked, shown = "", 0, 0
    for project, said in ran(projects, "detect"):
        for finding in said["findings"]:
            text += f"\n{cell(finding['class'].replace('_', '-'))} {code(finding['id'])} ({cell(project['name'])}): "
            text += f"{cell(finding['why'] or 'no reason given')}. Plain pytest: "
            answers = finding["plain"]
            text += (", ".join(map(cell, answers)) if answers else "there is no command to run") + ".\n"
            text += "\n" + block(finding["command"]) if finding["command"] else ""
            checked += bool(answers)
            shown += bool(answers) and all(answer == "fails" for answer in answers)
    if not text:
        return ""
    title = (
        "### Findings, checked with plain pytest"
        if projects[0]["group"] == "suite"
        else "### Findings that the truth does not list"
    )
    return f"{title}\n\n{shown} of {checked} printed commands show the failure both times.\n{text}"


def explained(projects):
    rows = []
    for project, said in ran(projects, "explain"):
        if not said["tests"]:
            continue
        fixed = facts(project, "fix") or collections.Counter()
        cells = [name_of(project), str(said["tests"]), str(said["with_culprits"]), str(said["with_cause"])]
        cells += [seconds(project["verbs"]["explain"]), f"{fixed['claimed']}", f"{fixed['held']}"]
        rows.append([*cells, seconds(project["verbs"]["fix"]) if "fix" in project["verbs"] else "–"])
    if not rows:
        return "### Explained and fixed\n\nNone of these suites has a test for `explain` and `fix` to work on.\n"
    head = [
        "suite",
        "explained",
        "culprits named",
        "state named as causal",
        "`explain`",
        "fixed",
        "patches that hold",
        "`fix`",
    ]
    return "### Explained and fixed\n\n" + table(head, rows)


def measured(projects):
    rows = []
    for project, said in ran(projects, "measure"):
        cells = [name_of(project), str(said["runs"])]
        for layer in LAYERS:
            both = said["layers"].get(layer, {})
            for name in ("controlled", "uncontrolled"):
                cells.append(f"{both[name]['suite']:.2f} ({both[name]['vary']})" if name in both else "–")
        blamed = sorted({f"{each['factor']}: {each['tests']} ({each['layer']})" for each in said["factors"]})
        rows.append([*cells, cell("; ".join(blamed) or "–"), seconds(project["verbs"]["measure"])])
    if not rows:
        return ""
    most = runs(projects)
    head = ["project", "runs"] + [f"{layer}, {name}" for layer in LAYERS for name in ("controlled", "uncontrolled")]
    text = f"""
        Entropy of the suite in nats (0: all runs alike; {math.log(most):.2f}: all {most} differ), and in brackets how
        many tests vary; then the tests that a factor explains.
    """
    return "\n".join(["### Measured\n", paragraph(text), table([*head, "explained by", "`measure`"], rows)])


def mutated(projects):
    rows = []
    for project, said in ran(projects, "mutate"):
        totals, score, first = said["totals"], said["score"], said["unknown_at_first"]
        cells = [name_of(project)]
        cells += [str(totals[key]) for key in ("killed", "survived", "unknown", "timeout", "error")]
        low, high = score["low"], score["high"]
        cells.append(f"{100 * low:.0f} % – {100 * high:.0f} %" if low is not None and high is not None else "–")
        cells.append(share(first - totals["unknown"], first) if first else "none unknown")
        cells += [f"{said['coverage']['tests']['varying']} of {said['coverage']['tests']['of']}"]
        rows.append([*cells, seconds(project["verbs"]["mutate"])])
    if not rows:
        return ""
    head = ["project", "killed", "survived", "unknown", "timeout", "error", "score", "unknown ones resolved"]
    text = f"""### Mutated

A sample of {SAMPLE} mutants of each, spread over the code that tests reach. What a test reaches only because of another
one before it stays unknown: isolation takes it further away.
"""
    return text + "\n" + table([*head, "tests whose coverage varies", "`mutate`"], rows)


def truth(known):
    total = max(project["of"] for project in known)
    rows, sums = [], collections.Counter()
    for project, said in ran(known, "detect"):
        explain = facts(project, "explain") or collections.Counter()
        fix = facts(project, "fix") or collections.Counter()
        numbers = [
            said["tests"],
            project["known"],
            said["found"],
            said["classified"],
            explain["named"],
            explain["causal"],
        ]
        numbers += [fix["known_held"], said["unlisted"]]
        sums.update(dict(enumerate(numbers)))
        times = [
            seconds(project["verbs"][verb]) if verb in project["verbs"] else "–"
            for verb in ("detect", "explain", "fix")
        ]
        rows.append([code(project["name"]), *map(str, numbers), *times])
    rows.append(["all", *(str(sums[number]) for number in range(8)), "", "", ""])
    head = [
        "project",
        "tests",
        "known",
        "found",
        "right class",
        "culprit named",
        "state causal",
        "patch holds",
        "not listed",
    ]
    names = sorted({name for project in known for name in project.get("all", [])} - {each["name"] for each in known})
    others = f"; not run: {', '.join(map(code, names))}" if names else ""
    text = f"""
        Projects at fixed commits whose order-dependent tests were found with plain pytest in new processes;
        {len(known)} of {total} were run{others}.
        *Known* tests are victims or brittles; a *culprit* is named if it is one
        that the truth lists, or if the truth is no complete list; *state causal* means that putting it back changed
        the verdict; a *patch holds* if plain pytest passes the test with it, alone and after every known culprit.
        *Not listed* are flaky tests beyond the truth, of any class.
    """
    text = paragraph(text)
    short = sum(said["out_of_budget"] for _, said in ran(known, "detect"))
    if short:
        text += "\n" + paragraph(f"In {short} of these projects the budget ended the search of `detect` early.")
    missed = [(project, test) for project, said in ran(known, "detect") for test in said["missed"]]
    wrong = [(project, each) for project, said in ran(known, "fix") for each in said["not_held"]]
    text += "\n" + table([*head, "`detect`", "`explain`", "`fix`"], rows)
    text += "".join(f"\nNot found: {code(test)} ({code(project['name'])}).\n" for project, test in missed)
    text += "".join(
        f"\nA patch that does not hold: {code(each['test'])} ({code(project['name'])}) {cell(each['why'])}.\n"
        for project, each in wrong
    )
    return text


def failed(projects):
    """Runs that gave no result, and those that were not made, as they are."""
    lines = []
    for project in projects:
        for verb, spent in project["verbs"].items():
            if "error" in spent:
                lines.append(f"- {cell(project['name'])}, `{verb}`: {cell(spent['error'])} ({seconds(spent)} s)\n")
        if (facts(project, "measure") or {"layers": True})["layers"] == {}:
            lines.append(f"- {cell(project['name'])}, `measure`: no configuration came to two runs within the budget\n")
        missing = [f"`{verb}`" for verb in VERBS if verb not in project["verbs"]]
        if missing:
            lines.append(f"- {cell(project['name'])}: {', '.join(missing)} not run\n")
    return "## Runs without a result\n\n" + "".join(lines) if lines else ""
