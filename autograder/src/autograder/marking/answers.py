"""Reads the answers to an exercise for people who mark them, in an order drawn for it."""

from __future__ import annotations

import hmac
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
from sqlalchemy import Connection, bindparam, select

from ..course_folder.assignments import Exercise
from ..course_folder.course import Course
from ..course_folder.own_notebooks import exercise_ids, read_cells
from ..course_folder.rubrics import Rubric, most_points, rubrics_of
from ..errors import CourseError
from ..gradebook import history
from ..notebook.answer_cells import Cells, GradedNotebook, answer_text, questions
from ..pipeline.classroom import course_directory
from ..records import Status

# Built once, since building a statement takes longer than running it.
_OF_CLASS = (
    select(
        BaseCell.name, Grade.id, SubmittedNotebook.id, SubmittedAssignment.student_id,
        Grade.needs_manual_grade, Grade.manual_score,
    )
    .select_from(Grade)
    .join(BaseCell, Grade.cell_id == BaseCell.id)
    .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
    .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
    .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .where(Assignment.name == bindparam("folder"), Notebook.name == bindparam("notebook"))
)  # fmt: skip
_OF_EXERCISE = _OF_CLASS.where(BaseCell.name.in_((bindparam("cell"), bindparam("test_cell"))))


@dataclass(frozen=True)
class Answer:
    """One student's answer to an exercise.

    Attributes:
        row: the id of its grade in the gradebook.
        submitted: the id of the submitted notebook in the gradebook.
        student: the student's id, which no page shows.
        cells: the cell with the answer; of a task, its cell and those that the student added below.
        waits: whether a person has to mark it; of an exercise that tests mark, with a rubric for
            points beside theirs, also whether nobody has read it as it is now.
        points: the points by hand, in place of the tests'; None if there are none.
        marked_by: who marked it last; "" for nobody.
        asks: what the student asked and people replied, the last one last.
    """

    row: str
    submitted: str
    student: str
    cells: Cells = field(compare=False)
    waits: bool
    points: float | None
    marked_by: str = ""
    asks: tuple[history.Ask, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether the student asks for another look."""
        return bool(self.asks) and not self.asks[-1].is_reply

    @property
    def text(self) -> str:
        return answer_text(self.cells)

    @property
    def same(self) -> str:
        """The key that equal answers share: the words, without capitals and spaces; all of the
        code."""
        if any(cell["cell_type"] == "code" for cell in self.cells):
            return self.text
        return " ".join(self.text.split()).casefold()


def _is_unread(verdict: dict[str, Any] | None, last: history.Marking | None) -> bool:
    """Return whether nobody has read an answer as it is now. Empty answers are not read.

    Args:
        verdict: the answer's verdict in the last grading; None if nobody has to read it.
        last: what a person gave last for the exercise; None for nothing.
    """
    if verdict is None or verdict["status"] == Status.MISSING:
        return False
    return last is None or last.answer != verdict["answer"]


class Answers:
    """The answers of a class in one assignment or part.

    Attributes:
        exercises: the exercises that a person marks, by id.
        all_exercises: those that tests mark, too.
        recorded_name: the notebook's name in the record of marks by hand.
        gradebook: the course's gradebook.
    """

    def __init__(self, course: Course, name: str) -> None:
        self._course, self.name = course, name
        self._folders = course_directory(course)
        self._path = course.notebook_path(name)
        self._key = course.key
        self._notebooks: dict[str, GradedNotebook] = {}
        self.gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        self._notebook = {"folder": self._path.folder, "notebook": self._path.notebook}
        self.recorded_name = history.recorded_name(self._path.folder, self._path.notebook)
        self.all_exercises: dict[str, Exercise] = course.assignment(name).exercises
        self.exercises = {each.id: each for each in self.all_exercises.values() if each.manual}

    def rubrics(self) -> dict[str, Rubric]:
        """Return the rubrics as they are now, by exercise.

        Raises `CourseError` if their file is invalid.
        """
        return rubrics_of(self._course, self.name)

    def adds(self, exercise: str) -> bool:
        """Return whether people give points beside those of the tests: there is a rubric for an
        exercise that tests mark. While the file of rubrics is invalid, they do not."""
        try:
            return exercise not in self.exercises and exercise in self.rubrics()
        except CourseError:
            return False

    def most(self, exercise: str) -> float:
        """Return the most points that a person can give for the items of an exercise."""
        if self.adds(exercise):
            return most_points(self.rubrics()[exercise])
        return self.all_exercises[exercise].max_points

    def question(self, exercise: str) -> Cells:
        """Return the cells of the release with an exercise's question: the Markdown directly before
        its answer."""
        return questions(read_cells(self._course.release_of(self.name))).get(exercise, [])

    def solution(self, exercise: str) -> Cells:
        """Return the cell of the source with an exercise's solution, if it is more than the
        stub."""
        about = self.all_exercises[exercise]
        return [
            cell
            for cell in read_cells(*self._course.source_files(self.name))
            if (cell.metadata.get("nbgrader") or {}).get("solution")
            and cell.metadata.nbgrader.grade_id == exercise
            and cell.source != about.stub
        ]

    def of(self, exercise: str) -> list[Answer]:
        """Return all answers to an exercise, in its order: the same at each call, another one for
        each exercise, and independent of names."""
        names = {"cell": exercise, "test_cell": f"test_{exercise}"}
        with self.gradebook.engine.connect() as db:
            asks = self._asks(db).get(exercise, {})
            last = {each.student: each for each in self._given(db, exercise)}
            rows = db.execute(_OF_EXERCISE, self._notebook | names).all()
            verdicts = {}
            if self.adds(exercise):
                verdicts = history.last_of_each(db, self.name, [row.student_id for row in rows])
        ids = exercise_ids(row[0] for row in rows)
        found = [
            Answer(
                row, submitted, student, cells,
                waits or _is_unread(verdicts.get(student, {}).get(exercise), last.get(student)),
                points, last[student].who if student in last else "", asks.get(student, ()),
            )
            for cell, row, submitted, student, waits, points in rows
            if ids[cell] == exercise
            and (cells := self._cells(student).get(exercise)) is not None
        ]  # fmt: skip
        return sorted(found, key=lambda each: self._place(exercise, each.student))

    def that_behave_as(self, answer: Answer, exercise: str) -> list[Answer]:
        """Return the other students' answers to an exercise that tests mark which behave as this
        one does: the same known mistake and the same broken criteria. Those with points by a person
        are left out."""
        found = self.of(exercise)
        with self.gradebook.engine.connect() as db:
            verdicts = history.last_of_each(db, self.name, [each.student for each in found])
        keys = ("status", "points", "misconception", "broken")
        behaviour = {
            student: [own[exercise][key] for key in keys]
            for student, own in verdicts.items()
            if exercise in own and own[exercise]["broken"]
        }
        own = behaviour.get(answer.student)
        return [
            each
            for each in found
            if own is not None and behaviour.get(each.student) == own
            and each.points is None and each.student != answer.student
        ]  # fmt: skip

    def graders(self, exercise: str) -> list[tuple[str, int, float]]:
        """Return by person how many answers to an exercise have this person's points, and the mean
        of the points: where a person adds points to those of the tests, of these alone."""
        last = {each.student: each for each in self.given(exercise)}
        adds = self.adds(exercise)
        points: dict[str, list[float]] = {}
        for each in last.values():
            if (given := each.extra if adds else each.points) is not None:
                points.setdefault(each.who, []).append(given)
        return [(who, len(found), mean(found)) for who, found in sorted(points.items())]

    def asks(self) -> dict[str, dict[str, tuple[history.Ask, ...]]]:
        """Return by exercise and student what the student asked and people replied."""
        with self.gradebook.engine.connect() as db:
            return self._asks(db)

    def _asks(self, db: Connection) -> dict[str, dict[str, tuple[history.Ask, ...]]]:
        asks: dict[str, dict[str, tuple[history.Ask, ...]]] = {}
        for each in history.asks(db, self.recorded_name):
            of_exercise = asks.setdefault(each.exercise, {})
            of_exercise[each.student] = (*of_exercise.get(each.student, ()), each)
        return asks

    def ask(self, who: str, student: str, exercise: str, words: str) -> None:
        """Store that a student asks for another look.

        Raises `CourseError` if there is no such answer, or the student asks already.
        """
        asked = self.asks().get(exercise, {}).get(student, ())
        if exercise not in self.all_exercises or exercise not in self._cells(student):
            raise CourseError(f"{student} has no answer to {exercise} in {self.name}")
        if asked and not asked[-1].is_reply:
            raise CourseError(f"{student} asks for another look at {exercise} already")
        if not 0 < len(words) <= history.MOST_WORDS:
            raise CourseError(f"the words must have 1 to {history.MOST_WORDS} characters")
        with self.gradebook.engine.begin() as db:
            history.add_ask(db, history.Ask(who, self.recorded_name, student, exercise, words))

    def given(self, exercise: str) -> list[history.Marking]:
        """Return what people gave for an exercise, the first one first."""
        with self.gradebook.engine.connect() as db:
            return self._given(db, exercise)

    def _given(self, db: Connection, exercise: str) -> list[history.Marking]:
        return history.markings(db, self.recorded_name, exercise=exercise)

    def _place(self, exercise: str, student: str) -> bytes:
        drawn = f"{self.name}/{exercise}/{student}".encode()
        return hmac.digest(self._key, drawn, "sha256")

    def _cells(self, student: str) -> dict[str, Cells]:
        """Return the cells of each answer in a student's graded notebook, by exercise and by
        cell."""
        if student not in self._notebooks:
            folder = self._folders.format_path(
                self._folders.autograded_directory, student, self._path.folder
            )
            path = Path(folder) / f"{self._path.notebook}.ipynb"
            self._notebooks[student] = GradedNotebook(path)
        return self._notebooks[student].answers()
