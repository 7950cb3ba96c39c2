"""Writes marks in the forms that learning management systems import.

Canvas reads a gradebook file: the columns Student, ID, SIS User ID, SIS Login ID and Section, one
column for each assignment, and a row "Points Possible" below the headings. Moodle reads any table
with headings and asks which column names the student; it offers ID number and Email address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook

from ..errors import CourseError
from ..faults import kept_at
from ..gradebook.class_results import ClassResults, Result, class_results
from ..gradebook.late_penalties import LatePenalties
from ..pipeline.classroom import course_directory
from .csv_cells import Field, csv_text, read_table

FORMATS = ("canvas", "moodle", "csv", "exercises")

_CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")
_CANVAS = ("Student", *_CANVAS_IDS, "Section")
_MOODLE = ("ID number", "Email address")

_LATENESS = "lateness"
"""Waits beside the exercises where a penalty could not be settled."""

Row = dict[str, str]


@dataclass
class Roster:
    """A class list as the learning management system exports it.

    Attributes:
        headings: of its columns.
        rows: by the gradebook's student id.
        key: the column in which the gradebook's ids were found.
    """

    headings: list[str] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    key: str = ""


@dataclass
class Exported:
    """A file's text, and notes on it for a person."""

    text: str
    notes: list[str]


def export_marks(
    course: Path, names: Sequence[str], form: str, roster: Path | None, partial: bool
) -> Exported:
    """Return the marks of some assignments, late penalties taken off, hand-given marks included.

    Args:
        form: one of `FORMATS`.
        roster: a class list from the learning management system, as CSV.
        partial: whether to write the known part of a mark if a person has not marked all; by
            default that is an error.

    Raises `CourseError` if an assignment is unknown, marks are missing, or the roster does not fit.
    """
    if roster and form not in ("canvas", "moodle"):
        raise CourseError(
            "the plain forms have no use for a roster: leave out --roster, or choose --format "
            "canvas or --format moodle"
        )
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        # A mark by hand or an extension since the grading changes the late penalty.
        penalties = LatePenalties(folders.config, gradebook)
        unsettled = penalties.settle_each([student.id for student in gradebook.students])
        classes, unknown = [], []
        for name in names:
            with kept_at(name) as fault:
                classes.append(class_results(gradebook, name))
            unknown += [fault.reason] if fault.reason else []
    if not classes:
        raise CourseError("\n".join(unknown))
    notes = _waiting(classes, partial) + unknown
    for student, why in unsettled.items():
        notes.append(f"{student}: without a mark, since what being late costs is unknown: {why}")
        for result in (result for each in classes for result in each.submitted):
            if result.student == student:
                result.waiting.append(_LATENESS)
    if form in _PLAIN:
        return Exported(csv_text(_PLAIN[form](classes)), notes)
    known = _read_roster(roster, classes) if roster else Roster()
    if roster and form == "canvas" and not set(_CANVAS_IDS) & set(known.headings):
        raise CourseError(
            f"{roster}: Canvas could not tell whose marks these are, since none of the columns "
            f"{', '.join(_CANVAS_IDS)} is in it. Take the file of Grades, Export in Canvas."
        )
    students = list({r.student: r for each in classes for r in each.results}.values())
    if roster:
        lost = [each.student for each in students if each.student not in known.rows]
        if lost:
            notes.append(
                f"not in the roster's column {known.key!r}, and left out: {', '.join(lost)}"
            )
        students = [each for each in students if each.student in known.rows]
    make = _canvas if form == "canvas" else _moodle
    return Exported(csv_text(make(classes, students, known)), notes)


def _waiting(classes: list[ClassResults], partial: bool) -> list[str]:
    """Return notes on marks that a person still has to give. Raises `CourseError` unless
    `partial`."""
    notes = []
    for each in classes:
        waiting = [result.student for result in each.submitted if result.waiting]
        if waiting:
            shown = ", ".join(waiting[:10]) + (" …" if len(waiting) > 10 else "")
            notes.append(f"{each.assignment}: to be marked by hand for {len(waiting)}: {shown}")
    if notes and not partial:
        raise CourseError(
            "marks are missing; nothing was written.\n  "
            + "\n  ".join(notes)
            + "\nMark them in the formgrader (Manual Grading), or write the part that is known "
            "with --partial."
        )
    return notes


def _mark(results: ClassResults, student: str) -> float | None:
    """Return the known part of the mark; None if there is no submission."""
    found = next(result for result in results.results if result.student == student)
    return _known(found) if found.submitted else None


def _known(result: Result) -> float | None:
    """Return the mark without parts that wait; None if the penalty is unknown."""
    return None if _LATENESS in result.waiting else result.mark


def _canvas(
    classes: list[ClassResults], students: list[Result], roster: Roster
) -> list[Sequence[Field]]:
    titles = [_column(each.assignment, roster) for each in classes]
    possible: list[Field] = ["    Points Possible", "", "", "", ""]
    rows: list[Sequence[Field]] = [
        [*_CANVAS, *titles],
        possible + [each.max_score for each in classes],
    ]
    for student in students:
        usual = {"Student": _name(student), "SIS Login ID": student.student}
        rows.append(_row(student.student, usual, _CANVAS, classes, roster))
    return rows


def _row(
    student: str, usual: Row, headings: Sequence[str], classes: list[ClassResults], roster: Roster
) -> list[Field]:
    """Return a student's row: what the roster has under these headings, or the usual; and marks."""
    known = roster.rows.get(student, usual)
    return [*map(known.get, headings), *(_mark(each, student) for each in classes)]


def _moodle(
    classes: list[ClassResults], students: list[Result], roster: Roster
) -> list[Sequence[Field]]:
    # In another language its columns have other names: all are kept then, for Moodle to find its
    # own.
    own = [heading for heading in roster.headings if heading]
    headings = own if own and not set(_MOODLE) & set(own) else list(_MOODLE)
    rows: list[Sequence[Field]] = [[*headings, *(each.assignment for each in classes)]]
    for student in students:
        usual = {"ID number": student.student, "Email address": student.email}
        rows.append(_row(student.student, usual, headings, classes, roster))
    return rows


def _plain(classes: list[ClassResults]) -> list[Sequence[Field]]:
    """Return one row for each student and assignment, with all parts of the mark."""
    rows: list[Sequence[Field]] = [
        ("assignment", "student", "last_name", "first_name", "email", "state", "score", "penalty",
         "mark", "max_score", "submitted_utc", "to_mark")
    ]  # fmt: skip
    for each in classes:
        for result in each.results:
            state = "waiting" if result.waiting else "final" if result.submitted else "missing"
            person = (result.last_name, result.first_name, result.email)
            if state == "missing":
                rows.append((each.assignment, result.student, *person, state, None, None, None,
                             each.max_score, None, None))  # fmt: skip
                continue
            when = result.timestamp
            rows.append(
                (each.assignment, result.student, *person, state, result.score, result.penalty,
                 _known(result), each.max_score,
                 f"{when:%Y-%m-%d %H:%M:%S}" if when else None, " ".join(result.waiting))
            )  # fmt: skip
    return rows


def _by_exercise(classes: list[ClassResults]) -> list[Sequence[Field]]:
    """Make one row a student and exercise; late penalties are not taken off the points."""
    rows: list[Sequence[Field]] = [
        ("assignment", "student", "last_name", "first_name", "email", "exercise", "state",
         "points", "max_points")
    ]  # fmt: skip
    for each in classes:
        for result in each.submitted:
            person = (result.student, result.last_name, result.first_name, result.email)
            for exercise, most in each.max_points.items():
                state = "waiting" if exercise in result.waiting else "final"
                points = result.points.get(exercise)
                rows.append((each.assignment, *person, exercise, state, points, most))
    return rows


_PLAIN = {"csv": _plain, "exercises": _by_exercise}


def _name(result: Result) -> str:
    """Return the name as Canvas writes it; the id if the gradebook has no name."""
    return ", ".join(part for part in (result.last_name, result.first_name) if part) or (
        result.student)  # fmt: skip


def _column(name: str, roster: Roster) -> str:
    """Return the heading of the assignment's column: the one in Canvas, with its number.

    Canvas makes a new assignment of an unknown heading.
    """
    same = re.compile(rf"{re.escape(name)} \(\d+\)", re.IGNORECASE)
    return next((heading for heading in roster.headings if same.fullmatch(heading)), name)


def _read_roster(path: Path, classes: list[ClassResults]) -> Roster:
    """Read a class list; its key is the column that holds the most of the gradebook's students."""
    headings, rows = read_table(path)
    students = {result.student for each in classes for result in each.results}
    found = {heading: students & {row[heading].strip() for row in rows} for heading in headings}
    key = max(headings, key=lambda heading: len(found[heading]), default="")
    if not key or not found[key]:
        raise CourseError(
            f"{path}: no column holds the ids of the gradebook's students, such as "
            f"{min(students, default='')!r}. Add one; any heading will do."
        )
    by_id: dict[str, Row] = {}
    for row in rows:
        student = row[key].strip()
        if student in by_id:
            raise CourseError(
                f"{path}: {student!r} is there twice in the column {key!r}. Delete one."
            )
        if student in students:
            by_id[student] = row
    return Roster(headings, by_id, key)
