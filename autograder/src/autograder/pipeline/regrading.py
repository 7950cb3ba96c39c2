"""Grades recorded submissions again, and reports changes of marks before storing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..gradebook import history
from ..gradebook.history import Change, Entry
from ..gradebook.writing import SubmissionMarks, by_hand
from ..isolation import isolated_errors
from ..notebook.intake import refused_id
from ..records import GradedNotebook, Job
from ..texts import visible
from .classroom import Classroom


@dataclass
class RegradeResult:
    """The outcome of grading a submission again.

    Attributes:
        before: the last grading in the record.
        now: the new grading; None if the submission was not graded again.
        left_alone: why the submission was not graded again; "" if it was.
        changes: the exercises whose points differ.
        reasons: messages that say which versions or files have changed; [] if no points differ.
        by_hand: by exercise: the manual points, which stay as they are.
        again: by exercise: why its manual mark has to be reviewed.
    """

    before: Entry
    now: Entry | None = None
    left_alone: str = ""
    changes: list[Change] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    by_hand: dict[str, float] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[float, float]:
        """The sum of the points in `before`, and that in `now`, each with manual points."""
        return self._mark(self.before), self._mark(self.now or self.before)

    def _mark(self, entry: Entry) -> float:
        points = {each["id"]: each["points"] or 0.0 for each in entry.verdicts}
        return round(sum((points | self.by_hand).values()), 2)

    def as_json(self) -> dict[str, Any]:
        before, now = self.marks
        return {
            "student": self.before.student,
            "assignment": self.before.assignment,
            "before": before,
            "now": now,
            "left_alone": self.left_alone or None,
            "reasons": self.reasons,
            "changes": [
                {"exercise": each.exercise, "points": list(each.points), "why": each.why}
                for each in self.changes
            ],
            "by_hand": self.by_hand,
            "again": self.again,
        }


class Regrader:
    """Grades submissions again: `run` reports the changes, and `store` stores them.

    Args:
        room: the class, created with `force`.
        aside: an empty folder that holds the graded notebooks until they are stored.
    """

    def __init__(self, room: Classroom, aside: Path) -> None:
        self._room = room
        self._aside = aside
        self._kept: list[tuple[Job, GradedNotebook, Path]] = []

    def recorded(self, name: str, student: str | None = None) -> list[Entry]:
        """Return the last recorded grading of each student in an assignment.

        Args:
            student: restricts the result to one student.
        """
        if student is not None and (why := refused_id(student)):
            raise CourseError(f"{visible(student)}: {why}")
        last = {each.student: each for each in history.entries(self._room.gradebook, name, student)}
        if last:
            self._room.require(name)
        return [last[key] for key in sorted(last)]

    def run(self, recorded: Iterable[Entry]) -> Iterator[RegradeResult]:
        """Grade recorded submissions again without storing marks; yield each result when ready.

        Args:
            recorded: the last recorded gradings of the submissions.
        """
        before: dict[tuple[str, str], Entry] = {}
        left: list[RegradeResult] = []
        for done in self._room.run(self._jobs(recorded, before, left)):
            yield from left
            left.clear()
            for job, graded in done:
                yield self._compare_safely(before[job.assignment, job.student], job, graded)
        yield from left

    def _jobs(
        self,
        recorded: Iterable[Entry],
        before: dict[tuple[str, str], Entry],
        left: list[RegradeResult],
    ) -> Iterator[Job]:
        for entry in recorded:
            name, student = entry.assignment, entry.student
            if why := refused_id(student):
                left.append(RegradeResult(entry, left_alone=why))
                continue
            job = None
            with isolated_errors(f"{name} of {student}") as fault:
                if self._room.is_withdrawn(name, student):
                    why = "the student is not in the gradebook any more"
                elif not self._room.folder(name, student).is_dir():
                    why = "the submission is not there any more"
                else:
                    job = self._room.job(name, student)
                    if job.stamp != entry.submission:
                        why = "another file was submitted since; `autograder grade` grades it"
            if job is None or why or fault.reason:
                left.append(RegradeResult(entry, left_alone=fault.reason or why))
                continue
            before[name, student] = entry
            yield job

    def _compare_safely(self, before: Entry, job: Job, graded: GradedNotebook) -> RegradeResult:
        with isolated_errors(f"{job.assignment} of {job.student}") as fault:
            return self._compare(before, job, graded)
        return RegradeResult(before, left_alone=fault.reason)

    def _compare(self, before: Entry, job: Job, graded: GradedNotebook) -> RegradeResult:
        if graded.report is None or graded.marks is None:
            return RegradeResult(before, left_alone=graded.error or "it could not be graded")
        now = history.entry_of(job.assignment, job.student, job.stamp, graded.report, job.versions)
        # Keep the notebook in a file, since the notebooks of a class could fill the memory.
        path = self._aside / f"{len(self._kept)}.ipynb"
        path.write_text(graded.text, "utf-8")
        self._kept.append(
            (job, GradedNotebook(graded.report, "", graded.marks, graded.error), path)
        )
        notebook = self._room.notebook_path(job.assignment)
        result = SubmissionMarks(
            notebook.folder, job.student, graded.marks, None, now, notebook.notebook
        )
        manual, again = by_hand(self._room.gradebook, result)
        changes = history.changes(before, now)
        reasons = history.reasons(before, now) if changes else []
        return RegradeResult(before, now, "", changes, reasons, manual, again)

    def store(self) -> Iterator[tuple[str, str]]:
        """Store the results of all submissions that were graded again.

        Yields:
            The student's id, and the error message; "" if the result was stored.
        """
        for job, graded, path in self._kept:
            with isolated_errors(f"{job.assignment} of {job.student}") as fault:
                graded.text = path.read_text("utf-8")
                self._room.store([(job, graded)])
                self._room.penalties.settle(job.student)
            graded.text = ""
            yield job.student, fault.reason
