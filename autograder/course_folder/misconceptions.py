"""Reads files of wrong answers, in percent format, and applies their edits to a solution."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

from ..errors import CourseError

UNNAMED = ("edge", "cheat")
"""Kinds of wrong answers that only the audit uses."""


@dataclass(frozen=True)
class Mistake:
    """One misconception: the solution cell as a student who holds it would have written it.

    Attributes:
        id: such as "add.overwrites".
        says: the tutor's message.
        endless: whether the code never ends on the hidden tests, so that it is not run there.
        hidden: whether it is left out of the visible check, since it would give away too much.
        on_probes_alone: whether it is recognised without the samples, since its results there
            differ from one form to the next.
    """

    id: str
    says: str
    source: str
    endless: bool = False
    hidden: bool = False
    on_probes_alone: bool = False


@dataclass(frozen=True)
class Unnamed:
    """A wrong answer that must fail the hidden tests and has no message for students.

    Attributes:
        id: such as "add.tiny_is_zero".
        kind: "edge", wrong only for some numbers, or "cheat", which earns points without solving
            the exercise.
        worthless: whether no part of it is right, so that it must not pass a single test.
    """

    id: str
    kind: str
    source: str
    worthless: bool = False


@dataclass
class Edit:
    """Lines of a solution and their replacement; without `old`, lines to add at its end."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class PercentCell:
    """A cell of a file in percent format.

    Attributes:
        where: its file, line and title, for errors.
        kind, name: the two parts of its title.
        headers: its lines `# key: value`.
        edits: its lines `# - old` and `# + new`.
        alternatives: of an edge or a cheat, by name, the edits `# name: new` below `# - old`.
        source: all its other lines.
    """

    where: str
    kind: str
    name: str
    headers: dict[str, str] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    alternatives: dict[str, Edit] = field(default_factory=dict)
    source: str = ""

    @property
    def has_answer(self) -> bool:
        """True if it holds edits or a whole cell."""
        return bool(self.edits or self.source.strip())

    def answer(self, solution: str) -> str:
        """Return the wrong answer that the cell describes: itself, or the solution with its edits.

        Raises `CourseError` if it holds neither or both, or an edit does not fit the solution.
        """
        if not self.has_answer or (self.edits and self.source.strip()):
            raise CourseError(
                f"{self.where} needs either edits of the solution, lines `# - old` and `# + new`, "
                "or a whole cell, and not both"
            )
        return edited(self.where, solution, self.edits) if self.edits else self.source


def edited(where: str, solution: str, edits: Sequence[Edit]) -> str:
    """Return the solution with these edits; the indentation of an edit as a whole is ignored.

    Args:
        where: the cell of the edits, for errors.

    Raises `CourseError` if lines to replace are not in the solution exactly once, or overlap, or
    the result is not Python.
    """
    lines = solution.splitlines()
    changes = []
    for edit in edits:
        start, size, shift = len(lines), len(edit.old), 0
        if edit.old:
            old = dedent("\n".join(edit.old))
            places = [i for i in range(start) if dedent("\n".join(lines[i : i + size])) == old]
            if len(places) != 1:
                remedy = "take the line before or after it into both parts of the edit"
                if not places:
                    remedy = "copy the line from the source notebook as it is there now"
                raise CourseError(
                    f"{where} replaces `{edit.old[0].strip()}`, which is in the solution "
                    f"{len(places)} times, not once: {remedy}"
                )
            start = places[0]
            shift = _indent(lines[start]) - _indent(edit.old[0])
        new = [" " * (_indent(line) + shift) + line.lstrip() for line in edit.new]
        changes.append((start, start + size, new))
    changes.sort()
    for (_, stop, _), (start, _, _) in pairwise(changes):
        if start < stop:
            raise CourseError(f"{where} replaces `{lines[start].strip()}` twice: join the edits")
    for start, stop, new in reversed(changes):
        lines[start:stop] = new
    source = "\n".join(lines) + "\n"
    try:
        ast.parse(source)
    except SyntaxError as error:
        raise CourseError(
            f"{where} leaves no Python: {error.msg}, at `{(error.text or '').strip()}`. Mind how "
            "the lines are indented to each other, and leave no body empty: put `pass` there"
        ) from None
    return source


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def percent_cells(path: Path) -> list[PercentCell]:
    """Return a file's cells in percent format. Raises `CourseError` for a header given twice."""
    cells: list[PercentCell] = []
    goes_on = sign = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("# %% "):
            kind, _, name = line.removeprefix("# %% ").rpartition(": ")
            cells.append(PercentCell(f"{path}, line {number}: {kind} {name}", kind, name.strip()))
            goes_on = sign = ""
            continue
        if not cells:
            continue
        cell = cells[-1]
        edit = re.fullmatch(r"# ([-+])(?: (.*))?", line)
        header = re.fullmatch(r"# (\w+): (.*)", line)
        if edit:
            if sign != edit[1] and (sign, edit[1]) != ("-", "+"):
                cell.edits.append(Edit())
            last, text = cell.edits[-1], edit[2] or ""
            (last.old if edit[1] == "-" else last.new).append(text)
        elif header:
            goes_on, text = header[1], header[2].strip()
            if goes_on in cell.headers or goes_on in cell.alternatives:
                raise CourseError(f"{cell.where} has two lines `# {goes_on}: …`: rename one")
            if cell.edits and cell.kind in UNNAMED:
                cell.alternatives[goes_on] = Edit(cell.edits[-1].old, [text])
            else:
                cell.headers[goes_on] = text
        elif line.startswith("#   ") and goes_on in cell.alternatives:
            cell.alternatives[goes_on].new.append(line[4:])
        elif line.startswith("#   ") and goes_on in cell.headers:
            cell.headers[goes_on] += " " + line[4:].strip()
        else:
            goes_on = ""
            cell.source += line + "\n"
        sign = edit[1] if edit else ""
    for cell in cells:
        cell.source = cell.source.strip() + "\n"
    return cells


def as_its_like(path: Path, cell: PercentCell) -> PercentCell:
    """Return a cell of a file, its header `like` filled in.

    `like: second/total` stands for the headers and the lines of the first cell of this kind in
    `second/total.py`, beside the cell's own headers and with its own edits; `second/total.NAME` for
    those of the cell `total.NAME`.

    Raises `CourseError` if there is no such cell, or an edit does not fit it.
    """
    if "like" not in cell.headers:
        return cell
    folder, _, name = cell.headers.pop("like").rpartition("/")
    other = path.parents[1] / folder / f"{name.partition('.')[0]}.py"
    cells = percent_cells(other) if other.is_file() else []
    named = [each for each in cells if name in (other.stem, each.name)]
    found = next((each for each in named if each.kind == cell.kind), None)
    if found is None:
        raise CourseError(f"{cell.where}: there is no {cell.kind} in {other}: correct `like`")
    cell.headers = {**found.headers, **cell.headers}
    cell.source, cell.edits = edited(cell.where, found.source, cell.edits), []
    return cell
