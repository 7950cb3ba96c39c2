"""Reads the files of a student's bundle, and lists the secrets that it must not contain."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course_folder.course import Course


def contents(archive: bytes, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file in a zip, including the files in its wheels."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        for name in packed.namelist():
            data = packed.read(name)
            if name.endswith(".whl"):
                yield from contents(data, f"{name}!")
            else:
                yield prefix + name, data.decode("utf-8", "replace")


def texts(archive: bytes) -> dict[str, str]:
    """Return, by file name, the text of every file without white space. For a notebook, the text is
    the sources of its cells."""
    return {
        name: squeezed(
            "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            if name.endswith(".ipynb")
            else text
        )
        for name, text in contents(archive)
    }


def squeezed(text: str) -> str:
    return "".join(text.split())


def secrets(course: Path, name: str) -> Iterator[str]:
    """Yield the secret texts of an assignment without white space: hidden tests, solutions,
    mistakes."""
    assignment = Course(course).assignment(name)
    tests = assignment.tests.read_text("utf-8")
    yield from map(squeezed, re.findall(r"def test_\w+\(.*student", tests))
    for exercise in assignment.exercises.values():
        found = re.findall(
            r"BEGIN SOLUTION\n(.*?)\n[^\n]*END SOLUTION", exercise.solution, re.DOTALL
        )
        found += [mistake.source for mistake in exercise.mistakes]
        # An answer such as q1 = "b" is too short to be recognised in other text.
        yield from (squeezed(text) for text in found if len(squeezed(text)) > 60)
