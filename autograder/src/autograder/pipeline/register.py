"""Withdraws and enrols students, and moves submissions to another student id.

No data is deleted: a withdrawn student's rows and folders are moved to `withdrawn/`.
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

from ..course_folder.course import Course
from ..errors import CourseError
from ..files import write_atomic
from ..gradebook import history
from ..gradebook.writing import knows_student, retry_while_locked
from ..notebook.intake import refused_id
from ..texts import command
from .classroom import course_directory

ASIDE = "withdrawn"
_ROWS = "gradebook.json"
# The tables with a student's rows, parents before children; each with its foreign key to the table
# before it. But comments refer to submitted notebooks, as grades do.
_TABLES: tuple[tuple[Any, str], ...] = (
    (Student.__table__, "id"),
    (SubmittedAssignment.__table__, "student_id"),
    (SubmittedNotebook.__table__, "assignment_id"),
    (Grade.__table__, "notebook_id"),
    (Comment.__table__, "notebook_id"),
)
Rows = dict[str, list[dict[str, Any]]]
"""By table: its rows, each a dictionary of values by column."""


class Register:
    """Changes which students a course has. A context manager that holds the course's lock."""

    def __init__(self, course: Course) -> None:
        self._root = course.root
        self._folders = course_directory(course)
        self._lock = course.lock()

    def __enter__(self) -> Register:
        self._lock.__enter__()
        self._gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        retry_while_locked(self._gradebook, "the record", lambda: history.prepare(self._gradebook))
        return self

    def __exit__(self, *about: Any) -> None:
        self._gradebook.close()
        self._lock.__exit__(*about)

    def withdraw(self, student: str) -> Path:
        """Move all rows and folders of a student to a folder in `withdrawn/`; return its path.

        Raises `CourseError` if there is no such student, or the folder exists already.
        """
        self._require(student)
        aside = self._root / ASIDE / student
        rows = self._rows(student)
        aside.mkdir(parents=True, mode=0o700)
        # Rows are deleted last, so that an interruption loses nothing.
        write_atomic(aside / _ROWS, json.dumps(rows, default=_to_json).encode(), 0o600)
        for step in self._steps():
            if (self._root / step / student).is_dir():
                (self._root / step / student).rename(aside / step)
        self._write(f"that {student} left", lambda db: _delete(db, rows))
        return aside

    def enrol(self, student: str) -> list[str]:
        """Move a student's rows and folders back from `withdrawn/`.

        Returns:
            The assignments whose submissions stay in `withdrawn/`, since the student has submitted
            them again.

        Raises `CourseError` if `withdrawn/` has nothing of the student.
        """
        aside = self._root / ASIDE / student
        if refused_id(student) or not (aside / _ROWS).exists():
            raise CourseError(f"nothing of {student} lies in {self._root / ASIDE}")
        rows: Rows = json.loads((aside / _ROWS).read_text("utf-8"))
        newer = self._submitted(student)
        self._write(f"that {student} is back", lambda db: _insert(db, rows))
        for step in self._steps():
            for folder in [*(aside / step).glob("*")]:
                if folder.name not in newer:
                    _rename(folder, self._root / step / student / folder.name)
        left = sorted({path.name for step in self._steps() for path in (aside / step).glob("*")})
        if not left:
            shutil.rmtree(aside)
        return left

    def move(self, old: str, new: str, merge: bool) -> list[str]:
        """Move a student's submissions to another id, and withdraw the old id.

        Args:
            old: the present id.
            new: the other id.
            merge: True if the new id must exist already, False if it must not. Submissions that the
                new id has already stay as they are.

        Returns:
            The assignments that both ids have submitted. The old id's submissions of these stay in
            `withdrawn/`.

        Raises `CourseError` if the old id does not exist, or `merge` is wrong about the new id.
        """
        self._require(old)
        if why := refused_id(new):
            raise CourseError(f"{new}: {why}")
        if old == new or knows_student(self._gradebook, new) != merge:
            verb, state = ("rename", "not") if merge else ("merge", "already")
            see = f"see `autograder student {verb}`"
            raise CourseError(f"{new} is {state} another student in the gradebook: {see}")
        own, existing = self._submitted(old), self._submitted(new)
        moved = sorted(own - existing)
        self._write(f"what {old} handed in", lambda db: _move_rows(db, old, new, moved))
        for name in moved:
            for step in self._steps():
                _rename(self._root / step / old / name, self._root / step / new / name)
        self.withdraw(old)
        if not own & existing:
            shutil.rmtree(self._root / ASIDE / old)
        return sorted(own & existing)

    def _steps(self) -> tuple[str, ...]:
        """Return the course's folders that have a folder for each student, such as `submitted`."""
        folders = self._folders
        return (
            folders.submitted_directory, folders.autograded_directory, folders.feedback_directory
        )  # fmt: skip

    def _require(self, student: str) -> None:
        """Raise `CourseError` if there is no such student, or `withdrawn/` has this id."""
        has_folder = any((self._root / step / student).is_dir() for step in self._steps())
        if refused_id(student) or not (knows_student(self._gradebook, student) or has_folder):
            raise CourseError(f"there is no student {student} in the gradebook")
        if (aside := self._root / ASIDE / student).exists():
            raise CourseError(
                f"{aside} is there already: run "
                f"{command('autograder', 'student', 'enrol', student)} first"
            )

    def _submitted(self, student: str) -> set[str]:
        """Return the assignments of which a student has a submission, as a row or a folder."""
        query = select(SubmittedAssignment).where(SubmittedAssignment.student_id == student)
        names = {each.assignment.name for each in self._gradebook.db.scalars(query)}
        return names.union(
            path.name for step in self._steps() for path in (self._root / step / student).glob("*")
        )

    def _rows(self, student: str) -> Rows:
        """Return all of a student's rows in the gradebook, by table."""
        rows: Rows = {}
        ids = [student]
        for table, foreign_key in _TABLES:
            if table.name == Comment.__tablename__:
                ids = [row["id"] for row in rows[SubmittedNotebook.__tablename__]]
            result = self._gradebook.db.execute(select(table).where(table.c[foreign_key].in_(ids)))
            rows[table.name] = [dict(row._mapping) for row in result]
            ids = [row["id"] for row in rows[table.name]]
        return rows

    def _write(self, what: str, write: Any) -> None:
        """Call `write` in a transaction, and retry while the gradebook is locked.

        Args:
            what: what is stored, for the error message.
            write: called with the database connection.
        """

        def transaction() -> None:
            write(self._gradebook.db.connection())
            self._gradebook.db.commit()

        retry_while_locked(self._gradebook, what, transaction)
        # `write` changed rows without the session, whose objects would be outdated.
        self._gradebook.db.expire_all()


def _delete(db: Connection, rows: Rows) -> None:
    """Delete rows, children before their parents."""
    for table, _ in reversed(_TABLES):
        for row in rows[table.name]:
            db.execute(table.delete().where(table.c.id == row["id"]))


def _insert(db: Connection, rows: Rows) -> None:
    """Insert a student's rows.

    Rows whose foreign keys do not exist any more are left out, and so are rows of assignments that
    the student has submitted again.
    """
    assignments, notebooks, cells = (
        {*db.scalars(select(kind.__table__.c.id))} for kind in (Assignment, Notebook, BaseCell)
    )
    students, submissions, submitted, grades, comments = (table for table, _ in _TABLES)
    student = rows[students.name][0]["id"] if rows[students.name] else ""
    enrolled = {*db.scalars(select(students.c.id))}
    newer = select(submissions.c.assignment_id).where(submissions.c.student_id == student)
    assignments -= {*db.scalars(newer)}
    new: set[str] = set()  # ids of the rows inserted so far
    for table, is_wanted in (
        (students, lambda row: row["id"] not in enrolled),
        (submissions, lambda row: row["assignment_id"] in assignments),
        (submitted, lambda row: row["assignment_id"] in new and row["notebook_id"] in notebooks),
        (grades, lambda row: row["notebook_id"] in new and row["cell_id"] in cells),
        (comments, lambda row: row["notebook_id"] in new and row["cell_id"] in cells),
    ):
        for row in filter(is_wanted, rows[table.name]):
            db.execute(table.insert(), {name: _from_json(table.c[name], row[name]) for name in row})
            new.add(row["id"])


def _from_json(column: Column[Any], value: Any) -> Any:
    """Return the value for a column of a row from its form in JSON, see `_to_json`."""
    if value is not None and isinstance(column.type, Interval):
        return timedelta(seconds=value)
    return datetime.fromisoformat(value) if value and isinstance(column.type, DateTime) else value


def _to_json(value: datetime | timedelta) -> str | float:
    """Return the form of a row's value in JSON: a time in ISO 8601, an interval in seconds."""
    return value.isoformat() if isinstance(value, datetime) else value.total_seconds()


def _move_rows(db: Connection, old: str, new: str, names: list[str]) -> None:
    """Move a student's submissions to another student, who is created if missing.

    Entries in the record of gradings are copied, since the record is append-only.

    Args:
        old: the student's id.
        new: the other student's id.
        names: the assignments whose submissions are moved.
    """
    students, submissions = Student.__table__, SubmittedAssignment.__table__
    row = db.execute(select(students).where(students.c.id == old)).mappings().first()
    if row and new not in {*db.scalars(select(students.c.id))}:
        db.execute(students.insert(), {**row, "id": new})
    named = select(Assignment.__table__.c.id).where(Assignment.__table__.c.name.in_(names))
    db.execute(
        submissions.update()
        .where(submissions.c.student_id == old, submissions.c.assignment_id.in_(named))
        .values(student_id=new)
    )
    for name in names:
        history.copy(db, name, old, new)


def _rename(path: Path, target: Path) -> None:
    """Rename a folder if it exists; create the target's parent folders."""
    if path.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
