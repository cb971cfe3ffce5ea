"""Own statements in what pytest makes of an `assert`: the operands are handed over, the message stays.

pytest's rewriter turns an assertion into statements with a name for every intermediate value. Here a call
with those names is put behind them, and nothing of the explanation is touched. Before a failing assertion
raises it asks whether it is to, so that one that is filtered lets the test go on. The recorder is an attribute
of the very module that rewritten code imports anyway, so nothing new can be imported. Rewritten code
is kept in a directory of our own, under a name of our own.
"""

import ast
import functools
import pathlib
import sys

# Not names that source code can spell.
HOOK = "@flakelab_saw"
GOES_ON = "@flakelab_goes_on"
# pytest shows no variable whose name begins like this.
_MESSAGE = "@py_flakelab_message"
# Part of the name of our bytecode; to be changed with the statements that are added.
_MARK = "-flakelab2"
_NEGATABLE = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_NEEDED = (
    "AssertionRewriter",
    "PYC_TAIL",
    "get_cache_dir",
    "try_makedirs",
    "_rewrite_test",
    "_write_pyc",
    "_read_pyc",
    "assertstate_key",
)


def install(rewrite, saw, goes_on, cache):
    """Puts our rewriter into the module `_pytest.assertion.rewrite`; raises if that is not as expected."""
    missing = [name for name in _NEEDED if not hasattr(rewrite, name)]
    methods = ("visit", "visit_Assert", "visit_Compare", "helper")
    missing += [name for name in methods if not hasattr(rewrite.AssertionRewriter, name)]
    if missing:
        raise LookupError("this pytest has no %s" % missing[0])
    rewriter = recording(rewrite.AssertionRewriter)
    check(rewriter)
    setattr(rewrite, HOOK, saw)
    setattr(rewrite, GOES_ON, goes_on)
    rewrite.AssertionRewriter = rewriter
    rewrite.PYC_TAIL = _MARK + rewrite.PYC_TAIL
    _keep_bytecode(rewrite, cache)


def keep_bytecode(rewrite, cache):
    """pytest's own rewriting, kept where ours is: the interpreter is told to write no bytecode anywhere else."""
    if all(hasattr(rewrite, name) for name in _NEEDED):
        rewrite.PYC_TAIL = "-flakelab0" + rewrite.PYC_TAIL
        _keep_bytecode(rewrite, cache)


def _keep_bytecode(rewrite, cache):
    original_rewrite = rewrite._rewrite_test
    root = pathlib.Path(cache)

    def get_cache_dir(file_path):
        return root.joinpath(*file_path.parts[1:-1])

    @functools.wraps(original_rewrite)
    def rewrite_test(fn, config):
        stamp, code = original_rewrite(fn, config)
        # Where the interpreter writes bytecode pytest does this itself.
        if sys.dont_write_bytecode:
            try:
                directory = get_cache_dir(fn)
                if rewrite.try_makedirs(directory):
                    state = config.stash[rewrite.assertstate_key]
                    rewrite._write_pyc(state, code, stamp, directory / (fn.name[:-3] + rewrite.PYC_TAIL))
            except Exception:
                # Then it is rewritten again the next time.
                pass
        return stamp, code

    rewrite.get_cache_dir = get_cache_dir
    rewrite._rewrite_test = rewrite_test


def recording(base):
    """pytest's rewriter with our statements."""

    class RecordingRewriter(base):
        # id of a node -> whether it stands below an odd number of `not`.
        _inner = {}
        _operands = None
        _top = None
        _site = None

        def visit_Assert(self, assert_):
            test = assert_.test
            self._inner, self._top, self._operands = {}, test, None
            self._site = site = (self.module_path, assert_.lineno, assert_.col_offset)
            if not isinstance(test, (ast.Compare, ast.NamedExpr)):
                _find_inner(test, False, self._inner)
            self._condition = None
            statements = super().visit_Assert(assert_)
            tested = _the_test(statements, self._condition)
            if tested is not None:
                symbols, values = self._seen_by_top(test)
                _ask_before_raising(self, tested.body, site, assert_)
                tested.body.insert(0, _call(self, site, symbols, False, values, assert_))
                tested.orelse.append(_call(self, site, symbols, True, values, assert_))
            self._top = None
            self._inner = {}
            return statements

        def _seen_by_top(self, test):
            if isinstance(test, ast.Compare):
                return self._operands or ((), [])
            if id(test) in self._inner:
                # A plain value: it is a value of itself.
                value = _readable(self._condition)
                return (), [value] if value is not None else []
            if isinstance(test, ast.NamedExpr):
                return (), [ast.Name(test.target.id, ast.Load())]
            # Its parts have been recorded where they were evaluated.
            return (), []

        def visit(self, node):
            if node is self._top:
                result = self._visit_top(node)
                self._condition = result[0]
                return result
            negated = self._inner.get(id(node))
            if negated is None:
                return super().visit(node)
            if not isinstance(node, ast.Compare):
                result = super().visit(node)
                value = result[0]
                # Anything else would be evaluated once more, or is not bound yet.
                if isinstance(value, ast.Name):
                    self._record_inner(node, (), [value])
                return result
            first = len(self.statements)
            result = super().visit(node)
            found = _operands(node, result[0], self.statements[first:])
            if found is not None:
                symbols, values = found
                if negated:
                    symbols = tuple("!" + symbol for symbol in symbols)
                self._record_inner(node, symbols, values)
            return result

        def _visit_top(self, node):
            first = len(self.statements)
            result = super().visit(node)
            if isinstance(node, ast.Compare):
                self._operands = _operands(node, result[0], self.statements[first:])
            return result

        def _record_inner(self, node, symbols, values):
            site = (self.module_path, node.lineno, node.col_offset)
            # In place of a verdict the assertion that will have one.
            self.statements.append(_call(self, site, symbols, self._site, values, node))

    RecordingRewriter.__name__ = base.__name__
    RecordingRewriter.__qualname__ = base.__qualname__
    RecordingRewriter.__module__ = base.__module__
    return RecordingRewriter


def _find_inner(node, negated, found):
    """The comparisons and values whose truth makes up the truth of the assertion."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            _find_inner(value, negated, found)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        _find_inner(node.operand, not negated, found)
    else:
        found[id(node)] = negated


def _operands(compare, result, statements):
    """The operators and operands of the comparisons that pytest has made of one, or None.

    pytest assigns each of them to a name of its own, and the result consists of those names.
    """
    names = result.values if isinstance(result, ast.BoolOp) else [result]
    made = {}
    for each in statements:
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Compare):
            target = each.targets[0]
            if isinstance(target, ast.Name):
                made[target.id] = each.value
    found = [made.get(name.id) if isinstance(name, ast.Name) else None for name in names]
    if len(found) != len(compare.ops) or None in found:
        return None
    values = [_readable(found[0].left)] + [_readable(each.comparators[0]) for each in found]
    if None in values:
        return None
    return tuple(_NEGATABLE.get(type(op), "?") for op in compare.ops), values


def _readable(node):
    """An expression that reads the value of a node once more and does nothing else."""
    if isinstance(node, ast.NamedExpr):
        return ast.Name(node.target.id, ast.Load())
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    return None


def _the_test(statements, condition):
    """The statement `if not condition`, whose body is what happens when the assertion fails."""
    if condition is not None:
        for each in statements:
            if isinstance(each, ast.If) and isinstance(each.test, ast.UnaryOp) and each.test.operand is condition:
                return each
    return None


def _ask_before_raising(rewriter, failing, site, where):
    """`raise AssertionError(message)` only if the assertion is not filtered; the message is made once.

    It is the message that is kept in a variable: an exception would be held by its own traceback.
    """
    raising = failing[-1] if failing else None
    error = raising.exc if isinstance(raising, ast.Raise) else None
    if not isinstance(error, ast.Call) or len(error.args) != 1 or error.keywords:
        return
    kept = ast.Assign([ast.Name(_MESSAGE, ast.Store())], error.args[0])
    error.args[0] = ast.Name(_MESSAGE, ast.Load())
    asked = rewriter.helper(GOES_ON, ast.Constant(site), ast.Name(_MESSAGE, ast.Load()))
    failing[-1:] = [kept, ast.If(ast.UnaryOp(ast.Not(), asked), [raising], [])]
    for statement in failing[-2:]:
        _locate(statement, where)


def _call(rewriter, site, symbols, verdict, values, where):
    constants = [ast.Constant(site), ast.Constant(symbols), ast.Constant(verdict)]
    call = ast.Expr(rewriter.helper(HOOK, *constants, *values))
    _locate(call, where)
    return call


def _locate(statement, where):
    for node in ast.walk(statement):
        if getattr(node, "lineno", None) is None:
            ast.copy_location(node, where)


def check(rewriter):
    """Rewrites a sample and counts the calls; raises where pytest no longer makes what we look for."""
    source = b"assert a < b\nassert not (a == b) and f(a)\n"
    tree = ast.parse(source)
    rewriter("sample.py", None, source).run(tree)
    compile(tree, "sample.py", "exec")
    names = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    if names.count(HOOK) != 6 or names.count(GOES_ON) != 2:
        raise LookupError("this pytest rewrites assertions in another way")
