"""Another body for a function, swapped in where the function is held: no file is written, nothing imported
again."""

import __future__

import ast
import functools
import gc
import types

from .sealed import os

_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


_functions = {}


class Edits:
    def __init__(self, wanted, config):
        self._wanted = {int(node): edit for node, edit in wanted.items()}
        self._config = config

    def before(self, node):
        edit = self._wanted.get(node)
        if edit is not None:
            swap(edit, self._config)


def swap(edit, config):
    path = os.path.realpath(os.path.join(str(config.rootpath), edit["file"]))
    holders = _holders(path, edit["name"], edit["first_line"])
    if not holders:
        raise LookupError("no function %s at line %d" % (edit["name"], edit["first_line"]))
    old = holders[0].__code__
    new = _compile(edit, old, holders[0].__globals__, config)
    if new.co_freevars != old.co_freevars:
        raise LookupError("the closure of %s changes" % edit["name"])
    for function in holders:
        function.__code__ = new


def learn():
    """Notes where every function of the collected suite is, once for all forks."""
    if not _functions:
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType:
                code = thing.__code__
                _functions.setdefault((code.co_name, code.co_firstlineno), []).append(thing)


def _holders(path, name, line):
    """Every function made from that definition, whatever wraps it."""
    learn()
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
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    return code
