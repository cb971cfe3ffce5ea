"""Runs a program with its points, then every mutant with its probe: a mutant runs as the program does until it is
reached, so its probe is reached exactly if its point is."""

import builtins
import io
import json
import sys
import warnings

warnings.simplefilter("ignore")


class Reached(BaseException):
    pass


def execute(text, work, hit, seen):
    """What it printed, or the exception it ended with."""
    builtins.__flakelab_hit__ = hit
    builtins.__flakelab_seen__ = seen
    namespace = {"__name__": "program"}
    keep = sys.stdout, dict(sys.modules)
    sys.stdout = io.StringIO()
    module = type(sys)("program")
    module.__dict__.update(namespace)
    sys.modules["program"] = module
    try:
        exec(compile(text, "program.py", "exec", dont_inherit=True), module.__dict__)
        exec(compile(work, "work.py", "exec", dont_inherit=True), module.__dict__)
        ending = "done"
    except Reached:
        ending = "reached"
    except BaseException as error:
        ending = "%s: %s" % (type(error).__name__, error)
    finally:
        printed = sys.stdout.getvalue()
        sys.stdout = keep[0]
    return ending, printed


def points(file):
    order = []

    def hit(point, times):
        assert times == 1
        order.append(point)

    return order, execute(file["instrumented"], file["work"], hit, None)


def check(file):
    plain = execute(file["text"], file["work"], None, None)
    order, told = points(file)
    if plain != told:
        yield "instrumented: %r instead of %r" % (told, plain)
    words = file["text"].splitlines()
    fired = []
    for point in order:
        line, column = file["points"][point]
        fired.append("%d:%d %s" % (line, column, words[line - 1][column - 1 :][:20]))
    if file.get("fired") is not None and [one.split(" ")[0] for one in fired] != file["fired"]:
        yield "fired %r instead of %r" % (fired, file["fired"])
    reached = set(order)
    text = file["text"].encode()
    for mutation in file["mutations"]:
        hits = []

        def hit(hits=hits):
            hits.append(1)
            raise Reached

        def seen(function, hits=hits):
            hits.append(1)
            raise Reached

        start, end = mutation["span"]
        mutant = (text[:start] + mutation["probed"].encode() + text[end:]).decode()
        ending = execute(mutant, file["work"], hit, seen)
        if bool(hits) != (mutation["point"] in reached):
            yield "%d:%d %s %r: point %s, probe %s, %s" % (
                mutation["line"],
                mutation["column"],
                mutation["operator"],
                mutation["probed"],
                mutation["point"] in reached,
                bool(hits),
                ending,
            )
        if not hits and ending != plain:
            yield "%d: another result without being reached: %r" % (mutation["line"], ending)


def main():
    programs = mutations = wrong = 0
    for line in sys.stdin:
        file = json.loads(line)
        programs += 1
        mutations += len(file["mutations"])
        for problem in check(file):
            wrong += 1
            if wrong <= 40:
                print(file["path"], problem[:600])
    print("%d programs, %d mutations, %d problems" % (programs, mutations, wrong))
    sys.exit(wrong > 0)


main()
