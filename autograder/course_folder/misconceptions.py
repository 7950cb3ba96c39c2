"""Reads files of wrong answers, in percent format, and applies their edits to a solution."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

from ..errors import CourseError

UNNAMED = ("edge", "cheat")
"""Kinds of wrong answers that only the audit knows."""


@dataclass(frozen=True)
class Mistake:
    """One misconception: the solution cell as a student who holds it would have written it.

    Attributes:
        id: such as "add.overwrites".
        says: the tutor's message.
        source: the cell.
        endless: whether the code never ends on the hidden tests, so that it is not played there.
        hidden: whether it is left out of the visible check, since it would give away too much.
    """

    id: str
    says: str
    source: str
    endless: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Unnamed:
    """A wrong answer that the hidden tests must not pass and no student is named.

    Attributes:
        id: such as "add.tiny_is_zero".
        kind: "edge", wrong only for some numbers, or "cheat", which passes for what it is not.
        source: the cell.
        worthless: whether no part of it is right, so that it must not pass a single test.
    """

    id: str
    kind: str
    source: str
    worthless: bool = False


@dataclass
class Edit:
    """Lines of a solution and what takes their place; without `old`, lines to add at its end."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class PercentCell:
    """A cell of a file in percent format.

    Attributes:
        where: its file and line, for errors.
        kind, name: the two parts of its title.
        headers: its lines `# key: value`.
        edits: its lines `# - old` and `# + new`.
        below: by header, the edit that it stands below, if there is one.
        source: all its other lines.
    """

    where: str
    kind: str
    name: str
    headers: dict[str, str] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    below: dict[str, Edit] = field(default_factory=dict)
    source: str = ""

    def answer(self, solution: str) -> str:
        """The wrong answer that the cell describes: itself, or the solution with its edits.

        Raises `CourseError` where it holds neither or both, or an edit does not fit the solution.
        """
        if bool(self.edits) == bool(self.source.strip()):
            raise CourseError(
                f"{self.where} needs either edits of the solution, lines `# - old` and `# + new`, "
                "or a whole cell, and not both"
            )
        return edited(self.where, solution, self.edits) if self.edits else self.source

    def alternatives(self, solution: str) -> dict[str, str]:
        """The solution with one line in the place of others, by the headers that name such a line.

        Raises `CourseError` where the lines to replace do not fit the solution.
        """
        return {
            name: edited(f"{self.where}.{name}", solution, [Edit(edit.old, [self.headers[name]])])
            for name, edit in self.below.items()
        }


def edited(where: str, solution: str, edits: Sequence[Edit]) -> str:
    """The solution with these edits; where the lines to replace are indented does not matter.

    Args:
        where: what the edits belong to, for errors.

    Raises `CourseError` where lines to replace are not in the solution exactly once, or overlap.
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
    return "\n".join(lines) + "\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def percent_cells(path: Path) -> list[PercentCell]:
    """The cells of a file in percent format."""
    cells: list[PercentCell] = []
    lines: list[str] = []
    key = sign = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        header = re.fullmatch(r"# (\w+): (.*)", line)
        edit = re.fullmatch(r"# ([-+])(?: (.*))?", line)
        if line.startswith("# %% "):
            kind, _, name = line.removeprefix("# %% ").rpartition(": ")
            name = name.strip()
            cells.append(PercentCell(f"{path}, line {number}: {kind} {name}", kind, name))
            lines = []
        elif not cells:
            continue
        elif edit:
            before, sign = sign, edit[1]
            if before != sign and (before, sign) != ("-", "+"):
                cells[-1].edits.append(Edit())
            last = cells[-1].edits[-1]
            (last.old if sign == "-" else last.new).append(edit[2] or "")
        elif header:
            key = header[1]
            if key in cells[-1].headers:
                raise CourseError(f"{cells[-1].where} has two lines `# {key}: …`: rename one")
            cells[-1].headers[key] = header[2].strip()
            if cells[-1].edits:
                cells[-1].below[key] = cells[-1].edits[-1]
        elif key and line.startswith("#   "):
            cells[-1].headers[key] += " " + line[4:].strip()
        else:
            key = ""
            lines.append(line)
            cells[-1].source = "\n".join(lines).strip() + "\n"
        key = "" if edit else key
        sign = sign if edit else ""
    return cells


def as_its_like(path: Path, cell: PercentCell) -> PercentCell:
    """Return a cell of a file, its header `like` filled in.

    `like: backward/deep` stands for the headers and the lines of the first cell of this kind in
    `backward/deep.py`, beside the cell's own headers and with its own edits.

    Raises `CourseError` where there is no such cell, or an edit does not fit it.
    """
    if "like" not in cell.headers:
        return cell
    other = path.parents[1] / f"{cell.headers.pop('like')}.py"
    cells = percent_cells(other) if other.is_file() else []
    found = next((each for each in cells if each.kind == cell.kind), None)
    if found is None:
        raise CourseError(f"{cell.where}: there is no {cell.kind} in {other}: correct `like`")
    cell.headers = {**found.headers, **cell.headers}
    cell.source, cell.edits = edited(cell.where, found.source, cell.edits), []
    return cell
