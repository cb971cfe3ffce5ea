"""Every shape of a test function whose body may be swapped. It passes as it is."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import unittest
from unittest import mock

import pytest

LOG = []


def traced(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        LOG.append(function.__name__)
        return function(*args, **kwargs)

    return inner


async def items():
    yield 0
    yield 1


@traced
def test_wrapped():
    numbers = [1]
    numbers.append(2)
    assert LOG == ["test_wrapped"]
    assert numbers == [1, 2], f"numbers are {numbers}"


@mock.patch("os.getcwd", return_value="/x")
def test_patched(getcwd):
    place = os.getcwd()
    place = place.upper()
    getcwd.assert_called_once_with()
    assert place == "/X"


@traced
@mock.patch.dict("os.environ", {"A": "1"})
@pytest.mark.parametrize("left, right", [(1, 2), (3, 4)])
def test_pairs(left, right, more=5, *, factor: int = len("ab")):
    more += left
    total: int = left * factor + right
    total += more
    os.environ["A"] += "2"
    assert total == 3 * left + right + 5, (left, right)
    assert os.environ["A"] == "12"


def test_annotated(value: NotDefinedAnywhere = 3) -> AlsoNot:
    local: AlsoNot = value
    local += 1
    assert local == 4


class Parent:
    def greet(self):
        return "hello"


class TestMethods(Parent):
    __secret = 1

    def greet(self):
        return "bye"

    def test_super(self):
        said = []
        said.append(super().greet())
        said.append(self.greet())
        assert said == ["hello", "bye"]

    def test_super_twice(self):
        said = [super().greet()]
        said.append(super().greet())
        said.append(__class__.__name__)
        assert said == ["hello", "hello", "TestMethods"]

    def test_private(self):
        self.__mine = 2
        __local = self.__secret + 1
        self.__mine += __local
        assert self.__mine == 4
        assert self._TestMethods__mine == __local + 2

    class TestInner:
        __secret = 3

        @staticmethod
        def test_static():
            values = {1}
            values.add(2)
            assert values == {1, 2}

        @classmethod
        def test_class(cls):
            seen = [cls.__secret]
            seen.append(1)
            assert seen == [3, 1]

        def test_deep(self):
            total = 0
            for number in range(3):
                if number == 1:
                    continue
                else:
                    try:
                        total += number
                        raise ValueError(number)
                    except ValueError as error:
                        total += error.args[0]
                    finally:
                        total += 1
            assert total == 6

        def test_loops(self):
            total = 6
            steps = iter(range(5))
            while next(steps, None) is not None:
                total += 1
                if total == 9:
                    break
            with contextlib.suppress(KeyError):
                total += 1
                {}["x"]
                total += 100
            assert total == 10


def test_closures():
    calls = []

    def outer(number):
        def inner():
            nonlocal number
            number += 1
            calls.append(number)
            return number

        inner()
        return inner

    step = outer(1)
    step()
    assert calls == [2, 3]
    later = [lambda: calls[0], lambda: calls[1]]
    later.reverse()
    assert [one() for one in later] == [3, 2]


def test_local_class():
    class Local(Parent):
        size = 1

        def greet(self):
            said = super().greet()
            said += "!"
            return said

    local = Local()
    local.size += 1
    assert (local.greet(), local.size) == ("hello!", 2)


def test_async():
    async def number():
        await asyncio.sleep(0)
        return 3

    async def gather():
        found = [await number()]
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(found.append, 4)
            found.append(5)
        async for item in items():
            found.append(item)
        return found

    found = asyncio.run(gather())
    assert found == [3, 5, 4, 0, 1]


def test_generators():
    def numbers():
        sent = yield 1
        yield sent
        yield from [3]

    generator = numbers()
    found = [next(generator)]
    found.append(generator.send(2))
    found.extend(generator)
    assert found == [1, 2, 3]


def test_small_ones():
    global LOG
    """Not a docstring."""
    first = 1; second = 2
    if (third := first + second) > 2: fourth = third
    LOG = LOG + ["x"]
    del first
    if second == 2:
        fourth += 1
    else:
        fourth = 0
    text = """a
    b"""
    text = text.replace(
        "a",
        "c",
    )
    assert (fourth, text[0], LOG) == (4, "c", ["x"])
    assert "é" in "café"


def test_one_line(): LOG.append(1); assert LOG == [1]


def test_raises():
    value = 0
    with pytest.raises(ZeroDivisionError) as info:
        value += 1
        1 / (value - 1)
    assert "division" in str(info.value)


def test_fixtures(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("B", "b")
    print(os.environ["B"])
    file = tmp_path / "file"
    file.write_text("x")
    assert capsys.readouterr().out == "b\n"
    found = file.read_text() if file.exists() else None
    assert found == "x"


def test_skips():
    reason = "not here"
    pytest.skip(reason)
    assert not reason


@pytest.mark.xfail(strict=True, raises=AssertionError)
def test_expected():
    value = 1
    value -= 1
    assert value


class TestUnit(unittest.TestCase):
    def setUp(self):
        self.items = []

    @mock.patch.object(Parent, "greet")
    def test_unit(self, greet):
        self.items.append(1)
        greet.return_value = 2
        self.items.append(int(Parent().greet()))
        with self.subTest("x"):
            self.items.append(3)
        self.assertEqual(self.items, [1, 2, 3], "with a message")

    @unittest.expectedFailure
    def test_expected(self):
        value = 1
        value += 1
        self.assertEqual(value, 1)


class TestAsynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_alone(self):
        found = []
        await asyncio.sleep(0)
        found.append(await asyncio.sleep(0, 1))
        self.assertEqual(found, [1])
