"""Plugins for releasing an assignment.

A failed release leaves the former one in place. Marks survive changes of graded cells. Only a
release that agrees with its source is copied to the exchange.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    TaskCell,
)
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.default import ExchangeReleaseAssignment
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from sqlalchemy import select

from ..course_folder.course import Course
from ..course_folder.release import (
    current_release,
    files_to_give,
    finish_release,
    steps_without_effects,
)
from ..course_folder.rubrics import rubrics_of
from ..errors import CourseError
from ..gradebook.another_look import outgrown

_KINDS: dict[type[BaseCell], Callable[[NotebookNode], bool]] = {
    GradeCell: is_grade,
    SolutionCell: is_solution,
    TaskCell: is_task,
    SourceCell: lambda cell: is_grade(cell) or is_solution(cell) or is_locked(cell)
    or is_task(cell),
}  # fmt: skip


class ReleaseExporter(NotebookExporter):
    """Exporter that first checks the rubrics and, if there is a former release, builds the new one
    without storing it.

    If that fails, it raises `NbGraderException` before nbgrader deletes the former release.
    """

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **keywords: Any
    ) -> tuple[Any, Any]:
        text, resources = super().from_notebook_node(nb, resources, **keywords)
        release = nbformat.reads(text, as_version=4)
        about = resources["metadata"]
        finish_release(release, f"{about['path']}/{about['name']}.ipynb")
        return f"{nbformat.writes(release)}\n", resources

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        converter: Any = self.parent
        trial = steps_without_effects(converter)
        for path in sorted(path for paths in converter.assignments.values() for path in paths):
            resources = converter.init_single_notebook_resources(path)
            about = resources["nbgrader"]
            former = converter.coursedir.format_path(
                converter.coursedir.release_directory, ".", about["assignment"]
            )
            try:
                course = Course(Path(converter.coursedir.root))
                rubrics_of(course, course.name_of(about["assignment"], about["notebook"]))
                if not os.path.isdir(former):
                    continue
                text, _ = trial.from_filename(path, resources=resources)
                release = nbformat.reads(text, as_version=4)
                finish_release(release, path)
                with Gradebook(about["db_url"]) as gradebook:
                    _update_cells(gradebook, about["assignment"], about["notebook"], release)
                    gradebook.db.rollback()
            except Exception as error:
                converter.log.error(
                    "%s cannot be released (%s: %s). The former release is there as it was.",
                    path, type(error).__name__, error,
                )  # fmt: skip
                raise NbGraderException(str(error)) from error


class FitCells(SaveCells):
    """Saves a notebook's cells in the gradebook, even if it was submitted with other cells.

    nbgrader's own step refuses to change the cells of a submitted notebook.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            _update_cells(gradebook, about["assignment"], about["notebook"], nb)
            gradebook.db.commit()
        result: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        return result


class ReleaseToExchange(ExchangeReleaseAssignment):
    """Copies a release to the exchange, for nbgrader's command and the formgrader's button.

    Refuses a release that was edited, or is older than its source.
    """

    def init_src(self) -> None:
        super().init_src()
        self._copies = tempfile.TemporaryDirectory(prefix="release-")
        try:
            course = Course(Path(self.coursedir.root))
            release = current_release(course, self.coursedir.assignment_id)
        except CourseError as error:
            self.fail(str(error))
        self.src_path = self._copies.name
        for path in files_to_give(release):
            copy = Path(self.src_path, path.relative_to(release))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def _update_cells(
    gradebook: Gradebook, assignment: str, notebook: str, release: NotebookNode
) -> None:
    """Change the gradebook's cells of a notebook to those of the release; the caller commits.

    This does nothing unless the notebook was submitted. In each submission, a new exercise waits
    for a person until it is graded, and a manual mark that does not fit an exercise's new maximum
    waits for a review.

    Raises `ValueError` if a removed exercise has a manual mark.
    """
    try:
        row = gradebook.find_notebook(notebook, assignment)
    except MissingEntry:
        return
    if not row.submissions:
        return
    db = gradebook.db
    for kind, is_kind in _KINDS.items():
        wanted = {c.metadata.nbgrader.grade_id: c for c in release.cells if is_kind(c)}
        stored = {
            cell.name: cell for cell in db.scalars(select(kind).where(kind.notebook_id == row.id))
        }
        for name in stored.keys() - wanted.keys():
            _remove(gradebook, stored[name])
        for name in wanted.keys() - stored.keys():
            _add(gradebook, row, kind, name, wanted[name])
        if kind in (GradeCell, TaskCell):
            for name in wanted.keys() & stored.keys():
                points = float(wanted[name].metadata.nbgrader.points)
                _request_reviews(gradebook, stored[name], points)


def _remove(gradebook: Gradebook, cell: BaseCell) -> None:
    """Delete a cell with its grades and comments. Raise `ValueError` if a grade is manual."""
    db = gradebook.db
    by_hand = [
        grade.notebook.student.id
        for grade in db.scalars(select(Grade).where(Grade.cell_id == cell.id))
        if grade.manual_score is not None or grade.extra_credit
    ]
    if by_hand:
        raise ValueError(
            f"{cell.name} is not in the source any more, and a person gave points for it to "
            f"{', '.join(sorted(by_hand)[:10])}: put it back, or set these points to none"
        )
    for kind in (Grade, Comment):  # A source cell has neither grades nor comments.
        for row in db.scalars(select(kind).where(kind.cell_id == cell.id)):
            db.delete(row)
    db.delete(cell)


def _request_reviews(gradebook: Gradebook, cell: GradeCell | TaskCell, points: float) -> None:
    """Mark those manual marks for review that do not fit a cell's new maximum.

    Args:
        points: the new maximum.
    """
    for grade in gradebook.db.scalars(select(Grade).where(Grade.cell_id == cell.id)):
        if outgrown(grade.manual_score or 0.0, cell.max_score, points):
            grade.needs_manual_grade = True


def _add(
    gradebook: Gradebook, notebook: Notebook, kind: type[BaseCell], name: str, cell: NotebookNode
) -> None:
    """Insert a cell, with an empty grade or comment in each submission.

    Args:
        kind: the class of the gradebook's cell.
        name: the cell's grade_id.
        cell: the cell in the release.
    """
    new = kind(name=name, notebook=notebook)
    if kind is not SolutionCell:
        new.cell_type = cell.cell_type
    if kind in (GradeCell, TaskCell):
        new.max_score = float(cell.metadata.nbgrader.points)
    gradebook.db.add(new)
    for submitted in notebook.submissions:
        if kind in (GradeCell, TaskCell):
            gradebook.db.add(Grade(cell=new, notebook=submitted, needs_manual_grade=True))
        if kind in (SolutionCell, TaskCell):
            gradebook.db.add(Comment(cell=new, notebook=submitted))
