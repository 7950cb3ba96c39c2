"""All steps of a class, from the download to the export: for seven students, in a campaign for
three hundred."""

from __future__ import annotations

import csv
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import chdir, closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from campaigns import size
from click.testing import CliRunner
from downloads import canvas, moodle
from nbgrader.api import Gradebook
from schools import append, released, solutions

from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.key import course_key
from autograder.judging.grader import Grader
from autograder.lms.matching import parse_time
from autograder.pipeline.one_submission import grade_file

pytestmark = pytest.mark.subprocess

NAME, FILE = "checkpoint", "checkpoint.ipynb"
KINDS = ("right", "more", "mistaken", "half", "empty")
DUE = datetime(2030, 3, 1, 12, 0)
STRICTER = '''

@exercise("q2")
def test_no_more_than_that(student):
    """The answer is written as a whole number."""
    assert student.remote.builtins.repr(student["q2"]) == "2"
'''
Marks = dict[str, dict[str, tuple[float | None, float | None, bool, str | None]]]
"""By student and cell: points by the grader and by hand, whether it waits, the comment by hand."""


class WholeClass:
    """The students of a course: two in three hand in by Moodle, the others by Canvas.

    The students in turn hand in five kinds of work, one in four is 25 hours late in Moodle, and two
    neighbours have one name. The answer that a person marks holds the student's own id.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = released(folder, NAME)
        append(self.folder / "nbgrader_config.py", "\nc.LatePolicy.percent_a_day = 10\n")
        self.students = {f"s{place:03}": KINDS[place % 5] for place in range(number)}
        self.by_moodle = {student for student in self.students if int(student[1:]) % 3}
        self.late = {student for student in self.by_moodle if int(student[1:]) % 4 == 1}
        right = solutions(NAME)
        mistaken = Course(self.folder).assignment(NAME).exercises["q1"].mistakes[0].source
        self.answers = {
            "right": right,
            "more": {**right, "q2": "q2 = 2.0"},
            "mistaken": {**right, "q1": mistaken},
            "half": {each: right[each] for each in [*right][::2]},
            "empty": {},
        }
        with Gradebook(f"sqlite:///{self.folder}/gradebook.db") as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=DUE)
            for each in self.students:
                first, last = self.person(each)
                gradebook.add_student(
                    each, first_name=first, last_name=last, email=f"{each}@example.org",
                    lms_user_id=str(number_of(each)),
                )  # fmt: skip

    def person(self, student: str) -> tuple[str, str]:
        return "Kim", f"Lee{int(student[1:]) // 2}"

    def work(self, student: str) -> bytes:
        answers = {**self.answers[self.students[student]], "memory": f"What {student} found."}
        return filled_notebook(Course(self.folder), NAME, answers).encode()

    def run(self, *arguments: str, status: int = 0) -> str:
        with chdir(self.folder):
            done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == status, done.output[-5000:]
        return done.stdout

    def import_all(self) -> None:
        rows, people = ["Identifier,Full name,Email address,Last modified (submission)"], []
        for number, student in enumerate(sorted(self.by_moodle), 4000):
            when = DUE + timedelta(hours=25 if student in self.late else -1)
            name = " ".join(self.person(student))
            rows.append(f"Participant {number},{name},{student}@example.org,{when} +00:00")
            people.append((name, number, self.work(student), when))
        worksheet = self.folder / "worksheet.csv"
        worksheet.write_text("\n".join(rows))
        download = moodle(self.folder / "moodle.zip", people, file=FILE)
        self.run("import", NAME, str(download), "--worksheet", str(worksheet))
        others = [
            ("lee", False, number_of(each), 9000 + place, f"{NAME}-1.ipynb", self.work(each))
            for place, each in enumerate(sorted(self.students.keys() - self.by_moodle))
        ]
        self.run("import", NAME, str(canvas(self.folder / "canvas.zip", others)))

    def marks(self) -> Marks:
        with closing(sqlite3.connect(self.folder / "gradebook.db")) as gradebook:
            rows = gradebook.execute(
                "select student_id, base_cell.name, auto_score, manual_score, needs_manual_grade,"
                " manual_comment from grade join base_cell on base_cell.id = grade.cell_id"
                " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
                " join submitted_assignment on submitted_assignment.id"
                "   = submitted_notebook.assignment_id"
                " left join comment on comment.notebook_id = grade.notebook_id"
                "   and comment.cell_id in (select id from base_cell as solution"
                "     where solution.name = base_cell.name and solution.type = 'SolutionCell')"
            ).fetchall()
        found: Marks = {}
        for student, cell, *points, waits, comment in rows:
            cells = found.setdefault(student, {})
            cells[cell.removeprefix("test_")] = (*points, bool(waits), comment)
        return found

    def mark_by_hand(self, students: set[str]) -> None:
        """Store points and a comment for the written answer, as the formgrader does."""
        with Gradebook(f"sqlite:///{self.folder}/gradebook.db") as gradebook:
            for student in students:
                grade = gradebook.find_grade("memory", NAME, NAME, student)
                grade.manual_score, grade.needs_manual_grade = by_hand(student), False
                comment = gradebook.find_comment("memory", NAME, NAME, student)
                comment.manual_comment = f"{student} was read."
            gradebook.db.commit()

    def points_alone(self) -> dict[str, dict[str, float | None]]:
        """The points of each kind of work, without a class or a gradebook."""
        found = {}
        with Grader(Course(self.folder), course_key(self.folder)) as grader:
            for path in sorted(self.folder.glob(f"submitted/*/{NAME}/{FILE}"))[: 2 * len(KINDS)]:
                _, report = grade_file(grader, path, NAME)
                points = {exercise.id: exercise.points for exercise in report.exercises}
                kind = self.students[path.parts[-3]]
                assert found.setdefault(kind, points) == points
        return found

    def exported(self, *options: str, status: int = 0) -> Iterator[dict[str, str]]:
        text = self.run("export", NAME, *options, status=status)
        return csv.DictReader(text.splitlines())


def number_of(student: str) -> int:
    return 5000 + int(student[1:])


def by_hand(student: str) -> float:
    return int(student[1:]) % 7 / 2


@pytest.mark.full
@pytest.mark.sized
def test_no_command_loses_or_changes_marks_of_a_whole_class(tmp_path):
    course = WholeClass(tmp_path, size(7, 300))
    everybody, gone, back = set(course.students), "s001", "s002"

    def expected(points: dict, marked: set[str], students: set[str]) -> Marks:
        return {
            student: {
                exercise: (None, by_hand(student), False, f"{student} was read.")
                if exercise == "memory" and student in marked
                else (earned, None, exercise == "memory", None)
                for exercise, earned in points[course.students[student]].items()
            }
            for student in students
        }

    course.import_all()
    handed_in = {
        student: (course.folder / f"submitted/{student}/{NAME}/{FILE}").read_bytes()
        for student in everybody
    }

    assert handed_in == {student: course.work(student) for student in everybody}

    points = course.points_alone()
    course.run("grade", NAME)

    assert course.marks() == expected(points, set(), everybody)

    marked = {*sorted(everybody)[: 2 * len(everybody) // 3]}
    course.mark_by_hand(marked)
    course.run("student", "withdraw", gone)
    course.run("student", "withdraw", back)
    course.run("feedback", NAME, status=1)

    assert course.marks() == expected(points, marked, everybody - {gone, back})

    course.run("student", "enrol", back)

    append(course.folder / f"grading_tests/test_{NAME}.py", STRICTER)
    changed = course.points_alone()

    assert {kind for kind in KINDS if changed[kind] != points[kind]} == {"more"}

    seen = course.run("regrade", NAME, "--yes")
    there = everybody - {gone}

    assert course.marks() == expected(changed, marked, there)

    more = [student for student in there if course.students[student] == "more"]
    assert all(f"{each}, {NAME}: " in seen for each in more)

    course.run("export", NAME, status=2)
    course.mark_by_hand(there - marked)
    course.run("feedback", NAME, status=1)
    pages = {}
    for form, students in (("moodle", course.by_moodle), ("canvas", everybody - course.by_moodle)):
        with zipfile.ZipFile(course.folder / f"imported/{NAME}/feedback_{NAME}_{form}.zip") as one:
            texts = [one.read(name).decode() for name in one.namelist()]
        pages |= {
            student: text
            for student in students
            for text in texts
            if f"What {student} found." in text
        }
        assert len(texts) == len(students & there)

    assert pages.keys() == there
    assert all(f"{each} was read." in page for each, page in pages.items())

    assert course.marks() == expected(changed, there, there)

    rows = {row["student"]: row for row in course.exported()}
    assert rows.keys() == there

    for student, row in rows.items():
        earned = changed[course.students[student]]
        score = sum(filter(None, earned.values())) + by_hand(student)
        off = round(score / 5, 2) if student in course.late else 0
        found = (row["state"], *(float(row[each]) for each in ("score", "penalty", "mark")))
        assert found == ("final", score, off, round(score - off, 2))
        due = DUE + timedelta(hours=25 if student in course.late else -1)
        assert parse_time(row["submitted_utc"]) == (due if student in course.by_moodle else None)
    for form in ("moodle", "canvas"):
        key = {"moodle": "ID number", "canvas": "SIS Login ID"}[form]
        listed = {row[key]: row[NAME] for row in course.exported("--format", form) if row[key]}
        assert listed == {student: row["mark"] for student, row in rows.items()}

    course.run("student", "enrol", gone)
    course.run("regrade", NAME, "--student", gone, "--yes")

    assert course.marks() == expected(changed, everybody, everybody)

    course.run("feedback", NAME)
