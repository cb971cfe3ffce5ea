import unittest

from shop import users


class Accounts(unittest.TestCase):
    def test_register(self):  # non-idempotent: the account stays
        self.assertEqual(users.register("ada", "secret"), "ada")

    def test_register_and_login(self):
        users.register("bob", "hidden")
        self.addCleanup(users.ACCOUNTS.pop, "bob")
        self.assertTrue(users.login("bob", "hidden"))

    def test_wrong_password(self):
        users.register("cid", "right")
        self.addCleanup(users.ACCOUNTS.pop, "cid")
        self.assertFalse(users.login("cid", "wrong"))

    def test_unknown_user(self):
        self.assertFalse(users.login("nobody", ""))

    def test_taken(self):
        users.ACCOUNTS["eve"] = ""
        self.addCleanup(users.ACCOUNTS.pop, "eve")
        with self.assertRaises(users.Taken):
            users.register("eve", "x")

    def test_digest_is_stable(self):
        self.assertEqual(users.digest("a"), users.digest("a"))

    def test_digest_differs(self):
        self.assertNotEqual(users.digest("a"), users.digest("b"))

    def test_digest_length(self):
        self.assertEqual(len(users.digest("")), 64)
