"""Takes students out of a class and back in, or moves their submissions to another id.

No data is deleted: rows and folders of a student who was taken out lie in `withdrawn/`.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Column, Connection, DateTime, Interval, select

from ..errors import CourseError
from ..files import one_at_a_time, write_whole
from ..gradebook import history
from ..gradebook.writing import knows_student, patiently
from ..notebook.intake import refused_id
from ..texts import command
from .classroom import course_directory

ASIDE = "withdrawn"
_ROWS = "gradebook.json"
# Tables with the column that refers to a student or to a row of another table, and that table.
_TABLES: tuple[tuple[Any, str], ...] = (
    (Student.__table__, "id"),
    (SubmittedAssignment.__table__, "student_id"),
    (SubmittedNotebook.__table__, "assignment_id"),
    (Grade.__table__, "notebook_id"),
    (Comment.__table__, "notebook_id"),
)
Rows = dict[str, list[dict[str, Any]]]


class Register:
    """The students of a course. A context manager; one program at a time has it."""

    def __init__(self, course: Path) -> None:
        self._course = course
        self._folders = course_directory(course)
        self._lock = one_at_a_time(course)

    def __enter__(self) -> Register:
        self._lock.__enter__()
        self._gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        patiently(self._gradebook, "the record", lambda: history.prepare(self._gradebook))
        return self

    def __exit__(self, *about: Any) -> None:
        self._gradebook.close()
        self._lock.__exit__(*about)

    def withdraw(self, student: str) -> Path:
        """Move all rows and folders of a student to `withdrawn/`; return the folder there.

        Raises `CourseError` if the student has none, or the folder exists already.
        """
        self._require(student)
        aside = self._course / ASIDE / student
        rows = self._rows(student)
        aside.mkdir(parents=True, mode=0o700)
        write_whole(aside / _ROWS, json.dumps(rows, default=_written).encode(), 0o600)
        for step in self._steps():
            if (self._course / step / student).is_dir():
                (self._course / step / student).rename(aside / step)
        self._write(f"that {student} left", lambda db: _delete(db, rows))
        return aside

    def enrol(self, student: str) -> list[str]:
        """Move a student's rows and folders back from `withdrawn/`.

        Returns the assignments that stay there, since the student has others by now. Raises
        `CourseError` if the student has no folder there.
        """
        aside = self._course / ASIDE / student
        if refused_id(student) or not (aside / _ROWS).exists():
            raise CourseError(f"nothing of {student} lies in {self._course / ASIDE}")
        rows: Rows = json.loads((aside / _ROWS).read_text("utf-8"))
        newer = self._handed_in(student)
        self._write(f"that {student} is back", lambda db: _insert(db, rows))
        for step in self._steps():
            for folder in [*(aside / step).glob("*")]:
                if folder.name not in newer:
                    _rename(folder, self._course / step / student / folder.name)
        left = sorted({path.name for step in self._steps() for path in (aside / step).glob("*")})
        if not left:
            shutil.rmtree(aside)
        return left

    def move(self, old: str, new: str, merge: bool) -> list[str]:
        """Move the submissions and rows of one id to another, and take the old id out of the class.

        Args:
            merge: whether the new id is a student already, whose own submissions stay.

        Returns:
            The assignments that both have; the old one's stay in `withdrawn/`.

        Raises `CourseError` if the old id is not in the gradebook, or the new one against `merge`.
        """
        self._require(old)
        if why := refused_id(new):
            raise CourseError(f"{new}: {why}")
        if old == new or knows_student(self._gradebook, new) != merge:
            verb, state = ("rename", "not") if merge else ("merge", "already")
            see = f"see `autograder student {verb}`"
            raise CourseError(f"{new} is {state} another student in the gradebook: {see}")
        before, both = self._handed_in(old), self._handed_in(new)
        moved = sorted(before - both)
        self._write(f"what {old} handed in", lambda db: _give(db, old, new, moved))
        for name in moved:
            for step in self._steps():
                _rename(self._course / step / old / name, self._course / step / new / name)
        self.withdraw(old)
        if not before & both:
            shutil.rmtree(self._course / ASIDE / old)
        return sorted(before & both)

    def _steps(self) -> tuple[str, ...]:
        folders = self._folders
        return (
            folders.submitted_directory, folders.autograded_directory, folders.feedback_directory
        )  # fmt: skip

    def _require(self, student: str) -> None:
        there = any((self._course / step / student).is_dir() for step in self._steps())
        if refused_id(student) or not (knows_student(self._gradebook, student) or there):
            raise CourseError(f"there is no student {student} in the gradebook")
        if (aside := self._course / ASIDE / student).exists():
            raise CourseError(
                f"{aside} is there already: run "
                f"{command('autograder', 'student', 'enrol', student)} first"
            )

    def _handed_in(self, student: str) -> set[str]:
        """Return the assignments for which a student has rows or folders."""
        found = select(SubmittedAssignment).where(SubmittedAssignment.student_id == student)
        names = {each.assignment.name for each in self._gradebook.db.scalars(found)}
        return names.union(
            path.name
            for step in self._steps()
            for path in (self._course / step / student).glob("*")
        )

    def _rows(self, student: str) -> Rows:
        """Return all rows of a student, by table."""
        rows: Rows = {}
        ids = [student]
        for table, of in _TABLES:
            if table.name == Comment.__tablename__:
                ids = [row["id"] for row in rows[SubmittedNotebook.__tablename__]]
            found = self._gradebook.db.execute(select(table).where(table.c[of].in_(ids)))
            rows[table.name] = [dict(row._mapping) for row in found]
            ids = [row["id"] for row in rows[table.name]]
        return rows

    def _write(self, what: str, write: Any) -> None:
        def whole() -> None:
            write(self._gradebook.db.connection())
            self._gradebook.db.commit()

        patiently(self._gradebook, what, whole)
        self._gradebook.db.expire_all()


def _delete(db: Connection, rows: Rows) -> None:
    for table, _ in reversed(_TABLES):
        for row in rows[table.name]:
            db.execute(table.delete().where(table.c.id == row["id"]))


def _insert(db: Connection, rows: Rows) -> None:
    """Insert the rows that are missing, if the rows to which they refer still exist."""
    assignments, notebooks, cells = (
        {*db.scalars(select(kind.__table__.c.id))} for kind in (Assignment, Notebook, BaseCell)
    )
    students, submissions, submitted, grades, comments = (table for table, _ in _TABLES)
    student = rows[students.name][0]["id"] if rows[students.name] else ""
    known = {*db.scalars(select(students.c.id))}
    newer = select(submissions.c.assignment_id).where(submissions.c.student_id == student)
    assignments -= {*db.scalars(newer)}
    put: set[str] = set()
    for table, is_wanted in (
        (students, lambda row: row["id"] not in known),
        (submissions, lambda row: row["assignment_id"] in assignments),
        (submitted, lambda row: row["assignment_id"] in put and row["notebook_id"] in notebooks),
        (grades, lambda row: row["notebook_id"] in put and row["cell_id"] in cells),
        (comments, lambda row: row["notebook_id"] in put and row["cell_id"] in cells),
    ):
        for row in filter(is_wanted, rows[table.name]):
            db.execute(table.insert(), {name: _read(table.c[name], row[name]) for name in row})
            put.add(row["id"])


def _read(column: Column[Any], value: Any) -> Any:
    """Convert a value of a row back from its form in JSON."""
    if value is not None and isinstance(column.type, Interval):
        return timedelta(seconds=value)
    return datetime.fromisoformat(value) if value and isinstance(column.type, DateTime) else value


def _written(value: datetime | timedelta) -> str | float:
    return value.isoformat() if isinstance(value, datetime) else value.total_seconds()


def _give(db: Connection, old: str, new: str, names: list[str]) -> None:
    """Move submissions to another student, and copy their lines of the record."""
    students, submissions = Student.__table__, SubmittedAssignment.__table__
    about = db.execute(select(students).where(students.c.id == old)).mappings().first()
    if about and new not in {*db.scalars(select(students.c.id))}:
        db.execute(students.insert(), {**about, "id": new})
    named = select(Assignment.__table__.c.id).where(Assignment.__table__.c.name.in_(names))
    db.execute(
        submissions.update()
        .where(submissions.c.student_id == old, submissions.c.assignment_id.in_(named))
        .values(student_id=new)
    )
    for name in names:
        history.copy(db, name, old, new)


def _rename(path: Path, target: Path) -> None:
    if path.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
