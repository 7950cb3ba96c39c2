"""Explains failures to students, in words that are true of the code on the base that counted."""

from __future__ import annotations

import logging
import re
from itertools import compress
from typing import Any

from coursecheck import inference
from coursecheck.check import first_wrong, match, own_words
from coursecheck.messages import (
    CANNOT_READ,
    Example,
    Row,
    agree,
    agree_all,
    error_comes_later,
    explain,
    explain_cell,
    is_error,
    other_error,
    unfinished,
    unfinished_later,
)
from coursecheck.probes import Observation, Probe

from ..course_folder.assignments import Exercise
from ..errors import CourseError, SandboxUnavailable
from ..model import ADVICE, CORE_IS_RIGHT, LONG_TRAINING, LOST, ExerciseResult
from ..texts import fit
from ..wall.time_budget import TimeBudget
from .diagnosis import Diagnosis
from .observations import as_in_table, fitted
from .reading_walk import Shown
from .submission import Submission
from .trials import Trials
from .walk import Base, Try

_log = logging.getLogger(__name__)

_LACKED = re.compile(r"name '(\w+)' is not defined|has no attribute '(\w+)'")


class Explaining:
    """Explains the failed exercises of one submission.

    Args:
        table: the results of the public probes on the solution and on known mistakes, by exercise.
        shown: the results of the public probes on the student's code, by exercise.
        trials: starts student processes in which chosen exercises have the model solution.
    """

    def __init__(
        self,
        submission: Submission,
        diagnosis: Diagnosis,
        table: dict[str, Any],
        shown: dict[str, Shown],
        trials: Trials,
        budget: TimeBudget,
    ) -> None:
        self._submission = submission
        self._diagnosis = diagnosis
        self._table = table
        self._shown = shown
        self._trials = trials
        self._budget = budget

    def explain(self, result: ExerciseResult, exercise: Exercise, tried: Try) -> None:
        """Set the result's message, misconception, example and inferred words.

        If this code fails, the error is logged and the broken promise alone is reported: words
        cost no points.
        """
        try:
            self._explain(result, exercise, tried)
        except (CourseError, SandboxUnavailable):  # these concern every submission
            raise
        except Exception:
            _log.exception("%s: the failure could not be explained", exercise.id)
            result.misconception = result.example = result.inferred = None
            result.message = _plain_words(tried)

    def _explain(self, result: ExerciseResult, exercise: Exercise, tried: Try) -> None:
        observed = self._observed(exercise, tried)
        entry = self._table[exercise.id] if observed else {}
        right = [probe["right"] for probe in entry.get("probes", [])]
        sampled, is_own = (None, False) if result.status in LOST else self._sampled(exercise, tried)
        # Later cells took part in the verdicts, and not in the samples.
        alike = None if tried.base is Base.WHOLE else sampled
        mistake, refuted = None, set[str]()
        if not self._budget.is_up and lost(self._submission, exercise.id) is None:
            seed = self._submission.seed_of(exercise.id)
            mistake, refuted = self._diagnosis.name(exercise, tried, observed, alike, seed)
        says, name = (mistake.says, mistake.id) if mistake else ("", None)
        example = None
        # What the probes of the extra part show does not explain a mistake in the core, unless they
        # met the stub.
        is_elsewhere = (
            not _passes_core(tried)
            and agree_all(_of_core(entry, observed or []), _of_core(entry, right))
            and not unfinished(observed or [])
        )
        if observed and not agree_all(observed, right) and (mistake or not is_elsewhere):
            example = first_wrong(entry, observed)
            known = None if mistake else match(entry, observed, alike)
            # Without samples, the hidden tests have the last word.
            if known is not None and (entry.get("samples") or known["id"] not in refuted):
                says, name = known["says"], known["id"]
            says = says and f"{says} {unfinished(observed) or ''}".rstrip()
        stopped = error_of_cell(self._submission, exercise.id)
        if stopped.startswith(CANNOT_READ) or (stopped and not says):
            says, name, example = stopped, None, None
        if not says:
            says = self._misformed(exercise) or self._defined_later(exercise)
            own = self._shown.get(exercise.id, Shown()).probes
            if own and tried.base is Base.WHOLE:
                # Cells below have mistakes of their own, so the answer is shown as it behaves
                # without them.
                observed, example = own, first_wrong(self._table[exercise.id], own)
                entry = self._table[exercise.id]
            if observed and not says and not is_elsewhere:
                hints = self._submission.assignment.hints
                says = explain(entry["probes"], observed, hints) or own_words(entry, observed)
                example = first_wrong(entry, observed, says) if says else example
        if not says:
            says, shown = self._inferred(result, exercise, tried, observed, sampled, is_own)
            example = shown or example
        says = says or unfinished_later(observed or []) or _plain_words(tried)
        if _passes_core(tried):
            says = CORE_IS_RIGHT + says
        if result.status in LOST and not mistake:
            subject = "cell itself" if lost(self._submission, exercise.id) else "code"
            trains = result.status == "timeout" and exercise.id in self._trials.trainings
            advice = LONG_TRAINING if trains else ADVICE[result.status]
            says = f"The {subject} {LOST[result.status]}. {advice}"
            if exercise.id in self._trials.cut_short:
                says = "The notebook's time was used up before this could be tested to the end."
        _log.debug("%s: diagnosis: %s", exercise.id, name or "no known mistake")
        if example is not None:
            rows = [
                Row(each.expression, fitted(each.seen), fitted(each.expected))
                for each in example.rows
            ]
            example = Example(example.code, rows)
        result.misconception = name
        result.example = example
        result.inferred = fit(result.inferred) if result.inferred else None
        result.message = fit(says) + (f"\n\n{example.as_text()}" if example else "")

    def _observed(self, exercise: Exercise, tried: Try) -> list[list[Observation]] | None:
        """Return the probes' observations on the base that counted: with the student's own texts if
        they agree with those on the own cells, else no more than the public table holds."""
        own = self._shown.get(exercise.id, Shown()).probes
        if tried.base is Base.OWN or tried.is_late or not exercise.probes:
            return own
        self._trials.close()
        seen = self._trials.observe(exercise, tried.base, tried.given, exercise.probes)
        if own and seen and agree_all(own, seen):
            return own
        known = as_in_table(seen, self._table[exercise.id]) if seen else None
        if known is None or own is None or seen is None:
            return known
        # The text of the same error on the student's own cells may be shown.
        kept = ("message", "class", "about", "line", "where")
        return [
            [
                item | {key: mine[key] for key in kept if key in mine}
                if is_error(item) and agree(here, mine) and not other_error(mine, here)
                else item
                for item, here, mine in zip(*rows, strict=True)
            ]
            for rows in zip(known, seen, own, strict=True)
        ]

    def _sampled(
        self, exercise: Exercise, tried: Try
    ) -> tuple[list[list[Observation]] | None, bool]:
        """Return the observations of the samples on the base of the verdicts, and whether they are
        those on the student's own cells; None if there are none."""
        shown = self._shown.get(exercise.id, Shown())
        if not exercise.samples or not shown.probes:
            return None, False

        def run(given: tuple[str, ...]) -> list[list[Observation]] | None:
            return self._trials.observe(exercise, Base.OWN, given, exercise.sample_probes)

        own = shown.samples or run(())
        seen = run(tried.given) if tried.given else own
        return seen, not tried.given or bool(own and seen and agree_all(own, seen))

    def _inferred(
        self,
        result: ExerciseResult,
        exercise: Exercise,
        tried: Try,
        observed: list[list[Observation]] | None,
        seen: list[list[Observation]] | None,
        is_own: bool,
    ) -> tuple[str, Example | None]:
        """Return the words for the formula that the code computes, or for an error that it raises,
        and a sample that shows it; "" if neither is known.

        Args:
            seen: the observations of the samples. If they are not those on the student's own cells,
                a solution was given: then the words are the table's alone, as a value may hold it.
        """
        if not observed or not seen:
            return "", None
        entry = self._table[exercise.id]
        right = [probe["right"] for probe in entry["probes"]]
        core_is_right = _passes_core(tried) and agree_all(
            _of_core(entry, observed), _of_core(entry, right)
        )
        found = inference.infer(entry, seen, core_is_right)
        _log.debug("%s: inferred: %s", exercise.id, found.says if found else "nothing")
        if found is None and is_own and not error_comes_later(entry["probes"], observed):
            return inference.raised(entry, seen, self._submission.assignment.hints)
        if found is None or not (is_own or found.is_of_the_table):
            return "", None
        result.inferred = found.says
        return found.says, inference.example(entry, seen, found) if is_own else None

    def _misformed(self, exercise: Exercise) -> str:
        """Return the sentence of the visible check on a question's answer that is no letter, or no
        number; "" for any other answer."""
        if not exercise.form:
            return ""
        code = "from coursecheck.quiz import look_at\n"
        code += f"finding = look_at({exercise.id!r}, {exercise.form!r}, globals()).finding\n"
        probe = Probe(code=code, observe=["finding.says if finding else ''"])
        seen = self._trials.observe(exercise, Base.OWN, (), [probe])
        return fit(seen[0][0]) if seen and isinstance(seen[0][0], str) else ""

    def _defined_later(self, exercise: Exercise) -> str:
        """Return a sentence that names the later cell whose name the answer lacks, or ""."""
        texts = [
            item["message"]
            for seen in self._shown.get(exercise.id, Shown()).probes or []
            for item in seen
            if type(item) is dict and "message" in item
        ]
        cells = self._submission.cells
        place = self._submission.places[exercise.id]
        for found in filter(None, map(_LACKED.search, texts)):
            name = found[1] or found[2]
            here, inside = definition(name), definition(name, indent="[ \t]*")
            later = [cell for cell in cells[place:] if here.search(cell.source)]
            if later and not any(inside.search(cell.source) for cell in cells[:place]):
                where = f"the cell of `{later[0].exercise}`" if later[0].exercise else "a cell"
                return fit(
                    f"Your answer needs `{name}`, which only {where} further down defines. The "
                    "notebook is judged from top to bottom, as it is read: define it before this "
                    "exercise's test, or do without it."
                )
        return ""


def definition(name: str, indent: str = "") -> re.Pattern[str]:
    """Return the pattern of a line that defines a name, in a time that grows with its length."""
    # A keyword argument of a call is no definition, nor is an assignment inside a function.
    return re.compile(
        rf"^{indent}(def|class) {name}\b|^(\w+, *)*{name}[ \t]*[,=](?!=)"
        rf"|^{indent}\w+\.{name}[ \t]*=(?!=)",
        re.MULTILINE,
    )


def _passes_core(tried: Try) -> bool:
    return all(verdict.passed or verdict.extra for verdict in tried.verdicts)


def _of_core(entry: dict[str, Any], results: list[Any]) -> list[Any]:
    """Return the results of the probes that are not of an extra part."""
    is_core = (not probe.get("extra") for probe in entry.get("probes", []))
    return list(compress(results, is_core))


def _plain_words(tried: Try) -> str:
    broken = [verdict for verdict in tried.verdicts if not verdict.passed]
    broken.sort(key=lambda verdict: (verdict.extra, verdict.broad))
    if not broken:
        return ""
    # On another base the error might carry some of a solution.
    raised = broken[0].raised if tried.base is Base.OWN else ""
    how = f" Its test ended with an error: {raised}." if raised else ""
    return f"This does not hold yet: {broken[0].promise}{how}"


def lost(submission: Submission, exercise: str) -> str | None:
    """Return the status with which an exercise's cell ended its process, or None."""
    return next((ran.lost for _, ran in submission.ran_of(exercise) if ran.lost), None)


def stopped(submission: Submission, exercise: str) -> str:
    """Return a sentence with the line in which an exercise's cell was interrupted; "" if it
    ended."""
    for cell, ran in submission.ran_of(exercise):
        if ran.stopped:
            number = ran.stopped[-1]
            line = cell.source.splitlines()[number - 1].strip()[:200]
            return fit(f"The cell took too long, and was stopped in line {number}, `{line}`.")
    return ""


def error_of_cell(submission: Submission, exercise: str) -> str:
    """Return a sentence about the error that ended an exercise's own cell; "" if there was none."""
    if words := stopped(submission, exercise):
        return f"{words} What comes after that in the cell never ran."
    for cell, ran in submission.ran_of(exercise):
        for output in ran.outputs:
            if output.get("output_type") == "error":
                trace = "\n".join(output["traceback"])
                error = output["ename"], output["evalue"], trace
                hints = submission.assignment.hints
                return fit(explain_cell(*error, cell.source, hints))
    return ""
