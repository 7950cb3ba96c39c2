"""Makes a copy of the repository with a canary in everything that is not for students."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from pathlib import Path

from programs import run_program

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import find_course

REPOSITORY = find_course(Path(__file__).parent)
CANARY = re.compile(r"canary-[0-9a-f]{16}")


def plant(path: Path, *places: tuple[str, str]) -> None:
    """Put a canary before or after a text in a file: {} in the text marks the place."""
    text = path.read_text()
    for place, replacement in places:
        assert place in text, f"{path}: no {place!r}"
        text = text.replace(place, replacement.replace("{}", "canary-" + secrets.token_hex(8)), 1)
    path.write_text(text)


def run(folder: Path, *command: str) -> str:
    """Run Python in a copy of the repository, with that copy's own packages."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return run_program([sys.executable, *command], cwd=folder, env=environment).stdout


def secret_copy(folder: Path) -> Path:
    """Make the copy in a new folder."""
    folder.mkdir()
    for name in ("course", "coursecheck", "autograder", "grading_tests", "source", "release",
                 "solutions"):  # fmt: skip
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    for name in ("nbgrader_config.py", "course.toml", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(REPOSITORY / name, folder / name)
    package = folder / "autograder"
    tests = folder / "grading_tests"
    plant(
        tests / "reference" / "__init__.py",
        ("class Value:", "SECRET = '{}'\n\n\nclass Value:  # {}"),
    )
    plant(
        package / "judging" / "hidden_tests.py", ("class Suite:", "SECRET = '{}'\n\n\nclass Suite:")
    )
    plant(
        package / "wall" / "proxies.py",
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
    plant(tests / "inside" / "drawing.py", ("MAX_NODES = 12", "MAX_NODES = 12  # {}"))
    plant(folder / "course.toml", ("[audit]", "# {}\n[audit]"))
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
    (other / "value.ipynb").write_text(filled_notebook(folder, "value", answers))
    return folder
