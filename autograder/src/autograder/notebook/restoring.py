"""Restores the course's own cells in submitted notebooks, if they were edited, moved or deleted."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_locked, is_solution

from ..course_folder.course import Course
from ..course_folder.own_notebooks import exercises_of, read_cells
from ..errors import CourseError, UnreadableNotebook
from ..records import IN_NOTEBOOK, Cell
from .aligning import Template, align, defined_names, in_order, nbgrader_metadata, squeezed
from .reading import DEMONSTRATION, NOTES

MISSING_CELL = "# The notebook that was handed in has no such cell."
"""The text that is put into an answer's cell if the submission lacks that cell."""

_COMMENT = re.compile(r"^[ \t]*#[^\n]*|<!--.*?-->", re.MULTILINE | re.DOTALL)


def is_blank(answer: str, stub: str) -> bool:
    """Return whether a cell holds no answer: only the stub, with or without some of its comments,
    or only comments of the stub, or only white space."""
    # An answer that is longer than its stub, as most are, needs no search.
    if len("".join(answer.split())) > len("".join(stub.split())):
        return False
    comments = {"".join(each.split()) for each in _COMMENT.findall(stub)}

    def without(comment: re.Match[str]) -> str:
        return "" if "".join(comment[0].split()) in comments else comment[0]

    code, stub_code = ("".join(_COMMENT.sub(without, text).split()) for text in (answer, stub))
    return code in ("", stub_code)


@dataclass
class RestoredNotebook:
    """A submission with the course's own cells restored.

    Attributes:
        notebook: a valid notebook in which each exercise has its test cell once.
        notes: messages on repairs for the student, by exercise; "" for the whole notebook.
        is_blank: whether nothing in the file could be graded: then it earns no points.
    """

    notebook: NotebookNode
    notes: dict[str, list[str]] = field(default_factory=dict)
    is_blank: bool = False

    def note(self, exercise: str, text: str) -> None:
        self.notes.setdefault(exercise, []).append(text)


@lru_cache
def _template(
    sources: tuple[Path, ...], release: Path, stamps: tuple[int, ...], runs_tests: bool
) -> Template:
    hidden: dict[str, str] = {}
    defines: dict[str, frozenset[str]] = {}
    for cell in read_cells(*sources):
        if is_locked(cell):
            hidden[nbgrader_metadata(cell)["grade_id"]] = cell["source"]
        elif is_solution(cell) and cell["cell_type"] == "code":
            defines[nbgrader_metadata(cell)["grade_id"]] = defined_names(cell["source"])
    cells, released, shown = [], [], {}
    for cell in read_cells(release):
        grade_id = nbgrader_metadata(cell).get("grade_id")
        tags = tuple(cell["metadata"].get("tags", ()))
        released.append((squeezed(cell["source"]), grade_id, tags))
        if grade_id:
            shown[grade_id] = cell["source"]
            cell = deepcopy(cell)
            cell.source = hidden.get(grade_id, cell["source"])
            if cell["cell_type"] == "code":
                cell.outputs, cell.execution_count = [], None
            cells.append(cell)
    # An exercise that is in the source but not in the release was not given to students yet.
    in_release = {grade_id for _, grade_id, _ in released}
    defines = {grade_id: names for grade_id, names in defines.items() if grade_id in in_release}
    return Template(tuple(cells), tuple(released), defines, shown, runs_tests)


def load_template(course: Course, name: str) -> Template:
    """Return the template of an assignment, or of a part of an assignment. It is cached until one
    of its files changes.

    Raises `CourseError` if the assignment is not released.
    """
    release = course.release_of(name)
    if not course.notebook_path(name).under(course.source).exists() or not release.exists():
        raise CourseError(f"there is no released assignment {name!r} in {course}")
    sources = tuple(course.source_files(name))
    stamps = tuple(file.stat().st_mtime_ns for file in (release, *sources))
    runs_tests = course.settings.of(name).tests == IN_NOTEBOOK
    return _template(sources, release, stamps, runs_tests)


def restore(notebook: NotebookNode, template: Template, where: str) -> RestoredNotebook:
    """Return a notebook with all cells of the assignment, each once, in order, and the locked ones
    unedited.

    No text of the student is lost: a locked cell that was edited is kept above the restored one.
    The edited copy runs only if the restored cell does not run, or if the copy holds an answer.

    Args:
        where: the file's name, for messages.

    Raises `UnreadableNotebook` if no cell of the assignment is found.
    """
    originals = template.originals
    cells, grade_ids, matches = align(notebook.cells, template)
    if originals and not any(grade_ids):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: none of the assignment's cells is in it. "
            "The right file has to be handed in."
        )
    notes = notebook.metadata.pop(NOTES, {})
    restored = RestoredNotebook(nbformat.v4.new_notebook(metadata=notebook.metadata), notes)
    order = in_order(grade_ids, template)
    if order != sorted(order):
        restored.note("", "The cells were in another order; they were put back in theirs.")
    cells, grade_ids = [cells[i] for i in order], [grade_ids[i] for i in order]
    chosen = _choose_copies(cells, grade_ids, template)
    undefined = _undefined_names(cells, grade_ids, template)
    for index, (cell, name) in enumerate(zip(cells, grade_ids, strict=True)):
        # The submission's metadata must not give a cell points: a restored cell gets that of the
        # course.
        cell["metadata"].pop("nbgrader", None)
        if name is None:
            restored.notebook.cells.append(cell)
        elif index == chosen[name]:
            _restore_cell(restored, cell, name, template, undefined)
        else:
            restored.note(exercise_of(name), f"The cell `{name}` was there more than once.")
            # A copy is kept only if its text would be lost without it.
            copies = template.shown[name], cells[chosen[name]].source
            if squeezed(cell["source"]) not in map(squeezed, copies):
                _keep_copy(restored, cell, originals[name], template, undefined)
    for name, how in matches.items():
        restored.note(
            exercise_of(name), f"The cell `{name}` had lost its name; {_RECOGNISED[how]}."
        )
    _add_missing(restored, originals, set(chosen))
    unique_ids(restored.notebook.cells)
    return restored


_RECOGNISED = {
    "text": "it was known by its text",
    "definition": "it was known by what it defines",
    "position": "it was known by its place",
}


def exercise_of(grade_id: str) -> str:
    """Return the exercise to which the solution cell or test cell with this grade_id belongs."""
    return grade_id.removeprefix("test_")


def _undefined_names(
    cells: list[NotebookNode], grade_ids: list[str | None], template: Template
) -> frozenset[str]:
    """Return the names that the solutions define and no unlocked cell of the submission does."""
    defined = [
        defined_names(cell["source"])
        for cell, grade_id in zip(cells, grade_ids, strict=True)
        if grade_id is None or not is_locked(template.originals[grade_id])
    ]
    return frozenset().union(*template.defines.values()).difference(*defined)


def _choose_copies(
    cells: list[NotebookNode], grade_ids: list[str | None], template: Template
) -> dict[str, int]:
    """Return by grade_id: the index of the copy of the cell that counts. This is the last copy that
    the student has changed, or the last copy if none was changed."""
    chosen: dict[str, int] = {}
    with_changes: set[str] = set()
    for index, (cell, grade_id) in enumerate(zip(cells, grade_ids, strict=True)):
        if grade_id is None:
            continue
        is_changed = squeezed(cell["source"]) != squeezed(template.shown[grade_id])
        if is_changed or grade_id not in with_changes:
            chosen[grade_id] = index
        if is_changed:
            with_changes.add(grade_id)
    return chosen


def _restore_cell(
    restored: RestoredNotebook,
    cell: NotebookNode,
    name: str,
    template: Template,
    undefined: frozenset[str],
) -> None:
    """Append the course's cell in place of the submitted one. If it is not locked, it gets the
    student's text.

    Args:
        restored: the notebook to which the cell is appended.
        cell: the submitted cell.
        name: the cell's grade_id.
        undefined: the names that a solution defines and no unlocked cell of the submission does.
    """
    exercise, original = exercise_of(name), template.originals[name]
    locked = is_locked(original)
    # A cell is unedited if it has the released text, or the text with the hidden parts.
    texts = {squeezed(template.shown[name]), squeezed(original.source)}
    if cell["cell_type"] != original.cell_type:
        restored.note(exercise, f"The type of the cell `{name}` was changed; it was put back.")
    if locked and squeezed(cell["source"]) not in texts:
        runs = _keep_copy(restored, cell, original, template, undefined)
        restored.note(
            exercise,
            f"The locked cell `{name}` was edited; it was put back, and your text kept beside it"
            f"{'' if runs else ', where it does not run'}.",
        )
    restored_cell = _copy(original, None if locked else cell["source"])
    if not locked and original.cell_type != "code" and cell.get("attachments"):
        restored_cell.attachments = cell.attachments
    restored.notebook.cells.append(restored_cell)


def _keep_copy(
    restored: RestoredNotebook,
    cell: NotebookNode,
    original: NotebookNode,
    template: Template,
    undefined: frozenset[str],
) -> bool:
    """Append a changed copy of a cell of the course, and return whether the copy runs.

    A copy of a locked cell runs only if the original does not run, or if the copy defines one of
    the names in `undefined`.
    """
    is_run_anyway = is_locked(original) and (template.runs_tests or not is_grade(original))
    runs = not is_run_anyway or bool(undefined & defined_names(cell["source"]))
    if not runs:
        cell.metadata["tags"] = [DEMONSTRATION]
    restored.notebook.cells.append(cell)
    return runs


def blank_notebook(template: Template, reason: str) -> RestoredNotebook:
    """Return a notebook with the assignment's cells and no answers, for a file that cannot be
    graded.

    Args:
        reason: why the file cannot be graded, as a note for the student.
    """
    cells = [_copy(cell, None if is_locked(cell) else MISSING_CELL) for cell in template.cells]
    return RestoredNotebook(nbformat.v4.new_notebook(cells=cells), {"": [reason]}, is_blank=True)


def _copy(original: NotebookNode, source: str | None) -> NotebookNode:
    """Return a copy of the original cell, with the text `source` if it is not None.

    All submissions share the original cells. Only the cell and its metadata are copied, since
    nothing inside these is changed.
    """
    cell = NotebookNode(original)
    cell.metadata = NotebookNode(original.metadata)
    if source is not None:
        cell.source = source
    return cell


def _add_missing(
    restored: RestoredNotebook, originals: dict[str, NotebookNode], present: set[str]
) -> None:
    """Insert each missing cell of the assignment after the cell that it follows there.

    Args:
        originals: the assignment's cells by grade_id, in order.
        present: the grade_ids of the cells that are in the notebook already.
    """
    cells = restored.notebook.cells
    before: str | None = None
    for name, original in originals.items():
        if name not in present:
            indexes = {nbgrader_metadata(cell).get("grade_id"): i for i, cell in enumerate(cells)}
            index = 0 if before is None else indexes[before] + 1
            source = None if is_locked(original) else MISSING_CELL
            cells.insert(index, _copy(original, source))
            exercise = exercise_of(name)
            restored.note(exercise, f"The notebook that was handed in has no cell `{name}`.")
        before = name


def unique_ids(cells: list[NotebookNode]) -> None:
    """Give a new id to each cell that has the id of an earlier cell. The new id is the same at
    every grading."""
    ids: set[str] = set()
    for index, cell in enumerate(cells):
        while cell["id"] in ids:
            cell.id = blake2b(f"{index} {cell.id}".encode(), digest_size=8).hexdigest()
        ids.add(cell["id"])


def cells_to_run(notebook: NotebookNode, with_tests: bool = False) -> list[tuple[int, Cell]]:
    """Return the code cells to run, each with its index in the notebook.

    Cells with the tag `DEMONSTRATION` are left out. A test cell is returned with an empty source,
    to mark the place at which its exercise is tested.

    Args:
        with_tests: whether test cells keep their source, because they give the points.
    """
    cells, ids = [], exercises_of(notebook.cells)
    for index, cell in enumerate(notebook.cells):
        marks = nbgrader_metadata(cell)
        if cell["cell_type"] != "code":
            continue
        if is_grade(cell) and not is_solution(cell):
            source, tests = cell["source"] if with_tests else "", ids[marks["grade_id"]]
            cells.append((index, Cell(source, is_locked=True, tests=tests)))
        elif is_solution(cell):
            if cell["source"] != MISSING_CELL:
                cells.append((index, Cell(cell["source"], marks["grade_id"])))
        elif DEMONSTRATION not in cell["metadata"].get("tags", []):
            cells.append((index, Cell(cell["source"], is_locked=bool(is_locked(cell)))))
    return cells
