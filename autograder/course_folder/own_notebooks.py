"""Reads the course's own notebooks: their cells, and the exercises that these are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CourseError
from ..texts import command
from .nbgrader_settings import nbgrader_settings

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode

_SCHEMA = 3
"""The version of nbgrader's cell metadata, its `SCHEMA_VERSION`."""


def release_command(folder: str) -> str:
    """Return nbgrader's command that releases an assignment, for a message."""
    return command("nbgrader", "generate_assignment", folder, "--force")


def exercise_ids(graded: Iterable[str]) -> dict[str, str]:
    """Return the exercise of each of a notebook's graded cells, by grade_id.

    That is its grade_id without a leading `test_`, unless another graded cell has this name.
    """
    names = {*graded}
    plain = {name: name.removeprefix("test_") for name in names}
    return {name: name if short in names else short for name, short in plain.items()}


def exercises_of(cells: Iterable[NotebookNode]) -> dict[str, str]:
    """Return the exercise of each cell of a notebook that has points, tasks too, by grade_id."""
    marks = [cell["metadata"].get("nbgrader") or {} for cell in cells]
    return exercise_ids(each["grade_id"] for each in marks if each.get("grade") or each.get("task"))


def source_files(course: Path, source: Path) -> list[Path]:
    """Return the notebooks whose cells nbgrader puts one after another in a release: a source
    notebook, between the course's header and footer."""
    header, footer = nbgrader_settings(course).around
    return [path for path in (header, source, footer) if path and path.exists()]


def source_cells(course: Path, source: Path) -> list[NotebookNode]:
    """Return the cells of a source notebook between those of the course's header and footer."""
    files = source_files(course, source)
    return [cell for path in files for cell in read_cells(path, path.stat().st_mtime_ns)]


@lru_cache
def read_cells(path: Path, stamp: int) -> tuple[NotebookNode, ...]:
    """Return the cells of one of the course's notebooks; they are shared, so do not change them.

    Args:
        stamp: when it was written, so that it is read again when it has changed.

    Before format 4.5 cells have no ids: such a cell gets its place as an id.

    Raises `CourseError` if it is no notebook, or none that can be graded.
    """
    notebook = parsed(path)
    _require_python(path, notebook.metadata)
    for place, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{place}")
    own = [cell.metadata["nbgrader"] for cell in notebook.cells if "nbgrader" in cell.metadata]
    old = [version for each in own if (version := each.get("schema_version", 0)) < _SCHEMA]
    if old:
        uses = Counter(each["grade_id"] for each in own if each.get("grade_id"))
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


def parsed(path: Path) -> NotebookNode:
    """Return one of the course's notebooks, of any language and age. Raises `CourseError` if it is
    none."""
    # Imported late: the import takes longer than a whole command that reads no notebook.
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
    except OSError:
        raise
    except Exception as error:  # JSON that is no notebook fails in many ways.
        why = error.__cause__ or error  # nbformat quotes the file; its cause names the line.
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
