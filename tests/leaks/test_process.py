"""What a test changes in the process around its objects is named, shown and put back."""

import locale
import sys

import pytest


def test_an_environment_variable(lab, flips):
    lab.write(
        test_a="""
            import os, time
            def test_polluter(): os.environ['TZ'] = 'Asia/Tokyo'; time.tzset(); os.environ['NEW'] = '1'
            def test_target(): assert time.timezone == 0 and os.getenv('TZ') == 'UTC'
        """,
        conftest="import os, time\nos.environ['TZ'] = 'UTC'\ntime.tzset()\n",
    )
    change = flips('environ:os.environ["TZ"]')
    assert (change["before"], change["after"]) == ('"UTC"', '"Asia/Tokyo"')
    answer = lab.run()
    assert answer.ids[:2] == ['environ:os.environ["TZ"]', 'environ:os.environ["NEW"]']
    assert answer.change("timezone:time zone")["restorable"]


def test_a_time_zone_that_stayed_when_the_variable_was_put_back(lab, flips):
    lab.write(
        test_a="""
            import time
            def test_polluter(monkeypatch): monkeypatch.setenv('TZ', 'Asia/Tokyo'); time.tzset()
            def test_target(): assert time.timezone == 0 and time.localtime(0).tm_hour == 0
        """,
        conftest="import os, time\nos.environ['TZ'] = 'UTC'\ntime.tzset()\n",
    )
    flips("timezone:time zone")


def test_the_working_directory(lab, flips):
    lab.write(
        test_a="""
            import os
            HERE = os.getcwd()
            def test_polluter(): os.chdir('/')
            def test_target(): assert os.getcwd() == HERE
        """
    )
    assert flips("cwd:working directory")["after"] == '"/"'


def test_a_function_of_the_standard_library_that_was_replaced(lab, flips):
    lab.write(
        test_a="""
            import time
            def test_polluter(): time.time = lambda: 0.0
            def test_target(): assert time.time() > 1
        """
    )
    change = flips("builtin:time.time")
    assert change["before"] == "<function time.time>"


def test_a_method_of_the_standard_library_that_was_replaced(lab, flips):
    lab.write(
        test_a="""
            import pathlib
            def test_polluter(): pathlib.Path.exists = lambda self: True
            def test_target(): assert not pathlib.Path('/nowhere').exists()
        """
    )
    assert flips("builtin:%s.Path.exists" % _module_of_path())


def _module_of_path():
    import pathlib

    return pathlib.Path.__module__


def test_a_builtin_that_was_replaced(lab, flips):
    lab.write(
        test_a="""
            import builtins
            def test_polluter(): builtins.open = None
            def test_target(): assert open
        """
    )
    flips("builtin:builtins.open")


def test_a_module_that_was_mocked(lab, flips):
    lab.write(
        test_a="""
            import sys
            import unittest.mock
            def test_polluter(): sys.modules['json'] = unittest.mock.Mock()
            def test_target():
                import json
                assert json.loads('[1]') == [1]
        """,
        conftest="import json\n",
    )
    change = flips("module:json")
    assert (change["before"], change["after"]) == ("<module json>", "<unittest.mock.Mock>")


def test_modules_that_were_imported_come_last_and_can_be_forgotten(lab, flips):
    lab.write(
        shop__lazy="STATE = []\n",
        test_a="""
            import os
            def test_polluter():
                import shop.lazy
                shop.lazy.STATE.append(1)
                os.environ['X'] = '1'
            def test_target():
                import shop.lazy
                assert not shop.lazy.STATE
        """,
    )
    flips("module:shop.lazy")
    assert lab.run().ids == ['environ:os.environ["X"]', "module:shop", "module:shop.lazy"]


def test_the_search_path(lab, flips):
    lab.write(
        test_a="""
            import sys
            def test_polluter(): sys.path.insert(0, '/nowhere')
            def test_target(): assert '/nowhere' not in sys.path
        """
    )
    flips("sys_path:sys.path")


def test_levels_handlers_and_switches_of_loggers(lab):
    lab.write(
        test_a="""
            import logging
            log = logging.getLogger('shop')
            def test_polluter():
                logging.getLogger().setLevel(10); log.addHandler(logging.NullHandler())
                log.disabled = True; log.propagate = False; logging.disable(30)
            def test_target():
                assert logging.getLogger().level == 30 and not log.handlers
                assert not log.disabled and log.propagate and log.isEnabledFor(30)
        """
    )
    assert lab.run().target == "failed"
    answer = lab.run(restore="all")
    assert answer.target == "passed", answer.output
    assert set(answer.ids) == {
        "logging:logger root: level",
        "logging:logger shop: handlers",
        "logging:logger shop: disabled",
        "logging:logger shop: propagate",
        "logging:logging: disable",
    }
    assert answer.change("logging:logger root: level")["after"] == "DEBUG (10)"


def test_filters_of_warnings(lab, flips):
    lab.write(
        test_a="""
            import warnings
            def test_polluter(): warnings.simplefilter('error', UserWarning)
            def test_target(): warnings.warn('x')
        """
    )
    flips("warnings:warnings.filters", "-p", "no:warnings")


def test_umask(lab, flips):
    lab.write(
        test_a="""
            import os
            def test_polluter(): os.umask(0o077)
            def test_target(): assert os.umask(0o022) == 0o022
        """,
        conftest="import os\nos.umask(0o022)\n",
    )
    change = flips("umask:umask")
    assert (change["before"], change["after"]) == ("022", "077")


def _some_locale():
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("C.utf8", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            return name
        except locale.Error:
            continue
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)
    return None


@pytest.mark.skipif(_some_locale() is None, reason="only the C locale is installed")
def test_locale(lab, flips):
    lab.write(
        test_a="""
            import locale
            def test_polluter(): locale.setlocale(locale.LC_NUMERIC, %r)
            def test_target(): assert locale.setlocale(locale.LC_NUMERIC) == 'C'
        """
        % _some_locale()
    )
    flips("locale:LC_NUMERIC")


def test_decimal_precision(lab, flips):
    lab.write(
        test_a="""
            import decimal
            def test_polluter(): decimal.getcontext().prec = 2
            def test_target(): assert str(1 / decimal.Decimal(3)) == '0.' + '3' * 28
        """
    )
    flips("decimal:decimal context.prec")


def test_a_signal_handler(lab, flips):
    lab.write(
        test_a="""
            import signal
            def test_polluter(): signal.signal(signal.SIGUSR1, lambda *a: None)
            def test_target(): assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL
        """
    )
    assert flips("signal:handler of SIGUSR1")["before"] == "SIG_DFL"


def test_a_timer(lab, flips):
    lab.write(
        test_a="""
            import signal
            def test_polluter(): signal.alarm(1000)
            def test_target(): assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        """
    )
    change = flips("timer:ITIMER_REAL")
    assert (change["before"], change["after"]) == ("off", "goes off in 1e+03 s")


def test_a_timer_that_goes_on_is_no_change(lab):
    lab.write(
        test_a="""
            import signal
            def test_polluter(): assert signal.getitimer(signal.ITIMER_REAL)[0] < 1000
            def test_target(): pass
        """,
        conftest="import signal\nsignal.setitimer(signal.ITIMER_REAL, 1000, 7)\n",
    )
    answer = lab.run()
    assert answer.ids == [] and set(answer.outcomes.values()) == {"passed"}, answer.output


@pytest.mark.parametrize(
    "id, pollute, check",
    [
        ("recursion limit", "sys.setrecursionlimit(4321)", "sys.getrecursionlimit() != 4321"),
        ("switch interval", "sys.setswitchinterval(0.5)", "sys.getswitchinterval() < 0.5"),
        ("garbage collection", "gc.disable()", "gc.isenabled()"),
        ("thresholds of garbage collection", "gc.set_threshold(1, 2, 3)", "gc.get_threshold()[0] > 1"),
        ("default timeout of sockets", "socket.setdefaulttimeout(3)", "socket.getdefaulttimeout() is None"),
        (
            "start method of multiprocessing",
            "multiprocessing.set_start_method('spawn')",
            "multiprocessing.get_start_method(True) is None",
        ),
        ("trace function", "sys.settrace(lambda *a: None)", "sys.gettrace() is None"),
        ("profile function", "sys.setprofile(lambda *a: None)", "sys.getprofile() is None"),
        ("blocked signals", "signal.pthread_sigmask(signal.SIG_BLOCK, [10])", "not signal.pthread_sigmask(0, ())"),
        (
            "limit RLIMIT_NOFILE",
            "resource.setrlimit(7, (400, resource.getrlimit(7)[1]))",
            "resource.getrlimit(7)[0] != 400",
        ),
        pytest.param(
            "most digits of an int",
            "sys.set_int_max_str_digits(5000)",
            "sys.get_int_max_str_digits() != 5000",
            marks=pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="Python has no such limit"),
        ),
    ],
)
def test_a_setting_that_only_functions_show(lab, flips, id, pollute, check):
    lab.write(
        test_a="""
            import gc, multiprocessing, resource, signal, socket, sys
            def test_polluter(): %s
            def test_target(): assert %s
        """
        % (pollute, check)
    )
    flips("setting:" + id)


def test_a_dialect_of_csv(lab, flips):
    lab.write(
        test_a="""
            import csv
            def test_polluter():
                csv.register_dialect('excel', delimiter=';')
                csv.register_dialect('shop', delimiter='|')
            def test_target(): assert next(csv.reader(['a,b'], 'excel')) == ['a', 'b']
        """
    )
    change = flips('csv:csv dialect "excel"')
    assert change["before"].startswith('delimiter=",", ') and change["after"].startswith('delimiter=";", ')
    added = lab.run(restore=['csv:csv dialect "shop"'])
    assert added.change('csv:csv dialect "shop"')["before"] == "not registered"
    assert 'csv:csv dialect "shop"' not in added.left


def test_names_of_logging_levels(lab, flips):
    lab.write(
        test_a="""
            import logging
            def test_polluter(): logging.addLevelName(20, 'note')
            def test_target():
                assert logging.getLevelName(20) == 'INFO' and logging.getLevelName('note') == 'Level note'
        """
    )
    change = flips("logging:logging: names of levels")
    assert (change["before"], change["after"]) == ('"as usual"', '{20: "note"}')


def test_the_global_generator_of_random_numbers(lab, flips):
    lab.write(
        test_a="""
            import random
            random.seed(1); FIRST = random.random(); random.seed(1)
            def test_polluter(): random.random()
            def test_target(): assert random.random() == FIRST
        """
    )
    flips("random:state of the random module")


def test_a_context_variable(lab, flips):
    lab.write(
        test_a="""
            import contextvars
            user = contextvars.ContextVar('user', default=None)
            bare = contextvars.ContextVar('bare')
            def test_polluter(): user.set('eve'); bare.set(1)
            def test_target(): assert user.get() is None
        """
    )
    flips("contextvar:context variable user")
    assert not lab.run().change("contextvar:context variable bare")["restorable"]


def test_an_event_loop_that_asyncio_run_took_away(lab):
    lab.write(
        test_a="""
            import asyncio
            async def nothing(): pass
            def test_polluter(): asyncio.run(nothing())
            def test_target(): asyncio.get_event_loop_policy()._local._set_called and 1 / 0
        """
    )
    answer = lab.run("-W", "ignore", restore="all")
    assert "asyncio:whether an event loop was ever set" in answer.ids
    assert answer.target == "passed", answer.output


def test_threads(lab):
    lab.write(
        test_a="""
            import threading
            stop = threading.Event()
            def work(): stop.wait(20)
            def test_polluter(): threading.Thread(target=work, name='worker', daemon=True).start()
            def test_target(): stop.set()
        """
    )
    change = lab.run().change("thread:thread worker")
    assert change["after"] == "running test_a.work" and not change["restorable"]


def test_descriptors(lab):
    lab.write(
        test_a="""
            import os, socket
            kept = []
            def test_polluter():
                kept.append(os.open('/dev/null', os.O_RDONLY))
                pair = socket.socketpair(); kept.extend(each.detach() for each in pair)
            def test_target():
                for number in kept:
                    try: os.fstat(number)
                    except OSError: continue
                    raise AssertionError(number)
        """
    )
    plain = lab.run()
    found = [each for each in plain.changes if each["kind"] == "descriptor"]
    assert sorted(each["after"] for each in found) == ["/dev/null", "socket", "socket"]
    assert plain.target == "failed"
    assert lab.run(restore=[each["id"] for each in found]).target == "passed"
