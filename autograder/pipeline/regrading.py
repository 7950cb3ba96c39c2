"""Grades recorded submissions again, and reports marks that would change before storing any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..faults import kept_at
from ..gradebook import history
from ..gradebook.history import Change, Entry
from ..gradebook.writing import given_by_hand
from ..model import Graded, Job
from ..notebook.intake import refused_id
from ..texts import visible
from .classroom import Classroom


@dataclass
class Regraded:
    """The outcome of grading a submission again.

    Attributes:
        before: the last grading in the record.
        now: the new one; None if the submission was not graded again.
        left_alone: why it was not graded again.
        changes: the exercises whose points differ.
        reasons: the changed versions or files, if points differ.
        by_hand: points that a person gave, by exercise; they stay as they are.
    """

    before: Entry
    now: Entry | None = None
    left_alone: str = ""
    changes: list[Change] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    by_hand: dict[str, float] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[float, float]:
        """The sum of the points before and now, with those that a person gave."""
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
        }


class Regrading:
    """Grades again into a temporary folder; a second call stores the outcome.

    Args:
        room: the class, with `force` set.
        aside: an empty folder for the graded notebooks meanwhile.
    """

    def __init__(self, room: Classroom, aside: Path) -> None:
        self._room = room
        self._aside = aside
        self._kept: list[tuple[Job, Graded, Path]] = []

    def recorded(self, name: str, student: str | None = None) -> list[Entry]:
        """Return the last grading of each student in the assignment, or of one student."""
        if student is not None and (why := refused_id(student)):
            raise CourseError(f"{visible(student)}: {why}")
        last = {each.student: each for each in history.entries(self._room.gradebook, name, student)}
        if last:
            self._room.require(name)
        return [last[key] for key in sorted(last)]

    def run(self, recorded: Iterable[Entry]) -> Iterator[Regraded]:
        """Grade recorded submissions again, yielding each as it comes in; store none yet."""
        before: dict[tuple[str, str], Entry] = {}
        left: list[Regraded] = []
        for done in self._room.run(self._jobs(recorded, before, left)):
            yield from left
            left.clear()
            for job, graded in done:
                yield self._compared(before[job.assignment, job.student], job, graded)
        yield from left

    def _jobs(
        self,
        recorded: Iterable[Entry],
        before: dict[tuple[str, str], Entry],
        left: list[Regraded],
    ) -> Iterator[Job]:
        for entry in recorded:
            name, student = entry.assignment, entry.student
            if why := refused_id(student):
                left.append(Regraded(entry, left_alone=why))
                continue
            job = None
            with kept_at(f"{name} of {student}") as fault:
                if self._room.is_withdrawn(name, student):
                    why = "the student is not in the gradebook any more"
                elif not self._room.folder(name, student).is_dir():
                    why = "the submission is not there any more"
                else:
                    job = self._room.job(name, student)
                    if job.stamp != entry.submission:
                        why = "another file was submitted since; `autograder grade` grades it"
            if job is None or why or fault.reason:
                left.append(Regraded(entry, left_alone=fault.reason or why))
                continue
            before[name, student] = entry
            yield job

    def _compared(self, before: Entry, job: Job, graded: Graded) -> Regraded:
        with kept_at(f"{job.assignment} of {job.student}") as fault:
            return self._compare(before, job, graded)
        return Regraded(before, left_alone=fault.reason)

    def _compare(self, before: Entry, job: Job, graded: Graded) -> Regraded:
        if graded.report is None or graded.marks is None:
            return Regraded(before, left_alone=graded.error or "it could not be graded")
        now = history.entry_of(job.assignment, job.student, job.stamp, graded.report, job.versions)
        path = self._aside / f"{len(self._kept)}.ipynb"
        path.write_text(graded.text, "utf-8")
        self._kept.append((job, Graded(graded.report, "", graded.marks, graded.error), path))
        place = self._room.place(job.assignment)
        by_hand = given_by_hand(self._room.gradebook, place.folder, place.notebook, job.student)
        found = history.changes(before, now)
        why = history.reasons(before, now) if found else []
        return Regraded(before, now, "", found, why, by_hand)

    def store(self) -> Iterator[tuple[str, str]]:
        """Store all that was graded again.

        Yields:
            The student's id and, if storing failed, why.
        """
        for job, graded, path in self._kept:
            with kept_at(f"{job.assignment} of {job.student}") as fault:
                graded.text = path.read_text("utf-8")
                self._room.store([(job, graded)])
                self._room.penalties.settle(job.student)
            graded.text = ""
            yield job.student, fault.reason
