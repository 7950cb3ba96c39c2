"""Queries for the grades and comments of one submitted notebook."""

from __future__ import annotations

from typing import Any

from nbgrader.api import BaseCell, Comment, Grade, SubmittedNotebook
from sqlalchemy import ColumnElement, and_, bindparam, select

from . import another_look


def of_submission(kind: type[Grade | Comment], key: Any) -> ColumnElement[bool]:
    """Return the SQL condition that a grade or a comment belongs to a submitted notebook.

    The condition also names the notebook's cells, since nbgrader's index begins with the cell:
    without them, the time of a query would grow with the class.

    Args:
        key: the id of the submitted notebook, or a bound parameter.
    """
    cells = (
        select(BaseCell.id)
        .join(SubmittedNotebook, SubmittedNotebook.notebook_id == BaseCell.notebook_id)
        .where(SubmittedNotebook.id == key)
    )
    return and_(kind.notebook_id == key, kind.cell_id.in_(cells))


# Built once, since building a statement takes longer than running it.
GRADED_CELLS = (
    select(BaseCell.name, Grade.id, *another_look.MANUAL_COLUMNS)
    .join(Grade.cell)
    .where(of_submission(Grade, bindparam("notebook")))
)
COMMENTED_CELLS = (
    select(BaseCell.name, Comment.id, another_look.COMMENTED)
    .join(Comment.cell)
    .where(of_submission(Comment, bindparam("notebook")))
)
