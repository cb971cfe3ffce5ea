"""Another body for a function, swapped in where the function is held: no file is written, nothing imported
again."""

import __future__

import ast
import functools
import gc
import types

from .sealed import os
from .sources import quietly

_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


# What a zygote keeps at most.
MOST_CODES = 2_000

_functions = {}
_codes = {}


class Edits:
    def __init__(self, wanted, config):
        self._wanted = {int(node): edit for node, edit in wanted.items()}
        self._config = config

    def before(self, node):
        edit = self._wanted.get(node)
        if edit is not None:
            put(prepared(edit, self._config))


def _path(edit, config):
    return os.path.realpath(os.path.join(str(config.rootpath), edit["file"]))


def prepared(edit, config):
    """What `put` puts in place: every function that changes, with its new attributes."""
    path = _path(edit, config)
    holders = _holders(path, edit["name"], edit["first_line"])
    if not holders:
        raise LookupError("no function %s at line %d" % (edit["name"], edit["first_line"]))
    new = (_defaults if edit.get("defaults") else _code)(path, edit, holders[0], config)
    return [(function, new) for function in holders]


def put(changes):
    """Returns what puts everything back."""
    before = [(function, {name: getattr(function, name) for name in new}) for function, new in changes]
    for function, new in changes:
        for name, value in new.items():
            setattr(function, name, value)
    return before


def _defaults(path, edit, function, config):
    """Evaluated where the function stands, as its module is now: this executes code of the project."""
    try:
        namespace = dict(function.__globals__)
        exec(quietly(_definition, edit, function.__code__), namespace)
        new = namespace[edit["name"]]
    except BaseException as error:
        raise LookupError("the parameters of %s cannot be evaluated: %r" % (edit["name"], error)) from None
    # Private names of a class are others there.
    if set(new.__kwdefaults__ or ()) != set(function.__kwdefaults__ or ()):
        raise LookupError("the parameters of %s have other names" % edit["name"])
    return {"__defaults__": new.__defaults__, "__kwdefaults__": new.__kwdefaults__}


def _definition(edit, old):
    """Compiled on its own: nothing of it but the defaults is evaluated."""
    tree = ast.parse("if 1:\n" + edit["text"] if edit["text"][:1] in " \t" else edit["text"])
    definition = next(node for node in ast.walk(tree) if getattr(node, "name", None) == edit["name"])
    definition.decorator_list, definition.returns = [], None
    definition.body = [ast.copy_location(ast.Pass(), definition)]
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    tree.body = [definition]
    return compile(tree, old.co_filename, "exec", flags=old.co_flags & _FUTURE, dont_inherit=True)


def _code(path, edit, function, config):
    """Compiled once: the zygote prepares what its forks will ask for."""
    key = (path, edit["first_line"], edit["text"])
    code = _codes.get(key)
    if code is None:
        old = function.__code__
        code = _codes[key] = quietly(_compile, edit, old, function.__globals__, config)
    if code.co_freevars != function.__code__.co_freevars:
        raise LookupError("the closure of %s changes" % edit["name"])
    return {"__code__": code}


def prepare(edits, config):
    """Notes where every function of the collected suite is and compiles, once for all forks."""
    if not _functions:
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType:
                code = thing.__code__
                _functions.setdefault((code.co_name, code.co_firstlineno), []).append(thing)
    if len(_codes) > MOST_CODES:
        _codes.clear()
    for edit in edits:
        if edit.get("defaults"):
            continue
        path = _path(edit, config)
        for function in _holders(path, edit["name"], edit["first_line"])[:1]:
            try:
                _code(path, edit, function, config)
            except Exception:
                pass  # the fork that asks for it says why


def _holders(path, name, line):
    """Every function made from that definition, whatever wraps it."""
    return [
        function
        for function in _functions.get((name, line), ())
        if os.path.realpath(function.__code__.co_filename) == path
    ]


def _compile(edit, old, namespace, config):
    # Private names and `super()` mean what they mean in the class.
    lead = "".join("%sclass %s:\n" % (" " * depth, name) for depth, name in enumerate(edit["classes"]))
    if not lead and edit["text"][:1] in " \t":
        lead = "if 1:\n"
    text = lead + edit["text"]
    tree = ast.parse(text)
    ast.increment_lineno(tree, edit["line"] - 1 - lead.count("\n"))
    if "@pytest_ar" in namespace:
        from _pytest.assertion.rewrite import rewrite_asserts

        rewrite_asserts(tree, text.encode(), old.co_filename, config)
    code = compile(tree, old.co_filename, "exec", flags=old.co_flags & _FUTURE, dont_inherit=True)
    for name in edit["classes"] + [edit["name"]]:
        code = _inner(code, name)
    return code


def _inner(code, name):
    """The code of a definition in other code; type parameters put one around it."""
    inside = {const.co_name: const for const in code.co_consts if isinstance(const, types.CodeType)}
    generic = inside.get("<generic parameters of %s>" % name)
    if generic is not None:
        return _inner(generic, name)
    if name not in inside:
        raise LookupError("no definition of %s" % name)
    return inside[name]
