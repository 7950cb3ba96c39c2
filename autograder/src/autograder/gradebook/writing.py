"""Stores marks in nbgrader's gradebook, all marks of a submission in one transaction."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from nbgrader.api import (
    Assignment,
    Base,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.utils import parse_utc
from sqlalchemy import (
    Connection,
    Engine,
    Row,
    and_,
    bindparam,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import IntegrityError, OperationalError

from ..course_folder.assignments import Exercise
from ..course_folder.own_notebooks import exercise_ids, release_command
from ..errors import CourseError
from ..records import NO_RESPONSE, Marks
from . import history
from .cells import COMMENTED_CELLS, GRADED_CELLS, of_submission
from .manual_marks import ManualMarks, marks_after

T = TypeVar("T")


# Rows are written with SQLAlchemy Core, since the ORM takes several times as long.
_STUDENTS, _SUBMISSIONS, _NOTEBOOKS, _GRADES, _COMMENTS = (
    kind.__table__ for kind in (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)
)

# Built once, since building a statement takes longer than running it.
_EXISTING_ROWS = (
    select(
        Assignment.id, Student.id, SubmittedAssignment.id,
        Notebook.id, Notebook.name, SubmittedNotebook.id,
    )
    .select_from(Assignment)
    .join(Notebook, Notebook.assignment_id == Assignment.id)
    .outerjoin(Student, Student.id == bindparam("student"))
    .outerjoin(
        SubmittedAssignment,
        and_(
            SubmittedAssignment.assignment_id == Assignment.id,
            SubmittedAssignment.student_id == bindparam("student"),
        ),
    )
    .outerjoin(
        SubmittedNotebook,
        and_(
            SubmittedNotebook.notebook_id == Notebook.id,
            SubmittedNotebook.assignment_id == SubmittedAssignment.id,
        ),
    )
    .where(Assignment.name == bindparam("name"))
)  # fmt: skip
_SUBMITTED = select(SubmittedAssignment.id, SubmittedAssignment.timestamp).where(
    SubmittedAssignment.assignment_id.in_(
        select(Assignment.id).where(Assignment.name == bindparam("name"))
    ),
    SubmittedAssignment.student_id == bindparam("student"),
)
_STUDENT = select(Student.id).where(Student.id == bindparam("student"))
_RESUBMITTED = _SUBMISSIONS.update().where(_SUBMISSIONS.c.id == bindparam("row"))
_CELLS = select(BaseCell.id, BaseCell.type).where(BaseCell.notebook_id == bindparam("notebook"))
_STORED_MARKS = (
    select(
        BaseCell.name, Grade.auto_score, Grade.manual_score, Grade.score, Grade.needs_manual_grade
    )
    .join(Grade.cell)
    .where(of_submission(Grade, bindparam("notebook")))
)
_SCORE = _GRADES.update().where(_GRADES.c.id == bindparam("row"))
_REMARK = _COMMENTS.update().where(_COMMENTS.c.id == bindparam("row"))

_LOCK_TIMEOUT = 60.0
"""Seconds for which a write is retried while another program keeps the gradebook locked."""

_REMEDIES = {
    ("SQLITE_BUSY", "SQLITE_LOCKED"): (
        "Another program keeps it locked, such as a database browser with an open change or a "
        "formgrader that hangs: finish there, close it, and run the same command again."
    ),
    ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"): (
        "Its file or folder may not be written: set the rights, and run the same command again."
    ),
    ("SQLITE_FULL",): "Its disk is full: make room, and run the same command again.",
    ("SQLITE_CORRUPT", "SQLITE_NOTADB"): (
        "Its file is damaged: put it aside, and do not delete it, for marks given by hand may be "
        "in it alone. docs/troubleshooting.md says how to save them."
    ),
}
_UPGRADE = (
    "An older nbgrader made it: run `nbgrader db upgrade` in the course folder, which keeps a "
    "copy, and then the same command again."
)
_PERMANENT = tuple(kind for kinds in list(_REMEDIES)[1:] for kind in kinds)
"""SQLite's error codes for which a retry is useless: all in `_REMEDIES`, except those of a lock."""


@event.listens_for(Engine, "do_connect")
def _wait_for_lock(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
    """Set SQLite's busy timeout, 5 seconds by default, to `_LOCK_TIMEOUT` for new connections."""
    if dialect.name == "sqlite":
        parameters.setdefault("timeout", _LOCK_TIMEOUT)


def _kind(error: Exception) -> str:
    """Return SQLite's error code, such as "SQLITE_BUSY"; "" for another database's error."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", "")


def with_remedy(error: Exception) -> str:
    """Return a database error's message in parentheses, followed by a sentence with the remedy."""
    original = getattr(error, "orig", None)
    if original is None or type(original).__module__ == "sqlite3":
        remedy = "Look at its disk, and at other programs that use it; then run the same command."
    else:
        remedy = (
            "See that the server which `db_url` in nbgrader_config.py names runs and lets you in; "
            "then run the same command again."
        )
    for kinds, specific in _REMEDIES.items():
        # Extended codes such as SQLITE_BUSY_SNAPSHOT begin with the primary code.
        if _kind(error).startswith(kinds):
            remedy = specific
    if str(original).startswith("no such"):
        remedy = _UPGRADE
    return f"({original or error}). {remedy}"


def exists(db_url: str) -> bool:
    """Return whether an SQLite gradebook exists; True for any other database.

    Call this before connecting, since SQLite creates a missing file.
    """
    path = make_url(db_url).database
    return not db_url.startswith("sqlite") or bool(path and Path(path).exists())


def require_current(db_url: str) -> None:
    """Raise `CourseError` if an existing gradebook lacks columns of the installed nbgrader."""
    if not exists(db_url):
        return
    database = create_engine(db_url)
    try:
        existing = inspect(database).get_multi_columns()
    finally:
        database.dispose()
    for table in Base.metadata.sorted_tables:
        columns = {each["name"] for each in existing.get((None, table.name), ())}
        if columns and (missing := {*table.columns.keys()} - columns):
            lacks = ", ".join(f"{table.name}.{each}" for each in sorted(missing))
            raise CourseError(f"the gradebook has no column {lacks}. {_UPGRADE}")


def require_assignment(gradebook: Gradebook, name: str) -> None:
    """Raise `CourseError` if the assignment is not in the gradebook yet."""
    try:
        gradebook.find_assignment(name)
    except MissingEntry as error:
        raise CourseError(
            f"the gradebook has no assignment {name!r}: run {release_command(name)} first"
        ) from error


def require_points(
    gradebook: Gradebook, name: str, notebook: str, exercises: Iterable[Exercise]
) -> None:
    """Raise `CourseError` if an exercise's points in the gradebook differ from `exercises`.

    Args:
        name: the assignment.
        notebook: the notebook's name.
        exercises: the notebook's exercises, with the points from the source.
    """
    cells = {
        cell.name: cell.max_score
        for each in gradebook.find_assignment(name).notebooks
        if each.name == notebook
        for cell in (*each.grade_cells, *each.task_cells)
    }
    stored = {each: cells[cell] for cell, each in exercise_ids(cells).items()}
    if changed := [e.id for e in exercises if stored.get(e.id, e.total_points) != e.total_points]:
        raise CourseError(
            f"the gradebook has other points for {', '.join(changed)} of {name}: "
            f"run {release_command(name)}, and grade again"
        )


@dataclass(frozen=True)
class SubmissionMarks:
    """The marks of one submitted notebook, to be stored.

    Attributes:
        assignment: the assignment's name.
        student: the student's id.
        marks: the points of test cells, and which answers are empty.
        timestamp: the time of submission in UTC; None if unknown.
        entry: the entry for the record of gradings; None to add none.
        notebook: the notebook's name; "" if it is the assignment's name.
    """

    assignment: str
    student: str
    marks: Marks
    timestamp: datetime | None
    entry: history.Entry | None = None
    notebook: str = ""

    @property
    def recorded_name(self) -> str:
        """The notebook's name in the record of marks by hand."""
        return history.recorded_name(self.assignment, self.notebook or self.assignment)


def record(gradebook: Gradebook, results: Sequence[SubmissionMarks]) -> None:
    """Store the marks of submissions in one transaction.

    The stored values are those of nbgrader's `SaveAutoGrades`, which commits each cell by itself.
    Manual marks and comments stay; if one is no longer valid, its exercise is marked for review.
    While another program keeps the gradebook locked, the transaction is retried.

    Raises `CourseError` if the lock lasts for over a minute, or if the gradebook lacks a notebook's
    cells.
    """
    owners = ", ".join(f"{each.student} for {each.assignment}" for each in results)
    retry_while_locked(gradebook, f"the marks of {owners}", lambda: _record(gradebook, results))


def retry_while_locked(gradebook: Gradebook, what: str, write: Callable[[], T]) -> T:
    """Call `write`, and retry while another program keeps the gradebook locked.

    Args:
        gradebook: the gradebook; rolled back if `write` fails.
        what: what is written, for the error message.
        write: writes and commits one transaction.

    Raises `CourseError` if the lock lasts for over a minute, or if an error occurs at which a retry
    is useless.
    """
    until = time.monotonic() + _LOCK_TIMEOUT
    while True:
        try:
            return write()
        except (OperationalError, IntegrityError, InvalidEntry) as error:
            # The gradebook is locked, or another grader has just inserted the same rows (race).
            gradebook.db.rollback()
            if _kind(error).startswith(_PERMANENT) or time.monotonic() > until:
                raise CourseError(
                    f"{what} could not be stored {with_remedy(error)} "
                    "What was graded before is stored."
                ) from error
            time.sleep(0.1)
        except Exception:
            gradebook.db.rollback()
            raise


def _record(gradebook: Gradebook, results: Sequence[SubmissionMarks]) -> None:
    # Use the connection: with the session, which creates ORM objects, it takes twice as long.
    db = gradebook.db.connection()
    for result in results:
        notebook_id, is_new = _ensure_rows(db, result)
        manual = marks_after(db, notebook_id, result.entry, result.recorded_name, is_new)
        _set_marks(db, notebook_id, result.marks, manual)
        if result.entry is not None:
            seen = {exercise: verdict for exercise, (_, verdict) in manual.reviews.items()}
            history.add(db, result.entry, seen)
        for marking in manual.returned.values():
            history.add_marking(db, replace(marking, why="the answer was marked before"))
    gradebook.db.commit()


def _submitted(gradebook: Gradebook, name: str, student: str) -> Row[Any] | None:
    """Return the id and the time of a submission in the gradebook; None if it has none."""
    row: Row[Any] | None = gradebook.db.execute(
        _SUBMITTED, {"name": name, "student": student}
    ).first()
    return row


def has_time(gradebook: Gradebook, name: str, student: str, when: datetime | None) -> bool:
    """Return whether the gradebook has this time for a submission, or has no such submission.

    Args:
        when: the time in UTC; None if unknown.
    """
    row = _submitted(gradebook, name, student)
    return row is None or row.timestamp == when


def set_time(gradebook: Gradebook, name: str, student: str, when: datetime | None) -> None:
    """Set the time of a submission in the gradebook, in UTC; None if unknown.

    Raises `CourseError` if another program locks the gradebook for over a minute.
    """

    def write() -> None:
        if row := _submitted(gradebook, name, student):
            gradebook.db.execute(_RESUBMITTED, {"row": row.id, "timestamp": when})
        gradebook.db.commit()

    retry_while_locked(gradebook, f"when {student} submitted {name}", write)


def knows_student(gradebook: Gradebook, student: str) -> bool:
    """Return whether the student is in the gradebook."""
    return gradebook.db.execute(_STUDENT, {"student": student}).first() is not None


def has_marks(gradebook: Gradebook, name: str, student: str) -> bool:
    """Return whether the gradebook holds the student's submission for the assignment.

    After the student was removed from the gradebook it does not, though graded notebooks may exist.
    """
    return _submitted(gradebook, name, student) is not None


def stored_marks(
    gradebook: Gradebook, name: str, notebook: str, student: str
) -> dict[str, tuple[float | None, bool]]:
    """Return the stored marks of a submitted notebook; {} if the gradebook has none.

    Returns:
        By exercise: the points (None if there are none yet), and whether the exercise waits for a
        person.
    """
    db = gradebook.db.connection()
    if not (key := _submitted_notebook(db, name, notebook, student)):
        return {}
    rows = {cell: row for cell, *row in db.execute(_STORED_MARKS, {"notebook": key})}
    ids = exercise_ids(rows)
    return {
        ids[cell]: (None if auto is by_hand is None else score, bool(waits))
        for cell, (auto, by_hand, score, waits) in rows.items()
    }


def by_hand(
    gradebook: Gradebook, result: SubmissionMarks
) -> tuple[dict[str, float], dict[str, str]]:
    """Return a submission's manual points, and the reviews that storing a result would require.

    Args:
        result: the result, not stored yet.

    Returns:
        Two dictionaries by exercise: the manual points; and the reason why the manual mark would
        have to be reviewed.
    """
    db = gradebook.db.connection()
    key = _submitted_notebook(db, result.assignment, result.notebook, result.student)
    if result.entry is None or not key:
        return {}, {}
    manual = marks_after(db, key, result.entry, result.recorded_name)
    points = {name: mark.points for name, mark in manual.marks.items() if mark.points is not None}
    return points, {name: why for name, (why, _) in manual.reviews.items()}


def _submitted_notebook(db: Connection, name: str, notebook: str, student: str) -> str | None:
    """Return the id of a submitted notebook; None if the gradebook has none."""
    rows = db.execute(_EXISTING_ROWS, {"name": name, "student": student})
    keys: dict[str, str | None] = {each: key for *_, each, key in rows}
    return keys.get(notebook or name)


def _ensure_rows(db: Connection, result: SubmissionMarks) -> tuple[str, bool]:
    """Insert the submission's missing rows, without marks; return the submitted notebook's id, and
    whether its rows are new.

    This does the same as nbgrader's `Gradebook.update_or_create_submission`, but in bulk and
    without a commit.
    """
    name, student = result.assignment, result.student
    existing = db.execute(_EXISTING_ROWS, {"name": name, "student": student}).all()
    assignment_id, student_id, submission_id, *_ = existing[0]
    if student_id is None:
        db.execute(_STUDENTS.insert(), {"id": student})
    when = {"timestamp": None if result.timestamp is None else parse_utc(result.timestamp)}
    if submission_id is None:
        submission_id = _new_id()
        row = {"id": submission_id, "assignment_id": assignment_id, "student_id": student, **when}
        db.execute(_SUBMISSIONS.insert(), row)
    else:
        db.execute(_RESUBMITTED, {"row": submission_id, **when})
    submitted = {
        notebook: (submitted_id or _add_notebook(db, submission_id, notebook_id), not submitted_id)
        for *_, notebook_id, notebook, submitted_id in existing
    }
    return submitted[result.notebook or name]


def _add_notebook(db: Connection, submission_id: str, notebook_id: str) -> str:
    """Insert the rows of a submitted notebook, without marks, and return its id.

    The id is random, since the formgrader sorts submissions by it: with increasing ids, the order
    of the submissions would reveal the order of the students' ids.
    """
    submitted_id = os.urandom(16).hex()
    row = {"id": submitted_id, "assignment_id": submission_id, "notebook_id": notebook_id}
    db.execute(_NOTEBOOKS.insert(), row)
    cells = db.execute(_CELLS, {"notebook": notebook_id}).all()
    for table, kind in ((_GRADES, "GradeCell"), (_COMMENTS, "SolutionCell")):
        rows = [
            {"id": _new_id(), "cell_id": cell.id, "notebook_id": submitted_id}
            for cell in cells
            if cell.type in (kind, "TaskCell")
        ]
        if rows:
            db.execute(table.insert(), rows)
    return submitted_id


def _new_id() -> str:
    """Return an id of 32 hexadecimal digits, as nbgrader's, that increases with time.

    With increasing ids, new rows are on the same pages of the tables' indexes. With random ids,
    each new row would change another page of the database file.
    """
    return f"{time.time_ns() // 1000:014x}{os.urandom(9).hex()}"


def _set_marks(
    db: Connection,
    notebook_id: str,
    marks: Marks,
    manual: ManualMarks,
) -> None:
    """Set the marks of a submitted notebook; manual marks stay, except those that return.

    Args:
        notebook_id: the id of the submitted notebook.
        marks: the marks to store.
        manual: the manual marks afterwards.
    """
    key = {"notebook": notebook_id}
    grades = {cell: row for cell, row, *_ in db.execute(GRADED_CELLS, key)}
    comments = {cell: row for cell, row, _ in db.execute(COMMENTED_CELLS, key)}
    _require_cells(grades, marks.points)
    _require_cells(comments, marks.unanswered)
    scores, ids = [], exercise_ids(grades)
    for cell, points in marks.points.items():
        is_open = points is None and manual.marks[ids[cell]].points is None
        waits = is_open or ids[cell] in manual.reviews
        row = {"row": grades[cell], "auto_score": points, "needs_manual_grade": waits}
        scores.append(row)
    remarks = [
        {"row": comments[cell], "auto_comment": NO_RESPONSE if is_empty else None}
        for cell, is_empty in marks.unanswered.items()
    ]
    again = [
        {"row": row, "manual_score": marking.points, "extra_credit": marking.extra}
        for cell, row in grades.items()
        if (marking := manual.returned.get(ids[cell]))
    ]
    comments_again = [
        {"row": row, "manual_comment": marking.comment}
        for cell, row in comments.items()
        if (marking := manual.returned.get(ids.get(cell, cell)))
    ]
    for statement, rows in (
        (_SCORE, scores), (_REMARK, remarks), (_SCORE, again), (_REMARK, comments_again)
    ):  # fmt: skip
        if rows:
            db.execute(statement, rows)


def _require_cells(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise `CourseError` if the gradebook lacks one of the wanted cells.

    Args:
        known: the gradebook's cells, as keys.
        wanted: the cells that have marks, as keys.
    """
    if unknown := [cell for cell in wanted if cell not in known]:
        raise CourseError(
            f"the gradebook does not know the cells {', '.join(unknown)}. Was the assignment "
            "changed? Run `nbgrader generate_assignment --force` for it, and grade again."
        )
