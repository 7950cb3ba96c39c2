"""Judges one notebook: reads it, tests it, and explains failures, in three walks."""

from __future__ import annotations

import logging

from ..course_folder.assignments import Exercise
from ..model import UNGRADED, ExerciseResult, Judged, Report
from ..notebook.restoring import MISSING_CELL
from ..wall import WarmServer
from ..wall.time_budget import TimeBudget
from .diagnosis import Diagnosis
from .explaining import Explaining, stopped
from .hidden_tests import Suite
from .points import blank, points_for, status_of, waiting
from .prepared import Prepared
from .reading_walk import read
from .submission import Submission
from .trials import Trials
from .walk import Base, Try, best, to_explain

_log = logging.getLogger(__name__)


def judge(
    submission: Submission,
    prepared: Prepared,
    server: WarmServer,
    budget: TimeBudget,
    only: set[str] | None = None,
) -> Judged:
    """Return the verdicts on a notebook, in its order, and the outputs of its cells.

    Args:
        prepared: the assignment's hidden tests and tables.
        only: judge these exercises alone.
    """
    assignment, suite, models = prepared.assignment, prepared.suite, prepared.models
    table, times = prepared.table or {}, prepared.times
    exercises = [e for e in assignment.exercises.values() if only is None or e.id in only]
    graded = [each for each in exercises if not each.manual]
    shown = read(submission, graded, server, budget, times, table)
    trials = Trials(submission, suite, server, budget, times)
    try:
        tries = trials.run(graded)
        trials.close()
        diagnosis = Diagnosis(suite, table, models)
        explaining = Explaining(submission, diagnosis, table, shown, trials, budget)
        # All at once, in one process of the solution.
        flaws = {
            each.id: _flaw(each, best(tries[each.id]), submission, suite, diagnosis)
            for each in graded
        }
        results = [
            waiting(each) if each.manual
            else _result(each, tries[each.id], flaws[each.id], submission, explaining)
            for each in exercises
        ]  # fmt: skip
    finally:
        trials.close()
    for each in results:
        if each.example is not None:
            each.drawing = models.drawn(each.id, each.example, suite.helpers)
        points = "no points yet" if each.points is None else f"{each.points:g} points"
        _log.info("%s: %s, %s of %g", each.id, each.status, points, each.max_points)
    notes = _notes(submission, trials, budget)
    report = Report(assignment.name, results, notes, submission.seed.hex())
    return Judged(report, submission.ran)


def _result(
    exercise: Exercise,
    tries: list[Try],
    flaw: str,
    submission: Submission,
    explaining: Explaining,
) -> ExerciseResult:
    result, tried = blank(exercise), best(tries)
    _log.debug("%s: the verdicts that count are those on: %s", exercise.id, tried.base.value)
    if flaw:
        result.points, result.status = None, "ungraded"
        result.message, result.flaw = UNGRADED, flaw
        return result
    result.promises = [(verdict.promise, verdict.passed) for verdict in tried.verdicts]
    if _is_missing(exercise, tried, submission):
        result.status = "missing"
        held = "The cell still holds the stub." if submission.of(exercise.id) else ""
        result.message = f"No answer was found. {held or MISSING_CELL.removeprefix('# ')}"
        return result
    result.points = points_for(tried.share, exercise.max_points)
    lost = next((verdict.lost for verdict in tried.verdicts if verdict.lost), None)
    result.status = lost or status_of(tried.share)
    result.note = _note(exercise, tried, tries[0], submission)
    if tried.share < 1:
        explaining.explain(result, exercise, to_explain(tries))
    return result


def _is_missing(exercise: Exercise, tried: Try, submission: Submission) -> bool:
    return submission.is_untouched(exercise) and not tried.share


def _flaw(
    exercise: Exercise, tried: Try, submission: Submission, suite: Suite, diagnosis: Diagnosis
) -> str:
    """Return the fault of the exercise's hidden tests; "" if there is none."""
    if not tried.verdicts:
        return suite.without_tests(exercise.id)
    seed = submission.seed_of(exercise.id)
    if tried.share == 1 or _is_missing(exercise, tried, submission):
        return ""
    return diagnosis.flaw(exercise, tried, seed)


def _note(exercise: Exercise, tried: Try, own: Try, submission: Submission) -> str:
    """Return a sentence about the base on which points were earned, if these are not the own
    cells."""
    notes = []
    if tried.share > own.share and tried.given:
        names = ", ".join(f"`{name}`" for name in tried.given)
        notes.append(f"Graded with working versions of {names}.")
    if tried.base is Base.WHOLE:
        notes.append(
            "Graded with all cells of the notebook: read from top to bottom, this answer lacks "
            "what only a later cell defines."
        )
    if tried.share == 1 and (words := stopped(submission, exercise.id)):
        notes.append(f"{words} What it had defined until then was graded.")
    return " ".join(notes)


def _notes(submission: Submission, trials: Trials, budget: TimeBudget) -> list[str]:
    """Return notes on the whole submission, for its report."""
    if not trials.cut_short and not any(ran.refused for ran in submission.ran):
        return []
    names = ", ".join(f"`{name}`" for name in trials.cut_short) or "cells at the end"
    return [
        f"The {budget.seconds:g} seconds that this notebook may take with all its "
        f"tests were used up. Not run, or not tested to the end: {names}. Look for cells and "
        "functions that take long: they use up the time of those after them."
    ]
