"""Reads the answers to an exercise that a person marks, in an order drawn for the exercise."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import ColumnElement, func, select

from ..course_folder.assignments import Exercise
from ..course_folder.course import Course
from ..gradebook import history
from ..pipeline.classroom import course_directory

Cells = list[dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """One student's answer to an exercise.

    Attributes:
        row: the id of its grade in the gradebook.
        submitted: the id of the submitted notebook in the gradebook.
        student: the student's id, which no page shows.
        cells: the cell with the answer; of a task, its cell and those that the student added below.
        waits: whether a person has to mark it.
        points: the points by hand; None if there are none.
    """

    row: str
    submitted: str
    student: str
    cells: Cells = field(compare=False)
    waits: bool
    points: float | None

    @property
    def text(self) -> str:
        return "\n\n".join("".join(cell["source"]) for cell in self.cells)

    @property
    def same(self) -> str:
        """What equal answers have in common: the words, without capitals and spaces."""
        return " ".join(self.text.split()).casefold()


class Answers:
    """The written answers of a class in one assignment or part.

    Attributes:
        exercises: the exercises that a person marks, by id.
        gradebook: the course's gradebook.
    """

    def __init__(self, course: Course, name: str) -> None:
        self._course, self.name = course, name
        self._folders = course_directory(course)
        self._path = course.notebook_path(name)
        self._read: dict[str, tuple[int, dict[str, Cells]]] = {}
        self.gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        exercises = course.assignment(name).exercises
        self.exercises: dict[str, Exercise] = {
            each.id: each for each in exercises.values() if each.manual
        }

    def of(self, exercise: str) -> list[Answer]:
        """Return all answers to an exercise, in its order: the same at each call, another one for
        each exercise, and independent of names."""
        rows = self._rows(
            Grade.id, SubmittedNotebook.id, SubmittedAssignment.student_id,
            Grade.needs_manual_grade, Grade.manual_score, where=BaseCell.name == exercise,
        )  # fmt: skip
        found = [
            Answer(row, submitted, student, cells, waits, points)
            for row, submitted, student, waits, points in rows
            if (cells := self._cells(student).get(exercise)) is not None
        ]
        return sorted(found, key=lambda each: self._place(exercise, each.student))

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return by exercise how many answers wait for a person, and how many there are."""
        points = func.coalesce(Grade.manual_score, Grade.auto_score)
        rows = self._rows(
            BaseCell.name, Grade.needs_manual_grade,
            where=Grade.needs_manual_grade | points.is_not(None),
        )  # fmt: skip
        waits: dict[str, list[bool]] = {}
        for exercise, each in rows:
            waits.setdefault(exercise, []).append(each)
        return {exercise: (sum(found), len(found)) for exercise, found in waits.items()}

    def graders(self, exercise: str) -> list[tuple[str, int, float]]:
        """Return by person how many answers to an exercise have this person's points, and the mean
        of the points."""
        db = self.gradebook.db
        db.rollback()
        given = history.markings(db.connection(), self.name)
        db.rollback()
        last = {each.student: each for each in given if each.exercise == exercise}
        points: dict[str, list[float]] = {}
        for each in last.values():
            if each.points is not None:
                points.setdefault(each.who, []).append(each.points)
        return [(who, len(found), mean(found)) for who, found in sorted(points.items())]

    def _rows(self, *columns: Any, where: ColumnElement[bool]) -> list[Any]:
        """Return columns of the class's grades in this notebook."""
        db = self.gradebook.db
        db.rollback()  # end the read transaction: the gradebook's present state counts
        query = (
            select(*columns)
            .select_from(Grade)
            .join(BaseCell, Grade.cell_id == BaseCell.id)
            .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
            .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
            .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .where(
                Assignment.name == self._path.folder,
                Notebook.name == self._path.notebook,
                where,
            )
        )
        rows = [*db.execute(query)]
        db.rollback()
        return rows

    def _place(self, exercise: str, student: str) -> bytes:
        drawn = f"{self.name}/{exercise}/{student}".encode()
        return hmac.digest(self._course.key, drawn, "sha256")

    def _cells(self, student: str) -> dict[str, Cells]:
        """Return the cells of each answer in a student's graded notebook, by exercise."""
        folder = self._folders.format_path(
            self._folders.autograded_directory, student, self._path.folder
        )
        path = Path(folder) / f"{self._path.notebook}.ipynb"
        try:
            stamp = path.stat().st_mtime_ns
        except OSError:
            return {}
        if self._read.get(student, (None,))[0] != stamp:
            answers: dict[str, Cells] = {}
            task = ""
            for cell in json.loads(path.read_text("utf-8"))["cells"]:
                marks = cell["metadata"].get("nbgrader", {})
                if marks.get("grade") or marks.get("task"):
                    answers[marks["grade_id"]] = [cell]
                if marks:
                    task = marks["grade_id"] if marks.get("task") else ""
                elif task:
                    answers[task].append(cell)
            self._read[student] = (stamp, answers)
        return self._read[student][1]
