"""Writes verdicts into nbgrader's gradebook, each submission's whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    ColumnElement,
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
from ..model import Marks
from . import history

T = TypeVar("T")


def of_submission(kind: type[Grade | Comment], key: Any) -> ColumnElement[bool]:
    """Return the condition that a grade or comment belongs to the submitted notebook with this key.

    The condition names the cells as well, since nbgrader's index is by cell: without them, the time
    of a query would grow with the class.
    """
    cells = (
        select(BaseCell.id)
        .join(SubmittedNotebook, SubmittedNotebook.notebook_id == BaseCell.notebook_id)
        .where(SubmittedNotebook.id == key)
    )
    return and_(kind.notebook_id == key, kind.cell_id.in_(cells))


# Rows are written through the tables: each step through the objects takes several times as long.
_STUDENTS, _SUBMISSIONS, _NOTEBOOKS, _GRADES, _COMMENTS = (
    kind.__table__ for kind in (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)
)

# Built once, since building a statement takes longer than running it.
_WHAT_IS_THERE = (
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
_GRADED_CELLS = (
    select(BaseCell.name, Grade.id, Grade.manual_score.is_not(None), Grade.needs_manual_grade)
    .join(Grade.cell)
    .where(of_submission(Grade, bindparam("notebook")))
)
_COMMENTED_CELLS = (
    select(BaseCell.name, Comment.id)
    .join(Comment.cell)
    .where(of_submission(Comment, bindparam("notebook")))
)
_SCORE = _GRADES.update().where(_GRADES.c.id == bindparam("row"))
_REMARK = _COMMENTS.update().where(_COMMENTS.c.id == bindparam("row"))

_PATIENCE = 60.0
"""Seconds that another program may keep the gradebook locked."""

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
_LASTING = tuple(kind for kinds in list(_REMEDIES)[1:] for kind in kinds)
"""Kinds of SQLite's errors that waiting does not mend."""


@event.listens_for(Engine, "do_connect")
def _wait_for_others(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
    """Make every connection to an SQLite gradebook wait for other programs, for reading too.

    SQLite gives up after five seconds otherwise.
    """
    if dialect.name == "sqlite":
        parameters.setdefault("timeout", _PATIENCE)


def _kind(error: Exception) -> str:
    """Return SQLite's name for the kind of an error; "" for another database's."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", "")


def with_remedy(error: Exception) -> str:
    """Return the database's error message, and a remedy."""
    original = getattr(error, "orig", None)
    if original is None or type(original).__module__ == "sqlite3":
        remedy = "Look at its disk, and at other programs that use it; then run the same command."
    else:
        remedy = (
            "See that the server which `db_url` in nbgrader_config.py names runs and lets you in; "
            "then run the same command again."
        )
    for kinds, known in _REMEDIES.items():
        if _kind(error).startswith(kinds):
            remedy = known
    if str(original).startswith("no such"):
        remedy = _UPGRADE
    return f"({original or error}). {remedy}"


def require_current(db_url: str) -> None:
    """Raise `CourseError` if a gradebook is there that lacks columns of nbgrader's."""
    path = make_url(db_url).database
    if db_url.startswith("sqlite") and not (path and Path(path).exists()):
        return
    database = create_engine(db_url)
    try:
        there = inspect(database).get_multi_columns()
    finally:
        database.dispose()
    for table in Base.metadata.sorted_tables:
        columns = {each["name"] for each in there.get((None, table.name), ())}
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
    """Raise `CourseError` if an exercise has other points in the gradebook."""
    cells = {
        cell.name: cell.max_score
        for each in gradebook.find_assignment(name).notebooks
        if each.name == notebook
        for cell in (*each.grade_cells, *each.task_cells)
    }
    known = {each: cells[cell] for cell, each in exercise_ids(cells).items()}
    if changed := [e.id for e in exercises if known.get(e.id, e.total_points) != e.total_points]:
        raise CourseError(
            f"the gradebook has other points for {', '.join(changed)} of {name}: "
            f"run {release_command(name)}, and grade again"
        )


@dataclass(frozen=True)
class Result:
    """The outcome of grading one notebook, as the gradebook stores it.

    Attributes:
        timestamp: when it was submitted, in UTC, if known.
        entry: its line of the record of gradings.
        notebook: the notebook's name; the assignment's if "".
    """

    assignment: str
    student: str
    marks: Marks
    timestamp: datetime | None
    entry: history.Entry | None = None
    notebook: str = ""


def record(gradebook: Gradebook, results: Sequence[Result]) -> None:
    """Store marks in one transaction, as nbgrader's `SaveAutoGrades` would one by one.

    Marks and comments that a person gave stay; if the answer has changed since, the cell is marked
    for another look. If other programs use the gradebook at the same time, this waits for its turn.

    Raises `CourseError` if another program keeps the gradebook for over a minute, or if a
    notebook's cells are not in it.
    """
    whose = ", ".join(f"{each.student} for {each.assignment}" for each in results)
    patiently(gradebook, f"the marks of {whose}", lambda: _record(gradebook, results))


def patiently(gradebook: Gradebook, what: str, write: Callable[[], T]) -> T:
    """Write to the gradebook; if other programs use it at the same time, wait for a turn.

    Args:
        gradebook: the gradebook; rolled back if `write` fails.
        what: a name for the written data, for the message.
        write: writes and commits; called again until it succeeds.

    Raises `CourseError` if another program keeps the gradebook for over a minute, and at once if
    waiting does not help.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return write()
        except (OperationalError, IntegrityError, InvalidEntry) as error:
            # It is locked, or another grader has just made the rows that were to be made here.
            gradebook.db.rollback()
            if _kind(error).startswith(_LASTING) or time.monotonic() > until:
                raise CourseError(
                    f"{what} could not be stored {with_remedy(error)} "
                    "What was graded before is stored."
                ) from error
            time.sleep(0.1)
        except Exception:
            gradebook.db.rollback()
            raise


def _record(gradebook: Gradebook, results: Sequence[Result]) -> None:
    # A query through the session makes objects of the rows and takes twice as long.
    db = gradebook.db.connection()
    for result in results:
        notebook_id = _mirrored(db, result)
        same = history.same_answers(db, result.entry) if result.entry else set()
        _set_marks(db, notebook_id, result.marks, same)
        if result.entry is not None:
            history.add(db, result.entry)
    gradebook.db.commit()


def _submitted(gradebook: Gradebook, name: str, student: str) -> Row[Any] | None:
    """Return the id and time of a submission in the gradebook, if it is there."""
    found: Row[Any] | None = gradebook.db.execute(
        _SUBMITTED, {"name": name, "student": student}
    ).first()
    return found


def has_time(gradebook: Gradebook, name: str, student: str, when: datetime | None) -> bool:
    """Return whether a submission in the gradebook has this time, in UTC; true if there is none."""
    found = _submitted(gradebook, name, student)
    return found is None or found.timestamp == when


def set_time(gradebook: Gradebook, name: str, student: str, when: datetime | None) -> None:
    """Set the time of a submission in the gradebook, in UTC; None if unknown.

    Raises `CourseError` if another program keeps the gradebook for over a minute.
    """

    def write() -> None:
        if found := _submitted(gradebook, name, student):
            gradebook.db.execute(_RESUBMITTED, {"row": found.id, "timestamp": when})
        gradebook.db.commit()

    patiently(gradebook, f"when {student} submitted {name}", write)


def knows_student(gradebook: Gradebook, student: str) -> bool:
    """Return whether the student is in the gradebook."""
    return gradebook.db.execute(_STUDENT, {"student": student}).first() is not None


def has_marks(gradebook: Gradebook, name: str, student: str) -> bool:
    """Return whether the gradebook holds a submission of the student for the assignment with marks.

    The submissions of a student who was removed are gone.
    """
    return _submitted(gradebook, name, student) is not None


def given_by_hand(gradebook: Gradebook, name: str, notebook: str, student: str) -> dict[str, float]:
    """Return the points that a person gave in place of the grader's in a notebook, by exercise."""
    rows = gradebook.db.execute(
        select(BaseCell.name, Grade.manual_score)
        .join(Grade.cell)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(
            Assignment.name == name,
            Notebook.name == notebook,
            SubmittedAssignment.student_id == student,
        )
    )
    points = {cell: by_hand for cell, by_hand in rows}
    ids = exercise_ids(points)
    return {ids[cell]: given for cell, given in points.items() if given is not None}


def _mirrored(db: Connection, result: Result) -> str:
    """Return the id of the submitted notebook; make what is missing of the submission, empty.

    This is nbgrader's `Gradebook.update_or_create_submission`, in bulk and without committing.
    """
    name, student = result.assignment, result.student
    there = db.execute(_WHAT_IS_THERE, {"name": name, "student": student}).all()
    assignment_id, student_id, submission_id, *_ = there[0]
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
        each: known or _add_notebook(db, submission_id, notebook_id)
        for *_, notebook_id, each, known in there
    }
    return submitted[result.notebook or name]


def _add_notebook(db: Connection, submission_id: str, notebook_id: str) -> str:
    """Make the rows of a submitted notebook, and return its id."""
    submitted_id = _new_id()
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
    """Return an id like nbgrader's, 32 hexadecimal digits, that is greater than earlier ones.

    New rows then lie side by side in the tables' indexes. With random ids, each row would change
    another page of the database file.
    """
    return f"{time.time_ns() // 1000:014x}{os.urandom(9).hex()}"


def _set_marks(db: Connection, notebook_id: str, marks: Marks, same: set[str]) -> None:
    """Set the marks of a submitted notebook; those that a person gave stay.

    Args:
        same: the exercises whose answers have not changed since the grading before, so that a
            person's marks still fit them.
    """
    given = {"notebook": notebook_id}
    grades = {cell: row for cell, *row in db.execute(_GRADED_CELLS, given)}
    comments = {cell: row for cell, row in db.execute(_COMMENTED_CELLS, given)}
    _require_cells(grades, marks.points)
    _require_cells(comments, marks.unanswered)
    scores, ids = [], exercise_ids(grades)
    for cell, points in marks.points.items():
        grade_id, by_hand, waits = grades[cell]
        look = points is None
        if by_hand:
            look = waits or ids[cell] not in same
        scores.append({"row": grade_id, "auto_score": points, "needs_manual_grade": look})
    remarks = [
        {"row": comments[cell], "auto_comment": "No response." if is_empty else None}
        for cell, is_empty in marks.unanswered.items()
    ]
    for statement, rows in ((_SCORE, scores), (_REMARK, remarks)):
        if rows:
            db.execute(statement, rows)


def _require_cells(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if unknown := [cell for cell in wanted if cell not in known]:
        raise CourseError(
            f"the gradebook does not know the cells {', '.join(unknown)}. Was the assignment "
            "changed? Run `nbgrader generate_assignment --force` for it, and grade again."
        )
