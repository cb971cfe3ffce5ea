"""Reads a file and its mutants, one JSON object a line, and says what does not compile.

One process for all: starting an interpreter costs more than compiling a function.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")


def compiles(text):
    try:
        compile(text, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


def lead(unit, text):
    """What has to stand in front of a function or statement that stood in a block."""
    if text[:1] not in " \t":
        return ""
    classes = unit["classes"] if unit["function"] else []
    if classes:
        return "".join("%sclass %s:\n" % (" " * depth, name) for depth, name in enumerate(classes))
    return "while 1:\n"


def check(file):
    text = file["text"].encode()
    if compiles(file["text"]):
        return  # written for another version
    lines = file["text"].count("\n")
    instrumented = file["instrumented"]
    error = compiles(instrumented)
    if error:
        yield "instrumented: %s" % error
    if instrumented.count("\n") != lines:
        yield "instrumented: other lines"
    for mutation in file["mutations"]:
        unit = file["units"][mutation["unit"]]
        start, end = mutation["span"]
        for form in ("replacement", "probed"):
            new = mutation[form].encode()
            whole = text[:start] + new + text[end:]
            told = "%s:%d:%d %s %s %r" % (
                file["path"],
                mutation["line"],
                mutation["column"],
                mutation["operator"],
                form,
                mutation[form],
            )
            if whole == text:
                yield told + ": nothing differs"
            if new.count(b"\n") != text[start:end].count(b"\n"):
                yield told + ": other lines"
            part = (text[unit["span"][0] : start] + new + text[end : unit["span"][1]]).decode() + "\n"
            # A part may not stand alone, `else: x` for one; the whole file decides.
            if compiles(lead(unit, part) + part):
                error = compiles(whole.decode())
                if error:
                    yield told + ": " + error


def main():
    files = mutations = wrong = 0
    for line in sys.stdin:
        file = json.loads(line)
        files += 1
        mutations += len(file["mutations"])
        for problem in check(file):
            wrong += 1
            if wrong <= 40:
                print(problem[:400])
    print("%d files, %d mutations, %d problems" % (files, mutations, wrong))
    sys.exit(wrong > 0)


main()
