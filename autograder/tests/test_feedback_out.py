"""Feedback zips go back to the system of the submission, with file names that the system
recognises."""

from __future__ import annotations

import re
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from downloads import canvas, moodle
from nbgrader.api import Gradebook
from schools import released, run

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.lms.feedback_out import export_feedback
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.subprocess

NOON = datetime(2030, 3, 1, 12, 0)


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a course with five students, two of the same name, who submitted by Moodle or Canvas;
    four are graded."""
    folder = released(tmp_path_factory.mktemp("out") / "course")
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        for student, first, last, lms in (
            ("s1", "Jürgen", "Müller", "101"), ("s2", "Kim", "Lee", "102"),
            ("s3", "Kim", "Lee", "103"), ("s4", "Ana", "d’Arc", "104"), ("s5", "Zoe", "Q", "105"),
        ):  # fmt: skip
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=lms)
    mistake = Course(folder).assignment("value").exercises["add"].mistakes[0].source
    answers = [{}, {"add": mistake}, {}, {"add": mistake}, {}]
    work = [filled_notebook(Course(folder), "value", each).encode() for each in answers]
    downloads = folder.parent
    one = moodle(downloads / "m.zip", [("Jürgen Müller", 4711, work[1], NOON)], old=True)
    flat = moodle(downloads / "f.zip", [("Ana d’Arc", 4712, work[2], NOON)], flat=True)
    other = canvas(
        downloads / "c.zip",
        [("leekim", False, 102, 9001, "my_value.ipynb", work[3]),
         ("leekim", True, 103, 9002, "value-1.ipynb", work[4])],
    )  # fmt: skip
    for download in (one, flat, other):
        run(folder, "autograder", "import", "value", str(download))
    run(folder, "autograder", "grade", "value", "--workers", "1")
    last = moodle(downloads / "z.zip", [("Zoe Q", 4713, work[0], NOON)])
    run(folder, "autograder", "import", "value", str(last))
    return folder


def pages(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def moodle_finds(path: str) -> tuple[int, str]:
    """Return the participant and name of a file, as Moodle's zip importer finds them."""
    parts = path.split("/")
    while parts:
        pieces = parts.pop(0).split("_", 4)
        if len(pieces) >= 4 and pieces[1].isdigit() and pieces[2:4] == ["assignsubmission", "file"]:
            rest = [*pieces[4:], *parts] if pieces[4:] != [""] else parts
            return int(pieces[1]), "/".join(rest)
    raise AssertionError(f"Moodle would leave {path} out")


def canvas_finds(path: str) -> list[int]:
    """Return the student and the file for a comment, as Canvas finds them: the first two
    numbers."""
    return [int(each) for each in path.split("_") if re.fullmatch(r"\d+", each)][:2]


def test_file_names_in_a_feedback_zip_identify_the_student_for_moodle_and_canvas(school, tmp_path):
    line = ["autograder", "feedback", "value", "--output", str(tmp_path)]
    assert "s5: not graded yet" in run(school, *line, status=1)

    of_moodle = pages(tmp_path / "feedback_value_moodle.zip")
    of_canvas = pages(tmp_path / "feedback_value_canvas.zip")

    assert {moodle_finds(name): page for name, page in of_moodle.items()}.keys() == {
        (4711, "value.html"), (4712, "value.html")
    }  # fmt: skip

    found = {tuple(canvas_finds(name)): page for name, page in of_canvas.items()}
    assert found.keys() == {(102, 9001), (103, 9002)}
    # Each is the student's own: of the two with one name, one made a mistake.
    assert "partly right" in found[102, 9001]
    assert "partly right" not in found[103, 9002]

    for name, page in of_moodle.items():
        assert ("partly right" in page) == (moodle_finds(name)[0] == 4711)


def test_a_feedback_zip_for_an_assignment_without_imports_is_refused(school, tmp_path):
    with pytest.raises(CourseError, match="nothing was imported for checkpoint"):
        export_feedback(Course(school), "checkpoint", tmp_path)


def test_feedback_on_another_file_than_the_imported_one_is_reported(school, tmp_path):
    path = school / "submitted" / "s1" / "value" / "value.ipynb"
    before = path.read_bytes()
    path.write_bytes(before + b" ")
    try:
        notes = export_feedback(Course(school), "value", tmp_path).notes
        assert any("s1: what was graded is not what was imported" in note for note in notes)
    finally:
        path.write_bytes(before)
