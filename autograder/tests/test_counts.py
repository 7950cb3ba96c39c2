"""The setting in course.toml decides which of several imported attempts gives the mark."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from downloads import moodle
from nbgrader.api import Gradebook
from nbgrader_courses import TEXTS, make_course, read_text, variant
from schools import run

pytestmark = pytest.mark.subprocess

TEXT = read_text(TEXTS / "loops.txt")
DUE = datetime(2030, 3, 1, 12)
HOUR = timedelta(hours=1)
HANDED_IN = {
    # By student, each attempt's kind of work and hours from the due date on.
    "ada": [("half", -9), ("stub", -2), ("solution", 30)],
    "bo": [("solution", -9), ("half", -2), ("half", 30)],
    "cy": [("half", 2), ("solution", 30)],
    "di": [("stub", -2)],
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """Return a course into which three downloads were imported one after another."""
    folder = make_course(tmp_path_factory.mktemp("counts") / "course", [TEXT])
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("loops", duedate=DUE)
        for student in HANDED_IN:
            gradebook.add_student(student, first_name=student, last_name="Lee")
    stub, solution = (variant(folder, TEXT, "loops", kind) for kind in ("stub", "solution"))
    half = deepcopy(stub)
    [place] = [n for n, c in enumerate(half.cells) if "def evens" in c.source]
    half.cells[place].source = solution.cells[place].source
    made = {"stub": stub, "half": half, "solution": solution}
    work = {kind: nbformat.writes(notebook).encode() for kind, notebook in made.items()}
    for number in range(3):
        people = [
            (f"{student} Lee", 4000 + place, work[kind], DUE + after * HOUR)
            for place, (student, attempts) in enumerate(HANDED_IN.items())
            for kind, after in attempts[number : number + 1]
        ]
        # Times that lie within minutes would be those of the download.
        people.append(("Nobody", 1, b"", DUE - 99 * HOUR))
        moodle(folder / f"{number}.zip", people, file="loops.ipynb")
        run(folder, "autograder", "import", "loops", f"{number}.zip", status=1)
    return folder


def submitted(course: Path) -> dict[str, int]:
    """Return, for each submission that counts, the hours from the due date to the time of
    submission."""
    found = {}
    for path in course.glob("submitted/*/loops/timestamp.txt"):
        when = datetime.fromisoformat(path.read_text().removesuffix(" UTC"))
        found[path.parts[-3]] = round((when - DUE) / HOUR)
    return found


@pytest.mark.full
@pytest.mark.parametrize(
    ("rule", "percent", "expected"),
    [
        ("last", 0, {"ada": 30, "bo": 30, "cy": 30, "di": -2}),
        ("in-time", 0, {"ada": -2, "bo": -2, "cy": 30, "di": -2}),
        ("best", 10, {"ada": 30, "bo": -9, "cy": 30, "di": -2}),
        ("best", 45, {"ada": -9, "bo": -9, "cy": 2, "di": -2}),
    ],
)
def test_the_attempt_that_counts_by_the_setting_gives_the_mark(course, rule, percent, expected):
    settings, config = course / "course.toml", course / "nbgrader_config.py"
    before = settings.read_text(), config.read_text()
    settings.write_text(f'{before[0]}\n[grading]\ncounts = "{rule}"\n')
    config.write_text(f"{before[1]}\nc.LatePolicy.percent_a_day = {percent}\n")
    try:
        run(course, "autograder", "grade", "loops", "--workers", "1")
        assert submitted(course) == expected
        again = run(course, "autograder", "import", "loops", "2.zip", "--dry-run", status=1)
        assert again.count("same: ") == 2
        assert "attempts" not in run(course, "autograder", "grade", "loops", "--workers", "1")
        assert submitted(course) == expected
    finally:
        settings.write_text(before[0])
        config.write_text(before[1])
    kept = {
        student: len([*course.glob(f"imported/loops/replaced/{student}/*/loops.ipynb")])
        for student in HANDED_IN
    }

    assert kept == {student: len(attempts) - 1 for student, attempts in HANDED_IN.items()}
