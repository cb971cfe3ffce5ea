import unittest

import ledger


class TestCurrency(unittest.TestCase):
    def test_euro(self):
        ledger.use("EUR")  # helper: without it a victim of test_franc
        self.assertEqual(ledger.currency(), "EUR")

    def test_franc(self):
        ledger.use("CHF")
        self.assertEqual(ledger.currency(), "CHF")
