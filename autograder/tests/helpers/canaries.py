"""Makes a copy of the course and the grader in which everything secret contains a canary."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from pathlib import Path

from programs import run_program
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course

PROJECT = Path(__file__).resolve().parents[2]
LONG_NUMBERS = ("next(drawn) / 8", "rng.uniform(1.0, 100.0)")
"""The expression by which the course draws hidden numbers, and one that draws numbers with enough
digits to be searched for."""
CANARY = re.compile(r"canary-[0-9a-f]{16}")


def plant(path: Path, *places: tuple[str, str]) -> None:
    """Replace texts in a file once each; `{}` in a replacement becomes a new canary."""
    text = path.read_text()
    for place, replacement in places:
        assert place in text, f"{path}: no {place!r}"
        text = text.replace(place, replacement.replace("{}", "canary-" + secrets.token_hex(8)), 1)
    path.write_text(text)


def paths(folder: Path) -> str:
    """Return the PYTHONPATH with which Python imports the packages in the copy."""
    own = (".", "autograder/src", "autograder/coursecheck/src")
    return os.pathsep.join(str(folder / each) for each in own)


def run(folder: Path, *command: str) -> str:
    """Run Python in the copy, with the packages in the copy; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": paths(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return run_program([sys.executable, *command], cwd=folder, env=environment).stdout


def secret_copy(folder: Path) -> Path:
    """Make the copy with canaries in a new folder, and return the folder."""
    copy_course(COURSE, folder)
    shutil.copytree(folder / "source", folder / "solutions")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "coursecheck"):
        shutil.copytree(PROJECT / name, folder / "autograder" / name, ignore=ignored)
    package = folder / "autograder" / "src" / "autograder"
    tests = folder / "grading_tests"
    plant(
        package / "judging" / "hidden_tests.py", ("class Suite:", "SECRET = '{}'\n\n\nclass Suite:")
    )
    plant(
        package / "sandbox" / "proxies.py",
        ("class Student:", "SECRET = '{}'\n\n\nclass Student:"),
    )
    plant(package / "judging" / "grader.py", ("class Grader:", "SECRET = '{}'\n\n\nclass Grader:"))
    plant(
        tests / "misconceptions" / "value" / "node.py",
        ("self.data = int(data)", "self.data = int(data)  # {}\n# + secret = '{}'"),
    )
    plant(
        tests / "test_value.py",
        ("class TestNode:", "class TestNode:\n    secret = '{}'  # {}\n"),
        ('@exercise("node")', 'SECRET = "{}"\n\n\n@exercise("node")'),
    )
    relays = tests / "remote" / "relays.py"
    relays.parent.mkdir()
    relays.write_text("# {}\ndef relay(function, value):\n    return function(value)\n")
    plant(relays, ("# {}", "# {}"))
    plant(
        tests / "test_value.py",
        ("set(student.trace(root))", "set(student.remote.relays.relay(student.trace, root))"),
    )
    plant(tests / "conftest.py", LONG_NUMBERS)
    plant(folder / "course.toml", ("[limits]", "# {}\n[limits]"))
    plant(
        folder / "source" / "value" / "value.ipynb",
        ('"### BEGIN HIDDEN TESTS\\n",', '"### BEGIN HIDDEN TESTS\\n", "# {}\\n",'),
        (
            '"    ### BEGIN SOLUTION\\n",',
            '"    ### BEGIN SOLUTION\\n", "    secret = \'{}\'  # {}\\n",',
        ),
    )  # fmt: skip
    plant(
        folder / "solutions" / "value" / "value.ipynb", ('"metadata": {', '"metadata": {"s": "{}",')
    )
    (folder / ".autograder_key").write_text(secrets.token_hex(32) + "\n")
    other = folder / "submitted" / "other" / "value"
    other.mkdir(parents=True)
    theirs = "import os\nprint('canary-' + os.urandom(8).hex())\nos.system('echo ' + _)"
    answers = {"node": f"# canary-{secrets.token_hex(8)}\n{theirs}"}
    (other / "value.ipynb").write_text(filled_notebook(Course(folder), "value", answers))
    return folder
