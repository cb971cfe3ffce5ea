"""State that leaks through the file system and the process: HOME, temporary files, the project's own
directory, the working directory."""

import os
import pathlib
import tempfile

HOME = pathlib.Path.home()  # fixed at import, as many projects do
NOTES = pathlib.Path(__file__).parent / "notes.txt"


def test_home_is_empty():  # victim of test_writes_to_home
    assert not (HOME / ".shoprc").exists()


def test_writes_to_home():  # polluter
    (HOME / ".shoprc").write_text("x")


def test_no_lock_file():  # victim of test_writes_a_lock_file
    assert not os.path.exists(os.path.join(tempfile.gettempdir(), "shop.lock"))


def test_writes_a_lock_file():  # polluter
    with open(os.path.join(tempfile.gettempdir(), "shop.lock"), "w"):
        pass


def test_no_notes():  # victim of test_writes_notes
    assert not NOTES.exists()


def test_writes_notes():  # polluter: writes into the project
    NOTES.write_text("x")


def test_relative_path():  # victim of test_changes_directory
    assert os.path.exists("test_files.py")


def test_changes_directory():  # polluter
    os.chdir(tempfile.gettempdir())


def test_reads_the_setup():  # brittle: needs test_writes_the_setup
    with open(os.path.join(tempfile.gettempdir(), "setup.txt")) as file:
        assert file.read() == "ready"


def test_writes_the_setup():  # state-setter
    with open(os.path.join(tempfile.gettempdir(), "setup.txt"), "w") as file:
        file.write("ready")
