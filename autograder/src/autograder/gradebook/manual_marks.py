"""Finds out what becomes of the manual marks of a submitted notebook by a grading: they stay, a
person has to review them, or one that was given for the answer earlier returns."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from ..course_folder.own_notebooks import exercise_ids
from . import another_look, history
from .another_look import ManualMark, Verdict
from .cells import COMMENTED_CELLS, GRADED_CELLS


@dataclass(frozen=True)
class ManualMarks:
    """The manual marks of a submitted notebook after a grading that is not stored yet.

    Attributes:
        marks: the manual mark of each exercise. Where there is none, `ManualMark.is_given` is
            False.
        reviews: by exercise whose manual mark has to be reviewed: why, and the verdict that the
            person saw (None if unknown).
        returned: by exercise whose answer is handed in again: what a person gave for it.
    """

    marks: dict[str, ManualMark]
    reviews: dict[str, tuple[str, Verdict | None]]
    returned: dict[str, history.Marking]


def marks_after(
    db: Connection, notebook_id: str, entry: history.Entry | None, name: str, is_new: bool = False
) -> ManualMarks:
    """Return the manual marks of a submitted notebook after a grading that is not stored yet.

    Args:
        notebook_id: the id of the submitted notebook.
        entry: the grading's entry for the record; None if it has none.
        name: the notebook's name, as `history.recorded_name` returns it.
        is_new: whether its rows are new: then each answer is handed in again which the record has.
    """
    marks = _marks(db, notebook_id)
    before, now = {}, {}
    if entry is not None:
        before = history.last_verdicts(db, entry.assignment, entry.student)
        now = {each["id"]: each for each in entry.verdicts}
    reviews = {}
    for exercise, mark in marks.items():
        seen = another_look.seen_at(before.get(exercise), mark.waits)
        if why := another_look.why_again(mark, seen, now.get(exercise)):
            reviews[exercise] = why, seen
    returned = {}
    if entry is not None and before:
        returned = _returned(db, entry, name, marks, reviews, {} if is_new else before)
    for exercise, marking in returned.items():
        reviews.pop(exercise, None)
        marks[exercise] = _as_mark(marking)
    return ManualMarks(marks, reviews, returned)


def _marks(db: Connection, notebook_id: str) -> dict[str, ManualMark]:
    """Return the manual mark of each exercise of a submitted notebook, by exercise."""
    key = {"notebook": notebook_id}
    grades = {cell: row for cell, _, *row in db.execute(GRADED_CELLS, key)}
    commented = [cell for cell, _, exists in db.execute(COMMENTED_CELLS, key) if exists]
    ids = exercise_ids(grades)
    return {
        ids[cell]: ManualMark(
            points, extra, another_look.comments_on(ids[cell], ids.values(), commented), waits
        )
        for cell, (points, extra, waits) in grades.items()
    }


def _returned(
    db: Connection,
    entry: history.Entry,
    name: str,
    marks: Mapping[str, ManualMark],
    reviews: Container[str],
    before: Mapping[str, Verdict],
) -> dict[str, history.Marking]:
    """Return, by exercise, what a person gave for an answer that is now handed in again.

    Args:
        marks: the manual marks, by exercise.
        reviews: the exercises whose manual marks would have to be reviewed.
        before: the verdicts of the last grading, by exercise: of the same answers, nothing returns.
    """
    now = {
        each["id"]: each
        for each in entry.verdicts
        if each["id"] in marks
        and (each["id"] in reviews or not marks[each["id"]].is_given)
        and each["answer"] != before.get(each["id"], {}).get("answer")
    }
    if not now:
        return {}
    given = {
        each.exercise: each
        for each in history.markings(db, name, entry.student)
        if each.exercise in now and each.answer == now[each.exercise]["answer"]
    }
    seen = history.seen_at(db, entry.assignment, given)
    return {
        exercise: marking
        for exercise, marking in given.items()
        if _as_mark(marking).is_given
        and not another_look.why_again(_as_mark(marking), seen.get(exercise), now[exercise])
    }


def _as_mark(marking: history.Marking) -> ManualMark:
    return ManualMark(marking.points, marking.extra, bool(marking.comment))
