"""Exports marks in the CSV formats that learning management systems import.

Canvas reads a gradebook file: the columns Student, ID, SIS User ID, SIS Login ID and Section, one
column for each assignment, and a row "Points Possible" below the headings. Moodle reads any table
with headings, and asks which column identifies the student: by ID number or by e-mail address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook

from ..course_folder.course import Course
from ..errors import CourseError
from ..gradebook.class_results import ClassResults, StudentResult, class_results
from ..gradebook.late_penalties import LatePenalties
from ..isolation import isolated_errors
from ..pages.csv_cells import Field, csv_text, read_table
from ..pipeline.classroom import course_directory

_CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")
_CANVAS = ("Student", *_CANVAS_IDS, "Section")
_MOODLE = ("ID number", "Email address")

_LATENESS = "lateness"
"""Key that marks an unknown late penalty in `StudentResult.waiting`, whose other keys are
exercises."""

Row = dict[str, str]


@dataclass
class Roster:
    """A class list that was exported from the learning management system.

    Attributes:
        headings: the headings of the list's columns.
        rows: the list's rows, by the gradebook's student id.
        key: the heading of the column with the gradebook's student ids.
    """

    headings: list[str] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    key: str = ""


@dataclass
class ExportedMarks:
    """The text of a CSV file with marks, and notes on marks that are missing in it."""

    text: str
    notes: list[str]


def export_marks(
    course: Course, names: Sequence[str], form: str, roster: Path | None, partial: bool
) -> ExportedMarks:
    """Return the marks of assignments as CSV, manual marks included and late penalties subtracted.

    Args:
        form: "csv", "exercises", "canvas" or "moodle".
        roster: the path of a class list from the learning management system, as CSV.
        partial: whether to write the known part of a mark if some points are still to be given by
            hand; if False, these marks are an error.

    Raises `CourseError` if an assignment is unknown, marks are missing, or the roster does not fit.
    """
    if roster and form not in ("canvas", "moodle"):
        raise CourseError(
            "the plain forms have no use for a roster: leave out --roster, or choose --format "
            "canvas or --format moodle"
        )
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        # Compute penalties again: manual marks and extensions since the grading change them.
        penalties = LatePenalties(folders.config, gradebook)
        unsettled = penalties.settle_each([student.id for student in gradebook.students])
        classes, unknown = [], []
        for name in names:
            with isolated_errors(name) as fault:
                classes.append(class_results(gradebook, name))
            unknown += [fault.reason] if fault.reason else []
    if not classes:
        raise CourseError("\n".join(unknown))
    notes = _waiting(classes, partial) + unknown
    for student, why in unsettled.items():
        notes.append(f"{student}: without a mark, since what being late costs is unknown: {why}")
        for result in (result for each in classes for result in each.submitted):
            if result.student == student:
                result.waiting[_LATENESS] = ""
    if form in _PLAIN:
        return ExportedMarks(csv_text(_PLAIN[form](classes)), notes)
    class_list = _read_roster(roster, classes) if roster else Roster()
    if roster and form == "canvas" and not set(_CANVAS_IDS) & set(class_list.headings):
        raise CourseError(
            f"{roster}: Canvas could not tell whose marks these are, since none of the columns "
            f"{', '.join(_CANVAS_IDS)} is in it. Take the file of Grades, Export in Canvas."
        )
    students = list({r.student: r for each in classes for r in each.results}.values())
    if roster:
        missing = [each.student for each in students if each.student not in class_list.rows]
        if missing:
            notes.append(
                f"not in the roster's column {class_list.key!r}, and left out: {', '.join(missing)}"
            )
        students = [each for each in students if each.student in class_list.rows]
    return ExportedMarks(csv_text(_FOR_LMS[form](classes, students, class_list)), notes)


def _waiting(classes: list[ClassResults], partial: bool) -> list[str]:
    """Return notes on marks that a person still has to give.

    Raises `CourseError` if there are any, unless `partial` is True.
    """
    notes = []
    for each in classes:
        waiting = [result for result in each.submitted if result.waiting]
        if waiting:
            names = [result.student for result in waiting]
            shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
            notes.append(f"{each.assignment}: to be marked by hand for {len(waiting)}: {shown}")
            notes += each.again
    if notes and not partial:
        raise CourseError(
            "marks are missing; nothing was written.\n  "
            + "\n  ".join(notes)
            + "\nMark them with `autograder mark ASSIGNMENT`, or write the part that is known with "
            "--partial."
        )
    return notes


def _mark(results: ClassResults, student: str) -> float | None:
    """Return the known part of a student's mark; None if it is unknown or nothing was submitted."""
    found = next(result for result in results.results if result.student == student)
    return _known(found) if found.submitted else None


def _known(result: StudentResult) -> float | None:
    """Return the known part of a mark, without points still to be given by hand.

    None if the late penalty is unknown.
    """
    return None if _LATENESS in result.waiting else result.mark


def _canvas(
    classes: list[ClassResults], students: list[StudentResult], roster: Roster
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
    """Return a student's row: fields from the roster, and the marks.

    Args:
        usual: the fields, by heading, of a student who is not in the roster.
        headings: the headings of the row's fields before the marks.
    """
    fields = roster.rows.get(student, usual)
    return [*map(fields.get, headings), *(_mark(each, student) for each in classes)]


def _moodle(
    classes: list[ClassResults], students: list[StudentResult], roster: Roster
) -> list[Sequence[Field]]:
    # A roster from a Moodle in another language has translated headings. All its columns are then
    # copied, so that the column by which Moodle identifies students is among them.
    copied = [heading for heading in roster.headings if heading]
    headings = copied if copied and not set(_MOODLE) & set(copied) else list(_MOODLE)
    rows: list[Sequence[Field]] = [[*headings, *(each.assignment for each in classes)]]
    for student in students:
        usual = {"ID number": student.student, "Email address": student.email}
        rows.append(_row(student.student, usual, headings, classes, roster))
    return rows


def _plain(classes: list[ClassResults]) -> list[Sequence[Field]]:
    """Return the rows of the format `csv`: one for each student and assignment."""
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
    """Return the rows of the format `exercises`: one for each student and exercise.

    Late penalties are not subtracted, since they apply to the whole assignment.
    """
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
_FOR_LMS = {"canvas": _canvas, "moodle": _moodle}


def _name(result: StudentResult) -> str:
    """Return a student's name as "Last, First", Canvas's form; the id if the name is unknown."""
    return ", ".join(part for part in (result.last_name, result.first_name) if part) or (
        result.student)  # fmt: skip


def _column(name: str, roster: Roster) -> str:
    """Return the heading of an assignment's column.

    If Canvas's roster has a column for the assignment, return the column's heading, such as
    `value (101)`; otherwise the assignment's name, for which Canvas creates a new assignment.
    """
    same = re.compile(rf"{re.escape(name)} \(\d+\)", re.IGNORECASE)
    return next((heading for heading in roster.headings if same.fullmatch(heading)), name)


def _read_roster(path: Path, classes: list[ClassResults]) -> Roster:
    """Read a class list; its key column is the one with most of the gradebook's student ids."""
    headings, rows = read_table(path)
    students = {result.student for each in classes for result in each.results}
    matches = {heading: students & {row[heading].strip() for row in rows} for heading in headings}
    key = max(headings, key=lambda heading: len(matches[heading]), default="")
    if not key or not matches[key]:
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
