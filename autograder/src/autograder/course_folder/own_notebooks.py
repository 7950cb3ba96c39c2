"""Reads the course's own notebooks, and finds the exercise to which each cell belongs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CourseError
from ..texts import command

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode

_SCHEMA = 3
"""The version of the cell metadata that nbgrader uses now, nbgrader's `SCHEMA_VERSION`."""


def release_command(folder: str) -> str:
    """Return nbgrader's command that releases an assignment, for a message."""
    return command("nbgrader", "generate_assignment", folder, "--force")


def exercise_ids(graded: Iterable[str]) -> dict[str, str]:
    """Return the exercise's id of each graded cell of a notebook, by the cell's grade_id.

    The id is the grade_id without a leading `test_`, unless another graded cell has that grade_id.

    Args:
        graded: the grade_ids of all graded cells.
    """
    grade_ids = {*graded}
    short_names = {grade_id: grade_id.removeprefix("test_") for grade_id in grade_ids}
    return {
        grade_id: grade_id if short in grade_ids else short
        for grade_id, short in short_names.items()
    }


def exercises_of(cells: Iterable[NotebookNode]) -> dict[str, str]:
    """Return the exercise's id of each test cell, written answer and task of a notebook, by
    grade_id."""
    metadata = [cell["metadata"].get("nbgrader") or {} for cell in cells]
    return exercise_ids(
        each["grade_id"] for each in metadata if each.get("grade") or each.get("task")
    )


def read_cells(*paths: Path) -> list[NotebookNode]:
    """Return the cells of the course's own notebooks, in this order. They are cached until a file
    changes, and shared by all callers: do not change them.

    Raises `CourseError` if a file is no notebook, or is in another language than Python, or has old
    nbgrader metadata.
    """
    return [cell for path in paths for cell in _read_cells(path, path.stat().st_mtime_ns)]


@lru_cache
def _read_cells(path: Path, stamp: int) -> tuple[NotebookNode, ...]:
    notebook = parse_notebook(path)
    _require_python(path, notebook.metadata)
    # Notebooks in a format before nbformat 4.5 have no cell ids.
    for index, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{index}")
    metadata = [cell.metadata["nbgrader"] for cell in notebook.cells if "nbgrader" in cell.metadata]
    old = [version for each in metadata if (version := each.get("schema_version", 0)) < _SCHEMA]
    if old:
        uses = Counter(each["grade_id"] for each in metadata if each.get("grade_id"))
        twice = ", ".join(repr(name) for name, count in uses.items() if count > 1)
        first = "" if not twice else (
            f"in a text editor give all but one of the cells with the grade_id {twice} another "
            "one, which `nbgrader update` does not do; then "
        )  # fmt: skip
        raise CourseError(
            f"{path} has nbgrader's metadata of version {old[0]}, and {_SCHEMA} is the one in use: "
            f"{first}run {command('nbgrader', 'update', path)}"
        )
    return tuple(notebook.cells)


def has_solution(source: str) -> bool:
    """Return whether a solution cell of a source notebook does more than a stub does."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):  # For example, a magic.
        return True
    stops = any(isinstance(each, ast.Raise) for each in statements)
    return not stops and any(map(_does_something, statements))


def _does_something(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return any(map(_does_something, node.body))
        case ast.Expr(ast.Constant()) | ast.Pass():
            return False
        case ast.Assign() | ast.Return():
            blank = (ast.Constant(None), ast.Constant(...))
            return node.value is not None and ast.dump(node.value) not in map(ast.dump, blank)
        case ast.Raise():
            return "NotImplementedError" not in ast.unparse(node)
    return True


def parse_notebook(path: Path) -> NotebookNode:
    """Return one of the course's notebooks, in any language and of any nbformat.

    Raises `CourseError` if the file is no notebook.
    """
    # Imported only here: the import takes longer than a whole command that reads no notebook.
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
    except OSError:
        raise
    except Exception as error:  # nbformat raises many kinds of errors for other JSON.
        why = error.__cause__ or error  # The error quotes the file; its cause names the line.
        raise CourseError(
            f"{path} is not a whole notebook ({why}): undo what was changed in it last, such as a "
            "merge that left its conflict marks; one in release/ is made anew by "
            f"{release_command(path.parent.name)}"
        ) from error
    return notebook


def _require_python(path: Path, metadata: Mapping[str, Any]) -> None:
    """Raise `CourseError` if a notebook's metadata names another language."""
    kernel, about = (metadata.get(key) or {} for key in ("kernelspec", "language_info"))
    language = kernel.get("language") or about.get("name") or "python"
    if "python" not in language.lower():
        raise CourseError(f"{path} is written in {language}, and only Python is graded here")
