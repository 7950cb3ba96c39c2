"""Honest submissions keep their marks after damage by editors and mail programs.

If the restored cells of a copy equal those of the undamaged notebook, the copy gets the same marks,
since only these cells are graded: only some of these copies, drawn with the seed, are graded. Every
other copy is graded.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from campaigns import seed, size
from damage import DAMAGES, STUBS

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.errors import UnreadableNotebook
from autograder.judging.grader import Grader
from autograder.notebook.aligning import squeezed
from autograder.notebook.reading import read_notebook
from autograder.notebook.restoring import RestoredNotebook, cells_to_run, load_template, restore
from autograder.pipeline.one_submission import grade_restored

pytestmark = pytest.mark.subprocess

Cells = tuple[tuple[str | None, str], ...]
Marks = dict[str, float | None]


@dataclass
class Honest:
    """An undamaged submission, with the cells that are run for it and the marks it gets."""

    assignment: str
    student: str
    text: str
    answers: dict[str, str]
    cells: Cells = ()
    marks: Marks = field(default_factory=dict)


@dataclass
class Survey:
    """The results of the copies.

    Attributes:
        lost: each copy that lost marks: the damage, its seed, and the difference.
    """

    copies: int = 0
    graded: int = 0
    kept: int = 0
    lost: list[tuple[str, int, str]] = field(default_factory=list)
    unclear: list[tuple[str, int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        share = 100 * self.kept / max(1, self.copies)
        lines = [f"damaged copies: {self.copies}, graded: {self.graded}, "
                 f"kept their marks: {self.kept} ({share:.1f} %)"]  # fmt: skip
        for kind, number, what in (*self.lost, *self.unclear):
            lines.append(f"  {kind} (number {number}): {what}")
        return "\n".join(lines)


def honest_submissions(course: Path) -> Iterator[Honest]:
    """Yield four submissions for each assignment: all right, one mistake, two mistakes, and only
    the first half answered.

    Assignments with trainings, which take long, are included only in campaigns.
    """
    trainings = {*load_settings(course).limits.trainings}
    for name in Course(course).assignment_names():
        if trainings & {*Course(course).assignment(name).exercises} and not size(0, 1):
            continue
        exercises = Course(course).assignment(name).exercises
        right = {key: exercise.solution for key, exercise in exercises.items()}
        for key, exercise in exercises.items():
            if exercise.manual:
                right[key] = f"My own words about {key}: memory grows with every step."
        wrong = {
            key: exercise.mistakes[0].source
            for key, exercise in exercises.items()
            if exercise.mistakes and not exercise.mistakes[0].endless
        }
        first, *_, last = wrong
        half = dict(list(right.items())[: len(right) // 2])
        for student, answers in (
            ("right", right),
            ("one mistake", {**right, first: wrong[first]}),
            ("two mistakes", {**right, first: wrong[first], last: wrong[last]}),
            ("half", half),
        ):
            yield Honest(name, student, filled_notebook(Course(course), name, answers), answers)


def restored_copy(course: Path, honest: Honest, content: Any) -> RestoredNotebook:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return restore(
        read_notebook(data, "copy.ipynb"), load_template(Course(course), honest.assignment), "copy"
    )


def cells_of(restored: RestoredNotebook) -> Cells:
    """Return two lists of cells without white space: those that run for a mark, and those that a
    person reads."""
    run = [(cell.exercise, squeezed(cell.source)) for _, cell in cells_to_run(restored.notebook)]
    read = [
        (cell.metadata.nbgrader.grade_id, squeezed(cell.source))
        for cell in restored.notebook.cells
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata
    ]
    return tuple(part for part in (*run, *read) if part[1])


def marks_of(grader: Grader, honest: Honest, restored: RestoredNotebook) -> Marks:
    report = grade_restored(grader, restored, honest.assignment)
    return {result.id: result.points for result in report.exercises}


def survey(course: Path, grader: Grader, copies: int, drawn_from: int) -> Survey:
    """Damage honest submissions, with each kind of damage equally often, and compare the marks."""
    found = Survey()
    submissions = list(honest_submissions(course))
    for honest in submissions:
        whole = restored_copy(course, honest, json.loads(honest.text))
        honest.cells, honest.marks = cells_of(whole), marks_of(grader, honest, whole)
    for number in range(copies):
        rng = random.Random(f"{drawn_from} {number}")
        honest = submissions[rng.randrange(len(submissions))]
        kind = DAMAGES[number % len(DAMAGES)]
        _stubs_of(course, honest.assignment)
        content = kind(json.loads(honest.text), rng)
        found.copies += 1
        _look(found, course, grader, honest, kind.__name__, number, content, rng)
    return found


def _stubs_of(course: Path, name: str) -> None:
    exercises = Course(course).assignment(name).exercises.values()
    STUBS.clear()
    STUBS.update({exercise.id: exercise.stub for exercise in exercises})


def _look(
    found: Survey,
    course: Path,
    grader: Grader,
    honest: Honest,
    kind: str,
    number: int,
    content: Any,
    rng: random.Random,
) -> None:
    about = f"{honest.assignment}, {honest.student}"
    try:
        restored = restored_copy(course, honest, content)
    except UnreadableNotebook as error:
        found.lost.append((kind, number, f"{about}: {error}"))
        return
    same = cells_of(restored) == honest.cells
    if same and rng.random() > 0.05:
        found.kept += 1
        return
    notes = json.dumps(restored.notes)
    answers = {
        cell.metadata.nbgrader.grade_id: squeezed(cell.source)
        for cell in restored.notebook.cells
        if "nbgrader" in cell.metadata
    }
    found.graded += 1
    marks = marks_of(grader, honest, restored)
    # An answer that a person reads is kept if its text is.
    written = {key for key, points in honest.marks.items() if points is None}
    for key in written & set(honest.answers):
        if squeezed(honest.answers[key]) not in answers.get(key, ""):
            marks[key] = 0.0
    whole = content.decode("utf-8", "replace") if kind == "cut_off" else None
    expected = {
        key: points
        for key, points in honest.marks.items()
        if whole is None or json.dumps(honest.answers.get(key, ""))[1:-1] in whole
    }
    differs = {k: (points, marks[k]) for k, points in expected.items() if marks[k] != points}
    if differs:
        found.lost.append((kind, number, f"{about}: {differs} (honest, damaged); notes: {notes}"))
    else:
        found.kept += 1
    if whole is not None and "cut off" not in notes:
        found.unclear.append((kind, number, f"{about}: no word about the cut"))


@pytest.mark.sized
def test_damaged_copies_keep_their_marks(grader, course, measured, capsys):
    found = survey(course, grader, size(4 * len(DAMAGES), 1000), seed(7))
    with capsys.disabled():
        print(f"\n{found}")
    measured("damaged", found.copies)
    measured("damaged kept", found.kept)

    assert found.kept >= 0.99 * found.copies, str(found)
    assert not found.unclear, str(found)
