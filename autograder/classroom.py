"""Grades what a class has submitted, from the submitted files to stored marks."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .assignments import CourseError, load_assignment
from .gradebook import record, require_assignment
from .grading import Grader
from .notebooks import UnreadableNotebook, blank, template
from .report import Report
from .submissions import grade_file, grade_restored


@dataclass
class Outcome:
    """What became of one submission.

    Attributes:
        report: the verdicts.
        error: why nothing could be graded, if so; the marks are then 0.
        skipped: whether it had been graded before and has not changed.
    """

    student: str
    assignment: str
    report: Report | None = None
    error: str | None = None
    skipped: bool = False


def course_directory(course: Path) -> CourseDirectory:
    """nbgrader's own view of the course folder: its paths and its gradebook."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    return CourseDirectory(config=Config(config), root=str(course))


class Classroom:
    """The submissions of one course. Use as a context manager.

    Args:
        course: the course folder.
        grader: grades the notebooks.
        force: grade again what has been graded before.
    """

    def __init__(self, course: Path, grader: Grader, force: bool = False) -> None:
        self._course = course
        self._grader = grader
        self._force = force
        self._folders = course_directory(course)
        self._gradebook = Gradebook(self._folders.db_url, self._folders.course_id)

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

    def grade(self, name: str, students: list[str]) -> Iterator[Outcome]:
        """Grade the students' submissions one by one."""
        for student in students:
            yield self._grade_one(name, student)

    def _grade_one(self, name: str, student: str) -> Outcome:
        outcome = Outcome(student, name)
        submitted = self._folder(self._folders.submitted_directory, student, name)
        target = self._folder(self._folders.autograded_directory, student, name)
        source = submitted / f"{name}.ipynb"
        stamp = _stamp(source)
        if not self._force and _graded_stamp(target, name) == stamp:
            outcome.skipped = True
            return outcome
        try:
            notebook, outcome.report = grade_file(self._grader, source, name)
        except UnreadableNotebook as error:
            outcome.error = str(error)
            notebook, outcome.report = self._nothing(name, str(error))
        notebook.metadata["autograder"] = {"graded": stamp, "seed": outcome.report.seed}
        timestamp = self._folders.get_existing_timestamp(str(submitted))
        record(self._gradebook, name, student, notebook, timestamp)
        _write(submitted, target, f"{name}.ipynb", notebook)
        return outcome

    def _nothing(self, name: str, reason: str) -> tuple[NotebookNode, Report]:
        restored = blank(template(self._course, name), reason)
        report = grade_restored(self._grader, restored, name)
        report.notes = [reason]
        return restored.notebook, report

    def _folder(self, step: str, student: str, name: str) -> Path:
        return Path(self._folders.format_path(step, student, name))


def _stamp(source: Path) -> str:
    """What the submitted file holds, in short."""
    try:
        return blake2b(source.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return "missing"


def _graded_stamp(target: Path, name: str) -> str | None:
    """The stamp of the submission that the autograded notebook was made from, if there is one."""
    try:
        notebook = json.loads((target / f"{name}.ipynb").read_text("utf-8"))
        stamp = notebook["metadata"]["autograder"]["graded"]
    except (OSError, ValueError, KeyError):
        return None
    return stamp if isinstance(stamp, str) else None


def _write(submitted: Path, target: Path, name: str, notebook: NotebookNode) -> None:
    """Put the graded notebook where the formgrader looks for it, whole or not at all."""
    target.mkdir(parents=True, exist_ok=True)
    stamp = submitted / "timestamp.txt"
    if stamp.is_file() and not stamp.is_symlink():
        shutil.copyfile(stamp, target / "timestamp.txt")
    with tempfile.NamedTemporaryFile("w", dir=target, delete=False, encoding="utf-8") as file:
        file.write(nbformat.writes(notebook, version=4) + "\n")
    os.chmod(file.name, 0o444)
    os.replace(file.name, target / name)
