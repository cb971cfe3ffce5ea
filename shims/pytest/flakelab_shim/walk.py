"""Walks a trie of orders by fork: a shared prefix runs once, every branch continues from a copy.

The item before a branch is torn down with its true successor. pytest tears down what the next item's
collector chain does not share, so successors that keep the same part of the chain are served by one
execution; each further group gets an execution of its own, forked before the item starts. Where a
plugin or conftest looks at `nextitem` itself, every distinct successor gets its own.

What a prefix has left running (threads, child processes, timers) no fork would have: there the walk ends, and whoever
asked for it is told, to run what is open in another way.
"""

from .channel import clean
from .sealed import os

END = -1


class Trie:
    """Nodes in depth-first order: `tests[n]` is the item index; a node's successor is n + 1 unless listed."""

    def __init__(self, request):
        self.tests = request["tests"]
        self._kids = {int(k): v for k, v in request.get("kids", {}).items()}

    def successors(self, node):
        return self._kids.get(node) or [node + 1 if node + 1 < len(self.tests) else END]

    def is_path(self, node):
        """Whether nothing branches off behind it."""
        while node != END:
            following = self.successors(node)
            if len(following) > 1:
                return False
            node = following[0]
        return True


class Stop(Exception):
    """The suite asked to end the session."""


class Walker:
    """`branching` forks a branch, and says what stands in the way of that; None where orders have no branches."""

    def __init__(
        self, session, items, recorder, channel, branching, surroundings, first_node=0, layers=None, reach=None
    ):
        self._session = session
        self._items = items
        self._recorder = recorder
        self._channel = channel
        self._branching = branching
        self._surroundings = surroundings
        self._strict = _somebody_reads_nextitem(session.config)
        self._pid = os.getpid()
        self._first_node = first_node
        self._layers = layers
        self._reach = reach

    def walk(self, trie):
        """Executes every path of the trie; returns in the process that finished the last one."""
        node = 0 if trie.tests else END
        while node != END:
            groups = self._groups(trie, node)
            group = self._pick(trie, groups)
            self._execute(trie, node, group)
            node = self._pick(trie, group)

    def _pick(self, trie, branches):
        """Continues the last branch here and each other one in a fork, waited for."""
        if len(branches) > 1:
            obstacle = self._branching.obstacle()
            if obstacle is not None:
                self._channel.send({"k": "unsharable", "m": clean(obstacle, 500)})
                raise Stop
        for branch in branches[:-1]:
            if self._branching.fork(isinstance(branch, int) and trie.is_path(branch)):
                self._pid = os.getpid()
                return branch
        return branches[-1]

    def _item(self, trie, node):
        return None if node == END else self._items[trie.tests[node]]

    def _groups(self, trie, node):
        successors = trie.successors(node)
        if len(successors) == 1:
            return [successors]
        item, groups = self._items[trie.tests[node]], {}
        for successor in successors:
            following = self._item(trie, successor)
            if following is None:
                key = 0
            elif self._strict:
                key = following.nodeid
            else:
                key = _kept(item, following)
            groups.setdefault(key, []).append(successor)
        return list(groups.values())

    def _execute(self, trie, node, group):
        item, following = self._items[trie.tests[node]], self._item(trie, group[0])
        number = self._first_node + node
        self._surroundings.before(number)
        if len(group) > 1 or group[0] != node + 1:
            # There may be as many as there are tests: more than fit into one packet.
            self._channel.send_list("to", group)
        self._channel.send_raw(b'{"k":"s","n":%d}' % number)
        if self._layers is not None:
            self._layers.start(number, clean(item.nodeid, 20_000))
        event, is_over = execute(self._session, self._recorder, self._pid, item, following)
        if self._layers is not None:
            self._layers.finish()
        if self._reach is not None:
            self._reach.tell(number)
        event.update(k="o", n=number)
        self._channel.send(event)
        if is_over:
            raise Stop


def execute(session, recorder, pid, item, following):
    """(what is to be told of an item that ran, whether the session ends with it)"""
    if following is item:
        # The same test again: what is wider than the test stays, the test itself is torn down.
        following = item.parent
    recorder.start(item.nodeid)
    stop = None
    names = _doctest_names(item)
    collected = None if names is None else dict(names)
    try:
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    except BaseException as error:  # pytest.exit, KeyboardInterrupt: plain pytest ends here
        stop = error
    if names is not None:
        names.clear()
        names.update(collected)
    if os.getpid() != pid:
        # The test forked and its child fell out of the test: it must not go on as a second run.
        os._exit(83)
    event = recorder.finish()
    if stop is not None:
        event.update(o="f", ph="call", m=clean("%s ended the session" % type(stop).__name__, 500), at="")
    return event, stop is not None or session.shouldstop or session.shouldfail


def _doctest_names(item):
    """The names that a doctest finds, copied from its module when it was collected. They are thrown away when it has
    passed, and keep what it has assigned when it has failed; when it is collected again they are as before."""
    names = getattr(getattr(item, "dtest", None), "globs", None)
    return names if type(names) is dict else None


def _kept(item, following):
    """How much of the item's chain of collectors the following item still needs."""
    theirs = set(map(id, following.listchain()))
    return sum(1 for node in item.listchain() if id(node) in theirs)


def _somebody_reads_nextitem(config):
    for hook in ("pytest_runtest_protocol", "pytest_runtest_teardown"):
        for implementation in getattr(config.hook, hook).get_hookimpls():
            module = getattr(implementation.function, "__module__", "") or ""
            if "nextitem" in implementation.argnames and not module.startswith(
                ("_pytest.", "pytest_asyncio", "pytest_timeout", "xdist.", "flakelab_shim")
            ):
                return True
    return False
