"""Stores manual marks and comments with optimistic concurrency control.

A mark is stored only if the exercise has not changed since the person's page was loaded.
"""

from __future__ import annotations

import getpass
import os
from contextlib import suppress
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Connection, Engine, bindparam, select

from ..course_folder.own_notebooks import exercise_ids
from . import history
from .cells import of_submission

Snapshot = dict[str, Any]
"""The state of an exercise that a page of the formgrader shows to a person who gives a mark.

The keys are `exercise` (the exercise's name); `auto_score`, `manual_score`, `extra_credit`,
`needs_manual_grade` and `manual_comment` as in nbgrader; `answer` (the digest of the answer in the
last grading); and `items` and `adjust` as in the record, None if the points are not those of its
last line.
"""

_GRADE = ("auto_score", "manual_score", "extra_credit", "needs_manual_grade")
_ITEMS = ("items", "adjust")
_BLANK: Snapshot = dict.fromkeys((*_GRADE, "manual_comment", "answer", *_ITEMS))
# Built once, since building a statement takes longer than running it.
_OF_GRADES, _OF_COMMENTS = (
    select(kind.id, BaseCell.name, *(getattr(kind, column) for column in columns))
    .join(kind.cell)
    .where(of_submission(kind, bindparam("submitted")))
    for kind, columns in ((Grade, _GRADE), (Comment, ("manual_comment",)))
)
_OWNER = (
    select(Assignment.name, Notebook.name, SubmittedAssignment.student_id)
    .select_from(SubmittedNotebook)
    .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
    .where(SubmittedNotebook.id == bindparam("submitted"))
)


def person() -> str:
    """Return who is at this process: the user of a hub, or of this machine."""
    with suppress(KeyError, OSError):  # a container may know no name for its user
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    return "unknown"


def take_snapshots(db: Connection, submitted: str) -> dict[str, Snapshot]:
    """Return a snapshot of each exercise of a submitted notebook.

    The keys are ids of rows: the id of an exercise's grade and the id of its comment have the same
    snapshot.

    Args:
        submitted: the id of the submitted notebook.
    """
    key = {"submitted": submitted}
    grades, comments = (
        db.execute(rows, key).mappings().all() for rows in (_OF_GRADES, _OF_COMMENTS)
    )
    ids = exercise_ids(row["name"] for row in grades)
    snapshots: dict[str, Snapshot] = {}
    for row in (*grades, *comments):
        name = ids.get(row["name"], row["name"])
        exercise = snapshots.setdefault(name, {"exercise": name, **_BLANK})
        exercise |= {key: row[key] for key in row if key in _BLANK}
    if owner := db.execute(_OWNER, key).first():
        folder, notebook, student = owner
        answers = history.answers(db, (folder, f"{folder}/{notebook}"), student)
        lines = history.markings(db, history.recorded_name(folder, notebook), student)
        last = {line.exercise: line for line in lines}
        for name, exercise in snapshots.items():
            exercise["answer"] = answers.get(name)
            line, points = last.get(name), (exercise["manual_score"], exercise["extra_credit"])
            if line is not None and (line.points, line.extra) == points:
                exercise |= {key: getattr(line, key) for key in _ITEMS}
    return {row["id"]: snapshots[ids.get(row["name"], row["name"])] for row in (*grades, *comments)}


def store(
    database: Engine,
    kind: type[Grade | Comment],
    row: str,
    seen: Snapshot,
    typed: Snapshot,
    who: str,
    reply: str = "",
    text: str = "",
    why: str | None = None,
) -> tuple[bool, Snapshot]:
    """Store a mark or a comment if the exercise is as the person's page shows it.

    The comparison, the update and the line of the record are one transaction. Afterwards a grade
    does not wait for a person any more, unless it has neither automatic nor manual points, or the
    new values say that it waits.

    Args:
        database: the gradebook's SQLAlchemy connectable.
        kind: the row's table.
        row: the id of the exercise's grade or comment.
        seen: the exercise's snapshot from the time when the page was loaded.
        typed: the new values, by column, of the grade and of the comment, and `items` and `adjust`
            for the record. Without these two, new points have no items.
        who: the person who marked the answer, for the record.
        reply: what the person replies to the student who asked for another look; "" for nothing.
        text: the answer's text, for the record; "" if unknown.
        why: why the mark is stored again, for the record; None if the person marks the answer now.

    Returns:
        Whether the values were stored, and the exercise's present snapshot.

    Raises `MissingEntry` if there is no such row.
    """
    with database.begin() as db:
        table = kind.__table__
        submitted = db.execute(select(table.c.notebook_id).where(table.c.id == row)).scalar()
        if submitted is None:
            raise MissingEntry(f"no such {table.name}: {row}")
        rows = _lock(db, submitted, row)
        now = take_snapshots(db, submitted)[row]
        if now != seen:
            return False, now
        grade = {key: typed[key] for key in _GRADE if key in typed}
        comment = {key: typed[key] for key in ("manual_comment",) if key in typed}
        if kind is Grade and "needs_manual_grade" not in grade:
            scores = {key: grade.get(key, now[key]) for key in ("auto_score", "manual_score")}
            grade["needs_manual_grade"] = not any(score is not None for score in scores.values())
        for other, values in ((Grade.__table__, grade), (Comment.__table__, comment)):
            if values:
                db.execute(other.update().where(other.c.id.in_(rows)).values(values))
        before, now = now, take_snapshots(db, submitted)[row]
        is_same = all(now[key] == before[key] for key in ("manual_score", "extra_credit"))
        now |= {key: typed.get(key, before[key] if is_same else None) for key in _ITEMS}
        folder, notebook, student = db.execute(_OWNER, {"submitted": submitted}).one()
        name = history.recorded_name(folder, notebook)
        # What still waits was not given for the present answer; a comment decides nothing.
        waits = typed.get("needs_manual_grade") or (kind is Comment and now["needs_manual_grade"])
        read = None if waits else now["answer"]
        given = (read, now["manual_score"], now["extra_credit"], now["manual_comment"])
        items = {key: now[key] for key in _ITEMS}
        line = history.Marking(who, name, student, now["exercise"], *given, **items, why=why)
        history.add_marking(db, line)
        if text and now["answer"]:
            history.add_text(db, name, student, now["exercise"], now["answer"], text)
        if reply:
            ask = history.Ask(who, name, student, now["exercise"], reply, is_reply=True)
            history.add_ask(db, ask)
        return True, now


def _lock(db: Connection, submitted: str, row: str) -> list[str]:
    """Lock an exercise's grade and comment until the transaction ends; return the rows' ids.

    An `UPDATE` that changes nothing locks the rows on PostgreSQL, and the whole file on SQLite.
    Afterwards, the latest state is read. A condition in the `UPDATE` that stores the values would
    not be enough: PostgreSQL checks it again only for the updated row, while the exercise's other
    row or its answer may change concurrently.

    Args:
        submitted: the id of the submitted notebook.
        row: the id of the exercise's grade or comment.
    """
    snapshots = take_snapshots(db, submitted)
    # The ids of an exercise's grade and comment have the same snapshot object.
    same = [each for each, snapshot in snapshots.items() if snapshot is snapshots[row]]
    # Grades are locked before comments, the order in which gradings store both: no deadlock.
    for table in (Grade.__table__, Comment.__table__):
        db.execute(
            table.update().where(table.c.id.in_(same)).values(notebook_id=table.c.notebook_id)
        )
    return same
