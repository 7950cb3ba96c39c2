"""A course in the middle of a semester, made by an earlier version, goes on with this one."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from schools import run
from stored import FOLDER, NAME, WRITTEN

from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.subprocess


@pytest.fixture(scope="module", params=sorted(FOLDER.glob("*.tar.gz")), ids=lambda path: path.stem)
def folder(request, tmp_path_factory) -> Path:
    scratch = tmp_path_factory.mktemp("stored")
    with tarfile.open(request.param) as archive:
        archive.extractall(scratch, filter="data")
    return scratch / "course"


def test_marks_stay_and_what_was_graded_is_left_alone(folder):
    before = (folder / "marks.csv").read_text()

    graded = run(folder, "autograder", "grade", NAME)
    again = run(folder, "autograder", "regrade", NAME, "--yes")

    assert graded.count("graded before, unchanged") == len(WRITTEN)
    assert "→" not in again
    run(folder, "autograder", "export", NAME, "--output", "now.csv", "--partial", status=1)
    assert (folder / "now.csv").read_text() == before


def test_the_record_says_what_was_graded_and_who_marked(folder):
    folders = course_directory(Course(folder))
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        graded = history.entries(gradebook, NAME)
        [given] = history.markings(gradebook.db.connection(), NAME)

    assert {entry.student for entry in graded} == {*WRITTEN}
    assert (given.student, given.exercise, given.points) == ("ada", "memory", 1.0)
    assert given.who == "tess" and given.comment == "Of what is there one?"
