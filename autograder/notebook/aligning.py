"""Finds which of an assignment's cells each cell of a submission is, also after an editor's
changes.

A cell is recognised by its nbgrader metadata, else by its cell id, else by its text: the text of a
locked cell, the names that an answer defines, and at last its place between recognised cells. Marks
do not depend on this: the hidden tests find an answer's names in any cell.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_locked, is_solution

from ..caching import cached_by_text

_DEFINES = re.compile(
    r"^(?:@[^\n]*\n){0,20}(?:async )?(?:def|class)[ \t]+(\w+)"
    r"|^([A-Za-z_][\w.]*)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.MULTILINE,
)
_CONTINUES = re.compile(r"\n*(?:[ \t]+\S|[)\]}]|(?:else|elif|except|finally)\b)")
_Named = tuple[NotebookNode, str | None]
_MAX_SOURCE = 200_000
_MAX_ANSWER = 5000
"""Greatest number of characters of a text that is parsed as Python."""
_MAX_TRIES = 200
"""Greatest number of attempts to join two cells."""


@dataclass(frozen=True)
class Template:
    """An assignment's notebook, as far as it is needed to put a submission in order.

    Attributes:
        cells: the cells that nbgrader's metadata names, hidden tests in place, in order.
        released: the whole release notebook: each cell's text without white space, its grade_id or
            None, and its tags.
        defines: the names that each solution defines, by grade_id.
        shown: the released text of each of these cells, without hidden tests, by grade_id.
        runs_tests: whether test cells are run, because they give the points.
    """

    cells: tuple[NotebookNode, ...]
    released: tuple[tuple[str, str | None, tuple[str, ...]], ...]
    defines: dict[str, frozenset[str]]
    shown: dict[str, str]
    runs_tests: bool

    @cached_property
    def originals(self) -> dict[str, NotebookNode]:
        return {marks_of(cell)["grade_id"]: cell for cell in self.cells}

    @cached_property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Tags of the lesson's cells, by their text without white space."""
        return {text: tags for text, _, tags in reversed(self.released)}


def marks_of(cell: NotebookNode) -> dict[str, Any]:
    """Return the cell's nbgrader metadata."""
    marks = cell["metadata"].get("nbgrader")
    return marks if isinstance(marks, dict) else {}


@cached_by_text(2_000_000)
def squeezed(source: str) -> str:
    """Return the text without white space, which editors change; a very long text unchanged."""
    return "".join(source.split()) if len(source) <= _MAX_SOURCE else source


def defined_names(source: str) -> frozenset[str]:
    """Return the names that a cell defines or assigns to at its top level, read as text."""
    found = _DEFINES.findall(source[:_MAX_SOURCE])
    return frozenset(name for pair in found for name in pair if name)


def known_names(cells: list[NotebookNode], template: Template) -> list[str | None]:
    """Return each cell's grade_id, by its metadata or else its cell id."""
    originals = template.originals
    by_id = {cell["id"]: grade_id for grade_id, cell in originals.items()}
    names: list[str | None] = []
    for cell in cells:
        grade_id = marks_of(cell).get("grade_id")
        known = isinstance(grade_id, str) and grade_id in originals
        names.append(grade_id if known else by_id.get(cell["id"]))
    return names


def align(
    cells: list[NotebookNode], template: Template
) -> tuple[list[NotebookNode], list[str | None], dict[str, str]]:
    """Find the assignment's cells among a submission's.

    Returns:
        The cells, some split or joined as they were released; the grade_id of each, or None; and
        by grade_id how a cell without metadata was recognised.
    """
    names = known_names(cells, template)
    cells, names = _joined(list(cells), names)
    cells, names = _parted(cells, names, template)
    found: dict[str, str] = {}
    _by_text(cells, names, template, found)
    cells, names = _by_definition(cells, names, template, found)
    _by_place(cells, names, template, found)
    return cells, names, found


def _joined(
    cells: list[NotebookNode], names: list[str | None]
) -> tuple[list[NotebookNode], list[str | None]]:
    """Join a code cell to the one before, if it can only be the rest of it."""
    kept: list[NotebookNode] = []
    kept_names: list[str | None] = []
    tries = iter(range(_MAX_TRIES))
    for cell, name in zip(cells, names, strict=True):
        before = kept[-1] if kept else None
        if (
            before is not None
            and cell["cell_type"] == before["cell_type"] == "code"
            and name in (None, kept_names[-1])
            and len(before["source"]) + len(cell["source"]) < _MAX_ANSWER
            and before["source"].strip()
            and _CONTINUES.match(cell["source"])
            and next(tries, None) is not None
            and _is_python(f"{before.source}\n{cell.source}")
        ):
            before.source = f"{before.source}\n{cell.source}"
        else:
            kept.append(cell)
            kept_names.append(name)
    return kept, kept_names


def _parted(
    cells: list[NotebookNode], names: list[str | None], template: Template
) -> tuple[list[NotebookNode], list[str | None]]:
    """Take apart each cell that holds the text of a locked one, and more: an editor has merged
    them, or a student has written above or below it."""
    locked = {
        grade_id: [f"\n{text}\n" for each in texts if (text := each.strip("\n"))]
        for grade_id, cell in template.originals.items()
        if is_locked(cell) and cell.cell_type == "code"
        for texts in [(cell.source, template.shown[grade_id])]
    }
    missing = [grade_id for grade_id in locked if grade_id not in names]
    parts = [
        part
        for cell, name in zip(cells, names, strict=True)
        for part in _parts(cell, name, locked, missing)
    ]
    return [cell for cell, _ in parts], [name for _, name in parts]


def _parts(
    cell: NotebookNode, name: str | None, locked: dict[str, list[str]], missing: list[str]
) -> list[_Named]:
    """Return the parts of a cell, each with its grade_id.

    Args:
        name: the cell's grade_id.
        locked: the texts that each locked cell may have, by grade_id.
        missing: those of them that have not been found, from which a part's is removed.
    """
    for each in [name] if name and name in locked else [*missing]:
        for text in locked[each]:
            above, found, below = f"\n{cell.source}\n".partition(text)
            if not found or cell.cell_type != "code":
                continue
            if not f"{above}{below}".strip():
                return [(cell, name)]
            if each != name:
                missing.remove(each)
            parts: list[_Named] = [(_part(cell, "locked", text), each)]
            own = None if each == name else name
            if above.strip():
                parts.insert(0, (_part(cell, "above", above), own))
                own = None
            if below.strip():
                parts += _parts(_part(cell, "below", below), own, locked, missing)
            return parts
    return [(cell, name)]


def _part(cell: NotebookNode, part: str, source: str) -> NotebookNode:
    """Return a part of a cell as a cell of its own."""
    made = NotebookNode(cell)
    made.source = source.strip("\n")
    made.id = f"{cell.id}-{part}"[-64:]
    made.metadata = NotebookNode()
    return made


def _is_python(source: str) -> bool:
    """Return whether the text is Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _by_text(
    cells: list[NotebookNode],
    names: list[str | None],
    template: Template,
    found: dict[str, str],
) -> None:
    """Recognise cells that hold the released text, word for word; give lesson cells their tags."""
    released: dict[str, list[str]] = {}
    for text, grade_id, _ in template.released:
        if grade_id is not None and grade_id not in names:
            released.setdefault(text, []).append(grade_id)
    for index, cell in enumerate(cells):
        if names[index] is None and (released or cell["cell_type"] == "code"):
            text = squeezed(cell["source"])
            if waiting := released.get(text):
                names[index] = waiting.pop(0)
                found[names[index] or ""] = "text"
            elif cell["cell_type"] == "code" and (tags := template.tags.get(text)):
                cell.metadata["tags"] = list(tags)


def _by_definition(
    cells: list[NotebookNode],
    names: list[str | None],
    template: Template,
    found: dict[str, str],
) -> tuple[list[NotebookNode], list[str | None]]:
    """Recognise answers by the names that they define, in cells of their own or behind other
    text."""
    lessons = {text for text, grade_id, _ in template.released if grade_id is None}
    untouched = {text for text, grade_id, _ in template.released if grade_id}
    answered = {
        name
        for cell, name in zip(cells, names, strict=True)
        if name in template.defines and squeezed(cell["source"]) not in untouched
    }
    if all(grade_id in answered or not wanted for grade_id, wanted in template.defines.items()):
        return cells, names
    texts = [squeezed(cell["source"]) for cell in cells]
    asked = frozenset().union(*template.defines.values())
    defines = [defined_names(cell["source"]) & asked for cell in cells]
    for grade_id, wanted in template.defines.items():
        holders = [i for i, name in enumerate(names) if name == grade_id]
        if not wanted or any(texts[i] not in untouched for i in holders):
            continue
        best, index = 0.0, -1
        for i, (text, defined) in enumerate(zip(texts, defines, strict=True)):
            if i in holders or text in lessons:
                continue
            if names[i] is not None:
                defined -= template.defines.get(names[i] or "", frozenset())
                if names[i] not in template.defines or text in untouched:
                    continue
            share = len(defined & wanted) / len(wanted)
            if share >= best and share > 0:
                best, index = share, i
        if best < 0.5 or (holders and names[index] is None and cells[index].cell_type == "code"):
            continue
        for holder in holders:
            names[holder] = None
        found[grade_id] = "definition"
        start = _start_of(cells[index].source, wanted)
        above = cells[index].source[:start].splitlines()
        if cells[index].cell_type == "code" and all(re.match(r"#|\s*$", line) for line in above):
            names[index] = grade_id
            continue
        rest = _part(cells[index], "rest", cells[index].source[start:])
        cells[index].source = cells[index].source[:start].rstrip("\n")
        cells.insert(index + 1, rest)
        names.insert(index + 1, grade_id)
        parts = cells[index], rest
        texts[index : index + 1] = [squeezed(part["source"]) for part in parts]
        defines[index : index + 1] = [defined_names(part["source"]) & asked for part in parts]
    return cells, names


def _start_of(source: str, wanted: frozenset[str]) -> int:
    """Return the index of the first line that defines one of the names."""
    return next(
        found.start()
        for found in _DEFINES.finditer(source)
        if (found.group(1) or found.group(2)) in wanted
    )


def _by_place(
    cells: list[NotebookNode],
    names: list[str | None],
    template: Template,
    found: dict[str, str],
) -> None:
    """Recognise an answer by its place: the one unknown cell between recognised ones."""
    if template.originals.keys() <= set(names):
        return
    places: dict[str, list[int]] = {}
    for index, (cell, name) in enumerate(zip(cells, names, strict=True)):
        places.setdefault(name or squeezed(cell["source"]), []).append(index)
    released = template.released
    lessons = {text for text, _, _ in released}
    for position, (_, grade_id, _) in enumerate(released):
        original = template.originals.get(grade_id or "")
        if original is None or grade_id in names or not is_solution(original):
            continue
        keys = [each[1] or each[0] for each in released]
        before = next((places[k][-1] for k in reversed(keys[:position]) if k in places), -1)
        after = min((i for k in keys[position + 1 :] for i in places.get(k, [])[:1] if i > before),
                    default=len(cells))  # fmt: skip
        if before < 0 and after == len(cells):
            continue
        unknown = [
            i
            for i in range(before + 1, after)
            if names[i] is None and squeezed(cells[i]["source"]) not in lessons
        ]
        if len(unknown) == 1 or (unknown and cells[unknown[0]].cell_type == original.cell_type):
            names[unknown[0]] = grade_id
            found[grade_id or ""] = "place"
            places[grade_id or ""] = [unknown[0]]


def in_order(names: list[str | None], template: Template) -> list[int]:
    """Return the indexes of the cells in the assignment's order, each with the cells after it."""
    rank = {grade_id: number for number, grade_id in enumerate(template.originals)}
    ranks = [rank[name] for name in names if name is not None]
    if ranks == sorted(ranks):
        return list(range(len(names)))
    groups: list[tuple[int, list[int]]] = [(-1, [])]
    for index, name in enumerate(names):
        if name is not None:
            groups.append((rank[name], []))
        groups[-1][1].append(index)
    return [index for _, group in sorted(groups, key=lambda group: group[0]) for index in group]
