"""Keeps the former release until the new one is whole, and marks when graded cells come or go."""

from __future__ import annotations

import os
from collections.abc import Callable
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
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from sqlalchemy import select
from traitlets.utils.importstring import import_item

_KINDS: dict[type[BaseCell], Callable[[NotebookNode], bool]] = {
    GradeCell: is_grade,
    SolutionCell: is_solution,
    TaskCell: is_task,
    SourceCell: lambda cell: is_grade(cell) or is_solution(cell) or is_locked(cell)
    or is_task(cell),
}  # fmt: skip


class ReleaseExporter(NotebookExporter):
    """Makes the release once for trial, before nbgrader removes the former one.

    Raises `NbGraderException` if it cannot be made; nothing has changed then.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        converter: Any = self.parent
        trial = NotebookExporter(parent=converter, config=converter.config)
        for each in converter.preprocessors:
            kind = import_item(each) if isinstance(each, str) else each
            if not issubclass(kind, SaveCells):
                trial.register_preprocessor(kind, enabled=True)
        for path in sorted(path for paths in converter.assignments.values() for path in paths):
            place = converter.init_single_notebook_resources(path)
            about = place["nbgrader"]
            former = converter.coursedir.format_path(
                converter.coursedir.release_directory, ".", about["assignment"]
            )
            if not os.path.isdir(former):
                continue
            try:
                text, _ = trial.from_filename(path, resources=place)
                made = nbformat.reads(text, as_version=4)
                with Gradebook(about["db_url"]) as gradebook:
                    _fit(gradebook, about["assignment"], about["notebook"], made)
                    gradebook.db.rollback()
            except Exception as error:
                converter.log.error(
                    "%s cannot be released (%s: %s). The former release is there as it was.",
                    path, type(error).__name__, error,
                )  # fmt: skip
                raise NbGraderException(str(error)) from error


class FitCells(SaveCells):
    """Saves the cells of a notebook, also if it has others than those that students handed in."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            _fit(gradebook, about["assignment"], about["notebook"], nb)
            gradebook.db.commit()
        done: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        return done


def _fit(gradebook: Gradebook, assignment: str, notebook: str, cells: NotebookNode) -> None:
    """Give a notebook that was handed in the cells of its source, in one transaction.

    A new exercise waits in each submission until it is graded. Raises `ValueError` if a person gave
    points for an exercise that is gone.
    """
    try:
        known = gradebook.find_notebook(notebook, assignment)
    except MissingEntry:
        return
    if not known.submissions:
        return
    db = gradebook.db
    for kind, is_kind in _KINDS.items():
        wanted = {c.metadata.nbgrader.grade_id: c for c in cells.cells if is_kind(c)}
        there = {
            each.name: each for each in db.scalars(select(kind).where(kind.notebook_id == known.id))
        }
        for name in there.keys() - wanted.keys():
            _remove(gradebook, there[name])
        for name in wanted.keys() - there.keys():
            _add(gradebook, known, kind, name, wanted[name])


def _remove(gradebook: Gradebook, cell: BaseCell) -> None:
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
    for kind in (Grade, Comment):  # Of a source cell there are none.
        for row in db.scalars(select(kind).where(kind.cell_id == cell.id)):
            db.delete(row)
    db.delete(cell)


def _add(
    gradebook: Gradebook, known: Notebook, kind: type[BaseCell], name: str, cell: NotebookNode
) -> None:
    new = kind(name=name, notebook=known)
    if kind is not SolutionCell:
        new.cell_type = cell.cell_type
    if kind in (GradeCell, TaskCell):
        new.max_score = float(cell.metadata.nbgrader.points)
    gradebook.db.add(new)
    for submitted in known.submissions:
        if kind in (GradeCell, TaskCell):
            gradebook.db.add(Grade(cell=new, notebook=submitted, needs_manual_grade=True))
        if kind in (SolutionCell, TaskCell):
            gradebook.db.add(Comment(cell=new, notebook=submitted))
