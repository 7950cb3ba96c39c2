"""Puts the course's own cells back into submitted notebooks."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from ..caching import cached_by_text
from ..course_folder.assignments import exercises_of, place_of, read_cells
from ..errors import CourseError, UnreadableNotebook
from ..model import Cell
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
def _template(source: Path, release: Path, stamps: tuple[int, int]) -> Template:
    hidden: dict[str, str] = {}
    defines: dict[str, frozenset[str]] = {}
    for cell in read_cells(source, stamps[0]):
        marks = marks_of(cell)
        if marks.get("locked"):
            hidden[marks["grade_id"]] = cell["source"]
        elif marks.get("solution") and cell["cell_type"] == "code":
            defines[marks["grade_id"]] = defined_names(cell["source"])
    cells, released = [], []
    for cell in read_cells(release, stamps[1]):
        grade_id = marks_of(cell).get("grade_id")
        tags = tuple(cell["metadata"].get("tags", ()))
        released.append((squeezed(cell["source"]), grade_id, tags))
        if grade_id:
            cell = deepcopy(cell)
            cell.source = hidden.get(grade_id, cell["source"])
            if cell["cell_type"] == "code":
                cell.outputs, cell.execution_count = [], None
            cells.append(cell)
    # An exercise may be newer than the release.
    in_release = {grade_id for _, grade_id, _ in released}
    defines = {name: held for name, held in defines.items() if name in in_release}
    return Template(tuple(cells), tuple(released), defines)


def template(course: Path, name: str) -> Template:
    """Return the cells of an assignment's source and release, by which submissions are restored."""
    place = place_of(course, name)
    source, release = place.inside(course / "source"), place.inside(course / "release")
    if not source.exists() or not release.exists():
        raise CourseError(f"there is no released assignment {name!r} in {course}")
    stamps = (source.stat().st_mtime_ns, release.stat().st_mtime_ns)
    return _template(source, release, stamps)


def restore(notebook: NotebookNode, known: Template, where: str) -> Restored:
    """Put the course's cells back: each once, in order, locked ones unedited.

    All of a student's text stays: an edited locked cell is kept as an ordinary cell beside the
    restored one.

    Args:
        known: the assignment's `template`.
        where: the file, for messages.

    Raises `UnreadableNotebook` if no cell of the assignment is found.
    """
    originals = known.originals
    cells, names, found = align(notebook.cells, known)
    if not any(names):
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
    chosen = _chosen(cells, names, originals)
    for index, (cell, name) in enumerate(zip(cells, names, strict=True)):
        cell["metadata"].pop("nbgrader", None)
        if name is None:
            restored.notebook.cells.append(cell)
        elif index == chosen[name]:
            _put_back(restored, cell, name, known)
        else:
            restored.note(exercise_of(name), f"The cell `{name}` was there more than once.")
            copies = _released_text(originals[name]), cells[chosen[name]].source
            if squeezed(cell["source"]) not in map(squeezed, copies):
                restored.notebook.cells.append(cell)
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


def _chosen(
    cells: list[NotebookNode], names: list[str | None], originals: dict[str, NotebookNode]
) -> dict[str, int]:
    """Return the index of the copy to keep of each of the assignment's cells: the last one, but
    never an unchanged copy if the student has changed another."""
    chosen: dict[str, int] = {}
    worked: set[str] = set()
    for index, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if name is None:
            continue
        touched = squeezed(cell["source"]) != squeezed(_released_text(originals[name]))
        if touched or name not in worked:
            chosen[name] = index
        if touched:
            worked.add(name)
    return chosen


def _put_back(restored: Restored, cell: NotebookNode, name: str, known: Template) -> None:
    """Append the course's cell in place of the submitted one, with the student's answer in it."""
    exercise, original = exercise_of(name), known.originals[name]
    locked = bool(marks_of(original).get("locked"))
    texts = {squeezed(_released_text(original)), squeezed(original.source)}
    if cell["cell_type"] != original.cell_type:
        restored.note(exercise, f"The type of the cell `{name}` was changed; it was put back.")
    if locked and squeezed(cell["source"]) not in texts:
        restored.note(
            exercise,
            f"The locked cell `{name}` was edited; it was put back, and your text kept beside it.",
        )
        # A lesson's cell that was merged into it is still one.
        more = squeezed(cell["source"]).removeprefix(squeezed(_released_text(original)))
        cell.metadata["tags"] = list(known.tags.get(more, ()))
        restored.notebook.cells.append(cell)
    placed = _placed(original, None if locked else cell["source"])
    if not locked and cell.get("attachments"):
        placed.attachments = cell.attachments
    restored.notebook.cells.append(placed)


def blank(known: Template, reason: str) -> Restored:
    """Return the assignment's cells without answers, for a file that cannot be graded."""
    cells = [
        _placed(cell, None if marks_of(cell).get("locked") else MISSING_CELL)
        for cell in known.cells
    ]
    return Restored(nbformat.v4.new_notebook(cells=cells), {"": [reason]})


def _released_text(original: NotebookNode) -> str:
    """Return the text of a locked cell in the release, without its hidden tests."""
    return visible_part(original.source)


@cached_by_text(2_000_000)
def visible_part(source: str) -> str:
    """Return a test cell's source without the region of hidden tests."""
    kept, hidden = [], False
    for line in source.split("\n"):
        if "BEGIN HIDDEN TESTS" in line:
            hidden = True
        if not hidden:
            kept.append(line)
        if "END HIDDEN TESTS" in line:
            hidden = False
    return "\n".join(kept)


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
            locked = bool(marks_of(original).get("locked"))
            cells.insert(place, _placed(original, None if locked else MISSING_CELL))
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
        if marks.get("grade") and not marks.get("solution"):
            source, tests = cell["source"] if with_tests else "", ids[marks["grade_id"]]
            cells.append((index, Cell(source, is_locked=True, tests=tests)))
        elif marks.get("solution"):
            if cell["source"] != MISSING_CELL:
                cells.append((index, Cell(cell["source"], marks["grade_id"])))
        elif DEMONSTRATION not in cell["metadata"].get("tags", []):
            cells.append((index, Cell(cell["source"], is_locked=bool(marks.get("locked")))))
    return cells
