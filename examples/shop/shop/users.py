"""Accounts."""

import hashlib

ACCOUNTS = {}


class Taken(Exception):
    pass


def register(name, password):
    if name in ACCOUNTS:
        raise Taken(name)
    ACCOUNTS[name] = digest(password)
    return name


def digest(password):
    return hashlib.sha256(password.encode()).hexdigest()


def login(name, password):
    return ACCOUNTS.get(name) == digest(password)
