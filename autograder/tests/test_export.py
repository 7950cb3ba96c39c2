"""Marks are exported in the formats that Canvas and Moodle import, and in two formats for other
programs."""

from __future__ import annotations

import csv
import io
import os
import random
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from campaigns import seed
from nbgrader.api import Gradebook
from schools import COURSE, append, run

from autograder.authoring.release import copy_course
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.gradebook.class_results import class_results
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.lms.export import export_marks
from autograder.pages.csv_cells import csv_text, read_table
from autograder.pipeline.classroom import course_directory
from autograder.records import Marks

DUE = datetime(2030, 3, 1, 12, 0)
FORMULA = "=HYPERLINK(1)"
STUDENTS = {
    "ada": ("Ada", "Adler", "ada@example.org"),
    "ben": ("Ben", "Öztürk, Jr.", "ben@example.org"),
    "cy": (FORMULA, "Cy", "@cy"),
    "dee": (None, None, None),
}

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,value (4711),Current Score
    Points Possible,,,,,10,(read only)
"Adler, Ada",101,S1,ada,A,,
"Öztürk, Ben",102,S2,ben,B,,
"Cy",103,S3,cy,A,,
"Never, Submits",105,S5,never,A,,
"""

MOODLE = """\
First name,Last name,ID number,Email address
Ada,Adler,S1,ada
Ben,Öztürk,S2,ben
Cy,Cy,S3,cy
"""


@pytest.fixture(scope="module")
def marked(tmp_path_factory) -> Path:
    """Make marks of four students in two assignments: late, by hand, missing and waiting ones."""
    folder = tmp_path_factory.mktemp("marked")
    copy_course(COURSE, folder)
    append(folder / "nbgrader_config.py", "\nc.LatePolicy.percent_a_day = 10\n")
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        for name in ("value", "quiz"):
            gradebook.add_assignment(name, duedate=DUE)
            gradebook.add_notebook(name, name)
            gradebook.add_grade_cell("test_add", name, name, max_score=6, cell_type="code")
            gradebook.add_grade_cell("memory", name, name, max_score=4, cell_type="markdown")
            gradebook.add_solution_cell("memory", name, name)
        for student, (first, last, email) in STUDENTS.items():
            gradebook.add_student(student, first_name=first, last_name=last, email=email)
        late = DUE + timedelta(hours=30)
        results = [
            SubmissionMarks("value", "ada", Marks({"test_add": 6.0, "memory": 4.0}, {}), DUE),
            SubmissionMarks("value", "ben", Marks({"test_add": 2.5, "memory": None}, {}), late),
            SubmissionMarks("value", "cy", Marks({"test_add": 0.0, "memory": 1.5}, {}), DUE),
            SubmissionMarks("quiz", "ada", Marks({"test_add": 3.0, "memory": 0.0}, {}), DUE),
        ]
        record(gradebook, results)
    return folder


@pytest.fixture
def school(marked, tmp_path) -> Path:
    return shutil.copytree(marked, tmp_path / "school")


def mark_by_hand(school: Path, points: float) -> None:
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("memory", "value", "value", "ben")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def exported(school: Path, form: str, roster: str | None = None, *names: str, partial=False):
    path = None
    if roster is not None:
        path = school / "roster.csv"
        path.write_text(roster, "utf-8-sig")
    made = export_marks(Course(school), names or ("value",), form, path, partial)
    return list(csv.reader(io.StringIO(made.text))), made.notes


def test_marks_that_wait_for_a_person_are_refused(school):
    with pytest.raises(CourseError, match="value: to be marked by hand for 1: ben"):
        exported(school, "csv")


def test_a_partial_export_writes_the_known_points_of_a_waiting_mark_and_notes_it(school):
    rows, notes = exported(school, "canvas", partial=True)
    known = {row[3]: row[5] for row in rows[2:]}

    assert known == {"ada": "10", "ben": "2", "cy": "1.5", "dee": ""}
    assert notes == ["value: to be marked by hand for 1: ben"]


def test_the_format_csv_names_the_exercises_that_wait_for_a_person(school):
    [ben] = [row for row in exported(school, "csv", partial=True)[0] if row[1] == "ben"]
    assert (ben[5], ben[8], ben[11]) == ("waiting", "2", "memory")


def test_marks_by_hand_are_added_before_the_late_penalty_is_computed(school):
    mark_by_hand(school, 3.5)
    [ben] = [row for row in exported(school, "csv")[0] if row[1] == "ben"]
    # Thirty hours are two days that have begun: a fifth of 2.5 + 3.5 points.
    assert ben[5:10] == ["final", "6", "1.2", "4.8", "10"]


def test_the_format_exercises_has_a_row_for_each_student_and_exercise(school):
    rows, _ = exported(school, "exercises", None, "value", "quiz", partial=True)
    found = [row[:2] + row[5:] for row in rows[1:] if row[1] != "cy"]

    assert sorted(found) == [
        ["quiz", "ada", "add", "final", "3", "6"],
        ["quiz", "ada", "memory", "final", "0", "4"],
        ["value", "ada", "add", "final", "6", "6"],
        ["value", "ada", "memory", "final", "4", "4"],
        ["value", "ben", "add", "final", "2.5", "6"],
        ["value", "ben", "memory", "waiting", "", "4"],
    ]


def test_the_canvas_file_has_canvas_s_columns_and_the_marks(school):
    mark_by_hand(school, 3.5)
    rows, notes = exported(school, "canvas", None, "value", "quiz")

    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "value", "quiz"],
        ["    Points Possible", "", "", "", "", "10", "10"],
        ["Adler, Ada", "", "", "ada", "", "10", "3"],
        ["Öztürk, Jr., Ben", "", "", "ben", "", "4.8", ""],
        ["Cy, " + FORMULA, "", "", "cy", "", "1.5", ""],
        ["dee", "", "", "dee", "", "", ""],
    ]
    assert notes == []


def test_with_canvas_s_gradebook_as_roster_the_export_has_its_ids(school):
    mark_by_hand(school, 3.5)
    rows, notes = exported(school, "canvas", CANVAS)

    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "value (4711)"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Adler, Ada", "101", "S1", "ada", "A", "10"],
        ["Öztürk, Ben", "102", "S2", "ben", "B", "4.8"],
        ["Cy", "103", "S3", "cy", "A", "1.5"],
    ]
    assert notes == ["not in the roster's column 'SIS Login ID', and left out: dee"]


def test_the_moodle_file_has_moodle_s_columns_and_the_marks(school):
    mark_by_hand(school, 3.5)
    rows, _ = exported(school, "moodle")

    assert rows[:3] == [
        ["ID number", "Email address", "value"],
        ["ada", "ada@example.org", "10"],
        ["ben", "ben@example.org", "4.8"],
    ]


def test_with_a_roster_the_moodle_file_has_the_roster_s_columns(school):
    mark_by_hand(school, 3.5)
    rows, notes = exported(school, "moodle", MOODLE)

    assert rows[1:] == [["S1", "ada", "10"], ["S2", "ben", "4.8"], ["S3", "cy", "1.5"]]
    assert "'Email address'" in notes[0]


@pytest.mark.parametrize("between", [";", "\t"])
def test_the_headings_of_a_roster_in_another_language_are_kept(school, between):
    roster = "Nachname,Anmeldename,ID-Nummer\nAdler,ada,17\n".replace(",", between)
    rows, notes = exported(school, "moodle", roster, partial=True)
    assert rows == [["Nachname", "Anmeldename", "ID-Nummer", "value"], ["Adler", "ada", "17", "10"]]
    assert "'Anmeldename'" in notes[-1]


def test_no_cell_of_an_export_starts_a_spreadsheet_formula(school):
    for form in ("canvas", "moodle", "csv", "exercises"):
        cells = [cell for row in exported(school, form, partial=True)[0] for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]

    assert "'" + FORMULA in cells
    assert "'@cy" in cells


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("=1", "'=1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("＝1", "'＝1"),
        ("\t=1", "'\t'=1"), ("\r=1", "'\r'=1"), ("\n=1", "'\n'=1"), ("\tx", "'\tx"),
        ("Ada;=1", "Ada;'=1"), ('a;"=1', "a;'\"=1"), ("a\t@x", "a\t'@x"), ("a\n=1", "a\n'=1"),
        ("O'Brien; a-b, 1+1=2; x", "O'Brien; a-b, 1+1=2; x"), ("'=1", "''=1"), ("a;'=1", "a;''=1"),
    ],
)  # fmt: skip
def test_text_that_would_be_a_formula_is_kept_as_text(text, guarded):
    assert next(csv.reader(io.StringIO(csv_text([[text]]), newline=""))) == [guarded]


def test_csv_text_holds_no_formula_for_any_separator_and_is_read_back_unchanged(tmp_path):
    draw = random.Random(seed(17))
    path = tmp_path / "marks.csv"
    for _ in range(500):
        rows = [["".join(draw.choices("=+@-;,\t\"'\n a", k=draw.randint(0, 9))) for _ in "ab"]]
        written = csv_text([("one", "two"), *rows])
        path.write_text(written, "utf-8", newline="")
        assert [[*row.values()] for row in read_table(path)[1]] == rows
        for between in (",", ";", "\t"):
            for row in csv.reader(io.StringIO(written, newline=""), delimiter=between):
                assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@"))], rows


def test_numbers_in_a_csv_file_are_not_quoted():
    assert csv_text([[-1.5, 2.0, 0.1 + 0.2, None, "2-1"]]) == "-1.5,2,0.3,,2-1\r\n"


@pytest.mark.parametrize(
    ("roster", "says"),
    [
        ("name,id\nZoe,zoe\n", "no column holds the ids"),
        ("", "no column holds the ids"),
        ("login\nada\nada\n", "'ada' is there twice"),
        ("Name,login\nAda,ada\n", "Canvas could not tell whose marks these are"),
    ],
)
def test_a_roster_that_does_not_fit_is_reported(school, roster, says):
    with pytest.raises(CourseError, match=says):
        exported(school, "canvas", roster, partial=True)


def test_the_format_csv_refuses_a_roster(school):
    with pytest.raises(CourseError, match="have no use for a roster"):
        exported(school, "csv", "login\nada\n", partial=True)


def test_export_partial_prints_whose_marks_were_left_out(school):
    path, line = school / "marks.csv", ["autograder", "export", "value", "--output", "marks.csv"]
    assert "nothing was written" in run(school, *line, "--format", "canvas", status=2)
    assert not path.exists()
    assert "ben" in run(school, *line, "--partial", status=1)
    assert path.read_bytes().startswith(b"assignment,student,")


def test_export_of_an_unknown_assignment_is_refused(school):
    assert "no assignment 'vlaue'" in run(school, "autograder", "export", "vlaue", status=2)


@pytest.mark.full
@pytest.mark.subprocess
def test_an_export_counts_a_task_that_a_person_marks(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("logs")
        gradebook.add_notebook("logs", "logs")
        gradebook.add_grade_cell("test_count", "logs", "logs", max_score=4, cell_type="code")
        gradebook.add_task_cell("draw", "logs", "logs", max_score=2, cell_type="markdown")
        gradebook.add_student("ada")
        gradebook.add_submission("logs", "ada")
        count = gradebook.find_grade("test_count", "logs", "logs", "ada")
        count.auto_score, count.needs_manual_grade = 4, False
        gradebook.db.commit()
        [before] = class_results(gradebook, "logs").results
        assert (before.mark, [*before.waiting]) == (4, ["draw"])
        draw = gradebook.find_grade("draw", "logs", "logs", "ada")
        draw.manual_score, draw.needs_manual_grade = 1.5, False
        gradebook.db.commit()
        [after] = class_results(gradebook, "logs").results
        assert (after.mark, after.waiting) == (5.5, {})
        assert class_results(gradebook, "logs").max_score == 6
        assert gradebook.find_submission("logs", "ada").score == 5.5
