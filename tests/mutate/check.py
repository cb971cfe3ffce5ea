"""Reads a file and its mutants, one JSON object a line, and says what does not compile, and where a probe or a point
is more than a call: without the calls the syntax tree must be the one without probes or points.

One process for all: starting an interpreter costs more than compiling a function.
"""

import ast
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


def is_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__flakelab_hit__"


class Without(ast.NodeTransformer):
    """Takes the calls out, and makes `a or (b or c)` the same as `a or b or c`."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        values = []
        for value in node.values:
            alike = isinstance(value, ast.BoolOp) and type(value.op) is type(node.op)
            values.extend(value.values if alike else [value])
        if is_call(values[0]):
            del values[0]
        node.values = values
        return node if len(values) > 1 else values[0]

    def visit_Call(self, node):
        self.generic_visit(node)
        return node.args[2] if node.args and is_call(node.args[0]) else node

    def visit_Expr(self, node):
        self.generic_visit(node)
        return None if is_call(node.value) else node

    def visit_Name(self, node):
        return None if node.id == "__flakelab_seen__" else node


def tree(text):
    return ast.dump(Without().visit(ast.parse(text)))


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
    elif tree(instrumented) != tree(file["text"]):
        yield "instrumented: another meaning"
    if instrumented.count("\n") != lines:
        yield "instrumented: other lines"
    for mutation in file["mutations"]:
        unit = file["units"][mutation["unit"]]
        start, end = mutation["span"]
        trees = []
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
            part = lead(unit, part) + part
            # A part may not stand alone, `else: x` for one; the whole file decides.
            if compiles(part):
                part = whole.decode()
                error = compiles(part)
                if error:
                    yield told + ": " + error
                    continue
            trees.append(tree(part))
        if len(set(trees)) > 1:
            yield told + ": another meaning"


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
