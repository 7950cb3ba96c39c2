"""Reads submitted notebooks, whatever state they are in, and puts the course's cells back."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from .assignments import Assignment, CourseError
from .grading import Cell, Graded
from .outputs import clean_outputs
from .report import Report, card

MAX_BYTES = 50_000_000
DEMONSTRATION = "demonstration"
MARKING_GUIDE = "marking-guide"
_CELL_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
MISSING_CELL = "# This cell was missing from the submission."


class UnreadableNotebook(Exception):
    """Nothing in the file can be graded. The message names the file and the remedy."""


@dataclass
class Restored:
    """A submission with the course's own cells in place.

    Attributes:
        notebook: a valid notebook in which each exercise has its test cell once.
        notes: what was found and mended, in words for the student, by exercise; "" for the
            notebook as a whole.
    """

    notebook: NotebookNode
    notes: dict[str, list[str]] = field(default_factory=dict)

    def note(self, exercise: str, text: str) -> None:
        self.notes.setdefault(exercise, []).append(text)


def read_submission(path: Path) -> NotebookNode:
    """Read a notebook of any format version into a valid version 4 one.

    Raises `UnreadableNotebook` where there is no notebook in the file.
    """
    resend = "Ask for the file again, or have it saved once more from JupyterLab."
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableNotebook(
                f"{path}: the file is over {MAX_BYTES // 1_000_000} MB. "
                "Have its outputs cleared and the file saved again."
            )
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UnreadableNotebook(f"{path}: cannot be read ({error.strerror}). {resend}") from error
    if not text.strip():
        raise UnreadableNotebook(f"{path}: the file is empty. {resend}")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook(
            f"{path}: not a notebook, or cut off in the middle ({error}). {resend}"
        ) from error
    if type(raw) is dict and type(raw.get("worksheets")) is list:
        raw = _from_version_3(raw)
    if type(raw) is not dict or type(raw.get("cells")) is not list:
        raise UnreadableNotebook(f"{path}: the file holds no notebook cells. {resend}")
    return _rebuilt(raw)


def _from_version_3(raw: dict[str, Any]) -> dict[str, Any]:
    sheets = [sheet for sheet in raw["worksheets"] if type(sheet) is dict]
    cells = [cell for sheet in sheets for cell in sheet.get("cells", []) if type(cell) is dict]
    for cell in cells:
        cell.setdefault("source", cell.get("input", ""))
    return {"cells": cells, "metadata": raw.get("metadata")}


def _rebuilt(raw: dict[str, Any]) -> NotebookNode:
    notebook: NotebookNode = nbformat.v4.new_notebook()
    kernelspec = (raw.get("metadata") or {}).get("kernelspec")
    if type(kernelspec) is dict and type(kernelspec.get("name")) is str:
        spec = {"name": kernelspec["name"], "display_name": str(kernelspec.get("display_name"))}
        notebook.metadata["kernelspec"] = nbformat.from_dict(spec)
    seen: set[str] = set()
    for cell in raw["cells"]:
        if type(cell) is not dict:
            continue
        source = cell.get("source", "")
        if type(source) is list:
            source = "".join(part for part in source if type(part) is str)
        if type(source) is not str:
            continue
        kind = cell.get("cell_type")
        new = new_cell(kind if kind in ("code", "raw") else "markdown", source)
        metadata = cell.get("metadata")
        if type(metadata) is dict:
            for key in ("nbgrader", "tags"):
                if type(metadata.get(key)) in (dict, list):
                    new.metadata[key] = nbformat.from_dict(metadata[key])
        name = cell.get("id")
        if type(name) is str and _CELL_ID.fullmatch(name) and name not in seen:
            new.id = name
        seen.add(new.id)
        if new.cell_type == "code":
            new.outputs = nbformat.from_dict(clean_outputs(cell.get("outputs")))
        notebook.cells.append(new)
    return notebook


def new_cell(kind: str, source: str) -> NotebookNode:
    """A cell of the format 4.5, made without nbformat's validation of every single cell."""
    cell = NotebookNode(
        cell_type=kind,
        id=secrets.token_hex(4),
        metadata=NotebookNode(),
        source=source.replace("\r\n", "\n").encode("utf-8", "replace").decode(),
    )
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    return cell


@lru_cache
def _template(source: Path, release: Path, stamps: tuple[int, int]) -> tuple[NotebookNode, ...]:
    hidden = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.read(source, as_version=4).cells
        if _marks(cell).get("locked")
    }
    cells = []
    for cell in nbformat.read(release, as_version=4).cells:
        marks = _marks(cell)
        if marks.get("grade_id"):
            cell.source = hidden.get(marks["grade_id"], cell.source)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            cells.append(cell)
    return tuple(cells)


def template(course: Path, name: str) -> tuple[NotebookNode, ...]:
    """The cells of an assignment that nbgrader knows, hidden tests in place, in order."""
    source = course / "source" / name / f"{name}.ipynb"
    release = course / "release" / name / f"{name}.ipynb"
    if not source.exists() or not release.exists():
        raise CourseError(f"there is no released assignment {name!r} in {course}")
    stamps = (source.stat().st_mtime_ns, release.stat().st_mtime_ns)
    return _template(source, release, stamps)


def restore(notebook: NotebookNode, known: tuple[NotebookNode, ...], where: str) -> Restored:
    """Put the course's cells back: each once, with its own metadata, locked ones unedited.

    Nothing that a student wrote is dropped: an edited locked cell stays, beside the restored one,
    as an ordinary cell.

    Args:
        known: the assignment's `template`.
        where: the file, for messages.

    Raises `UnreadableNotebook` where no cell of the assignment is found.
    """
    originals = {_marks(cell)["grade_id"]: cell for cell in known}
    by_cell_id = {cell.id: grade_id for grade_id, cell in zip(originals, known, strict=True)}
    names = [_name(cell, originals, by_cell_id) for cell in notebook.cells]
    if not any(names):
        raise UnreadableNotebook(
            f"{where}: this looks like another notebook: none of the assignment's cells is in it. "
            "Ask for the right file."
        )
    restored = Restored(nbformat.v4.new_notebook(metadata=notebook.metadata))
    cells = restored.notebook.cells
    last = {name: index for index, name in enumerate(names) if name}
    for index, (cell, name) in enumerate(zip(notebook.cells, names, strict=True)):
        cell.metadata.pop("nbgrader", None)
        if name is None:
            cells.append(cell)
            continue
        original = originals[name]
        exercise = name.removeprefix("test_")
        locked = bool(_marks(original).get("locked"))
        same_text = cell.source.split() == _released_text(original).split()
        if index != last[name]:
            restored.note(exercise, f"The cell `{name}` was there more than once.")
            if not (locked and same_text):
                cells.append(cell)
            continue
        if cell.cell_type != original.cell_type:
            restored.note(exercise, f"The type of the cell `{name}` was changed; it was put back.")
        if locked and not same_text and cell.source.split() != original.source.split():
            restored.note(
                exercise,
                f"The locked cell `{name}` was edited; it was put back, and your text kept "
                "beside it.",
            )
            cells.append(cell)
        cells.append(_placed(original, None if locked else cell.source))
    _add_missing(restored, originals, set(last))
    _unique_ids(cells)
    return restored


def blank(known: tuple[NotebookNode, ...], reason: str) -> Restored:
    """The assignment's cells without answers, for a file in which there is nothing to grade."""
    empty = nbformat.v4.new_notebook(cells=[new_cell("markdown", reason)])
    empty.cells[0].metadata["nbgrader"] = {"grade_id": known[0].metadata.nbgrader.grade_id}
    restored = restore(empty, known, "")
    restored.notes = {"": [reason]}
    return restored


def _marks(cell: NotebookNode) -> dict[str, Any]:
    marks = cell.metadata.get("nbgrader")
    return marks if isinstance(marks, dict) else {}


def _name(
    cell: NotebookNode, originals: dict[str, NotebookNode], by_cell_id: dict[str, str]
) -> str | None:
    """Which of the assignment's cells this is, by its nbgrader metadata or else its cell id."""
    grade_id = _marks(cell).get("grade_id")
    if isinstance(grade_id, str) and grade_id in originals:
        return grade_id
    return by_cell_id.get(cell.id)


def _released_text(original: NotebookNode) -> str:
    """A locked cell as students have it, without its hidden tests."""
    return visible_part(original.source)


def visible_part(source: str) -> str:
    """A test cell's source without the region of hidden tests."""
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
    """The original cell, with the student's source where there is one."""
    cell: NotebookNode = nbformat.from_dict(json.loads(json.dumps(original)))
    if source is not None:
        cell.source = source
    return cell


def _add_missing(restored: Restored, originals: dict[str, NotebookNode], present: set[str]) -> None:
    """Put each missing cell after the one that it follows in the assignment."""
    cells = restored.notebook.cells
    before: str | None = None
    for name, original in originals.items():
        if name not in present:
            places = {_marks(cell).get("grade_id"): i for i, cell in enumerate(cells)}
            place = places[before] + 1 if before in places else 0
            locked = bool(_marks(original).get("locked"))
            cells.insert(place, _placed(original, None if locked else MISSING_CELL))
            exercise = name.removeprefix("test_")
            restored.note(exercise, f"The cell `{name}` was missing from the notebook.")
        before = name


def _unique_ids(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            cell.id = secrets.token_hex(4)
        seen.add(cell.id)


def cells_to_run(notebook: NotebookNode) -> list[tuple[int, Cell]]:
    """The code cells that are run for a mark, with their places in the notebook.

    Test cells are not run by the student's process, and neither are demonstrations.
    """
    cells = []
    for index, cell in enumerate(notebook.cells):
        marks = _marks(cell)
        if cell.cell_type != "code" or (marks.get("grade") and not marks.get("solution")):
            continue
        if marks.get("solution"):
            if cell.source != MISSING_CELL:
                cells.append((index, Cell(cell.source, marks["grade_id"])))
        elif DEMONSTRATION not in cell.metadata.get("tags", []):
            cells.append((index, Cell(cell.source)))
    return cells


def write_results(
    restored: Restored, places: list[int], graded: Graded, assignment: Assignment
) -> Report:
    """Put outputs into the cells that ran and each verdict into its test cell.

    The verdict's plain text is the points, which is what nbgrader reads partial credit from.
    """
    notebook, report = restored.notebook, graded.report
    for place, ran in zip(places, graded.ran, strict=True):
        notebook.cells[place].outputs = nbformat.from_dict(ran.outputs)
        notebook.cells[place].execution_count = ran.execution_count
    results = {f"test_{result.id}": result for result in report.exercises}
    for cell in notebook.cells:
        result = results.get(_marks(cell).get("grade_id", ""))
        if result is None or result.points is None:
            continue
        notes = restored.notes.get(result.id, [])
        result.note = " ".join([*notes, result.note]).strip()
        data = {"text/plain": f"{result.points}", "text/html": card(result)}
        output = nbformat.v4.new_output("execute_result", data, execution_count=None)
        cell.outputs, cell.execution_count = [output], None
    _add_marking_guides(notebook, assignment)
    for exercise, notes in restored.notes.items():
        if exercise not in assignment.exercises:
            report.notes += notes
    return report


def _add_marking_guides(notebook: NotebookNode, assignment: Assignment) -> None:
    """Put the model answer and the rubric below each answer that a person marks."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        exercise = assignment.exercises.get(_marks(cell).get("grade_id", ""))
        if exercise is not None and exercise.marking_guide:
            guide = new_cell("markdown", f"### For marking\n\n{exercise.marking_guide}")
            guide.id = f"{exercise.id}-{MARKING_GUIDE}"
            guide.metadata["tags"] = [MARKING_GUIDE]
            cells.append(guide)
    notebook.cells = cells
    _unique_ids(cells)


def without_marking_guides(notebook: NotebookNode) -> None:
    """Take out again what only the person who marks may read."""
    notebook.cells = [
        cell for cell in notebook.cells if MARKING_GUIDE not in cell.metadata.get("tags", [])
    ]
