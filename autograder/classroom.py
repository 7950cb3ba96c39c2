"""Grades what a class has submitted, from the submitted files to stored marks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from . import history
from .assignments import CourseError, is_ordinary, load_assignment
from .gradebook import Result, patiently, record, require_assignment, require_points
from .intake import (
    UnreadableNotebook,
    copy_receipts,
    find_notebook,
    misplaced,
    read_plain_file,
    refuse_shared_file,
    students_with,
    submitted_at,
)
from .keys import course_key
from .penalties import LatePenalties
from .report import Report
from .storing import one_at_a_time, write_whole
from .texts import fit
from .versions import versions
from .workers import Graded, Job, Workers


@dataclass
class Outcome:
    """What became of one submission.

    Attributes:
        report: the verdicts.
        error: why nothing could be graded, if so, also where that was before; the marks are then 0.
        skipped: whether it had been graded before and has not changed.
        penalty: the points taken off because it came late.
    """

    student: str
    assignment: str
    report: Report | None = None
    error: str | None = None
    skipped: bool = False
    penalty: float = 0.0


def course_directory(course: Path) -> CourseDirectory:
    """nbgrader's own view of the course folder: its paths and its gradebook.

    Raises `CourseError` where the course's configuration cannot be run.
    """
    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    except Exception as error:
        raise CourseError(
            f"nbgrader_config.py: cannot be run ({type(error).__name__}: {error}). Mend it there."
        ) from error
    return CourseDirectory(config=Config(config), root=str(course))


class Classroom:
    """The submissions of one course. Use as a context manager.

    Args:
        course: the course folder.
        workers: grade the notebooks.
        force: grade again what has been graded before.
    """

    def __init__(self, course: Path, workers: Workers, force: bool = False) -> None:
        self._course = course
        self._workers = workers
        self._force = force
        self._versions: dict[str, dict[str, str]] = {}
        self._folders = course_directory(course)
        self._gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        self._penalties = LatePenalties(self._folders.config, self._gradebook)
        with one_at_a_time(course):
            patiently(
                self._gradebook,
                "the record of gradings",
                lambda: history.prepare(self._gradebook),
            )

    @property
    def gradebook(self) -> Gradebook:
        return self._gradebook

    def __enter__(self) -> Classroom:
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def submissions(self, name: str, student: str | None = None) -> list[str]:
        """The students who submitted the assignment."""
        assignment = load_assignment(self._course, name)
        if is_ordinary(self._course, name):
            raise CourseError(
                f"{self._course}/grading_tests/test_{name}.py is missing, and without hidden tests "
                f"there are no verdicts. Write them as docs/authors.md shows, or run `nbgrader "
                f"autograde {name}` and give the points of its test cells by hand."
            )
        require_assignment(self._gradebook, name)
        require_points(self._gradebook, name, assignment.exercises.values())
        root = self._course / self._folders.submitted_directory
        found = students_with(root, name)
        if student is not None:
            found = [each for each in found if each == student]
        if not found:
            who = f"from {student} " if student else ""
            raise CourseError(
                f"nothing was submitted {who}for {name}: "
                f"{root}/STUDENT/{name}/{name}.ipynb is where it is looked for"
            )
        return found

    def misplaced(self, name: str) -> list[str]:
        """In words, what was handed in for the assignment at a place where it is not looked for."""
        root = self._course / self._folders.submitted_directory
        return [
            fit(f"{path}: is not graded here. Move it to {root}/STUDENT/{name}/{name}.ipynb.")
            for path in misplaced(root, name)
        ]

    def grade(self, wanted: Iterable[tuple[str, str]]) -> Iterator[Outcome]:
        """Grade submissions, given as assignment and student; each outcome as it comes in.

        Marks and files are stored here, by one process, before the outcome is told. What was
        told is stored, and what was not will be graded when this is called again. Late penalties
        are settled for what has not changed too: an extension or a mark by hand may be new.
        """
        unchanged: list[Outcome] = []
        for done in self._workers.run(self._new_jobs(wanted, unchanged)):
            yield from self._settled(unchanged)
            unchanged.clear()
            self.store(done)
            yield from self._settled(
                Outcome(job.student, job.assignment, graded.report, graded.error)
                for job, graded in done
            )
        yield from self._settled(unchanged)

    def _settled(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        for outcome in outcomes:
            outcome.penalty = self.settle(outcome.student).get(outcome.assignment, 0.0)
            yield outcome

    def settle(self, student: str) -> dict[str, float]:
        """Settle the late penalties of all that a student submitted; in points, by assignment."""
        return self._penalties.settle(student)

    def _new_jobs(
        self, wanted: Iterable[tuple[str, str]], unchanged: list[Outcome]
    ) -> Iterator[Job]:
        for name, student in wanted:
            job = self.job(name, student)
            before = None if self._force else self._graded_before(job)
            if before is None:
                yield job
            else:
                error = before.get("unreadable")
                unchanged.append(Outcome(student, name, error=error, skipped=True))

    def job(self, name: str, student: str) -> Job:
        """What there is to grade of a student's submission, as it is now."""
        folder = self._folder(self._folders.submitted_directory, student, name)
        path = folder / f"{name}.ipynb"
        content, refused = None, ""
        try:
            path = find_notebook(folder, name)
            refuse_shared_file(path, self._course)
            content = read_plain_file(path)
        except UnreadableNotebook as error:
            refused = str(error)
        # A refusal names the file; the course may be moved.
        stamp = stamp_of(content or refused.replace(f"{folder}/", "").encode())
        if name not in self._versions:
            self._versions[name] = versions(self._course, course_key(self._course), name)
        return Job(name, student, str(path), content, refused, stamp, self._versions[name])

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        """Grade, and store nothing."""
        return self._workers.run(jobs)

    def _graded_before(self, job: Job) -> dict[str, Any] | None:
        """What a grading of this very file says of itself, which left notebook, marks and record.

        The notebook is written first, marks and record after it in one transaction: a grader that
        was killed in between has left a notebook that the record does not know.
        """
        last = history.latest(self._gradebook, job.assignment, job.student)
        if last is None or last.submission != job.stamp:
            return None
        target = self._folder(self._folders.autograded_directory, job.student, job.assignment)
        try:
            notebook = json.loads((target / f"{job.assignment}.ipynb").read_text("utf-8"))
            about: dict[str, Any] = notebook["metadata"]["autograder"]
            is_that = about["graded"] == job.stamp and about["versions"] == last.versions
            return about if is_that else None
        except (OSError, ValueError, KeyError):
            return None

    def store(self, done: Iterable[tuple[Job, Graded]]) -> None:
        """Store notebooks, then their marks and lines of the record in one transaction.

        What another grader has just stored is left out.
        """
        with one_at_a_time(self._course):
            results = (self._put(job, graded) for job, graded in done)
            record(self._gradebook, [result for result in results if result is not None])

    def _put(self, job: Job, graded: Graded) -> Result | None:
        """Put a graded notebook in its place; returns what the gradebook is to hold of it."""
        if graded.marks is None or graded.report is None:
            return None
        if not self._force and self._graded_before(job) is not None:
            return None
        name, student = job.assignment, job.student
        submitted = self._folder(self._folders.submitted_directory, student, name)
        target = self._folder(self._folders.autograded_directory, student, name)
        copy_receipts(submitted, target)
        write_whole(target / f"{name}.ipynb", graded.text.encode(), 0o444)
        entry = history.entry_of(name, student, job.stamp, graded.report, job.versions)
        return Result(name, student, graded.marks, submitted_at(submitted), entry)

    def folder(self, name: str, student: str) -> Path:
        """Where a student's submission for the assignment is."""
        return self._folder(self._folders.submitted_directory, student, name)

    def _folder(self, step: str, student: str, name: str) -> Path:
        return Path(self._folders.format_path(step, student, name))


def stamp_of(content: bytes) -> str:
    """What tells a submitted file from any other."""
    return blake2b(content, digest_size=16).hexdigest()
