"""Lines told by the tracer of coverage.py are those that a trace function in Python tells."""

import importlib.machinery
import importlib.util
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="the interpreter tells lines itself"),
    pytest.mark.skipif(importlib.util.find_spec("coverage") is None, reason="the environment has no coverage"),
]

_SHOP = """
    import asyncio
    import contextlib
    import functools
    import threading

    def doubled(function):
        @functools.wraps(function)
        def inner(*arguments):
            return function(
                *arguments
            ) * 2
        return inner

    @doubled
    @functools.lru_cache(
        maxsize=None
    )
    def price(
        amount,
        tax=0.5,
    ):
        total = (
            amount
            + tax
        )
        return total

    def numbers(n):
        for each in range(n):
            try:
                got = yield each
                if got:
                    n = got
            except ValueError:
                yield -1
            finally:
                n += 1

    def delegating():
        yield from numbers(2)
        return 1

    @contextlib.contextmanager
    def opened():
        try:
            yield 1
        except KeyError:
            pass

    def comprehensions(n):
        squares = [
            each
            * each
            for each in range(n)
            if each
        ]
        return {
            key: {value for value in squares if value > key}
            for key in squares
        }, (lambda: squares)()

    def failing(n):
        if n == 0:
            raise KeyError(
                n
            )
        try:
            failing(n - 1)
        finally:
            n = None

    async def waiting(n):
        async with asyncio.Lock():
            for each in range(n):
                await asyncio.sleep(0)
        return n

    async def several():
        return await asyncio.gather(waiting(2), waiting(0), waiting(1))

    class Shop:
        name: str = "x"

        def __init__(self):
            self.sold = 0

        def __del__(self):
            self.sold = None

        @property
        def total(self): return self.sold

    def threaded(target, *arguments):
        thread = threading.Thread(target=target, args=arguments)
        thread.start()
        thread.join()

    def worker(go, done):
        while go.wait():
            go.clear()
            for each in numbers(2):
                pass
            done.set()
"""

_TESTS = """
    import asyncio
    import threading

    import pytest
    import shop

    go, done = threading.Event(), threading.Event()

    @pytest.fixture(scope="module")
    def lasting():
        yield shop.Shop()
        shop.price(100)

    def test_decorators(lasting): assert shop.price(1) == 3
    def test_again(lasting): assert shop.price(1) == 3
    def test_generators():
        one = shop.numbers(3)
        next(one)
        one.send(5)
        assert one.throw(ValueError) == -1
        one.close()
        assert list(shop.delegating()) == [0, 1]
        kept.append(shop.numbers(9)); next(kept[0])
    kept = []
    def test_a_generator_of_another_test(): next(kept[0])
    def test_comprehensions(): shop.comprehensions(3)
    def test_exceptions():
        with pytest.raises(KeyError):
            shop.failing(3)
        with shop.opened():
            raise KeyError
    def test_failing(): shop.failing(2)
    def test_coroutines(): asyncio.run(shop.several())
    def test_threads():
        shop.threaded(shop.price, 7)
        shop.threaded(shop.threaded, shop.comprehensions, 2)
    def test_a_thread_that_stays():
        threading.Thread(target=shop.worker, args=(go, done), daemon=True).start()
        go.set(); done.wait(); done.clear()
    def test_a_thread_of_another_test(): go.set(); done.wait(); done.clear()
    def test_classes():
        shop.Shop().total
        class Local(shop.Shop):
            total = 1
    def test_made_code():
        exec(compile("a = 1\\nb = 2\\n", shop.__file__, "exec"), {})
    def test_late_import(lasting): import late
    def test_nothing(): pass
"""


def _both(lab, *names, **more):
    """The same tests with the tracer of coverage, and where it cannot be loaded."""
    shadow = lab.base / "shadow" / "coverage"
    if not shadow.exists():
        shadow.mkdir(parents=True)
        (shadow / "__init__.py").write_text("")
    order = ["test_a.py::test_" + name for name in names]
    native = lab.run(*order, lines=True, functions=True, **more)
    python = lab.run(*order, lines=True, functions=True, environment={"PYTHONPATH": str(shadow.parent)}.items(), **more)
    assert any("coverage" in each for each in python.notes)
    assert not any("Python" in each for each in native.notes), native.notes
    return native, python


def test_lines_are_the_same(lab):
    lab.write(shop=_SHOP, test_a=_TESTS, late="def late():\n    return 1\nlate()\n")
    names = [line.split("test_", 1)[1].split("(")[0] for line in _TESTS.splitlines() if "def test_" in line]
    native, python = _both(lab, *names)
    assert native.notes == []
    for number, name in enumerate(names):
        assert native.tests[number].lines == python.tests[number].lines, name
        assert sorted(native.tests[number].functions) == sorted(python.tests[number].functions), name
        assert native.outcomes[number]["o"] == python.outcomes[number]["o"], name
    assert native.tests[names.index("nothing")].lines.keys() == {"shop.py", "test_a.py"}
    assert "shop.py" in native.tests[names.index("a_thread_of_another_test")].lines


def test_lines_alone_are_the_same(lab):
    lab.write(shop=_SHOP, test_a=_TESTS)
    order = ["test_a.py::test_generators", "test_a.py::test_threads"]
    alone, both = lab.run(*order, lines=True), lab.run(*order, lines=True, functions=True)
    assert [alone.tests[n].lines for n in (0, 1)] == [both.tests[n].lines for n in (0, 1)]
    assert alone.tests[0].functions == []


def test_who_switches_tracing_inside_of_a_test_has_no_lines(lab):
    lab.write(
        shop=_SHOP,
        test_a="""
        import sys, threading
        import shop

        def off(): sys.settrace(None)
        def test_restored():
            old = sys.gettrace()
            off()
            sys.settrace(old)
            shop.price(1)
        def test_other():
            shop.price(1)
            sys.settrace(lambda *arguments: None)
            shop.price(2)
            sys.settrace(None)
        def test_after(): assert sys.gettrace() is not None; shop.price(3)
        """,
    )
    native, python = _both(lab, "restored", "other", "after")
    assert [each["o"] for each in native.outcomes.values()] == ["p", "p", "p"]
    assert native.notes == ["lines of tests that set a trace function are not recorded"]
    assert native.tests[0].lines == native.tests[1].lines == {}
    assert native.tests[2].lines == python.tests[2].lines != {}


def test_a_suite_finds_its_own_coverage(lab):
    lab.write(
        shop=_SHOP,
        test_a="""
        import sys

        def test_hidden():
            assert not [name for name in sys.modules if name.partition(".")[0] == "coverage"]
        def test_own(tmp_path):
            import coverage
            from coverage.tracer import CTracer
            assert type(sys.gettrace()) is not CTracer
            mine = coverage.Coverage(data_file=None)
            mine.start()
            import shop
            shop.price(1)
            mine.stop()
            assert 8 in mine.get_data().lines(shop.__file__)
        def test_after(): import shop; shop.price(2)
        """,
    )
    order = ["test_a.py::test_" + name for name in ("hidden", "own", "after")]
    # pytest-cov would import it first.
    run = lab.run(*order, lines=True, environment=[("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")])
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p", "p"], run.output
    assert run.tests[1].lines == {}
    assert "shop.py" in run.tests[2].lines


@pytest.mark.skipif(importlib.util.find_spec("pytest_cov") is None, reason="the environment has no pytest-cov")
def test_options_of_pytest_cov_stay_silent(lab):
    lab.write(shop=_SHOP, test_a=_TESTS)
    run = lab.run("test_a.py::test_classes", arguments=["--cov=shop", "--cov-branch"], lines=True)
    assert run.outcomes[0]["o"] == "p" and run.notes == []
    assert "shop.py" in run.tests[0].lines
    assert not (lab.root / ".coverage").exists()


def test_stacks_that_switch_are_followed_in_python(lab):
    """No greenlet is needed: being imported is what counts."""
    lab.write(
        shop=_SHOP,
        test_a="""
        import sys, types
        import shop

        def test_before(): shop.price(1)
        def test_importing():
            sys.modules["greenlet"] = types.ModuleType("greenlet")
            shop.price(2)
        def test_after(): shop.price(3); assert type(sys.gettrace()).__name__ == "function"
        """,
    )
    native, python = _both(lab, "before", "importing")
    assert native.tests[0].lines == python.tests[0].lines
    assert native.tests[1].lines == {} and len(native.notes) == 1
    run = lab.run("test_a.py::test_importing", "test_a.py::test_after", lines=True)
    assert run.outcomes[1]["o"] == "p" and "shop.py" in run.tests[1].lines


def test_an_unknown_version_is_not_used(lab):
    shadow = lab.base / "newer" / "coverage"
    shadow.mkdir(parents=True)
    found = importlib.util.find_spec("coverage").submodule_search_locations[0]
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for each in lab.base.__class__(found).glob("tracer" + suffix):
            (shadow / each.name).write_bytes(each.read_bytes())
    (shadow / "__init__.py").write_text("")
    lab.write(shop=_SHOP, test_a=_TESTS)
    for version, is_used in (("(7, 0, 0)", True), ("(99, 0, 0)", False), ("x", False)):
        (shadow / "version.py").write_text("version_info = %s\n" % version)
        run = lab.run("test_a.py::test_classes", lines=True, environment=[("PYTHONPATH", str(shadow.parent))])
        assert (run.notes == []) == is_used
        assert "shop.py" in run.tests[0].lines
