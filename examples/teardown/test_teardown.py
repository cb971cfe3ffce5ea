"""A class and a module whose teardown fails, on whichever test runs last."""

import unittest

import pytest


class TestLeaky(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("the server did not stop")

    def test_one(self):
        pass

    def test_two(self):
        pass

    def test_three(self):
        pass


class TestFine:
    def test_one(self):
        pass

    @pytest.mark.parametrize("n", [1, 2])
    def test_two(self, n):
        assert n
