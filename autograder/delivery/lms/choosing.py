"""Chooses which of a student's imported attempts counts: the last in time, or the best."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ...course_folder.assignments import graded_notebooks, parts_of
from ...course_folder.settings import BEST
from ...files import one_at_a_time, replace_folder, write_whole
from ...model import Job
from ...notebook.intake import read_plain_file, submitted_at
from ...pipeline.classroom import Classroom, stamp_of
from .importing import FOLDER, note_attempt, set_aside

Times = dict[Path, datetime | None]
"""The time in UTC of each attempt, by its folder; the submission itself is the first."""


def choose(room: Classroom, course: Path, name: str, rule: str) -> Iterator[str]:
    """Make the attempt that counts the student's submission, and set aside the one there.

    Yields a sentence for each submission that changed. Attempts without a time are in time.
    """
    by_student = dict(_attempts(room, course, name))
    points = _points(room, course, name, by_student) if rule == BEST else {}
    for student, times in by_student.items():
        due = room.due(name, student)

        def rank(path: Path, student: str = student, times: Times = times,
                 due: datetime | None = due) -> tuple[float, datetime]:  # fmt: skip
            when = times[path]
            if rule == BEST:
                earned = points[path]
                return earned - room.would_lose(name, student, earned, when), datetime.min
            return float(due is None or when is None or when <= due), when or datetime.min

        submission, best = next(iter(times)), max(times, key=rank)
        if rank(best) > rank(submission):
            _put_in_place(course, name, student, submission, best)
            when = f" of {times[best]} UTC" if times[best] else ""
            yield f"{student}: of {len(times)} attempts, the one{when} counts"


def _attempts(room: Classroom, course: Path, name: str) -> Iterator[tuple[str, Times]]:
    """Yield the students of whom several attempts are there."""
    own = {f"{notebook}.ipynb" for notebook in graded_notebooks(course, name)}

    def is_there(folder: Path) -> bool:
        return any((folder / notebook).is_file() for notebook in own)

    for aside in sorted((course / FOLDER / name / "replaced").glob("*")):
        folder = room.folder(name, aside.name)
        if is_there(folder):
            others = filter(is_there, sorted(aside.iterdir()))
            yield aside.name, {path: submitted_at(path) for path in (folder, *others)}


def _points(
    room: Classroom, course: Path, name: str, by_student: dict[str, Times]
) -> dict[Path, float]:
    """Return the points of each attempt; a file keeps them for the next call."""
    path = course / FOLDER / name / "points.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    jobs = {
        folder: [room.job(part, student, folder) for part in parts_of(course, name)]
        for student, times in by_student.items()
        for folder in times
    }

    def key(job: Job) -> str:
        return f"{job.stamp} {stamp_of(json.dumps(job.versions, sort_keys=True).encode())}"

    wanted = [job for several in jobs.values() for job in several]
    known = {key(job): before[key(job)] for job in wanted if key(job) in before}
    for done in room.run([job for job in wanted if key(job) not in known]):
        for job, graded in done:
            known[key(job)] = graded.report.score if graded.report else 0.0
    with one_at_a_time(course):
        write_whole(path, json.dumps(known).encode(), 0o600)
    return {folder: sum(known[key(job)] for job in several) for folder, several in jobs.items()}


def _put_in_place(course: Path, name: str, student: str, submission: Path, best: Path) -> None:
    files = {
        path.relative_to(best).as_posix(): read_plain_file(path)
        for path in best.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    with one_at_a_time(course):
        replace_folder(submission, files, set_aside(course, name, student))
        shutil.rmtree(best)
        note_attempt(course, name, student, submission)
