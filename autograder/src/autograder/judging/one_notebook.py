"""Judges one notebook: runs the reading pass, then the hidden tests, and explains failures."""

from __future__ import annotations

import logging

from ..course_folder.assignments import Exercise
from ..notebook.restoring import MISSING_CELL
from ..records import UNGRADED, ExerciseResult, JudgedNotebook, Report, Status
from ..sandbox import ForkServer
from ..sandbox.time_budget import TimeBudget
from .diagnosis import Diagnosis
from .explaining import Evidence, explain_failure, stopped
from .hidden_tests import Suite
from .points import blank, lacking, points_for, share_of, status_of, waiting
from .policy import Conclusion, Context, SuiteRun
from .prepared import LoadedAssignment
from .public_examples import read
from .submission import Submission, cut_short
from .suite_runs import SuiteRuns

_log = logging.getLogger(__name__)


def judge(
    submission: Submission,
    prepared: LoadedAssignment,
    server: ForkServer,
    budget: TimeBudget,
    only: set[str] | None = None,
) -> JudgedNotebook:
    """Return the report on a notebook, with the exercises in its order, and the outputs of its
    cells.

    Args:
        prepared: the assignment's hidden tests and tables.
        only: the ids of the exercises to judge; by default all.
    """
    assignment, suite, course_sessions = (
        prepared.assignment,
        prepared.suite,
        prepared.course_sessions,
    )
    table, times = prepared.table or {}, prepared.times
    exercises = [e for e in assignment.exercises.values() if only is None or e.id in only]
    graded = [each for each in exercises if not each.manual]
    shown = read(submission, graded, server, budget, times)
    suite_runs = SuiteRuns(submission, suite, server, budget, times)
    try:
        conclusions = suite_runs.run(graded)
        suite_runs.close()
        diagnosis = Diagnosis(suite, table, course_sessions)
        evidence = Evidence(submission, diagnosis, table, shown, suite_runs, budget)
        # For all exercises one after another, so that they share one session of the solution.
        defects = {
            each.id: _defect(each, conclusions[each.id].counts, submission, suite, diagnosis)
            for each in graded
        }
        results = [
            waiting(each) if each.manual
            else _result(each, conclusions[each.id], defects[each.id], evidence)
            for each in exercises
        ]  # fmt: skip
    finally:
        suite_runs.close()
    for each in results:
        each.needs = table[each.id].get("needs", []) if each.id in table else []
        if each.failed_example is not None:
            each.drawing = course_sessions.drawn(each.id, each.failed_example, suite.helpers)
        points = "no points yet" if each.points is None else f"{each.points:g} points"
        _log.info("%s: %s, %s of %g", each.id, each.status, points, each.max_points)
    notes = _notes(submission, suite_runs, budget)
    report = Report(assignment.name, results, notes, submission.seed.hex())
    return JudgedNotebook(report, submission.ran)


def _result(
    exercise: Exercise,
    conclusion: Conclusion,
    defect: str,
    evidence: Evidence,
) -> ExerciseResult:
    result, suite_run, submission = blank(exercise), conclusion.counts, evidence.submission
    _log.debug("%s: %s", exercise.id, conclusion.reason)
    if defect:
        result.points, result.status = None, Status.UNGRADED
        result.message, result.defect = UNGRADED, defect
        return result
    result.reason = conclusion.reason
    result.criteria = [(verdict.criterion, verdict.passed) for verdict in suite_run.verdicts]
    result.essential = lacking(suite_run.verdicts)
    if _is_missing(exercise, suite_run, submission):
        result.status = Status.MISSING
        held = "The cell still holds the stub." if submission.of(exercise.id) else ""
        result.message = f"No answer was found. {held or MISSING_CELL.removeprefix('# ')}"
        return result
    lost = next((verdict.lost for verdict in suite_run.verdicts if verdict.lost), None)
    result.status = lost or status_of(suite_run.share)
    result.note = _note(exercise, conclusion, submission)
    if suite_run.share < 1:
        explain_failure(result, exercise, conclusion.explained, evidence)
    share = share_of(suite_run.verdicts, result.keeps)
    result.points = points_for(share, exercise.max_points)
    result.status = lost or status_of(share)
    return result


def _is_missing(exercise: Exercise, suite_run: SuiteRun, submission: Submission) -> bool:
    return submission.is_untouched(exercise) and not suite_run.share


def _defect(
    exercise: Exercise,
    suite_run: SuiteRun,
    submission: Submission,
    suite: Suite,
    diagnosis: Diagnosis,
) -> str:
    """Return the defect of the exercise's hidden tests; "" if they have none."""
    if not suite_run.verdicts:
        return suite.without_tests(exercise.id)
    seed = submission.seed_of(exercise.id)
    if suite_run.share == 1 or _is_missing(exercise, suite_run, submission):
        return ""
    return diagnosis.defect(exercise, suite_run, seed)


def _note(exercise: Exercise, conclusion: Conclusion, submission: Submission) -> str:
    """Return sentences about the context in which the points were earned, if it is not the notebook
    as submitted, and about an interrupted cell of an exercise with full points; "" if neither
    holds."""
    notes, suite_run, own = [], conclusion.counts, conclusion.own
    if suite_run.replaced and (own is None or suite_run.share > own.share):
        names = ", ".join(f"`{name}`" for name in suite_run.replaced)
        notes.append(f"Graded with working versions of {names}.")
    if suite_run.context is Context.FULL_NOTEBOOK:
        notes.append(
            "Graded with all cells of the notebook: read from top to bottom, this answer lacks "
            "what only a later cell defines."
        )
    if suite_run.share == 1 and (words := stopped(submission, exercise.id)):
        notes.append(f"{words} What it had defined until then was graded.")
    return " ".join(notes)


def _notes(submission: Submission, suite_runs: SuiteRuns, budget: TimeBudget) -> list[str]:
    """Return notes on cells outside of exercises that ran out of time, and on what was left out,
    since the submission's time was used up."""
    pairs = zip(submission.cells, submission.ran, strict=True)
    notes = cut_short(pair for pair in pairs if not pair[0].exercise)
    if not suite_runs.cut_short and not any(ran.refused for ran in submission.ran):
        return notes
    names = ", ".join(f"`{name}`" for name in suite_runs.cut_short) or "cells at the end"
    return [
        *notes,
        f"The {budget.seconds:g} seconds that this notebook may take with all its "
        f"tests were used up. Not run, or not tested to the end: {names}. Look for cells and "
        "functions that take long: they use up the time of those after them.",
    ]
