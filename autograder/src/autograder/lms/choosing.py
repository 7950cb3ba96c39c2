"""Chooses which of a student's imported attempts counts: the last one in time, or the best."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ..course_folder.course import Course
from ..course_folder.settings import BEST
from ..files import replace_folder, write_atomic
from ..notebook.intake import read_plain_file, submitted_at
from ..pipeline.classroom import Classroom, stamp_of
from ..records import Job
from .importing import FOLDER, backup_path, record_attempt

Times = dict[Path, datetime | None]
"""By folder of an attempt: its submission time in UTC. The current submission is the first key."""


def choose(room: Classroom, course: Course, name: str, rule: str) -> Iterator[str]:
    """Make the attempt that counts each student's submission; the old submission becomes a backup.

    Attempts without a time count as in time. Yields a sentence for each submission that changed.

    Args:
        room: the class, which grades attempts and computes late penalties.
        name: the assignment.
        rule: `settings.BEST` for the attempt with the most points less late penalty. With any other
            value, the last attempt before the due date counts or, without one, the last of all.
    """
    by_student = dict(_attempts(room, course, name))
    points = _points(room, course, name, by_student) if rule == BEST else {}
    for student, times in by_student.items():
        due = room.due(name, student)

        # Default arguments hold this student's values: the loop assigns the variables again.
        def rank(path: Path, student: str = student, times: Times = times,
                 due: datetime | None = due) -> tuple[float, datetime]:  # fmt: skip
            when = times[path]
            if rule == BEST:
                earned = points[path]
                return earned - room.would_lose(name, student, earned, when), datetime.min
            return float(due is None or when is None or when <= due), when or datetime.min

        submission, best = next(iter(times)), max(times, key=rank)
        if rank(best) > rank(submission):
            _replace_submission(course, name, student, submission, best)
            when = f" of {times[best]} UTC" if times[best] else ""
            yield f"{student}: of {len(times)} attempts, the one{when} counts"


def _attempts(room: Classroom, course: Course, name: str) -> Iterator[tuple[str, Times]]:
    """Yield each student with several imported attempts, and the attempts' submission times."""
    names = {f"{notebook}.ipynb" for notebook in course.graded_notebooks(name)}

    def has_notebook(folder: Path) -> bool:
        return any((folder / notebook).is_file() for notebook in names)

    for backups in sorted((course.root / FOLDER / name / "replaced").glob("*")):
        folder = room.folder(name, backups.name)
        if has_notebook(folder):
            others = filter(has_notebook, sorted(backups.iterdir()))
            yield backups.name, {path: submitted_at(path) for path in (folder, *others)}


def _points(
    room: Classroom, course: Course, name: str, by_student: dict[str, Times]
) -> dict[Path, float]:
    """Return the points of each attempt, by folder.

    The file `points.json` caches them for the next call.
    """
    path = course.root / FOLDER / name / "points.json"
    cached = json.loads(path.read_text("utf-8")) if path.exists() else {}
    jobs = {
        folder: [room.job(part, student, folder) for part in course.parts_of(name)]
        for student, times in by_student.items()
        for folder in times
    }

    def key(job: Job) -> str:
        return f"{job.stamp} {stamp_of(json.dumps(job.versions, sort_keys=True).encode())}"

    wanted = [job for several in jobs.values() for job in several]
    points = {key(job): cached[key(job)] for job in wanted if key(job) in cached}
    for done in room.run([job for job in wanted if key(job) not in points]):
        for job, graded in done:
            points[key(job)] = graded.report.score if graded.report else 0.0
    with course.lock():
        write_atomic(path, json.dumps(points).encode(), 0o600)
    return {folder: sum(points[key(job)] for job in several) for folder, several in jobs.items()}


def _replace_submission(
    course: Course, name: str, student: str, submission: Path, best: Path
) -> None:
    """Make the attempt in the folder `best` the submission; the old one becomes a backup.

    The record of imports then describes the new submission.
    """
    files = {
        path.relative_to(best).as_posix(): read_plain_file(path)
        for path in best.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    with course.lock():
        replace_folder(submission, files, backup_path(course, name, student))
        shutil.rmtree(best)
        record_attempt(course, name, student, submission)
