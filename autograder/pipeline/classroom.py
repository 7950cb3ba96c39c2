"""Grades the submissions of a class, from the submitted files to stored marks."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from ..course_folder.assignments import (
    Place,
    graded_notebooks,
    is_ordinary,
    load_assignment,
    parts_of,
    place_of,
)
from ..course_folder.key import course_key
from ..course_folder.nbgrader_settings import nbgrader_config
from ..course_folder.versions import versions
from ..errors import CourseError, UnreadableNotebook
from ..faults import kept_at
from ..files import one_at_a_time, write_whole
from ..gradebook import history
from ..gradebook.class_results import due_date
from ..gradebook.late_penalties import LatePenalties
from ..gradebook.writing import (
    Result,
    has_marks,
    has_time,
    knows_student,
    patiently,
    record,
    require_assignment,
    require_current,
    require_points,
    set_time,
)
from ..model import Graded, Job, Outcome
from ..notebook.intake import (
    copy_receipts,
    find_notebook,
    hidden_with,
    misplaced,
    read_plain_file,
    refuse_shared_file,
    refused_id,
    students_with,
    submitted_at,
)
from ..notebook.reading import read_notebook
from ..notebook.recognising import which_assignment
from ..texts import command, visible
from .workers import Workers

_WITHDRAWN = (
    "is not in the gradebook any more, so this is left alone. Whoever has left needs no mark; to "
    "take the student back, run `nbgrader db student add ID` and the same command again."
)

_log = logging.getLogger(__name__)

_FIXED = ("source_directory", "release_directory", "directory_structure")
"""Settings of nbgrader's folders that must have their default values."""

_CLOCKS = timedelta(hours=1)
"""Difference between clocks up to which a time of submission does not count as in the future."""


def course_directory(course: Path) -> CourseDirectory:
    """Return nbgrader's own view of the course folder: its paths and its gradebook.

    Raises `CourseError` if the course's configuration cannot be run, or names folders that are
    not read here.
    """
    folders = CourseDirectory(config=nbgrader_config(course), root=str(course))
    for name in _FIXED:
        value, only = getattr(folders, name), CourseDirectory.class_traits()[name].default_value
        if os.path.normpath(value) != only:
            raise CourseError(
                f"nbgrader_config.py sets c.CourseDirectory.{name} to {value!r}, and {only!r} "
                "alone is read here: take that line out, and give the folders these names"
            )
    return folders


class Classroom:
    """The submissions of one course. A context manager.

    Args:
        force: grade again what has been graded before.

    Attributes:
        penalties: settles what being late costs.
    """

    def __init__(self, course: Path, workers: Workers, force: bool = False) -> None:
        self._course = course
        self._workers = workers
        self._force = force
        self._versions: dict[str, dict[str, str]] = {}
        self._folders = course_directory(course)
        require_current(self._folders.db_url)
        self.gradebook = Gradebook(self._folders.db_url, self._folders.course_id)
        self.penalties = LatePenalties(self._folders.config, self.gradebook)
        with one_at_a_time(course):
            what = "the record of gradings"
            patiently(self.gradebook, what, lambda: history.prepare(self.gradebook))

    def __enter__(self) -> Classroom:
        return self

    def __exit__(self, *_: object) -> None:
        self.gradebook.close()

    def require(self, name: str) -> None:
        """Raise `CourseError` if the assignment cannot be graded here."""
        assignment = load_assignment(self._course, name)
        if is_ordinary(self._course, self.place(name).folder):
            raise CourseError(
                f"{self._course}/grading_tests/test_{name}.py is missing, and without hidden tests "
                f"there are no verdicts. Write them as docs/authors.md shows; or run "
                f"{command('nbgrader', 'autograde', name)} and give the points of its test cells "
                "by hand; or let the test cells give them, as docs/nbgrader.md shows."
            )
        place = self.place(name)
        require_assignment(self.gradebook, place.folder)
        require_points(self.gradebook, place.folder, place.notebook, assignment.exercises.values())
        self._versions_of(name)

    def place(self, name: str) -> Place:
        """Return the place of the notebook of an assignment, or of a part of one."""
        return place_of(self._course, name)

    def submissions(self, name: str, student: str | None = None) -> list[str]:
        """Return the students who submitted the assignment."""
        self.require(name)
        root = self._course / self._folders.submitted_directory
        place = self.place(name)
        excluded = self._folders.student_id_exclude.split(",")
        if student in excluded:
            raise CourseError(
                f"c.CourseDirectory.student_id_exclude in nbgrader_config.py leaves {student} out: "
                "take the name out there"
            )
        found = [each for each in students_with(root, place.folder) if each not in excluded]
        if student is not None:
            found = [each for each in found if each == student]
        if not found:
            who = f"from {student} " if student else ""
            raise CourseError(
                f"nothing was submitted {who}for {name}: "
                f"{place.inside(root / 'STUDENT')} is where it is looked for"
            )
        return found

    def misplaced(self, name: str) -> list[str]:
        """Return sentences about notebooks for the assignment in places that grading does not
        read."""
        root = self._course / self._folders.submitted_directory
        place = self.place(name)
        known = graded_notebooks(self._course, place.folder)
        sentences = [
            f"{path}: is not graded here. If it is the one that counts, move it to "
            f"{place.inside(root / 'STUDENT')}; put aside what is there."
            for path in misplaced(root, place.folder, place.notebook)
            if path.stem not in known
        ]
        sentences += [
            f"{path}: is not graded, since the name of the student's folder begins with a dot. "
            "Rename the folder, and grade again."
            for path in hidden_with(root, place.folder)
        ]
        return [visible(each) for each in sentences]

    def grade(self, wanted: Iterable[tuple[str, str]]) -> Iterator[Outcome]:
        """Grade submissions, given as assignment and student; yield each outcome as it comes in.

        Marks and files are stored here, by one process, before the outcome is yielded. So a yielded
        outcome is stored, and the rest is graded by the next call. Late penalties are settled for
        submissions that have not changed, too: an extension, a mark by hand or the time of
        submission may be new.
        """
        at_once: list[Outcome] = []
        for done in self._workers.run(self._new_jobs(wanted, at_once)):
            yield from self._settled(at_once)
            at_once.clear()
            failed = self._store_all(done)
            yield from self._settled(
                Outcome(job.student, job.assignment, error=failed[i], refused=True)
                if i in failed
                else Outcome(job.student, job.assignment, graded.report, graded.error)
                for i, (job, graded) in enumerate(done)
            )
        yield from self._settled(at_once)

    def _settled(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        for outcome in outcomes:
            if outcome.refused:
                yield outcome
                continue
            with kept_at(f"{outcome.assignment} of {outcome.student}") as fault:
                self._settle_one(outcome)
            if fault.reason:
                reason = f"the marks are stored, but not what being late costs: {fault.reason}"
                outcome.error = " ".join(filter(None, (outcome.error, reason)))
            yield outcome

    def _settle_one(self, outcome: Outcome) -> None:
        """Set the late penalty of a submission, by the present time in its `timestamp.txt`."""
        name, student = self.place(outcome.assignment).folder, outcome.student
        folder = self.folder(name, student)
        when = submitted_at(folder)
        if outcome.skipped and not has_time(self.gradebook, name, student, when):
            with one_at_a_time(self._course):
                copy_receipts(
                    folder, self._folder(self._folders.autograded_directory, student, name)
                )
                set_time(self.gradebook, name, student, when)
        outcome.warning = _odd_time(folder, when)
        outcome.penalty = self.penalties.settle(student).get(name, 0.0)

    def due(self, name: str, student: str) -> datetime | None:
        """Return a student's due date, in UTC, extensions counted."""
        gradebook, folder = self.gradebook, self.place(name).folder
        gradebook.db.expire_all()
        try:
            return due_date(gradebook, folder, student)
        finally:
            gradebook.db.commit()

    def would_lose(self, name: str, student: str, points: float, when: datetime | None) -> float:
        """Return the points to take off an attempt that was handed in at a time in UTC."""
        due = self.due(name, student)
        late = 0.0 if due is None or when is None else (when - due).total_seconds()
        return self.penalties.would_be(name, student, points, late)

    def _part_of(self, assignment: str, path: Path) -> str:
        """Return which of the assignment's notebooks a submitted one is, by its name or else by its
        cells; "" if it may be any."""
        parts = {self.place(each).notebook: each for each in parts_of(self._course, assignment)}
        if len(parts) == 1 or path.stem in parts:
            return path.stem if path.stem in parts else ""
        try:
            notebook = read_notebook(read_plain_file(path, levels=2), str(path))
            found = self.place(which_assignment(self._course, notebook, str(path)))
        except (CourseError, UnreadableNotebook):
            return ""
        return found.notebook if found.folder == assignment else ""

    def _new_jobs(self, wanted: Iterable[tuple[str, str]], at_once: list[Outcome]) -> Iterator[Job]:
        """Yield the jobs to run; append outcomes that need no run to `at_once`."""
        for name, student in wanted:
            if why := refused_id(student):
                at_once.append(Outcome(student, name, error=why, refused=True))
                continue
            with kept_at(f"{name} of {student}") as fault:
                if self.is_withdrawn(name, student):
                    at_once.append(
                        Outcome(student, name, skipped=True, refused=True, warning=_WITHDRAWN)
                    )
                    continue
                job = self.job(name, student)
                before = None if self._force else self._graded_before(job)
            if fault.reason:
                at_once.append(Outcome(student, name, error=fault.reason, refused=True))
            elif before is None:
                yield job
            else:
                error = before.get("unreadable")
                at_once.append(Outcome(student, name, error=error, skipped=True))

    def is_withdrawn(self, name: str, student: str) -> bool:
        """Return whether the student's submission was graded, and the student was removed since."""
        what = f"the marks of {student} for {name}"
        if patiently(self.gradebook, what, lambda: knows_student(self.gradebook, student)):
            return False
        return history.latest(self.gradebook, name, student) is not None

    def job(self, name: str, student: str, folder: Path | None = None) -> Job:
        """Return the job of grading a student's submission as it is now.

        Args:
            folder: the submission's folder, if it is not among the submissions.
        """
        folder = folder or self.folder(name, student)
        notebook = self.place(name).notebook
        path = folder / f"{notebook}.ipynb"
        content, refused = None, ""
        try:
            path = find_notebook(folder, notebook, partial(self._part_of, self.place(name).folder))
            refuse_shared_file(path, self._course)
            content = read_plain_file(path, levels=2)
        except UnreadableNotebook as error:
            refused = str(error)
        # The stamp of a refusal leaves out the folder: it must not change if the course is moved.
        stamp = stamp_of(content or refused.replace(f"{folder}/", "").encode())
        return Job(name, student, str(path), content, refused, stamp, self._versions_of(name))

    def _versions_of(self, name: str) -> dict[str, str]:
        if name not in self._versions:
            self._versions[name] = versions(self._course, course_key(self._course), name)
        return self._versions[name]

    def run(self, jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Graded]]]:
        """Grade, and store nothing."""
        return self._workers.run(jobs)

    def _graded_before(self, job: Job) -> dict[str, Any] | None:
        """Return the metadata of a finished grading of this very file; None if there is none.

        The notebook is written first, marks and record after it in one transaction: a grader that
        was killed in between has left a notebook that is not in the record.
        """
        last = history.latest(self.gradebook, job.assignment, job.student)
        if last is None or last.submission != job.stamp:
            return None
        place = self.place(job.assignment)
        if not has_marks(self.gradebook, place.folder, job.student):
            return None  # The student was removed, and is back.
        target = self._folder(self._folders.autograded_directory, job.student, job.assignment)
        try:
            notebook = json.loads((target / f"{place.notebook}.ipynb").read_text("utf-8"))
            about: dict[str, Any] = notebook["metadata"]["autograder"]
            known = {**about["versions"], "sandbox": about["report"]["sandbox"]}
            is_that = about["graded"] == job.stamp and known == last.versions
            # Exercises that a broken test left ungraded are graded again.
            is_done = all(each["status"] != "ungraded" for each in about["report"]["exercises"])
            return about if is_that and is_done else None
        except (OSError, ValueError, KeyError):
            return None

    def store(self, done: Iterable[tuple[Job, Graded]]) -> None:
        """Store notebooks, then their marks and lines of the record in one transaction.

        A submission that another grader has just stored is left out.
        """
        with one_at_a_time(self._course):
            results = (self._put(job, graded) for job, graded in done)
            stored = [result for result in results if result is not None]
            record(self.gradebook, stored)
        for each in stored:
            _log.info("%s of %s: stored", each.assignment, each.student)

    def _store_all(self, done: Sequence[tuple[Job, Graded]]) -> dict[int, str]:
        """Store graded submissions; if that fails, each by itself.

        Returns:
            Why a submission could not be stored, by its place in `done`.
        """
        with kept_at("several") as fault:
            self.store(done)
        failed = {}
        for i, each in enumerate(done) if fault.reason else ():
            with kept_at(f"{each[0].assignment} of {each[0].student}") as fault:
                self.store([each])
            if fault.reason:
                failed[i] = fault.reason
        return failed

    def _put(self, job: Job, graded: Graded) -> Result | None:
        """Write a graded notebook to its folder; return its marks for the gradebook."""
        if graded.marks is None or graded.report is None:
            return None
        if not self._force and self._graded_before(job) is not None:
            return None
        name, student, place = job.assignment, job.student, self.place(job.assignment)
        submitted = self._folder(self._folders.submitted_directory, student, name)
        target = self._folder(self._folders.autograded_directory, student, name)
        copy_receipts(submitted, target)
        write_whole(target / f"{place.notebook}.ipynb", graded.text.encode(), 0o444)
        entry = history.entry_of(name, student, job.stamp, graded.report, job.versions)
        when = submitted_at(submitted)
        return Result(place.folder, student, graded.marks, when, entry, place.notebook)

    def folder(self, name: str, student: str) -> Path:
        """Return the folder of a student's submission for the assignment."""
        return self._folder(self._folders.submitted_directory, student, name)

    def _folder(self, step: str, student: str, name: str) -> Path:
        return Path(self._folders.format_path(step, student, self.place(name).folder))


def _odd_time(folder: Path, when: datetime | None) -> str:
    """Return a warning about a missing or future time of submission; "" if there is none."""
    if when is None:
        lacks = os.path.lexists(folder / "timestamp.txt")
        return "timestamp.txt holds no time, so this counts as in time." if lacks else ""
    if when > datetime.now(UTC).replace(tzinfo=None) + _CLOCKS:
        return (
            f"timestamp.txt says that this came at {when:%Y-%m-%d %H:%M:%S} UTC, which is yet to "
            "come. Correct it, and run the same command again."
        )
    return ""


def stamp_of(content: bytes) -> str:
    """Return a digest of a submitted file."""
    return blake2b(content, digest_size=16).hexdigest()
