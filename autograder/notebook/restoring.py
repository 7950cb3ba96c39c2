"""Puts the course's own cells back into submitted notebooks."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_locked, is_solution

from ..course_folder.assignments import place_of
from ..course_folder.own_notebooks import exercises_of, read_cells, source_cells, source_files
from ..course_folder.settings import load_settings
from ..errors import CourseError, UnreadableNotebook
from ..model import IN_NOTEBOOK, Cell
from .aligning import Template, align, defined_names, in_order, marks_of, squeezed
from .reading import DEMONSTRATION, NOTES

MISSING_CELL = "# The notebook that was handed in has no such cell."


@dataclass
class Restored:
    """A submission with the course's own cells in place.

    Attributes:
        notebook: a valid notebook in which each exercise has its test cell once.
        notes: repairs, in words for the student, by exercise; "" for the notebook as a whole.
    """

    notebook: NotebookNode
    notes: dict[str, list[str]] = field(default_factory=dict)

    def note(self, exercise: str, text: str) -> None:
        self.notes.setdefault(exercise, []).append(text)


@lru_cache
def _template(
    course: Path, source: Path, release: Path, stamps: tuple[int, ...], runs_tests: bool
) -> Template:
    hidden: dict[str, str] = {}
    defines: dict[str, frozenset[str]] = {}
    for cell in source_cells(course, source):
        if is_locked(cell):
            hidden[marks_of(cell)["grade_id"]] = cell["source"]
        elif is_solution(cell) and cell["cell_type"] == "code":
            defines[marks_of(cell)["grade_id"]] = defined_names(cell["source"])
    cells, released, shown = [], [], {}
    for cell in read_cells(release, stamps[0]):
        grade_id = marks_of(cell).get("grade_id")
        tags = tuple(cell["metadata"].get("tags", ()))
        released.append((squeezed(cell["source"]), grade_id, tags))
        if grade_id:
            shown[grade_id] = cell["source"]
            cell = deepcopy(cell)
            cell.source = hidden.get(grade_id, cell["source"])
            if cell["cell_type"] == "code":
                cell.outputs, cell.execution_count = [], None
            cells.append(cell)
    # An exercise may be newer than the release.
    in_release = {grade_id for _, grade_id, _ in released}
    defines = {name: held for name, held in defines.items() if name in in_release}
    return Template(tuple(cells), tuple(released), defines, shown, runs_tests)


def template(course: Path, name: str) -> Template:
    """Return the cells of an assignment's source and release, by which submissions are restored."""
    place = place_of(course, name)
    source, release = place.inside(course / "source"), place.inside(course / "release")
    if not source.exists() or not release.exists():
        raise CourseError(f"there is no released assignment {name!r} in {course}")
    files = [release, *source_files(course, source)]
    stamps = tuple(path.stat().st_mtime_ns for path in files)
    runs_tests = load_settings(course).of(name).tests == IN_NOTEBOOK
    return _template(course, source, release, stamps, runs_tests)


def restore(notebook: NotebookNode, known: Template, where: str) -> Restored:
    """Put the course's cells back: each once, in order, locked ones unedited.

    All of a student's text stays: an edited locked cell is kept beside the restored one. Of the
    two, one runs: the edited one only if the course's own does not, or if it holds an answer.

    Args:
        known: the assignment's `template`.
        where: the file, for messages.

    Raises `UnreadableNotebook` if no cell of the assignment is found.
    """
    originals = known.originals
    cells, names, found = align(notebook.cells, known)
    if originals and not any(names):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: none of the assignment's cells is in it. "
            "Ask for the right file."
        )
    notes = notebook.metadata.pop(NOTES, {})
    restored = Restored(nbformat.v4.new_notebook(metadata=notebook.metadata), notes)
    order = in_order(names, known)
    if order != sorted(order):
        restored.note("", "The cells were in another order; they were put back in theirs.")
    cells, names = [cells[i] for i in order], [names[i] for i in order]
    chosen = _chosen(cells, names, known)
    lacking = _lacking(cells, names, known)
    for index, (cell, name) in enumerate(zip(cells, names, strict=True)):
        cell["metadata"].pop("nbgrader", None)
        if name is None:
            restored.notebook.cells.append(cell)
        elif index == chosen[name]:
            _put_back(restored, cell, name, known, lacking)
        else:
            restored.note(exercise_of(name), f"The cell `{name}` was there more than once.")
            copies = known.shown[name], cells[chosen[name]].source
            if squeezed(cell["source"]) not in map(squeezed, copies):
                _keep(restored, cell, originals[name], known, lacking)
    for name, how in found.items():
        restored.note(exercise_of(name), f"The cell `{name}` had lost its name; {_FOUND[how]}.")
    _add_missing(restored, originals, set(chosen))
    unique_ids(restored.notebook.cells)
    return restored


_FOUND = {
    "text": "it was known by its text",
    "definition": "it was known by what it defines",
    "place": "it was known by its place",
}


def exercise_of(grade_id: str) -> str:
    """Return the exercise that a solution or test cell belongs to."""
    return grade_id.removeprefix("test_")


def _lacking(cells: list[NotebookNode], names: list[str | None], known: Template) -> frozenset[str]:
    """Return the names that answers should define, and that are defined in locked cells at most."""
    defined = [
        defined_names(cell["source"])
        for cell, name in zip(cells, names, strict=True)
        if name is None or not is_locked(known.originals[name])
    ]
    return frozenset().union(*known.defines.values()).difference(*defined)


def _chosen(cells: list[NotebookNode], names: list[str | None], known: Template) -> dict[str, int]:
    """Return the index of the copy to keep of each of the assignment's cells: the last one, but
    never an unchanged copy if the student has changed another."""
    chosen: dict[str, int] = {}
    worked: set[str] = set()
    for index, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if name is None:
            continue
        touched = squeezed(cell["source"]) != squeezed(known.shown[name])
        if touched or name not in worked:
            chosen[name] = index
        if touched:
            worked.add(name)
    return chosen


def _put_back(
    restored: Restored, cell: NotebookNode, name: str, known: Template, lacking: frozenset[str]
) -> None:
    """Append the course's cell in place of the submitted one, with the student's answer in it."""
    exercise, original = exercise_of(name), known.originals[name]
    locked = is_locked(original)
    texts = {squeezed(known.shown[name]), squeezed(original.source)}
    if cell["cell_type"] != original.cell_type:
        restored.note(exercise, f"The type of the cell `{name}` was changed; it was put back.")
    if locked and squeezed(cell["source"]) not in texts:
        runs = _keep(restored, cell, original, known, lacking)
        restored.note(
            exercise,
            f"The locked cell `{name}` was edited; it was put back, and your text kept beside it"
            f"{'' if runs else ', where it does not run'}.",
        )
    placed = _placed(original, None if locked else cell["source"])
    if not locked and original.cell_type != "code" and cell.get("attachments"):
        placed.attachments = cell.attachments
    restored.notebook.cells.append(placed)


def _keep(
    restored: Restored,
    cell: NotebookNode,
    original: NotebookNode,
    known: Template,
    lacking: frozenset[str],
) -> bool:
    """Append a changed copy of a cell beside the course's own; return whether it runs.

    That of a locked cell runs only if its original does not, or if it defines what answers lack.
    """
    is_run_anyway = is_locked(original) and (known.runs_tests or not is_grade(original))
    runs = not is_run_anyway or bool(lacking & defined_names(cell["source"]))
    if not runs:
        cell.metadata["tags"] = [DEMONSTRATION]
    restored.notebook.cells.append(cell)
    return runs


def blank(known: Template, reason: str) -> Restored:
    """Return the assignment's cells without answers, for a file that cannot be graded."""
    cells = [_placed(cell, None if is_locked(cell) else MISSING_CELL) for cell in known.cells]
    return Restored(nbformat.v4.new_notebook(cells=cells), {"": [reason]})


def _placed(original: NotebookNode, source: str | None) -> NotebookNode:
    """Return a copy of the original cell, with the student's source if there is one."""
    cell = NotebookNode(original)
    cell.metadata = NotebookNode(original.metadata)
    if source is not None:
        cell.source = source
    return cell


def _add_missing(restored: Restored, originals: dict[str, NotebookNode], present: set[str]) -> None:
    """Insert each missing cell after the one that it follows in the assignment."""
    cells = restored.notebook.cells
    before: str | None = None
    for name, original in originals.items():
        if name not in present:
            places = {marks_of(cell).get("grade_id"): i for i, cell in enumerate(cells)}
            place = 0 if before is None else places[before] + 1
            source = None if is_locked(original) else MISSING_CELL
            cells.insert(place, _placed(original, source))
            exercise = exercise_of(name)
            restored.note(exercise, f"The notebook that was handed in has no cell `{name}`.")
        before = name


def unique_ids(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
    for index, cell in enumerate(cells):
        while cell["id"] in seen:
            cell.id = blake2b(f"{index} {cell.id}".encode(), digest_size=8).hexdigest()
        seen.add(cell["id"])


def cells_to_run(notebook: NotebookNode, with_tests: bool = False) -> list[tuple[int, Cell]]:
    """Return the code cells that are run for a mark, with their places in the notebook.

    Demonstrations are left out, and so are test cells: their places stay free.

    Args:
        with_tests: whether test cells are run too, because they give the points.
    """
    cells, ids = [], exercises_of(notebook.cells)
    for index, cell in enumerate(notebook.cells):
        marks = marks_of(cell)
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
