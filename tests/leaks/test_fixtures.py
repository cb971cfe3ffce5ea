"""Fixtures wider than a test keep what one test did to them for the next."""

import pytest


def test_a_fixture_object_that_was_mutated(lab, flips):
    lab.write(
        test_a="""
            import pytest
            @pytest.fixture(scope='module')
            def router():
                yield {}
            def test_polluter(router): router['x'] = 1
            def test_target(router): assert router == {}
        """
    )
    change = flips("fixture:router@test_a.py")
    assert change["name"] == "fixture router (module scope)"
    assert (change["before"], change["after"]) == ("not set up", '{"x": 1}')


def test_clean_up_of_a_forgotten_value_does_not_run_before_the_target(lab, flips):
    lab.write(
        test_a="""
            import pytest
            LOG = []
            @pytest.fixture(scope='module')
            def router():
                try: yield []
                finally: LOG.append('cleaned')
            def test_polluter(router): router.append(1)
            def test_target(router): assert router == [] and LOG == []
        """
    )
    flips("fixture:router@test_a.py")


def test_a_value_that_was_there_before_is_looked_into(lab):
    lab.write(
        test_a="""
            import pytest
            class Router:
                def __init__(self): self.routes = []
            @pytest.fixture(scope='session', autouse=True)
            def router(): return Router()
            def test_polluter(router): router.routes.append(1)
            def test_target(router): assert router.routes == []
        """,
        conftest="""
            import pytest
            @pytest.hookimpl(tryfirst=True)
            def pytest_collection_finish(session):
                # Set up before the watch starts, as by a test that ran earlier.
                item = session.items[0]
                session._setupstate.setup(item) if hasattr(session._setupstate, 'setup') else None
        """,
    )
    name = "attribute:fixture router (session scope).routes"
    plain = lab.run()
    assert plain.change(name)["after"] == "[1]"
    assert lab.run(restore=[name]).target == "passed"


@pytest.mark.parametrize(
    "id, name, text",
    [
        (
            "fixture:_unittest_setUpClass_fixture_TestBoth@test_a.py::TestBoth",
            "setUpClass of test_a.TestBoth",
            """
                import unittest
                class TestBoth(unittest.TestCase):
                    @classmethod
                    def setUpClass(cls): cls.items = []
                    def test_polluter(self): self.items.append(1)
                    def test_target(self): self.assertEqual(self.items, [])
            """,
        ),
        (
            "fixture:_xunit_setup_class_fixture_TestBoth@test_a.py::TestBoth",
            "setup_class of test_a.TestBoth",
            """
                class TestBoth:
                    @classmethod
                    def setup_class(cls): cls.items = []
                    def test_polluter(self): self.items.append(1)
                    def test_target(self): assert self.items == []
            """,
        ),
        (
            "fixture:_xunit_setup_module_fixture_test_a@test_a.py",
            "setup_module of test_a",
            """
                def setup_module(module): module.items = []
                def test_polluter(): items.append(1)
                def test_target(): assert items == []
            """,
        ),
    ],
)
def test_set_up_in_the_style_of_xunit(lab, flips, id, name, text):
    lab.write(test_a=text)
    assert flips(id)["name"] == name
