def test_other():
    pass
