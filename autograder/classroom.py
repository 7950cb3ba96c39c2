"""Grades what a class has submitted, from the submitted files to stored marks."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .assignments import CourseError, load_assignment
from .gradebook import record, require_assignment
from .intake import (
    UnreadableNotebook,
    find_notebook,
    read_plain_file,
    refuse_shared_file,
    submitted_at,
)
from .late import LatePenalties
from .report import Report
from .workers import Graded, Job, Workers


@dataclass
class Outcome:
    """What became of one submission.

    Attributes:
        report: the verdicts.
        error: why nothing could be graded, if so; the marks are then 0.
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
    """nbgrader's own view of the course folder: its paths and its gradebook."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
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
        self._folders = course_directory(course)
        self._gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        self._penalties = LatePenalties(self._folders.config, self._gradebook)

    def __enter__(self) -> Classroom:
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def submissions(self, name: str, student: str | None = None) -> list[str]:
        """The students who submitted the assignment."""
        load_assignment(self._course, name)
        require_assignment(self._gradebook, name)
        root = self._course / self._folders.submitted_directory
        found = sorted(path.parent.name for path in root.glob(f"*/{name}") if path.is_dir())
        if student is not None:
            found = [each for each in found if each == student]
        if not found:
            who = f"from {student} " if student else ""
            raise CourseError(
                f"nothing was submitted {who}for {name}: "
                f"{root}/STUDENT/{name}/{name}.ipynb is where it is looked for"
            )
        return found

    def grade(self, wanted: Iterable[tuple[str, str]]) -> Iterator[Outcome]:
        """Grade submissions, given as assignment and student; each outcome as it comes in.

        Marks and files are stored here, by one process, before the outcome is told. What was
        told is stored, and what was not will be graded when this is called again. Late penalties
        are settled for what has not changed too: an extension or a mark by hand may be new.
        """
        unchanged: list[Outcome] = []
        for job, graded in self._workers.run(self._jobs(wanted, unchanged)):
            yield from self._settled(unchanged)
            unchanged.clear()
            self._store(job, graded)
            done = Outcome(job.student, job.assignment, graded.report, graded.error)
            yield from self._settled([done])
        yield from self._settled(unchanged)

    def _settled(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        for outcome in outcomes:
            penalties = self._penalties.settle(outcome.student)
            outcome.penalty = penalties.get(outcome.assignment, 0.0)
            yield outcome

    def _jobs(self, wanted: Iterable[tuple[str, str]], unchanged: list[Outcome]) -> Iterator[Job]:
        for name, student in wanted:
            folder = self._folder(self._folders.submitted_directory, student, name)
            path = folder / f"{name}.ipynb"
            content, refused = None, ""
            try:
                path = find_notebook(folder, name)
                refuse_shared_file(path, self._course)
                content = read_plain_file(path)
            except UnreadableNotebook as error:
                refused = str(error)
            stamp = blake2b(content or refused.encode(), digest_size=16).hexdigest()
            target = self._folder(self._folders.autograded_directory, student, name)
            if not self._force and _graded_stamp(target, name) == stamp:
                unchanged.append(Outcome(student, name, skipped=True))
            else:
                yield Job(name, student, str(path), content, refused, stamp)

    def _store(self, job: Job, graded: Graded) -> None:
        if graded.marks is None:
            return
        name, student = job.assignment, job.student
        submitted = self._folder(self._folders.submitted_directory, student, name)
        record(self._gradebook, name, student, graded.marks, submitted_at(submitted))
        target = self._folder(self._folders.autograded_directory, student, name)
        _write(submitted, target, f"{name}.ipynb", graded.text)

    def _folder(self, step: str, student: str, name: str) -> Path:
        return Path(self._folders.format_path(step, student, name))


def _graded_stamp(target: Path, name: str) -> str | None:
    """The stamp of the submission that the autograded notebook was made from, if there is one."""
    try:
        notebook = json.loads((target / f"{name}.ipynb").read_text("utf-8"))
        stamp = notebook["metadata"]["autograder"]["graded"]
    except (OSError, ValueError, KeyError):
        return None
    return stamp if isinstance(stamp, str) else None


def _write(submitted: Path, target: Path, name: str, text: str) -> None:
    """Put the graded notebook where the formgrader looks for it, whole or not at all."""
    target.mkdir(parents=True, exist_ok=True)
    with suppress(UnreadableNotebook):
        stamp = read_plain_file(submitted / "timestamp.txt", most=1000)
        (target / "timestamp.txt").write_bytes(stamp)
    with tempfile.NamedTemporaryFile("w", dir=target, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o444)
    os.replace(file.name, target / name)
