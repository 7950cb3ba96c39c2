"""No name in the gradebook contains markup, whichever program stored it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, Student
from programs import run_program
from schools import COURSE

from autograder.authoring.release import copy_course
from autograder.gradebook.people import COLUMNS, plain
from autograder.hub.folders import HubFolder, admit
from autograder.notebook.intake import refused_id
from autograder.pipeline.classroom import course_directory

MARKUP = '<img src="x"\n onerror="alert(1)">\u202e'
SAFE = '‹img src="x" onerror="alert(1)"›'
ABOUT = {column.key: MARKUP for column in COLUMNS}


@pytest.mark.parametrize(
    "name",
    ["O'Brien", "Müller & Söhne", "王 小明", "علی\u200cرضا", "Anne-Marie", 'Bob "Bo" Day', "Đặng"],
)
def test_a_person_s_name_without_markup_is_not_changed(name):
    assert plain(name) == name


def test_markup_and_control_characters_are_removed_from_names():
    assert plain(MARKUP) == SAFE
    assert plain("a\x00b\u2067c\u2028d\x9fe") == "a b c d e"


def require_plain(url: str, student: str) -> None:
    with Gradebook(url) as gradebook:
        found = gradebook.find_student(student)
        assert {key: getattr(found, key) for key in ABOUT} == dict.fromkeys(ABOUT, SAFE)


def test_every_column_of_a_student_except_the_id_is_stored_without_markup():
    known = {column.key for column in Student.__table__.columns}
    assert known == {"id", *ABOUT}
    assert all(refused_id(f"a{each}b") for each in '<>"\\')
    assert not refused_id("o'brien&co@example.org")


@pytest.mark.subprocess
def test_names_are_stored_without_markup_by_the_hub_and_by_nbgrader_s_api(tmp_path):
    hub = HubFolder(tmp_path)
    copy_course(COURSE, hub.course.root)
    admit(hub, "user-1", **ABOUT)
    url = course_directory(hub.course).db_url
    with Gradebook(url) as gradebook:
        gradebook.add_student("added", **ABOUT)
        gradebook.add_student("updated", first_name="Ada")
        gradebook.update_or_create_student("updated", **ABOUT)
    for student in ("added", "updated", "user-1"):
        require_plain(url, student)


@pytest.mark.full
@pytest.mark.subprocess
def test_names_are_stored_without_markup_by_nbgrader_s_own_commands(tmp_path: Path):
    copy_course(COURSE, tmp_path)
    with (tmp_path / "students.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerows([["id", *ABOUT], ["listed", *ABOUT.values()]])
    nbgrader = [sys.executable, "-m", "nbgrader", "db", "student"]
    run_program([*nbgrader, "import", "students.csv"], cwd=tmp_path)
    require_plain(f"sqlite:///{tmp_path}/gradebook.db", "listed")
