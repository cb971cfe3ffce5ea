"""No object of the suite can stop, slow down or be woken by the watch."""


def test_objects_that_fight_back(lab):
    lab.write(
        zoo="""
            def boom(*a, **k): raise SystemExit('woken')
            class Meta(type):
                __eq__ = __hash__ = __getattribute__ = __instancecheck__ = boom
            class Hostile:
                __eq__ = __hash__ = __repr__ = __str__ = __getattr__ = __getattribute__ = __len__ = boom
                __iter__ = __bool__ = __reduce__ = __setattr__ = boom
                __class__ = property(boom)
            class NoDict:
                __dict__ = property(boom)
            class Sly(dict):
                __getitem__ = __iter__ = items = keys = values = copy = __len__ = __eq__ = boom
            class Rows(list):
                __getitem__ = __iter__ = copy = __len__ = __eq__ = boom
            Odd = type.__call__(Meta, 'Odd', (), {'state': []})
            H, N, S, R, O = Hostile(), NoDict(), Sly(a=1), Rows([1]), object.__new__(Odd)
            ALL = [H, N, S, R, O, Odd]
            PROXY = __import__('types').MappingProxyType(S)
        """,
        test_a="""
            import zoo
            def test_polluter():
                object.__setattr__(zoo.H, 'x', 1)
                dict.__setitem__(zoo.S, 'b', zoo.H)
                list.append(zoo.R, zoo.H)
                zoo.ALL.append(zoo.H)
                type.__getattribute__(zoo.Odd, 'state').append(1)
            def test_target():
                assert dict.__len__(zoo.S) == 1 and list.__len__(zoo.R) == 1 and list.__len__(zoo.ALL) == 6
                assert not type.__getattribute__(zoo.Odd, 'state')
        """,
    )
    answer = lab.run(restore="all")
    assert set(answer.ids) == {
        "attribute:zoo.H.x",
        'global:zoo.S["b"]',
        "global:zoo.R",
        "global:zoo.ALL",
        "class_attribute:zoo.Odd.state",
    }
    assert answer.notes == []
    assert answer.target == "passed", answer.output


def test_keys_that_cannot_be_hashed_again(lab):
    lab.write(
        test_a="""
            class Key:
                ready = True
                def __hash__(self):
                    if not Key.ready: raise SystemExit('woken')
                    return 1
                def __eq__(self, other): raise SystemExit('woken')
            KEYS = {Key(): 1}
            SEEN = {Key()}
            def test_polluter():
                Key.ready = False
                KEYS['x'] = 1
            def test_target(): assert len(KEYS) == 1
        """
    )
    answer = lab.run(restore=['global:test_a.KEYS["x"]'])
    assert answer.target == "passed", answer.output
    assert 'global:test_a.KEYS["x"]' in answer.ids


def test_cycles_and_long_chains(lab, flips):
    lab.write(
        test_a="""
            class Link:
                def __init__(self, following): self.following, self.value = following, 0
            HEAD = None
            for _ in range(5000): HEAD = Link(HEAD)
            LOOP = []; LOOP.append(LOOP)
            SELF = {}; SELF['self'] = SELF
            def test_polluter():
                HEAD.following.following.value = 1
                link = HEAD
                while link.following: link = link.following
                link.value = 2
                LOOP.append(1)
            def test_target(): assert HEAD.following.following.value == 0
        """
    )
    flips("attribute:test_a.HEAD.following.following.value")
    answer = lab.run()
    assert "global:test_a.LOOP" in answer.ids
    assert len([each for each in answer.ids if each.endswith(".value")]) == 2


def test_a_list_of_a_million(lab, flips):
    lab.write(
        test_a="""
            BIG = [[] for _ in range(20000)] + list(range(10**6))
            def test_polluter(): BIG[500_000] = None; BIG[3].append(1)
            def test_target(): assert BIG[500_000] is not None and BIG[3] == []
        """
    )
    answer = lab.run(restore="all")
    assert answer.target == "passed"
    assert set(answer.ids) == {"global:test_a.BIG", "global:test_a.BIG[3]"}
    assert answer.size["objects"] < 30_000
    assert any("more than 10,000 elements" in note for note in answer.notes)


def test_what_is_too_large_to_be_copied_is_left_out_and_said(lab):
    lab.write(
        test_a="""
            SMALL, LARGE = [], {"a": list(range(1_000_000))}
            ROWS = {number: number for number in range(100_000)}
            def test_polluter(): SMALL.append(1); LARGE["a"].append(1); ROWS[7] = 0
            def test_target(): assert not SMALL
        """
    )
    answer = lab.run(restore="all", limits={"limit_bytes": 1 << 20})
    assert answer.target == "passed"
    assert answer.ids == ["global:test_a.SMALL"]
    assert "2 containers were too large to be copied (1 MB for all), such as ROWS" in answer.notes
    answer = lab.run()
    assert set(answer.ids) == {"global:test_a.SMALL", 'global:test_a.LARGE["a"]', "global:test_a.ROWS[7]"}
    assert not any("too large" in note for note in answer.notes)


def test_large_containers_are_looked_into_as_long_as_there_is_time(lab):
    lab.write(
        test_a="""
            LARGE = [0] * 1_000_000 + [[]] + [""] * 1_000_000
            def test_polluter(): LARGE[1_000_000].append(1)
            def test_target(): assert not LARGE[1_000_000]
        """
    )
    answer = lab.run(restore="all", limits={"limit_seconds": 60})
    assert answer.target == "passed"
    assert answer.ids == ["global:test_a.LARGE[1000000]"]
    answer = lab.run(limits={"limit_seconds": 0})
    assert answer.ids == []
    cut = [note for note in answer.notes if note.startswith("snapshot cut after 0.0 seconds: ")]
    assert len(cut) == 1, answer.notes


def test_limits_cut_what_is_furthest_and_say_so(lab):
    lab.write(
        **{
            "lib__site-packages__vendor": "STATE = [[n] for n in range(5000)]\n",
            "conftest": "import os, sys; sys.path.insert(0, os.path.abspath('lib/site-packages'))",
            "test_a": """
                import time, vendor
                OWN = []
                def test_polluter(): OWN.append(1); time.time = None
                def test_target(): assert not OWN
            """,
        }
    )
    answer = lab.run(restore="all", limits={"limit_nodes": 1000})
    assert answer.target == "passed"
    assert "builtin:time.time" in answer.ids
    cut = [note for note in answer.notes if note.startswith("snapshot cut after 1,000 objects: ")]
    assert cut and cut[0].endswith(" not looked into"), answer.notes
