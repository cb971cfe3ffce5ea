"""mutmut 3, run on a copy of a project: its verdicts, the text of its mutants, and which of ours are the same."""

import ast
import copy
import json
import subprocess
from pathlib import Path

from .common import cpu_of

# Exit codes of its workers, as `mutmut results` names them.
STATUS = {0: "survived", 1: "killed", 3: "killed", 5: "not covered", 33: "not covered", 34: "skipped"}
STATUS.update(dict.fromkeys((36, 24, -24, 152), "timeout"))
# It says `timeout` here too, but this is what a worker ends with that could not start pytest.
STATUS[255] = "error"
SEPARATOR = "\u01c1"


def run(mutmut, project, configuration, names=()):
    """CPU seconds of a whole run, one child at a time; with names, of these mutants alone. `configuration` is the
    section of its documentation."""
    settings = project / "setup.cfg"
    before = settings.read_text() if settings.exists() else ""
    settings.write_text(f"{before}\n[mutmut]\n{configuration}")
    log = project / "mutmut.log"
    with open(log, "w") as out:
        command = [mutmut, "run", "--max-children", "1", *names]
        spent = cpu_of(command, cwd=project, stdout=out, stderr=subprocess.STDOUT)
    if not any(project.glob("mutants/**/*.meta")):
        raise SystemExit("mutmut gave no verdicts:\n" + log.read_text()[-2_000:])
    return spent


def verdicts(project):
    """{(file, function, its changed code): (name, status)} of every mutant."""
    found = {}
    root = project / "mutants"
    for meta in sorted(root.glob("**/*.meta")):
        source = meta.with_suffix("")
        codes = json.loads(meta.read_text())["exit_code_by_key"]
        codes = {name: code for name, code in codes.items() if code is not None}
        by_name = {name.rpartition(".")[2]: name for name in codes}
        for function in functions(ast.parse(source.read_text())):
            name = by_name.get(function.name)
            if name is None:
                continue
            place = plain_name(function.name)
            function.name = place.rpartition(".")[2]
            key = (str(source.relative_to(root)), place, code_of(function))
            found[key] = (name, STATUS.get(codes[name], "suspicious"))
    return found


def plain_name(generated):
    """`x\u01c1Class\u01c1method__mutmut_1` is `Class.method`, and `x_name__mutmut_1` is `name`."""
    mangled = generated.partition("__mutmut_")[0]
    if SEPARATOR in mangled:
        return ".".join(mangled.split(SEPARATOR)[1:])
    return mangled[len("x_") :]


def functions(tree):
    """Functions and methods that mutmut can change, wherever they stand in statements of the module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def outer_functions(tree):
    """(dotted name, node) of functions of the module and of its classes."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield f"{node.name}.{inner.name}", inner


def code_of(function):
    bare = copy.copy(function)
    bare.decorator_list = []
    return ast.dump(bare)


def ours(project, mutants):
    """The same keys for mutants of a document: {key: mutant}."""
    found = {}
    originals = {}
    for mutant in mutants:
        file = mutant["file"]
        if file not in originals:
            tree = ast.parse((project / file).read_text())
            originals[file] = {name: code_of(node) for name, node in outer_functions(tree)}
        try:
            tree = ast.parse(patched((project / file).read_text(), mutant["diff"]))
        except SyntaxError:
            continue
        for name, node in outer_functions(tree):
            code = code_of(node)
            if originals[file].get(name) not in (None, code):
                found[(file, name, code)] = mutant
    return found


def patched(text, diff):
    """The text with a unified diff applied."""
    lines, out, at = text.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True):
        if line.startswith("@@"):
            first = int(line.split()[1].split(",")[0][1:])
            out += lines[at : first - 1]
            at = first - 1
        elif line.startswith(("---", "+++")) and at == 0 and not out:
            continue
        elif line.startswith("+"):
            out.append(line[1:])
        elif line.startswith("-"):
            at += 1
        elif line.startswith(" ") or line == "\n":
            out.append(lines[at])
            at += 1
    return "".join(out + lines[at:])


def apply(project, mutant):
    """Writes a mutant of a document into a copy; returns what puts the file back."""
    file = Path(project, mutant["file"])
    before = file.read_text()
    file.write_text(patched(before, mutant["diff"]))
    return lambda: file.write_text(before)
