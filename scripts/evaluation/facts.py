"""Takes from each document what the page shows, and asks plain pytest where it can judge."""

import collections

from . import plain

NOT_FLAKY = ("stable", "always_failing", "not_run")
ORDER_DEPENDENT = ("victim", "brittle")
# So often is a printed command run.
TIMES = 2
# So many findings of one suite are checked.
MOST_CHECKED = 40


def detected(subject, document):
    tests = document["tests"]
    classes = {test["id"]: test["class"] for test in tests}
    flaky = [test for test in tests if test["class"] not in NOT_FLAKY]
    campaign = document["campaign"]
    seen = {
        "tests": len(tests),
        "classes": dict(sorted(collections.Counter(test["class"] for test in flaky).items())),
        "always_failing": sum(test["class"] == "always_failing" for test in tests),
        "orders": campaign["orders"],
        "executions": campaign["executions"],
        "out_of_budget": campaign["out_of_budget"],
        "isolation": campaign["isolation"],
        "python": campaign["python"],
        "pytest": campaign["pytest"],
        "flakelab": document["flakelab"],
        "found": sum(classes.get(test) in ORDER_DEPENDENT for test in subject.truth),
        "classified": sum(classes.get(test) == known["kind"] for test, known in subject.truth.items()),
        "missed": [test for test in subject.truth if classes.get(test) not in ORDER_DEPENDENT],
        "findings": [],
    }
    # The truth was found with plain pytest; what is not in it is checked with plain pytest here.
    unlisted = [test for test in flaky if test["id"] not in subject.truth]
    seen["unlisted"] = len(unlisted)
    for test in unlisted[:MOST_CHECKED]:
        command = (test.get("reproduce") or {}).get("command")
        finding = {key: test.get(key) for key in ("id", "class", "why")}
        finding["command"] = command
        finding["plain"] = [plain.show(subject, test["id"], command) for _ in range(TIMES)] if command else []
        seen["findings"].append(finding)
    return seen


def culprits(known):
    """The known sets of tests after which a test shows its other verdict."""
    single = known.get("polluters", []) + known.get("setters", [])
    return [[test] for test in single] + known.get("minimal_sets", [])


def explained(subject, document):
    by = {each["test"]: each for each in document["explanations"]}
    seen = collections.Counter(tests=len(by), with_culprits=0, with_cause=0, named=0, all_named=0, causal=0)
    for each in by.values():
        seen["with_culprits"] += bool(each["polluters"] or each["state_setters"])
        seen["with_cause"] += any(leak.get("causal") for leak in each["leaks"])
    for test, known in subject.truth.items():
        each = by.get(test)
        if each is None:
            continue
        said = [sorted(group) for group in each["polluters"] + each["state_setters"]]
        wanted = [sorted(group) for group in culprits(known)]
        complete = known.get("polluters_complete", known.get("setters_complete"))
        # Where the truth is a lower bound, another culprit than the listed ones may be right as well.
        seen["named"] += bool(said) and (any(group in wanted for group in said) or not complete)
        seen["all_named"] += bool(wanted) and all(group in said for group in wanted)
        seen["causal"] += any(leak.get("causal") for leak in each["leaks"])
    return dict(seen)


def fixed(subject, document):
    seen = {"tests": len(document["fixes"]), "claimed": 0, "partial": 0, "held": 0, "known_held": 0, "not_held": []}
    strategies = collections.Counter()
    for each in document["fixes"]:
        seen["partial"] += each["status"] == "partial"
        if each["status"] != "fixed" or not each["patches"]:
            continue
        seen["claimed"] += 1
        patch, test = each["patches"][0], each["test"]
        strategies[patch["strategy"]] += 1
        known = subject.truth.get(test)
        if known:
            orders = [[*group, test] for group in culprits(known)] or [known["reproduce"]["order"]]
        else:
            orders = [[*after["tests"], test] for after in patch["verified"]["after"]]
        said = plain.patch_holds(subject, test, patch["diff"], orders)
        seen["held"] += said == "holds"
        seen["known_held"] += bool(known) and said == "holds"
        if said != "holds":
            seen["not_held"].append({"test": test, "why": said})
    seen["strategies"] = dict(sorted(strategies.items()))
    return seen


def measured(_subject, document):
    configurations = {each["name"]: each for each in document["configurations"]}
    seen = {"runs": document["campaign"]["total_runs"], "tests": document["campaign"]["tests"], "layers": {}}
    seen["each"] = document["campaign"]["runs"]
    for name in ("controlled", "uncontrolled"):
        for layer in configurations.get(name, {"layers": []})["layers"]:
            seen["layers"].setdefault(layer["layer"], {})[name] = {
                "suite": layer["suite"]["entropy"],
                "tests": layer["average"]["entropy"],
                "vary": sum(test["entropy"] > 0 for test in layer["tests"]),
                "false_positives": layer.get("false_positives"),
            }
    seen["factors"] = [
        {"factor": each["factor"], "layer": each["layer"], "tests": len(each["tests"]), "p": each["p"]}
        for each in document["factors"]
        if each["tests"]
    ]
    return seen


def mutated(_subject, document):
    seen = {key: document[key] for key in ("score", "totals", "pairs", "unknown_at_first")}
    seen["coverage"] = {key: document["coverage"][key] for key in ("statements", "tests", "pairs")}
    seen["set_aside"] = len(document["set_aside"])
    seen["ladder"] = [{key: rung[key] for key in ("rung", "attempt", "mutants")} for rung in document["ladder"]]
    seen["coverage_runs"] = 1 + document["campaign"]["coverage_reruns"]
    return seen


READERS = {"detect": detected, "explain": explained, "fix": fixed, "measure": measured, "mutate": mutated}
