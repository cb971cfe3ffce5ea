"""What a test changes in objects of the project is named, shown and put back."""


def test_a_module_dictionary(lab, flips):
    lab.write(
        shop="RATES = {'default': 1, 'other': 2}\n",
        test_a="""
            import shop
            from shop import RATES
            def test_polluter(): shop.RATES['default'] = 5
            def test_target(): assert shop.RATES == {'default': 1, 'other': 2} and RATES is shop.RATES
        """,
    )
    change = flips('global:shop.RATES["default"]')
    assert (change["before"], change["after"]) == ("1", "5")
    assert change["module"] == "shop"


def test_where_the_module_of_a_name_ends(lab):
    (lab.root / "lib").mkdir()
    (lab.root / "lib" / "__init__.py").write_text("")
    lab.write(
        **{"lib/prices": "class table:\n    rows = {}\nrates = {}\n"},
        test_a="""
            import os
            from lib import prices
            def test_polluter():
                prices.rates['a'] = prices.table.rows['a'] = 1
                prices.table.open = True
                os.environ['X'] = '1'
            def test_target(): pass
        """,
    )
    changes = {change["name"]: change["module"] for change in lab.run().changes}
    of_module = ['lib.prices.rates["a"]', 'lib.prices.table.rows["a"]', "lib.prices.table.open"]
    assert {changes[name] for name in of_module} == {"lib.prices"}
    assert changes['os.environ["X"]'] is None


def test_a_key_that_is_new_and_one_that_is_gone(lab):
    lab.write(
        test_a="""
            STATE = {'a': 1, 'b': 2}
            def test_polluter(): del STATE['a']; STATE[('x', 1)] = 3
            def test_target(): assert list(STATE.items()) == [('a', 1), ('b', 2)]
        """
    )
    answer = lab.run(restore="all")
    assert answer.ids == ['global:test_a.STATE["a"]', 'global:test_a.STATE[("x", 1)]']
    assert answer.target == "passed"


def test_a_global_that_was_rebound(lab, flips):
    lab.write(
        shop="cache = None\nOPTIONS = []\n",
        test_a="""
            import shop
            def test_polluter(): shop.cache = object()
            def test_target(): assert shop.cache is None
        """,
    )
    change = flips("global:shop.cache")
    assert (change["before"], change["after"]) == ("None", "<object>")


def test_a_module_that_its_package_keeps_and_the_interpreter_does_not(lab, flips):
    (lab.root / "kept").mkdir()
    (lab.root / "kept" / "__init__.py").write_text("")
    (lab.root / "kept" / "inner.py").write_text("SEEN = []\n")
    lab.write(
        test_a="""
            import sys
            import kept
            def test_polluter():
                from kept import inner
                inner.SEEN.append(1)
                del sys.modules['kept.inner']
            def test_target():
                from kept import inner
                assert not inner.SEEN
        """,
    )
    flips("global:kept.inner")


def test_values_of_the_standard_library_are_shown_and_those_of_others_are_not_asked(lab, flips):
    lab.write(
        test_a="""
            import datetime, decimal
            class Loud(decimal.Decimal):
                def __repr__(self): raise SystemExit('asked')
            class Zone(datetime.tzinfo):
                def __repr__(self): raise SystemExit('asked')
            STATE = {'price': decimal.Decimal('0.10'), 'day': datetime.date(2020, 1, 2)}
            def test_polluter():
                STATE.update(price=decimal.Decimal('0.50'), loud=Loud(1))
                STATE.update(at=datetime.datetime(2020, 1, 2, tzinfo=Zone()), day=datetime.date(2021, 1, 2))
            def test_target(): assert STATE['price'] < 0.2
        """,
    )
    change = flips('global:test_a.STATE["price"]')
    assert (change["before"], change["after"]) == ("Decimal('0.10')", "Decimal('0.50')")
    answer = lab.run()
    assert answer.change('global:test_a.STATE["day"]')["after"] == "datetime.date(2021, 1, 2)"
    assert answer.change('global:test_a.STATE["loud"]')["after"] == "<test_a.Loud>"
    assert answer.change('global:test_a.STATE["at"]')["after"] == "<datetime.datetime>"


def test_a_list_on_a_class(lab, flips):
    lab.write(
        shop="class Cart:\n    items = []\n",
        test_a="""
            from shop import Cart
            def test_polluter(): Cart().items.append('apple')
            def test_target(): assert Cart.items == []
        """,
    )
    change = flips("class_attribute:shop.Cart.items")
    assert (change["before"], change["after"]) == ("[]", '["apple"]')


def test_a_class_attribute_that_was_set(lab, flips):
    lab.write(
        shop="class Base:\n    debug = False\nclass Cart(Base):\n    pass\n",
        test_a="""
            from shop import Cart
            def test_polluter(): Cart.debug = True
            def test_target(): assert not Cart.debug
        """,
    )
    change = flips("class_attribute:shop.Cart.debug")
    assert change["before"] == "(not there)"


def test_an_attribute_of_an_object_inside_a_list_inside_a_global(lab, flips):
    lab.write(
        rules="""
            class Rule:
                def __init__(self): self._indent_level = 0
            class Tight(Rule):
                __slots__ = ('width',)
            RULES = [Rule(), Tight()]
        """,
        test_a="""
            import rules
            def test_polluter(): rules.RULES[1]._indent_level += 1
            def test_target(): assert rules.RULES[1]._indent_level == 0
        """,
    )
    flips("attribute:rules.RULES[1]._indent_level")


def test_a_slot(lab, flips):
    lab.write(
        test_a="""
            class Point:
                __slots__ = ('x', 'y')
            POINT = Point()
            POINT.x = 1
            def test_polluter(): POINT.y = 2
            def test_target(): assert not hasattr(POINT, 'y')
        """
    )
    flips("attribute:test_a.POINT.y")


def test_a_mutable_default_argument(lab, flips):
    lab.write(
        shop="def add(item, to=[]):\n    to.append(item)\n    return to\n",
        test_a="""
            import shop
            def test_polluter(): shop.add(1)
            def test_target(): assert shop.add(2) == [2]
        """,
    )
    flips("closure:shop.add(to=…)")


def test_a_closure_variable(lab, flips):
    lab.write(
        shop="""
            def counter():
                count = 0
                def bump():
                    nonlocal count
                    count += 1
                    return count
                return bump
            bump = counter()
        """,
        test_a="""
            import shop
            def test_polluter(): shop.bump()
            def test_target(): assert shop.bump() == 1
        """,
    )
    flips("closure:shop.bump closure variable count")


def test_a_function_attribute(lab, flips):
    lab.write(
        test_a="""
            def work(): work.calls = getattr(work, 'calls', 0) + 1
            def test_polluter(): work()
            def test_target(): work(); assert work.calls == 1
        """
    )
    flips("attribute:test_a.work.calls")


def test_a_cached_function(lab, flips):
    lab.write(
        shop="""
            import functools, os
            class Settings:
                @staticmethod
                @functools.lru_cache(maxsize=None)
                def read(): return os.environ.get('MODE')
        """,
        test_a="""
            import os, shop
            def test_polluter(monkeypatch):
                monkeypatch.setenv('MODE', 'x')
                shop.Settings.read()
            def test_target(): assert shop.Settings.read() is None
        """,
    )
    change = flips("cache:shop.Settings.read")
    assert (change["before"], change["after"]) == ("0 entries", "1 entry")


def test_sets_deques_bytearrays_and_ordered_dictionaries(lab):
    lab.write(
        test_a="""
            from collections import deque, OrderedDict, defaultdict
            SEEN, LAST, RAW = {1}, deque([1, 2], maxlen=2), bytearray(b'ab')
            ORDER = OrderedDict([('a', 1), ('b', 2)])
            GROUPS = defaultdict(list)
            def test_polluter():
                SEEN.add(2); LAST.append(3); RAW.extend(b'c'); ORDER.move_to_end('a'); GROUPS['x'].append(1)
            def test_target():
                assert SEEN == {1} and list(LAST) == [1, 2] and RAW == b'ab' and list(ORDER) == ['a', 'b']
                assert not GROUPS
        """
    )
    answer = lab.run(restore="all")
    assert set(answer.ids) == {
        "global:test_a.SEEN",
        "global:test_a.LAST",
        "global:test_a.RAW",
        "global:test_a.ORDER",
        'global:test_a.GROUPS["x"]',
    }
    assert answer.target == "passed", answer.output


def test_buffers_locks_counters_iterators_and_generators_of_random_numbers(lab):
    lab.write(
        test_a="""
            import io, itertools, random, threading
            BUFFER, LOCK, IDS, LETTERS = io.StringIO('a'), threading.Lock(), itertools.count(1), iter([1, 2])
            DICE = random.Random(1)
            FIRST = random.Random(1).random()
            def test_polluter():
                BUFFER.write('xyz'); LOCK.acquire(); next(IDS); list(LETTERS); DICE.random()
            def test_target():
                assert BUFFER.getvalue() == 'a' and BUFFER.tell() == 0 and LOCK.acquire(False)
                assert next(IDS) == 1 and list(LETTERS) == [1, 2] and DICE.random() == FIRST
        """
    )
    answer = lab.run(restore="all")
    assert {each["kind"] for each in answer.changes} == {"global", "generator", "random"}
    assert answer.target == "passed", answer.output


def test_a_generator_that_was_exhausted(lab, flips):
    lab.write(
        test_a="""
            NUMBERS = (n for n in range(3))
            def test_polluter(): list(NUMBERS)
            def test_target(): assert list(NUMBERS) == [0, 1, 2]
        """
    )
    plain = lab.run()
    change = plain.change("generator:test_a.NUMBERS")
    assert not change["restorable"] and change["after"] == "generator at its end"
    flips("generator:test_a.NUMBERS", tee=True)


def test_thread_local_values(lab, flips):
    lab.write(
        shop="import threading\nlocal = threading.local()\nlocal.user = None\n",
        test_a="""
            import shop
            def test_polluter(): shop.local.user = 'eve'
            def test_target(): assert shop.local.user is None
        """,
    )
    flips("attribute:shop.local.user")


def test_what_is_below_a_replaced_value_is_not_told_apart(lab, flips):
    lab.write(
        test_a="""
            class Box:
                def __init__(self): self.inner = {'a': []}
            BOX = Box()
            def test_polluter():
                global BOX
                BOX.inner['a'].append(1)
                BOX = Box()
                BOX.inner['b'] = 2
            def test_target(): assert BOX.inner == {'a': []} and BOX is test_target.box
            test_target.box = BOX
        """
    )
    flips("global:test_a.BOX")
    assert lab.run().ids == ["global:test_a.BOX"]


def test_an_equal_value_of_another_identity_comes_last(lab):
    lab.write(
        test_a="""
            A, B = [1], [1]
            def test_polluter():
                global A
                A = [1]; B.append(2)
            def test_target(): pass
        """
    )
    assert lab.run().ids == ["global:test_a.B", "global:test_a.A"]


def test_third_party_objects_come_after_those_of_the_project(lab):
    lab.write(
        **{
            "lib__site-packages__vendor": "STATE = {}\nclass Thing:\n    seen = []\n",
            "conftest": "import os, sys; sys.path.insert(0, os.path.abspath('lib/site-packages'))",
            "test_a": """
                import vendor
                OWN = []
                def test_polluter():
                    vendor.STATE['x'] = 1; vendor.Thing.seen.append(1); OWN.append(1)
                def test_target(): assert not vendor.STATE and not vendor.Thing.seen
            """,
        }
    )
    answer = lab.run(restore="all")
    assert answer.ids[0] == "global:test_a.OWN"
    assert sorted(answer.ids[1:]) == ["class_attribute:vendor.Thing.seen", 'global:vendor.STATE["x"]']
    assert answer.target == "passed"


def test_a_parameter_that_two_tests_share(lab, flips):
    lab.write(
        test_a="""
            import pytest
            @pytest.mark.parametrize('n', [1, 2])
            @pytest.mark.parametrize('basket', [[]])
            def test_both(n, basket):
                basket.append(n)
                assert len(basket) == 1
        """
    )
    plain = lab.run()
    assert plain.target == "failed"
    flips(plain.ids[0])


def test_texts_are_shown_whatever_quotation_marks_they_have(lab):
    lab.write(
        test_a="""
            STATE = {"none": 0, "one": 0, "two": 0, "both": 0}
            def test_polluter(): STATE.update(none="a", one="it's", two='"b"', both='it\\'s "c"')
            def test_target(): assert STATE["none"] == 0
        """
    )
    answer = lab.run()
    shown = [answer.change('global:test_a.STATE["%s"]' % name)["after"] for name in ("none", "one", "two", "both")]
    assert shown == ['"a"', '"it\'s"', '"\\"b\\""', '"it\'s \\"c\\""']


def test_how_far_files_were_read(lab, flips):
    for kind, mode in (("text", "'r'"), ("buffered", "'rb'"), ("raw", "'rb', 0")):
        lab.write(
            test_a="""
                import os
                FILE = open(__file__, %s)
                def test_polluter(): os.read(FILE.fileno(), 5) if %r == 'raw' else FILE.read(5)
                def test_target(): assert len(FILE.read(6)) == 6 and FILE.tell() == 6
            """
            % (mode, kind)
        )
        change = flips("global:test_a.FILE")
        assert (change["before"], change["after"]) == ("file at 0", "file at 5"), kind


def test_what_was_not_written_yet_is_not_written_by_watching(lab):
    lab.write(
        test_a="""
            import os, tempfile
            FILE = tempfile.NamedTemporaryFile('w', delete=False)
            FILE = open(FILE.name, 'w')
            def test_polluter(): FILE.write('abc')
            def test_target(): assert os.path.getsize(FILE.name) == 0
        """
    )
    assert lab.run().target == "passed"


def test_a_project_may_be_called_like_the_machinery(lab, flips):
    lab.write(
        execnet="""STATE = []\n""",
        test_a="""
            import execnet
            def test_polluter(): execnet.STATE.append(1)
            def test_target(): assert execnet.STATE == []
        """,
    )
    flips("global:execnet.STATE")
