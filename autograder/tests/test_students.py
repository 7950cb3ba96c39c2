"""Students leave, return and get another id: all their data are kept, and others are not
affected."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, MissingEntry
from nbgrader_courses import TEXTS, graded_class, read_text
from schools import run

from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.lms.importing import move_records, read_record
from autograder.service.attempts import Attempts

pytestmark = pytest.mark.subprocess

TEXT = read_text(TEXTS / "loops.txt")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """Return a class of three, of whom one has a mark and a comment by hand."""
    kinds = {"ada": "solution", "bo": "half", "cy": "stub"}
    folder = graded_class(tmp_path_factory.mktemp("class"), TEXT, kinds, "bo")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_student("bo", first_name="Bo", last_name="Diddley")
    return folder


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def marks(course: Path, student: str) -> object:
    """Return all rows of a student in the gradebook and the record."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        try:
            submission = gradebook.find_submission("loops", student)
        except MissingEntry:
            return None
        [notebook] = submission.notebooks
        about = submission.student
        return (
            about.first_name,
            [(grade.name, grade.auto_score, grade.manual_score, grade.needs_manual_grade)
             for grade in notebook.grades],
            [(comment.name, comment.comment) for comment in notebook.comments],
            [entry.verdicts for entry in history.entries(gradebook, "loops", student)],
        )  # fmt: skip


def files(course: Path, student: str) -> dict[str, bytes]:
    return {
        f"{step}/{path.relative_to(course / step / student)}": path.read_bytes()
        for step in ("submitted", "autograded", "feedback")
        for path in (course / step / student).rglob("*.*")
    }


@pytest.mark.full
def test_withdrawing_and_restoring_a_student_keeps_all_marks(course):
    before, there = marks(course, "bo"), files(course, "bo")
    run(course, "autograder", "student", "withdraw", "bo")

    assert marks(course, "bo") is None
    assert files(course, "bo") == {}

    run(course, "nbgrader", "generate_feedback", "loops")
    assert (course / "feedback/ada/loops/loops.html").exists()
    assert "bo" not in run(course, "autograder", "export", "loops", "--partial", status=1)
    assert "is there already" not in run(course, "autograder", "student", "enrol", "bo")
    assert (marks(course, "bo"), files(course, "bo")) == (before, there)
    assert not (course / "withdrawn/bo").exists()

    printed = run(course, "autograder", "grade", "loops", "--workers", "1")
    assert "bo: graded before, unchanged" in printed
    assert marks(course, "bo") == before


def test_a_student_who_handed_in_again_keeps_the_later_submission(course):
    run(course, "autograder", "student", "withdraw", "bo")
    shutil.copytree(course / "submitted/ada", course / "submitted/bo")
    run(course, "autograder", "grade", "loops", "--workers", "1")

    assert "stays in withdrawn/: loops" in run(course, "autograder", "student", "enrol", "bo")

    _, grades, *_ = marks(course, "bo")
    assert [points for _, points, *_ in grades if points is not None] == [1, 2, 0, 4]
    assert (course / "withdrawn/bo/submitted/loops/loops.ipynb").exists()


def test_renaming_a_student_keeps_all_marks_and_files(course):
    before, there = marks(course, "bo"), files(course, "bo")
    run(course, "autograder", "student", "rename", "bo", "bo.diddley")

    assert (marks(course, "bo.diddley"), files(course, "bo.diddley")) == (before, there)
    assert marks(course, "bo") is None
    assert not (course / "withdrawn/bo").exists()

    printed = run(course, "autograder", "grade", "loops", "--workers", "1")
    assert "bo.diddley: graded before, unchanged" in printed


def test_renaming_to_an_id_in_use_names_the_command_that_merges(course):
    printed = run(course, "autograder", "student", "rename", "ada", "cy", status=2)
    assert "see `autograder student merge" in printed


def test_merging_two_ids_moves_marks_to_the_id_that_stays(course):
    run(course, "nbgrader", "db", "student", "add", "new")
    before = marks(course, "bo")
    run(course, "autograder", "student", "merge", "bo", "new")

    assert marks(course, "new")[1:] == before[1:]


def test_merging_keeps_the_marks_of_the_id_that_stays(course):
    before = marks(course, "bo")
    assert "Handed in under both ids" in run(course, "autograder", "student", "merge", "ada", "bo")
    assert marks(course, "bo") == before
    assert (course / "withdrawn/ada/submitted/loops/loops.ipynb").exists()


def test_records_of_imports_attempts_and_links_move_to_the_new_id(tmp_path):
    record = tmp_path / "imported/loops/record.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"students": {"bo": {"form": "moodle"}, "ada": {}}}))
    with closing(Attempts(Course(tmp_path))) as attempts:
        for number, student in enumerate(("bo", "new", "bo")):
            attempts.add(f"{number}", f"{number}", "loops", student, None)
        for attempt in (*attempts.of("bo")[1:], *attempts.of("new")):
            attempts.set_counts(attempt)
        link = attempts.link("bo")
        attempts.move("bo", "new")
        move_records(Course(tmp_path), "bo", "new")
        assert [attempt.counts for attempt in attempts.of("new")] == [False, True, False]
        assert attempts.of("bo") == []
        assert attempts.link("new") == link

    assert read_record(Course(tmp_path), "loops") == {"ada": {}, "new": {"form": "moodle"}}


@pytest.mark.parametrize("verb", [("withdraw", "x"), ("enrol", "x"), ("rename", "x", "y"),
                                  ("merge", "ada", "y"), ("merge", "ada", "ada")])  # fmt: skip
def test_unknown_students_are_refused(course, verb):
    run(course, "autograder", "student", *verb, status=2)
    assert marks(course, "ada")
