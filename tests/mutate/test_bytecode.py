"""Digests of code: equal for the same behaviour, different for any other."""

import itertools
import json
import pathlib
import subprocess
import sys
import types

import flakelab_shim
import pytest
from flakelab_shim.bytecode import digest

_SHIM = pathlib.Path(flakelab_shim.__file__).resolve().parents[1]


def function(text, name="f"):
    code = compile(text, "some.py", "exec", dont_inherit=True)
    return next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)


def same(one, other):
    return digest(function(one)) == digest(function(other))


@pytest.mark.parametrize(
    "one, other",
    [
        ("def f(): return a", "\n\n\ndef f(): return a"),
        ("def f(): return a + b", "def f():    return (a   +   b)  # why"),
        ("def f(): return 'a' 'b'", 'def f(): return "ab"'),
        ("def f(): return 0x10", "def f(): return 16"),
        ("def f(): return lambda: 1", "def f(): return (lambda :  1)"),
        ("def f(): return x in {1, 2, 3}", "def f(): return x in {3, 2, 1}"),
    ],
)
def test_layout_does_not_count(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "True", "1.0", "1j", "'1'", "b'1'", "2", "None", "...", "(1,)", "-1"],
        ["0.0", "-0.0", "0", "False", "0j", "-0j", "()", "''", "b''"],
        ["1e999", "-1e999", "1e999 - 1e999", "1e308"],
        ["a.b", "a.c", "b.b", "a.b()", "a.b(1)", "a.b(c=1)", "a.b(d=1)", "a.b(*c)"],
        ["x in {1, 2}", "x in {1, 3}", "x in {1, 2.0}", "x in {True, 2}", "x in (1, 2)"],
        ["lambda: 1", "lambda: True", "lambda x: 1", "lambda *x: 1", "lambda: (yield)", "lambda x=1: 1"],
        ["a + b", "a - b", "a < b", "a <= b", "a is b", "a is not b", "a in b", "a not in b", "a or b", "a and b"],
        ["10 ** 50", "10 ** 50 + 1", "-(10 ** 50)"],
        ["'\\ud800'", "'\\udc00'", "'\\\\ud800'"],
        ["('ab', 'c')", "('a', 'bc')", "('a', ('b', 'c'))", "('a', 'b', 'c')"],
    ],
)
def test_every_other_value_is_another(texts):
    found = [digest(function("def f(): return " + text)) for text in texts]
    clashes = [(texts[a], texts[b]) for a, b in itertools.combinations(range(len(texts)), 2) if found[a] == found[b]]
    assert clashes == []


@pytest.mark.parametrize(
    "one, other",
    [
        ("def f(a, b): pass", "def f(a, *, b): pass"),
        ("def f(a, b): pass", "def f(a, b, /): pass"),
        ("def f(a, b): pass", "def f(b, a): pass"),
        ("def f(*a): pass", "def f(**a): pass"),
        ("def f(): pass", "async def f(): pass"),
        ("def f(): 'a'", "def f(): 'b'"),
        ("def f():\n try: a()\n except B: c()", "def f():\n try: a()\n except C: c()"),
        ("def f():\n try: a(); b()\n except: c()", "def f():\n try: a()\n except: c()\n else: b()"),
        ("def f(x):\n def g(): return x\n return g", "def f(x):\n def g(): return y\n return g"),
        ("def f(x):\n def g(): pass\n return x", "def f(x):\n def g(): return x\n return x"),
    ],
)
def test_signatures_closures_and_handlers_count(one, other):
    assert not same(one, other)


def test_a_nan_is_itself_and_a_big_number_is_read():
    one, other = (function("def f(): return 1.5").replace(co_consts=(None, float("nan"))) for _ in range(2))
    assert digest(one) == digest(other)
    huge = function("def f(): return 1.5").replace(co_consts=(None, 10**6000))
    assert digest(huge) != digest(one)


def test_running_does_not_change_it():
    namespace = {}
    exec("def f(n):\n    t = 0\n    for i in range(n):\n        t += i * 2\n    return t", namespace)
    before = digest(namespace["f"].__code__)
    for _ in range(50):
        namespace["f"](100)
    assert digest(namespace["f"].__code__) == before


def test_it_is_the_same_under_every_hash_seed():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from flakelab_shim.bytecode import digest;"
        "print(digest(compile('def f(): return x in {%s}', 'a', 'exec')))"
    ) % ", ".join('"k%d"' % n for n in range(20))
    found = {
        subprocess.run(
            [sys.executable, "-c", program, str(_SHIM)],
            env={"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_files_of_the_standard_library_keep_their_digest_wherever_they_stand():
    with open(json.__file__, encoding="utf-8") as file:
        text = file.read()
    moved = compile("\n" * 1000 + text, "other.py", "exec", dont_inherit=True)
    assert digest(moved) == digest(compile(text, json.__file__, "exec", dont_inherit=True))
