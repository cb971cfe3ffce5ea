"""Functions, lines and samples."""

import sys

_SHOP = """
    import threading

    def price(amount, *rest, tax=0.5):
        total = amount * (1 + tax)
        for each in rest:
            total += each
        return total

    def numbers(n):
        for each in range(n):
            yield each

    def threaded():
        thread = threading.Thread(target=price, args=(3,))
        thread.start()
        thread.join()

    def never():
        return 1
"""


def _named(functions):
    """Without what older interpreters have in place of the qualified name."""
    return sorted(each.partition("@")[0] for each in functions)


_TESTS = """
        import shop

        def test_one(): shop.price(1)
        def test_two(): shop.price(1)
        def test_three(): shop.threaded()
        def test_four():
            for each in range(1000):
                shop.price(each)
        def test_five(): list(shop.numbers(2)); shop.price(1, 2)
        """


def test_functions_alone_are_the_same_set(lab):
    lab.write(shop=_SHOP, test_a=_TESTS)
    names = ["test_a.py::test_" + name for name in ("one", "two", "three", "four", "five")]
    alone = lab.run(*names, functions=True)
    with_lines = lab.run(*names, functions=True, lines=True)
    for number in range(5):
        assert _named(alone.tests[number].functions) == _named(with_lines.tests[number].functions)
    assert "shop.py:price" in _named(alone.tests[2].functions)
    assert alone.notes == []


def test_who_profiles_is_left_alone(lab):
    lab.write(
        test_a="""
        import cProfile, sys

        def helper(): pass

        def test_one():
            profile = cProfile.Profile()
            profile.enable()
            helper()
            profile.disable()
            assert any(entry.code is helper.__code__ for entry in profile.getstats())
        def test_two(): helper()
        """,
    )
    run = lab.run("test_a.py::test_one", "test_a.py::test_two", functions=True)
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p"]
    assert "test_a.py:helper" in _named(run.tests[1].functions)


def test_a_function_is_in_the_set_of_every_test_that_executes_it(lab):
    lab.write(
        shop=_SHOP,
        test_a="""
        import shop

        def test_one(): shop.price(1)
        def test_two(): shop.price(1)
        def test_three(): shop.threaded()
        def test_four():
            for each in range(1000):
                shop.price(each)
        def test_five(): list(shop.numbers(2)); shop.price(1, 2)
        """,
    )
    names = ["one", "two", "three", "four", "five"]
    run = lab.run(*("test_a.py::test_" + name for name in names), functions=True, lines=True)
    found = [_named(run.tests[number].functions) for number in range(5)]
    assert found == [
        ["shop.py:price", "test_a.py:test_one"],
        ["shop.py:price", "test_a.py:test_two"],
        ["shop.py:price", "shop.py:threaded", "test_a.py:test_three"],
        ["shop.py:price", "test_a.py:test_four"],
        ["shop.py:numbers", "shop.py:price", "test_a.py:test_five"],
    ]
    assert run.tests[0].lines["shop.py"] == [5, 6, 8]
    assert run.tests[1].lines["shop.py"] == [5, 6, 8]
    assert run.tests[4].lines["shop.py"] == [5, 6, 7, 8, 11, 12]
    only = lab.run(*("test_a.py::test_" + name for name in names), functions=True)
    assert [_named(only.tests[number].functions) for number in range(5)] == found
    assert only.tests[0].lines == {}


def test_fixtures_generators_late_imports_and_made_code(lab):
    lab.write(
        shop=_SHOP,
        late="def hello():\n    return 1\n",
        test_a="""
        import pytest, shop, types

        @pytest.fixture(scope="module")
        def opened():
            yield 1
            shop.price(1)

        def test_one(opened): pass
        def test_two(opened):
            import late
            late.hello()
            made = types.FunctionType(shop.never.__code__.replace(co_name="made"), {})
            made()
        """,
    )
    run = lab.run("test_a.py::test_one", "test_a.py::test_two", functions=True)
    assert _named(run.tests[0].functions) == ["test_a.py:opened", "test_a.py:test_one"]
    second = set(_named(run.tests[1].functions))
    assert {"late.py:<module>", "late.py:hello", "shop.py:price", "test_a.py:opened", "test_a.py:test_two"} <= second
    assert {"shop.py:never", "shop.py:made"} & second


def test_another_tracer_is_left_alone(lab):
    lab.write(
        shop=_SHOP,
        test_a="""
        import shop, sys

        def test_one():
            sys.settrace(lambda *arguments: None)
            shop.price(1)

        def test_two():
            assert sys.gettrace() is not None
            shop.price(1)
            sys.settrace(None)
        """,
    )
    run = lab.run("test_a.py::test_one", "test_a.py::test_two", functions=True, lines=True)
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p"]
    if sys.version_info >= (3, 12):
        assert "shop.py:price" in run.tests[1].functions
    else:
        assert run.notes


def test_site_packages_below_the_sources_are_not_the_project(lab):
    lab.write(
        shop=_SHOP,
        venv__site_packages__lib="def f():\n    return 1\n",
        test_a="""
        import sys
        sys.path.append("venv/site-packages")
        import lib
        def test_it(): lib.f()
        """,
    )
    (lab.root / "venv" / "site_packages").rename(lab.root / "venv" / "site-packages")
    run = lab.run("test_a.py::test_it", functions=True)
    assert _named(run.tests[0].functions) == ["test_a.py:test_it"]
    inside = str(lab.root / "venv" / "site-packages")
    run = lab.run("test_a.py::test_it", functions=True, sources=[inside])
    assert _named(run.tests[0].functions) == ["venv/site-packages/lib.py:f"]


def test_samples_of_arguments_results_and_assertions(lab):
    lab.write(
        shop=_SHOP + "\n    def odd(a):\n        del a\n        return locals()\n",
        test_a="""
        import shop

        def test_it():
            assert shop.price(2, 1, 2) == 6.0
            list(shop.numbers(2))
            assert shop.odd("x") == {}
            for each in range(100):
                shop.price(each)
            for value in (float("nan"), 1 << 70, "text", [1, "a"], {1: 2}, None, True, object()):
                shop.never.__call__()
                list(shop.numbers(0))
        """,
    )
    test = lab.run("test_a.py::test_it", behaviour=True).tests[0]
    samples = [(name.replace("@", ":").split(":"), values) for name, values in test.samples]
    price = [values for name, values in samples if name[1] == "price" and name[-1] == "entry"]
    assert price[0] == {"amount": 2, "tax": 0.5, "rest": ["n", 2, [1, 2]]}
    assert len(price) == 20
    exits = [values for name, values in samples if name[1] == "price" and name[-1] == "exit"]
    assert exits[0] == {"return": 6.0, "amount": 2, "tax": 0.5, "rest": ["n", 2, [1, 2]]}
    assert len(exits) == 20
    assert [name[-1] for name, _ in samples if name[1] == "numbers"][:1] == ["entry"]
    assert "exit" not in [name[-1] for name, _ in samples if name[1] == "numbers"]
    assert ("test_a.py:5:4:assert", {"left": 6.0, "right": 6.0}) in test.samples
    assert [values for name, values in samples if name[1] == "odd" and name[-1] == "entry"] == [{"a": ["s", "'x'", 1]}]
    assert not [name for name, _ in samples if name[0] == "test_a.py" and name[-1] != "assert"]
    assert test.keys == {"n", "b"}


def test_a_sampled_argument_does_not_live_longer(lab):
    lab.write(
        shop="""
        import gc, weakref

        class Thing: pass

        def consume(thing):
            seen = weakref.ref(thing)
            del thing
            return seen

        def inner(things):
            return consume(things.pop())
        """,
        test_a="import shop\ndef test_it():\n    assert shop.inner([shop.Thing()])() is None\n",
    )
    assert lab.run("test_a.py::test_it", behaviour=True, functions=True).outcomes[0]["o"] == "p"
