import ledger


def test_nothing_yet():
    ledger.reset()  # helper: without it a victim of whoever recorded something
    assert ledger.total() == 0


def test_one_entry():
    ledger.reset()  # helper: likewise
    ledger.record(5)
    assert ledger.total() == 5


def test_many_entries():
    ledger.reset()  # helper: likewise
    amounts = [1, 2, 3]
    for amount in amounts:
        ledger.record(amount)
    before = ledger.total()
    ledger.record(4)
    assert ledger.total() == before + 4
    assert before == 6
