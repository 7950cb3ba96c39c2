"""Judges a notebook by its own test cells, if course.toml asks for it: the weaker kind of test.

As in nbgrader, the test cells run in the same process as the submitted code, which can read them
and forge their results. The outputs that students see come from another process, which never held
the hidden parts of the test cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import determine_grade

from coursecheck.messages import explain_cell

from ..course_folder.assignments import Assignment, Exercise
from ..errors import CourseError
from ..notebook.outputs import OutputRoom, clean_outputs
from ..records import (
    ADVICE,
    IN_NOTEBOOK,
    LOST,
    UNGRADED,
    Cell,
    CellResult,
    ExerciseResult,
    JudgedNotebook,
    Report,
    Status,
)
from ..sandbox import ForkServer
from ..sandbox.time_budget import TimeBudget
from .notebook_session import NotebookSession
from .points import blank, status_of, waiting
from .submission import Submission, cut_short

_CARD = "Tested by the notebook's own test cell."
_TOO_MUCH = "its last line gives more than the {:g} points that it is worth"
_OF_NUMPY = re.compile(r"np\.(?:float|u?int)\d+\((.+)\)")
"""A number as NumPy 2 shows it, such as `np.float64(0.5)`. nbgrader does not read it as a number,
and would give all points."""
_LONGEST = 300
"""Greatest number of characters of an error's text in a message."""
_HALF = 0.5
_REASONS = {
    "error": "the test stopped with an error",
    "stderr": "while the test ran, something was written to stderr, as a warning is",
}
"""Reasons why a test cell gives no points, by the kind of one of its outputs."""

_NO_POINTS = "the test's last line gives no points"


def judge_by_own_cells(
    submission: Submission,
    server: ForkServer,
    budget: TimeBudget,
    only: set[str] | None = None,
    defects: Callable[[], Mapping[str, str]] = dict,
) -> JudgedNotebook:
    """Run all cells, including the test cells, and give points as nbgrader does.

    Args:
        submission: every code cell that is to run, with the test cells of the source notebook.
        only: the ids of the exercises to judge; by default all.
        defects: a function that returns the defects of test cells, by exercise. An exercise with a
            defect is not graded. The function is called only if an answer lost points.

    Raises `CourseError` if a test cell is one that nbgrader has to fill in first.
    """
    assignment, cells = submission.assignment, submission.cells
    _refuse_autotests(assignment, cells)
    shown, ran = _run_both(server, submission, budget)
    pairs = zip(ran, shown, strict=True)
    tested = {cell.tests: each for cell, each in zip(cells, pairs, strict=True) if cell.tests}
    results = [
        _result(exercise, *tested.get(exercise.id, (None, None)))
        for exercise in assignment.exercises.values()
        if only is None or exercise.id in only
    ]
    for result in results:
        if result.points is not None and result.points < result.max_points:
            result.message = _error_of_answer(cells, shown, result.id) or result.message
            result.defect = defects().get(result.id, result.defect)
        if result.defect:
            result.points, result.status, result.message = None, Status.UNGRADED, UNGRADED
    room = OutputRoom()
    for cell, own, each in zip(cells, ran, shown, strict=True):
        if cell.tests:
            each.outputs = clean_outputs(own.outputs or each.outputs, room)
    notes = cut_short(zip(cells, ran, strict=True))
    if any(each.refused for each in (*shown, *ran)):
        notes.append(
            f"The {budget.seconds:g} seconds that this notebook may take were used up, and cells "
            "at its end were not run. Look for cells that take long."
        )
    return JudgedNotebook(
        Report(assignment.name, results, notes, submission.seed.hex(), IN_NOTEBOOK), shown
    )


def _error_of_answer(cells: Sequence[Cell], shown: Sequence[CellResult], exercise: str) -> str:
    """Return a message on the first error of the answers between the test cell before an exercise's
    and its own; "" if there is none.

    Args:
        shown: how the cells went.
    """
    first = ""
    for cell, ran in zip(cells, shown, strict=True):
        if cell.tests == exercise:
            return first
        if cell.tests:
            first = ""
        for output in ran.outputs if cell.exercise and not first else ():
            if output["output_type"] == "error":
                traceback = "\n".join(output["traceback"])
                first = explain_cell(output["ename"], output["evalue"], traceback, cell.source)
    return ""


def _run_both(
    server: ForkServer, submission: Submission, budget: TimeBudget
) -> tuple[list[CellResult], list[CellResult]]:
    """Run the cells twice, each time in a new process. Return how they went without the hidden
    parts of test cells, which is shown to the student, and how they went with them."""
    visible_part = submission.assignment.nbgrader.visible_part
    visible = [
        replace(cell, source=visible_part(cell.source)) if cell.tests else cell
        for cell in submission.cells
    ]
    seed, name = submission.process_seed, submission.assignment.name
    shown = NotebookSession(server, visible, seed, budget, assignment=name, keep=_HALF)
    shown.run_all()
    judged = NotebookSession(
        server, submission.cells, seed, budget, assignment=name, keep=0.0, have_run=True
    )
    for ran, before in zip(judged.ran, shown.ran, strict=True):
        ran.lost, ran.stopped = before.lost, before.stopped
    judged.run_all()
    return shown.ran, judged.ran


def _refuse_autotests(assignment: Assignment, cells: Sequence[Cell]) -> None:
    found = [cell.tests for cell in cells if cell.tests and "AUTOTEST" in cell.source]
    if found:
        raise CourseError(
            f"source/{assignment.name}: the test cells of {', '.join(found)} hold AUTOTEST, in "
            "place of which nbgrader's own configuration writes tests into the release. Copy the "
            "tests from such a release into the source, or write your own there."
        )


def _result(exercise: Exercise, ran: CellResult | None, shown: CellResult | None) -> ExerciseResult:
    """Return an exercise's result from its test cell. Without a test cell, the result is that a
    person gives the points.

    Args:
        ran: how the test cell went.
        shown: how the test cell went without its hidden parts: the student may read its error.
    """
    if exercise.manual or ran is None or shown is None:
        result = waiting(exercise)
        result.points = None
        return result
    result = blank(exercise)
    result.note = _CARD
    # Of an interrupted test cell, the last lines, which decide the points, did not run.
    if lost := Status.TIMEOUT if ran.stopped else ran.lost:
        result.status = lost
        result.message = f"Not passed: the test {LOST[lost]}. {ADVICE[lost]}"
    else:
        try:
            result.points, _ = determine_grade(_test_cell(exercise, ran))
        except KeyError:  # A result without a text.
            result.points = 0.0
        except ValueError:
            result.defect = f"{exercise.id}: {_TOO_MUCH.format(exercise.max_points)}"
        share = (result.points or 0.0) / exercise.max_points if exercise.max_points else 1.0
        result.status = status_of(share)
        said = {output.get("name", output["output_type"]) for output in ran.outputs}
        why = next((why for kind, why in _REASONS.items() if kind in said), _NO_POINTS)
        errors = [each for each in shown.outputs if each["output_type"] == "error"]
        if errors and "error" in said:
            text = "{ename}: {evalue}".format(**errors[0])
            why += ": " + " ".join(text.split()).strip(": ")[:_LONGEST]
        result.message = {Status.PASSED: "", Status.PARTIAL: "Partly passed."}.get(
            result.status, f"Not passed: {why.rstrip('.')}."
        )
    return result


def _test_cell(exercise: Exercise, ran: CellResult) -> NotebookNode:
    """Return a test cell with its outputs, in the form from which nbgrader reads the points."""
    cell: NotebookNode = nbformat.v4.new_code_cell(outputs=nbformat.from_dict(ran.outputs))
    for output in cell.outputs:
        if output.output_type == "execute_result" and "text/plain" in output.data:
            output.data["text/plain"] = _OF_NUMPY.sub(r"\1", output.data["text/plain"])
    cell.metadata.nbgrader = {"grade": True, "solution": False, "points": exercise.max_points}
    return cell
