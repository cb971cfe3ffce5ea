"""The line of the project that wrote a value is found."""

import textwrap


def line_of(lab, name, mark):
    for number, line in enumerate((lab.root / name).read_text().splitlines(), 1):
        if mark in line:
            return "%s:%d" % (name, number)
    raise AssertionError(mark)


def trace(lab, id, name, mark="# here", *arguments):
    assert id in lab.run(*arguments).ids
    answer = lab.run(*arguments, trace=[id])
    assert answer.unknown == []
    assert answer.found == {id: line_of(lab, name, mark)}
    return answer


def test_an_assignment(lab):
    lab.write(
        shop="RATE = 1\n",
        test_a="""
            import shop
            def test_polluter():
                shop.RATE = 2
                shop.RATE = 3  # here
                assert shop.RATE
            def test_target(): pass
        """,
    )
    trace(lab, "global:shop.RATE", "test_a.py")


def test_a_write_through_a_function_of_the_project(lab):
    lab.write(
        shop="""
            RATES = {}
            def register(name):
                RATES[name] = 1  # here
                return name
        """,
        test_a="""
            import shop
            def test_polluter():
                shop.register('x')
                assert True
            def test_target(): pass
        """,
    )
    trace(lab, 'global:shop.RATES["x"]', "shop.py")


def test_the_result_of_a_function_is_charged_to_its_caller(lab):
    lab.write(
        shop="""
            class Cart: pass
            CART = Cart()
            def value():
                return 5
        """,
        test_a="""
            import shop
            def test_polluter():
                shop.CART.total = shop.value()  # here
            def test_target(): pass
        """,
    )
    trace(lab, "attribute:shop.CART.total", "test_a.py")


def test_a_list_in_a_default_argument(lab):
    lab.write(
        test_a="""
            def add(item, to=[]):
                to.append(item)  # here
                return to
            def test_polluter(): add(1)
            def test_target(): pass
        """
    )
    trace(lab, "closure:test_a.add(to=…)", "test_a.py")


def test_a_closure_variable(lab):
    lab.write(
        test_a="""
            def counter():
                n = 0
                def bump():
                    nonlocal n
                    n += 1  # here
                return bump
            BUMP = counter()
            def test_polluter(): BUMP()
            def test_target(): pass
        """
    )
    trace(lab, "closure:test_a.BUMP closure variable n", "test_a.py")


def test_the_set_up_of_a_fixture(lab):
    lab.write(
        conftest="""
            import pytest, shop
            @pytest.fixture
            def prepared():
                shop.STATE.append(1)  # here
                yield
        """,
        shop="STATE = []\n",
        test_a="def test_polluter(prepared): pass\ndef test_target(): pass\n",
    )
    trace(lab, "global:shop.STATE", "conftest.py")


def test_an_environment_variable_written_by_a_library(lab):
    lab.write(
        test_a="""
            import os
            def test_polluter():
                os.environ.update(MODE='x')  # here
                os.getpid()
            def test_target(): pass
        """
    )
    trace(lab, 'environ:os.environ["MODE"]', "test_a.py")


def test_a_file(lab):
    lab.write(
        test_a="""
            from pathlib import Path
            def test_polluter():
                path = Path(__file__).with_name('data.txt')
                path.exists() and path.unlink()
                path.write_text('x')  # here
                assert path
            def test_target(): Path(__file__).with_name('data.txt').unlink()
        """
    )
    trace(lab, "file:data.txt", "test_a.py")


def test_a_replaced_function_of_the_standard_library(lab):
    lab.write(
        test_a="""
            import time
            def test_polluter():
                time.time = lambda: 0  # here
            def test_target(): pass
        """
    )
    trace(lab, "builtin:time.time", "test_a.py")


def test_a_thread(lab):
    lab.write(
        test_a="""
            import threading
            STATE = {}
            def work():
                STATE['x'] = 1  # here
                return
            def test_polluter():
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            def test_target(): pass
        """
    )
    trace(lab, 'global:test_a.STATE["x"]', "test_a.py")


def test_the_former_trace_function_is_put_back(lab):
    lab.write(
        test_a=textwrap.dedent(
            """
            import sys
            STATE = []
            def test_polluter(): STATE.append(1)
            def test_target(): assert sys.gettrace() is sys.former
            """
        ),
        conftest="import sys\nsys.former = lambda *a: None\nsys.settrace(sys.former)\n",
    )
    assert lab.run(trace=["global:test_a.STATE"]).target == "passed"
