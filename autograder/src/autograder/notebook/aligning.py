"""Matches the cells of a submission with those of the assignment, even if an editor dropped their
metadata, or split, joined or moved them.

A cell is recognised by its nbgrader metadata, else by its cell id, else by its released text, else
by the names that it defines, else by its position between recognised cells.

An answer in a cell that is not recognised still runs, and the hidden tests find its names. But the
match decides which cell is the exercise's own, and so whether there is an answer, in place of which
cell the solution runs, and which cells the seed of the exercise's random numbers is made from.
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
"""Matches a definition or an assignment at the beginning of a line. The number of decorators is
limited, so that no text makes the search take quadratic time."""
_CONTINUES = re.compile(r"\n*(?:[ \t]+\S|[)\]}]|(?:else|elif|except|finally)\b)")
"""Matches the beginning of a text that cannot be the beginning of a Python program."""
_Named = tuple[NotebookNode, str | None]
"""A cell and its grade_id, or None."""
_MAX_SOURCE = 200_000
"""Greatest number of characters of a text that is searched."""
_MAX_ANSWER = 5000
"""Greatest number of characters of a text that is parsed as Python."""
_MAX_COMPARED = 200
"""Greatest number of attempts to join two cells."""


@dataclass(frozen=True)
class Template:
    """The assignment's notebook, by which submissions are aligned and restored.

    Attributes:
        cells: the cells that have a grade_id, in order. Locked cells have the source's text, with
            the hidden parts of test cells.
        released: for every cell of the release its text without white space, its grade_id or None,
            and its tags.
        defines: by grade_id, the names that the solution defines.
        shown: by grade_id, the released text of each of `cells`, without the hidden parts.
        runs_tests: whether test cells are run, because they give the points.
    """

    cells: tuple[NotebookNode, ...]
    released: tuple[tuple[str, str | None, tuple[str, ...]], ...]
    defines: dict[str, frozenset[str]]
    shown: dict[str, str]
    runs_tests: bool

    @cached_property
    def originals(self) -> dict[str, NotebookNode]:
        return {nbgrader_metadata(cell)["grade_id"]: cell for cell in self.cells}

    @cached_property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """By the text of a released cell without white space: the cell's tags. If several cells
        have the same text, the first one counts."""
        return {text: tags for text, _, tags in reversed(self.released)}


def nbgrader_metadata(cell: NotebookNode) -> dict[str, Any]:
    """Return the cell's nbgrader metadata; an empty dict if it has none."""
    metadata = cell["metadata"].get("nbgrader")
    return metadata if isinstance(metadata, dict) else {}


@cached_by_text(2_000_000)
def squeezed(source: str) -> str:
    """Return a text without white space, which editors may change. A text that is longer than
    `_MAX_SOURCE` is returned as it is."""
    return "".join(source.split()) if len(source) <= _MAX_SOURCE else source


def defined_names(source: str) -> frozenset[str]:
    """Return the names that a cell defines or assigns to at its top level.

    The names are found by a regular expression, since an answer that is not valid Python has names
    as well.
    """
    matches = _DEFINES.findall(source[:_MAX_SOURCE])
    return frozenset(name for pair in matches for name in pair if name)


def known_grade_ids(cells: list[NotebookNode], template: Template) -> list[str | None]:
    """Return for each cell the grade_id in its metadata, else that of the assignment's cell with
    the same cell id, else None."""
    originals = template.originals
    by_id = {cell["id"]: grade_id for grade_id, cell in originals.items()}
    grade_ids: list[str | None] = []
    for cell in cells:
        grade_id = nbgrader_metadata(cell).get("grade_id")
        # The metadata is untrusted: a grade_id that is a list would not be hashable.
        is_known = isinstance(grade_id, str) and grade_id in originals
        grade_ids.append(grade_id if is_known else by_id.get(cell["id"]))
    return grade_ids


def align(
    cells: list[NotebookNode], template: Template
) -> tuple[list[NotebookNode], list[str | None], dict[str, str]]:
    """Find the assignment's cells among those of a submission.

    Returns:
        The submission's cells, split or joined as they were released; the grade_id of each cell, or
        None; and by grade_id, for the cells that were recognised neither by metadata nor by cell
        id, by what they were recognised: "text", "definition" or "position".
    """
    grade_ids = known_grade_ids(cells, template)
    cells, grade_ids = _join_split_cells(list(cells), grade_ids)
    cells, grade_ids = _split_merged_cells(cells, grade_ids, template)
    matches: dict[str, str] = {}
    # The surest sign comes first: each step looks only at the cells that the steps before it did
    # not recognise.
    _match_by_text(cells, grade_ids, template, matches)
    cells, grade_ids = _match_by_definition(cells, grade_ids, template, matches)
    _match_by_position(cells, grade_ids, template, matches)
    return cells, grade_ids, matches


def _join_split_cells(
    cells: list[NotebookNode], grade_ids: list[str | None]
) -> tuple[list[NotebookNode], list[str | None]]:
    """Join a code cell to the cell before it if it can only be the rest of that cell."""
    joined: list[NotebookNode] = []
    joined_ids: list[str | None] = []
    attempts = iter(range(_MAX_COMPARED))
    for cell, grade_id in zip(cells, grade_ids, strict=True):
        before = joined[-1] if joined else None
        if (
            before is not None
            and cell["cell_type"] == before["cell_type"] == "code"
            # An editor that splits a cell either drops the metadata of the second half or copies
            # that of the first.
            and grade_id in (None, joined_ids[-1])
            and len(before["source"]) + len(cell["source"]) < _MAX_ANSWER
            and before["source"].strip()
            and _CONTINUES.match(cell["source"])
            # Parsing is slow, so it is the last condition, and is done at most `_MAX_COMPARED`
            # times.
            and next(attempts, None) is not None
            and _is_python(f"{before.source}\n{cell.source}")
        ):
            before.source = f"{before.source}\n{cell.source}"
        else:
            joined.append(cell)
            joined_ids.append(grade_id)
    return joined, joined_ids


def _split_merged_cells(
    cells: list[NotebookNode], grade_ids: list[str | None], template: Template
) -> tuple[list[NotebookNode], list[str | None]]:
    """Split each cell that holds the text of a locked code cell and other text: an editor has
    merged two cells, or a student wrote above or below the locked text."""
    locked = {
        grade_id: [f"\n{text}\n" for source in sources if (text := source.strip("\n"))]
        for grade_id, cell in template.originals.items()
        if is_locked(cell) and cell.cell_type == "code"
        for sources in [(cell.source, template.shown[grade_id])]
    }
    missing = [grade_id for grade_id in locked if grade_id not in grade_ids]
    parts = [
        part
        for cell, grade_id in zip(cells, grade_ids, strict=True)
        for part in _parts(cell, grade_id, locked, missing)
    ]
    return [cell for cell, _ in parts], [grade_id for _, grade_id in parts]


def _parts(
    cell: NotebookNode, grade_id: str | None, locked: dict[str, list[str]], missing: list[str]
) -> list[_Named]:
    """Return the parts of a cell, each with its grade_id; only the cell itself if it is not split.

    Args:
        grade_id: the cell's own grade_id, or None.
        locked: by grade_id, the texts that a locked cell may have.
        missing: the grade_ids of the locked cells that were not found so far. If one is found here,
            it is removed from the list.
    """
    for wanted in [grade_id] if grade_id and grade_id in locked else [*missing]:
        for text in locked[wanted]:
            above, match, below = f"\n{cell.source}\n".partition(text)
            if not match or cell.cell_type != "code":
                continue
            if not f"{above}{below}".strip():
                return [(cell, grade_id)]
            if wanted != grade_id:
                missing.remove(wanted)
            parts: list[_Named] = [(_part(cell, "locked", text), wanted)]
            # The cell's own grade_id goes to the first part that is not the locked text.
            other = None if wanted == grade_id else grade_id
            if above.strip():
                parts.insert(0, (_part(cell, "above", above), other))
                other = None
            if below.strip():
                parts += _parts(_part(cell, "below", below), other, locked, missing)
            return parts
    return [(cell, grade_id)]


def _part(cell: NotebookNode, part: str, source: str) -> NotebookNode:
    """Return a part of a cell as a cell of its own, without metadata.

    Args:
        part: a word that is added to the cell's id.
        source: the text of the part.
    """
    part_cell = NotebookNode(cell)
    part_cell.source = source.strip("\n")
    part_cell.id = f"{cell.id}-{part}"[-64:]  # nbformat allows 64 characters.
    part_cell.metadata = NotebookNode()
    return part_cell


def _is_python(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            # Such as a SyntaxWarning for an invalid escape sequence.
            warnings.simplefilter("ignore")
            ast.parse(source)
    # A null byte raises a ValueError, deep nesting a MemoryError or a RecursionError.
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _match_by_text(
    cells: list[NotebookNode],
    grade_ids: list[str | None],
    template: Template,
    matches: dict[str, str],
) -> None:
    """Recognise cells that hold a released text unchanged, except for white space. Give the cells
    of the lesson, which have no grade_id, their released tags."""
    missing: dict[str, list[str]] = {}
    for text, grade_id, _ in template.released:
        if grade_id is not None and grade_id not in grade_ids:
            missing.setdefault(text, []).append(grade_id)
    for index, cell in enumerate(cells):
        if grade_ids[index] is None and (missing or cell["cell_type"] == "code"):
            text = squeezed(cell["source"])
            # If several cells were released with the same text, such as an empty stub, they are
            # assigned in order.
            if same_text := missing.get(text):
                grade_ids[index] = same_text.pop(0)
                matches[grade_ids[index] or ""] = "text"
            elif cell["cell_type"] == "code" and (tags := template.tags.get(text)):
                cell.metadata["tags"] = list(tags)


def _match_by_definition(
    cells: list[NotebookNode],
    grade_ids: list[str | None],
    template: Template,
    matches: dict[str, str],
) -> tuple[list[NotebookNode], list[str | None]]:
    """Recognise answers by the names that they define. An answer that stands below other text in a
    cell becomes a cell of its own."""
    lessons = {text for text, grade_id, _ in template.released if grade_id is None}
    untouched = {text for text, grade_id, _ in template.released if grade_id}
    answered = {
        grade_id
        for cell, grade_id in zip(cells, grade_ids, strict=True)
        if grade_id in template.defines and squeezed(cell["source"]) not in untouched
    }
    # In most submissions every answer is in its own cell, and no text needs to be searched.
    if all(grade_id in answered or not wanted for grade_id, wanted in template.defines.items()):
        return cells, grade_ids
    texts = [squeezed(cell["source"]) for cell in cells]
    all_wanted = frozenset().union(*template.defines.values())
    defines = [defined_names(cell["source"]) & all_wanted for cell in cells]
    for grade_id, wanted in template.defines.items():
        holders = [i for i, holder in enumerate(grade_ids) if holder == grade_id]
        # An answer in its own cell stays there. The cell's grade_id may go to another cell only if
        # the cell is as released.
        if not wanted or any(texts[i] not in untouched for i in holders):
            continue
        # The answer may be in a cell without a grade_id, or in the cell of another answer, which
        # then defines more names than its own. Lesson cells, locked cells and stubs are the
        # course's text, whatever they define.
        shares = {
            i: len(wanted & defined - template.defines.get(grade_ids[i] or "", frozenset()))
            for i, (text, defined) in enumerate(zip(texts, defines, strict=True))
            if i not in holders
            and text not in lessons
            and (
                grade_ids[i] is None or (grade_ids[i] in template.defines and text not in untouched)
            )
        }
        # If several cells define equally many of the names, the last one counts, as the last
        # definition counts in a kernel.
        index = max(reversed(shares), key=lambda i: shares[i], default=None)
        # Fewer than half of the names may be a coincidence.
        if index is None or shares[index] < len(wanted) / 2:
            continue
        cell = cells[index]
        # If the stub's cell is there as well, code in a cell without a grade_id stays there: it
        # runs, and the tests find its names.
        if holders and grade_ids[index] is None and cell.cell_type == "code":
            continue
        for holder in holders:
            grade_ids[holder] = None
        matches[grade_id] = "definition"
        start = _start_of_definition(cell.source, wanted)
        above = cell.source[:start].splitlines()
        # If there are only comments above the definition, these belong to it: the whole cell is the
        # answer.
        if cell.cell_type == "code" and all(re.match(r"#|\s*$", line) for line in above):
            grade_ids[index] = grade_id
            continue
        rest = _part(cell, "rest", cell.source[start:])
        cell.source = cell.source[:start].rstrip("\n")
        cells.insert(index + 1, rest)
        grade_ids.insert(index + 1, grade_id)
        # Both halves may hold answers that are still missing.
        halves = cell, rest
        texts[index : index + 1] = [squeezed(half["source"]) for half in halves]
        defines[index : index + 1] = [defined_names(half["source"]) & all_wanted for half in halves]
    return cells, grade_ids


def _start_of_definition(source: str, wanted: frozenset[str]) -> int:
    """Return the index in the text of the first definition of one of the names."""
    return next(
        match.start()
        for match in _DEFINES.finditer(source)
        if (match.group(1) or match.group(2)) in wanted
    )


def _match_by_position(
    cells: list[NotebookNode],
    grade_ids: list[str | None],
    template: Template,
    matches: dict[str, str],
) -> None:
    """Recognise a missing answer as the only unknown cell between its recognised neighbours, or as
    the first of several if it has the right cell type."""
    if template.originals.keys() <= set(grade_ids):
        return
    released = template.released
    lessons = {text for text, _, _ in released}
    # A neighbour is recognised by its grade_id, or as a cell of the lesson by its text.
    keys = [grade_id or text for text, grade_id, _ in released]
    positions: dict[str, list[int]] = {}
    for index, (cell, known) in enumerate(zip(cells, grade_ids, strict=True)):
        positions.setdefault(known or squeezed(cell["source"]), []).append(index)
    for number, (_, grade_id, _) in enumerate(released):
        original = template.originals.get(grade_id or "")
        if original is None or grade_id in grade_ids or not is_solution(original):
            continue
        before = next((positions[k][-1] for k in reversed(keys[:number]) if k in positions), -1)
        after = min(
            (i for k in keys[number + 1 :] for i in positions.get(k, [])[:1] if i > before),
            default=len(cells),
        )
        # Without a recognised neighbour, the gap would be the whole notebook.
        if before < 0 and after == len(cells):
            continue
        unknown = [
            i
            for i in range(before + 1, after)
            if grade_ids[i] is None and squeezed(cells[i]["source"]) not in lessons
        ]
        # If there are several unknown cells, the first one is the answer if its type is right,
        # since students write notes below an answer.
        if len(unknown) == 1 or (unknown and cells[unknown[0]].cell_type == original.cell_type):
            grade_ids[unknown[0]] = grade_id
            matches[grade_id or ""] = "position"
            positions[grade_id or ""] = [unknown[0]]


def in_order(grade_ids: list[str | None], template: Template) -> list[int]:
    """Return the indexes of the cells in the assignment's order. A cell without a grade_id stays
    after the cell that it follows."""
    rank = {grade_id: number for number, grade_id in enumerate(template.originals)}
    ranks = [rank[grade_id] for grade_id in grade_ids if grade_id is not None]
    if ranks == sorted(ranks):
        return list(range(len(grade_ids)))
    groups: list[tuple[int, list[int]]] = [(-1, [])]
    for index, grade_id in enumerate(grade_ids):
        if grade_id is not None:
            groups.append((rank[grade_id], []))
        groups[-1][1].append(index)
    return [index for _, group in sorted(groups, key=lambda group: group[0]) for index in group]
