"""Makes a small project with ten versions in git: planted flakes, bugs and updates.

usage: ten_versions.py DIRECTORY        prints, as JSON, which tests have something to tell in which version
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TILL = '''"""A till."""

import random

QUEUES = {queues}


def coin():
    """Nobody knows."""
    return random.randint(1, 4){coin}


def first(names):
    """Of a set of strings, whichever comes first."""
    return list(names)[0]


def queue():
    """Depends on the day."""
    return random.choice(QUEUES)


def vat(net):
    return round(net * {rate}, 2)


def total(prices, discount=0):
    return sum(prices) {minus} discount


def receipt(name, price):
    return "{receipt}" % (name, price)


def change(paid, price):
    return {change}
'''

TESTS = """import till


def test_coin():
    assert till.coin() == 1
    assert till.total([1, 2], discount=1) == 2


def test_first():
    assert till.first({{"bread", "milk", "tea"}}) == "tea"
    assert till.total([4]) == 4


def test_queue():
    assert till.queue() == 1


def test_vat():
    assert till.vat(10) == 2.0


def test_receipt():
    assert till.receipt("tea", 3) == "{expected}"


def test_change():
    assert till.change(10, 3) == 7
"""

RIGHT = {
    "queues": "(1,)",
    "coin": "",
    "rate": "0.2",
    "minus": "-",
    "receipt": "%s: %d",
    "change": "paid - price",
    "expected": "tea: 3",
}
BUSY = "(1, 2, 3)"

# What differs from the right state, and which tests then have something to tell besides flakes.
VERSIONS = [
    ({"queues": BUSY}, {}),
    ({}, {}),
    ({"queues": BUSY}, {}),
    ({"rate": "0.02"}, {"test_vat": "bug"}),
    ({"receipt": "%s %d EUR"}, {"test_receipt": "update"}),
    ({"receipt": "%s %d EUR", "expected": "tea 3 EUR", "queues": BUSY}, {}),
    # Behind an assertion that fails three times out of four.
    ({"receipt": "%s %d EUR", "expected": "tea 3 EUR", "minus": "+"}, {"test_coin": "bug"}),
    ({"receipt": "%s %d EUR", "expected": "tea 3 EUR", "renamed": True}, {}),
    # In the very value that varies, and unlike anything seen.
    (
        {"receipt": "%s %d EUR", "expected": "tea 3 EUR", "coin": " * 1000", "queues": BUSY, "renamed": True},
        {"test_coin": "bug"},
    ),
    (
        {"receipt": "%s %d EUR", "expected": "tea 3 EUR", "change": "(paid - price, 'EUR')", "renamed": True},
        {"test_change": "update"},
    ),
]


def main(directory):
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        environment.update({f"GIT_{role}_NAME": "till", f"GIT_{role}_EMAIL": "till@example.org"})

    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)

    git("init", "-q", "-b", "main")
    told = {}
    for number, (changes, tells) in enumerate(VERSIONS, 1):
        state = {**RIGHT, **changes}
        name = "test_cash.py" if changes.get("renamed") else "test_till.py"
        for old in ("test_till.py", "test_cash.py"):
            if old != name:
                (root / old).unlink(missing_ok=True)
        (root / "till.py").write_text(TILL.format(**state))
        # Lines move in every version.
        (root / name).write_text("# A test file.\n" * number + TESTS.format(**state))
        git("add", "-A")
        git("commit", "-q", "-m", f"version {number}")
        git("tag", f"v{number}")
        told[f"v{number}"] = tells
    git("checkout", "-q", "v1")
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
