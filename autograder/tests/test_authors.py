"""Exercises and misconceptions in an author's files are read, or refused with a reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tested_course import COURSE

from autograder.authoring.new_exercise import add_exercise
from autograder.course_folder.assignments import Exercise, _read_misconceptions
from autograder.errors import CourseError


@pytest.mark.parametrize(
    ("name", "solution", "says"),
    [
        ("add", "### BEGIN SOLUTION\n### END SOLUTION", "already"),
        ("a-b", "### BEGIN SOLUTION\n### END SOLUTION", "cannot be a name"),
        ("cube", "def cube(self): ...", "around the answer"),
    ],
)
def test_invalid_exercises_are_refused_and_nothing_is_written(name, solution, says):
    path = COURSE.source / "value" / "value.ipynb"
    before = path.read_bytes()
    with pytest.raises(CourseError, match=says):
        add_exercise(COURSE, "value", name, "## Exercise {number} · X", solution, 1.0)

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "cell", "says"),
    [
        ("adds.py", "# %% example: add", r"adds\.py is about .* \(add, mul\), or delete it"),
        ("mul.py", "# %% mistake: add.a", r"mul\.py, line 1: mistake add\.a .* move it"),
        ("add.py", "# %% mistake: add.a", r"add\.py, line 1: mistake add\.a lacks its line `# s"),
        ("add.py", "# %% example: add", r"add\.py, line 1: example add lacks its line `# observe"),
        ("add.py", "# %% form: add", r"add\.py, line 1: form add lacks its line `# answer"),
        ("add.py", "# %% slip: add.a", r"add\.py, line 1: slip add\.a is of no kind"),
        ("add.py", "# %% probe: add", r"add\.py, line 1: probe add is called example now"),
        ("add.py", "# %% mistake: add.a\n# says: a\n# says: b", r"two lines `# says: …`"),
        ("add.py", "# %% mistake: add.a\n# says: a\n# + y", r"add\.a needs either edits .* whole"),
    ],
    ids=["file", "cell", "words", "observed", "answer", "kind", "renamed", "twice", "both"],
)
def test_misconceptions_that_fit_no_exercise_or_lack_a_line_are_refused(tmp_path, name, cell, says):
    (tmp_path / name).write_text(f"{cell}\nx = 1\n")
    exercises = {id: Exercise(id, id, 1.0) for id in ("add", "mul")}
    with pytest.raises(CourseError, match=says):
        _read_misconceptions(sorted(tmp_path.glob("*.py")), exercises)


@pytest.mark.parametrize("keeps", ["1", "-0.5", "nan", "half", "0.5\n# outcome: timeout"])
def test_a_share_that_a_mistake_cannot_keep_is_refused(tmp_path, keeps):
    path = tmp_path / "add.py"
    path.write_text(f"# %% mistake: add.a\n# says: a\n# keeps: {keeps}\nx = 1\n")
    share = keeps.partition("\n")[0]

    with pytest.raises(CourseError, match=rf"add\.py, line 1: .*add\.a keeps '{share}' .* 0\.75"):
        _read_misconceptions([path], {"add": Exercise("add", "add", 1.0)})


SOLUTION = """\
def total(numbers):
    found = 0
    for number in numbers:
        found += number
    return found
"""


def answer(folder: Path, cell: str) -> str:
    """Return the answer of a mistake's cell, made from the solution above."""
    path = folder / "total.py"
    path.write_text(f"# Ignored.\n\n# %% mistake: total.a\n# says: a\n{cell}\n", "utf-8")
    exercise = Exercise("total", "total", 1.0, SOLUTION)
    _read_misconceptions([path], {"total": exercise})
    return exercise.mistakes[0].source


@pytest.mark.parametrize(
    ("cell", "before", "after"),
    [
        ("# - found += number\n# + found = number", "found += number", "found = number"),
        ("# - return found\n# +     return found", "    return found", "        return found"),
        ("# - found = 0\n\n# - return found\n# + return number", "    found = 0\n", ""),
        ("# -     for number in numbers:\n# -         found += number\n# +     found = 1",
         "for number in numbers:\n        found += number", "found = 1"),
        ("# +\n# + more = total", "    return found\n", "    return found\n\nmore = total\n"),
        ("def total(numbers):\n    return 0", SOLUTION, "def total(numbers):\n    return 0\n"),
    ],
    ids=["line", "indented", "left out", "lines", "added", "whole cell"],
)  # fmt: skip
def test_a_mistake_is_an_edit_of_the_solution_or_a_whole_cell(tmp_path, cell, before, after):
    expected = SOLUTION.replace(before, after)
    if "return number" in cell:
        expected = expected.replace("return found", "return number")

    assert answer(tmp_path, cell) == expected != SOLUTION


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("# - found -= number\n# + found = 1", r"`found -= number`, .* 0 times, not once: copy"),
        ("# - def total(numbers):\n# - found = 0\n# + x = 1", r"0 times, not once: copy"),
        ("# - return found\n# + return 0\n# - return found", r"`return found` twice: join"),
    ],
    ids=["gone", "indented otherwise", "overlap"],
)
def test_the_error_for_an_edit_that_does_not_fit_names_file_line_and_mistake(tmp_path, cell, says):
    with pytest.raises(CourseError, match=rf"total\.py, line 3: mistake total\.a .*{says}"):
        answer(tmp_path, cell)


def test_an_edit_that_fits_two_lines_asks_for_context(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOLUTION", SOLUTION + SOLUTION)
    with pytest.raises(CourseError, match=r"2 times, not once: take the line before or after it"):
        answer(tmp_path, "# - return found\n# + return 0")
