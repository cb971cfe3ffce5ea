"""Files a test creates, changes or deletes below the watched directories."""


def test_a_file_that_was_changed(lab, flips):
    lab.write(
        test_a="""
            from pathlib import Path
            FILE = Path(__file__).with_name('data') / 'rates.txt'
            def test_polluter(): FILE.write_text('changed'); FILE.chmod(0o600)
            def test_target(): assert FILE.read_text() == 'original' and FILE.stat().st_mode & 0o777 == 0o644
        """
    )
    (lab.root / "data").mkdir()

    def fresh():
        (lab.root / "data" / "rates.txt").write_text("original")
        (lab.root / "data" / "rates.txt").chmod(0o644)

    fresh()
    plain = lab.run()
    change = plain.change("file:data/rates.txt")
    assert plain.ids == ["file:data/rates.txt"]
    assert (change["before"], change["after"]) == ("8 bytes, mode 644", "7 bytes, mode 600")
    fresh()
    assert lab.run(restore=["file:data/rates.txt"]).target == "passed"


def test_created_and_deleted_trees_are_one_change_each(lab):
    lab.write(
        test_a="""
            import os, shutil
            from pathlib import Path
            ROOT, HOME = Path(__file__).parent, Path(os.environ['HOME'])
            def test_polluter():
                (ROOT / 'out/deep').mkdir(parents=True); (ROOT / 'out/deep/x').write_text('x')
                shutil.rmtree(ROOT / 'assets'); (HOME / '.apprc').write_text('y'); (ROOT / 'link').unlink()
                (ROOT / 'same').write_text('same')
            def test_target():
                assert not (ROOT / 'out').exists() and (ROOT / 'assets/in/a').read_text() == 'a'
                assert not (HOME / '.apprc').exists() and os.readlink(ROOT / 'link') == 'same'
        """
    )
    (lab.root / "assets" / "in").mkdir(parents=True)
    (lab.root / "assets" / "in" / "a").write_text("a")
    (lab.root / "same").write_text("same")
    (lab.root / "link").symlink_to("same")
    answer = lab.run(restore="all")
    assert set(answer.ids) == {"file:out", "file:assets", "file:$HOME/.apprc", "file:link"}
    assert answer.target == "passed", answer.output
    assert answer.left == []


def test_large_files_are_told_but_not_put_back(lab):
    lab.write(
        test_a="""
            from pathlib import Path
            FILE = Path(__file__).with_name('large')
            def test_polluter(): FILE.write_bytes(b'x')
            def test_target(): pass
        """
    )
    (lab.root / "large").write_bytes(b"0" * (2 << 20))
    change = lab.run().change("file:large")
    assert not change["restorable"]


def test_caches_of_tools_and_environments_are_passed_over(lab):
    lab.write(
        test_a="""
            from pathlib import Path
            ROOT = Path(__file__).parent
            def test_polluter():
                for name in ('__pycache__', '.git', '.pytest_cache', 'node_modules'):
                    (ROOT / name).mkdir(exist_ok=True); (ROOT / name / 'x').write_text('x')
                (ROOT / 'myenv/x').write_text('x')
            def test_target(): pass
        """
    )
    (lab.root / "myenv").mkdir()
    (lab.root / "myenv" / "pyvenv.cfg").write_text("")
    assert lab.run().ids == []
