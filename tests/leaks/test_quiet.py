"""Two tests that leave nothing behind: nothing is reported, whatever pytest does in between."""

import pytest

FUNCTIONS = """
    import sys
    def test_one(): print('x'); print('y', file=sys.stderr)
    def test_two(): assert 1 == int('1')
"""
UNITTEST = """
    import unittest
    class TestBoth(unittest.TestCase):
        def setUp(self): self.x = 1
        def test_one(self): self.assertEqual(self.x, 1)
        def test_two(self): self.assertEqual(self.x, 1)
"""
CLASSES = """
    import unittest
    class TestOne(unittest.TestCase):
        def test_one(self): pass
    class TestTwo:
        def test_two(self): pass
"""
FIXTURES = """
    import logging, os, pytest, warnings
    @pytest.fixture
    def value(monkeypatch, tmp_path):
        monkeypatch.setattr(os, 'getlogin', lambda: 'x')
        monkeypatch.setenv('A', 'b')
        monkeypatch.chdir(tmp_path)
        yield [1]
    def test_one(value, caplog, capsys, recwarn):
        logging.getLogger('x').warning('hello')
        warnings.warn('careful')
        assert value == [1]
    def test_two(value): assert value == [1]
"""
FAILING = """
    def test_one(): assert [1, 2] == [3]
    def test_two(): pass
"""


@pytest.mark.parametrize("arguments", [(), ("-s",), ("--capture=sys",), ("-p", "no:logging", "-p", "no:warnings")])
@pytest.mark.parametrize(
    "text",
    [FUNCTIONS, UNITTEST, CLASSES, FIXTURES, FAILING],
    ids=["functions", "unittest", "classes", "fixtures", "failing"],
)
def test_nothing_is_reported(lab, text, arguments):
    lab.write(test_a=text)
    answer = lab.run("--basetemp", str(lab.home.parent / "base"), *arguments)
    assert [each for each in answer.changes if not each["id"].startswith("module:")] == []
    if text is not FAILING and text is not FIXTURES:
        assert answer.ids == []
    assert answer.notes == []
