"""Builds release and solution notebooks from the source with nbgrader's own steps, and compares the
notebooks in `release/` and `solutions/` with the built ones.

Every command that hands out files uses this module, so that a release notebook that an instructor
has filled in is never handed out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import GenerateAssignment, GenerateSolution
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_solution, is_task
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from ..errors import CourseError
from ..texts import command
from .course import Course
from .nbgrader_settings import NAME as CONFIG
from .nbgrader_settings import nbgrader_config
from .own_notebooks import parse_notebook

RELEASE, SOLUTIONS = "release", "solutions"
"""Kinds of notebooks that are built from the source, and their folders."""

_CONVERTERS = {RELEASE: GenerateAssignment, SOLUTIONS: GenerateSolution}
_LEFT_OUT = (SaveCells, ExecutePreprocessor)
"""Steps of nbgrader that write to the gradebook or run a notebook; they are not needed here."""
_ALMOST_A_MARK = re.compile(
    r"^[ \t]*[#=*<!-]+[ \t]*(BEGIN|END)[ \t_-]*"
    r"(SOLUTION|HIDDEN[ \t_-]*TEST|MARK[ \t_-]*SCHEME)S?[ \t:#=*>-]*$",
    re.IGNORECASE | re.MULTILINE,
)
_KERNEL_METADATA = ("kernelspec", "language_info")
"""Keys of a notebook's metadata that JupyterLab writes when a kernel starts."""


def steps_without_effects(converter: Any) -> NotebookExporter:
    """Return an exporter with all steps of nbgrader's converter, except those in `_LEFT_OUT`."""
    exporter = NotebookExporter(parent=converter, config=converter.config)
    for step in converter.preprocessors:
        kind = import_item(step) if isinstance(step, str) else step
        if not issubclass(kind, _LEFT_OUT):
            exporter.register_preprocessor(kind, enabled=True)
    return exporter


def build_from_source(course: Course, kind: str, folder: str) -> dict[str, NotebookNode]:
    """Build an assignment's notebooks from its source, and return them by file name without suffix.

    Solution notebooks are not executed.

    Args:
        kind: `RELEASE` or `SOLUTIONS`.
        folder: the assignment's folder.

    Raises `CourseError` if one of nbgrader's steps fails.
    """
    course = Course(course.root.resolve())
    config = nbgrader_config(course.root) if (course.root / CONFIG).exists() else Config()
    folders = CourseDirectory(config=config, root=str(course), student_id=".")
    converter = _CONVERTERS[kind](coursedir=folders, config=config)
    notebooks = {}
    with chdir(course.root):  # as nbgrader does: the steps may read files by relative paths
        steps = steps_without_effects(converter)
        source = folders.format_path(folders.source_directory, ".", folder)
        for name in course.notebooks_of(folder):
            path = os.path.join(source, f"{name}.ipynb")
            try:
                resources = converter.init_single_notebook_resources(path)
                text, _ = steps.from_filename(path, resources=resources)
            except CourseError:
                raise
            except Exception as error:  # A course may add steps, which may raise anything.
                raise CourseError(
                    f"{course.source / folder / name}.ipynb cannot be released "
                    f"({type(error).__name__}: {error})"
                ) from error
            notebooks[name] = nbformat.reads(text, as_version=4)
            if kind == RELEASE:
                finish_release(notebooks[name], f"{course.source / folder / name}.ipynb")
            leave_out_widgets(notebooks[name])
    return notebooks


def finish_release(notebook: NotebookNode, path: str) -> None:
    """Remove the attachments of tasks that no text shows: those of mark schemes.

    Args:
        path: the source notebook's path, for messages.

    Raises `CourseError` if a line is almost one of nbgrader's marks, so that what it should hide is
    still there.
    """
    for number, cell in enumerate(notebook.cells, 1):
        pictures = cell.get("attachments", {}) if is_task(cell) else {}
        for name in [name for name in pictures if name not in unquote(cell.source)]:
            del pictures[name]
        if mark := _ALMOST_A_MARK.search(cell.source):
            raise CourseError(
                f"{path}, cell {number}{_name(cell)}: the line {mark[0].strip()!r} is almost one "
                "of nbgrader's marks: students would get what it should hide. Write it as "
                "`### BEGIN SOLUTION`, `### BEGIN HIDDEN TESTS` or `=== BEGIN MARK SCHEME ===`, or "
                "as c.ClearSolutions and its like in nbgrader_config.py have it"
            )


def leave_out_widgets(notebook: NotebookNode) -> None:
    """Remove the states and views of widgets; an output's picture of the widget stays.

    In a notebook without a running kernel, Jupyter would show an error in place of a widget.
    """
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


def files_to_give(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders, without hidden files, caches and links."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if not is_hidden and path.is_file() and not path.is_symlink():
            yield path


def current_release(course: Course, folder: str) -> Path:
    """Return the folder of an assignment's release, after checking that it agrees with the source.

    It agrees if its notebooks equal those built from `source/`, and every other file is also in
    `source/` with the same content. `files_to_give` lists the files to hand out.

    Raises `CourseError` with the file, the cell and the remedy if release and source differ.
    """
    notebooks = build_from_source(course, RELEASE, folder)
    release, source = course.release / folder, course.source / folder
    if not notebooks:
        raise CourseError(
            f"{source} holds no notebook, so that nothing tells whether the release is one: put "
            f"the notebook there, and run {_remedy(RELEASE, folder)}"
        )
    for name, expected in notebooks.items():
        _require_same(release / f"{name}.ipynb", RELEASE, expected, _whole)
    for path in files_to_give(release):
        relative = path.relative_to(release)
        if relative.suffix == ".ipynb" and str(relative.with_suffix("")) in notebooks:
            continue
        # A notebook in source/ holds solutions: its copy in release/ must not be handed out.
        if relative.suffix == ".ipynb" or not (source / relative).is_file():
            raise CourseError(
                f"{path} does not come from {source}, and students would get it; nothing was given "
                "out. Move it to another place, or put it into source/ if it is for them, and run "
                f"{_remedy(RELEASE, folder)}"
            )
        if path.read_bytes() != (source / relative).read_bytes():
            raise _differs(path, RELEASE, "")
    return release


def require_current_solution(course: Course, folder: str, name: str) -> Path:
    """Return the path of an executed solution notebook, after checking that it agrees with the
    source.

    Args:
        folder: the assignment's folder.
        name: the notebook's file name without suffix.

    Raises `CourseError` with the cell and the remedy if the solution notebook differs from the
    source, or if no cell was executed.
    """
    path = course.root / SOLUTIONS / folder / f"{name}.ipynb"
    expected = build_from_source(course, SOLUTIONS, folder)[name]
    _require_same(path, SOLUTIONS, expected, _without_outputs)
    code = [cell for cell in parse_notebook(path).cells if cell.cell_type == "code"]
    if code and not any(cell.execution_count for cell in code):
        raise CourseError(f"{path} was not run: {_remedy(SOLUTIONS, folder)} makes it anew")
    return path


def require_stubs(course: Course, folder: str, name: str) -> None:
    """Raise `CourseError` if a stub in the release differs from the one built from the source.

    An answer that equals the stub counts as missing, so a wrong stub would give wrong marks.

    Args:
        folder: the assignment's folder.
        name: the notebook's file name without suffix.
    """
    expected = _stubs(build_from_source(course, RELEASE, folder)[name])
    path = course.release / folder / f"{name}.ipynb"
    for grade_id, source in _stubs(parse_notebook(path)).items():
        if source != expected.get(grade_id, source):
            raise _differs(path, RELEASE, f", cell {grade_id}")


def _stubs(notebook: NotebookNode) -> dict[str, str]:
    return {cell.metadata.nbgrader.grade_id: cell.source
            for cell in notebook.cells if is_solution(cell)}  # fmt: skip


def _require_same(
    path: Path, kind: str, expected: NotebookNode, select: Callable[[NotebookNode], dict[str, Any]]
) -> None:
    """Raise `CourseError` if a notebook is missing or differs from the expected one.

    Args:
        kind: `RELEASE` or `SOLUTIONS`.
        select: returns the parts of a cell that are compared.
    """
    if not path.is_file():
        raise CourseError(f"{path} is missing: run {_remedy(kind, path.parent.name)} first")
    actual = parse_notebook(path)
    for number, (cell, wanted) in enumerate(zip_longest(actual.cells, expected.cells), 1):
        if not cell or not wanted or select(cell) != select(wanted):
            raise _differs(path, kind, f", cell {number}{_name(cell or wanted)}")
    if kind == RELEASE and _about(actual) != _about(expected):
        raise _differs(path, kind, ", its metadata")


def _whole(cell: NotebookNode) -> dict[str, Any]:
    """Return all parts of a cell, except its id and its execution times."""
    # In notebooks of older formats, which have no cell ids, nbgrader makes random ones.
    return {**cell, "id": None, "metadata": _metadata(cell, ["execution"])}


def _without_outputs(cell: NotebookNode) -> dict[str, Any]:
    return {**_whole(cell), "outputs": None, "execution_count": None}


def _about(notebook: NotebookNode) -> dict[str, Any]:
    return _metadata(notebook, _KERNEL_METADATA)


def _metadata(node: NotebookNode, ignored: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in node.metadata.items() if key not in ignored}


def _name(cell: NotebookNode) -> str:
    name = (cell.metadata.get("nbgrader") or {}).get("grade_id") or cell.get("id")
    return f" ({name})" if name else ""


def _differs(path: Path, kind: str, where: str) -> CourseError:
    return CourseError(
        f"{path}{where}: this is not what source/{path.parent.name} gives: it was edited or run "
        "there, or the source has changed since. If what it holds counts, keep a copy elsewhere; "
        f"then run {_remedy(kind, path.parent.name)}, and the same command again"
    )


def _remedy(kind: str, folder: str) -> str:
    option = ["--solutions"] if kind == SOLUTIONS else []
    return command("autograder", "release", *option, folder)
