"""Reads files of misconceptions, in percent format, and applies their edits to the solution."""

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
    """One misconception, with the solution cell as a student with this misconception would write
    it.

    Attributes:
        id: exercise and name, such as "add.overwrites".
        says: the tutor's message.
        source: the code of the wrong solution cell.
        endless: whether the code never ends in the hidden tests, so that they do not run it.
        hidden: whether the visible check leaves the mistake out, since its message would give away
            too much.
        on_examples_alone: whether only public examples decide if an answer makes this mistake:
            students' forms of it differ in the results of sweeps.
        keeps: the share of the exercise's points, from 0 to below 1, that an answer with this
            mistake and the same verdicts gets at least.
    """

    id: str
    says: str
    source: str
    endless: bool = False
    hidden: bool = False
    on_examples_alone: bool = False
    keeps: float = 0.0


@dataclass(frozen=True)
class UnnamedMistake:
    """A wrong answer that must fail the hidden tests and has no message for students.

    Attributes:
        id: exercise and name, such as "add.tiny_is_zero".
        kind: "edge", wrong only for some inputs, or "cheat", which tries to earn points without
            solving the exercise.
        source: the code of the wrong solution cell.
        worthless: whether the answer must not pass a single test, since no part of it is right.
    """

    id: str
    kind: str
    source: str
    worthless: bool = False


@dataclass
class Edit:
    """Lines of a solution and their replacement; without `old`, lines to add at the solution's
    end."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class PercentCell:
    """A cell of a file in percent format.

    Attributes:
        where: file, line and title, for messages.
        kind, name: the two parts of the title, `# %% kind: name`.
        headers: the lines `# key: value`, as values by key.
        edits: the lines `# - old` and `# + new`.
        alternatives: edits by name, from the lines `# name: new` below `# - old`; only an edge or a
            cheat has them.
        source: all other lines, which are code.
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
        """True if the cell holds edits or the code of a whole answer."""
        return bool(self.edits or self.source.strip())

    def answer(self, solution: str) -> str:
        """Return the wrong answer that the cell describes: its source, or the edited solution.

        Raises `CourseError` if the cell holds neither source nor edits, or both, or if an edit does
        not fit the solution.
        """
        if not self.has_answer or (self.edits and self.source.strip()):
            raise CourseError(
                f"{self.where} needs either edits of the solution, lines `# - old` and `# + new`, "
                "or a whole cell, and not both"
            )
        return apply_edits(self.where, solution, self.edits) if self.edits else self.source


def apply_edits(where: str, solution: str, edits: Sequence[Edit]) -> str:
    """Return the solution with these edits applied. The common indentation of an edit's lines does
    not matter.

    Args:
        where: file, line and title of the cell with the edits, for messages.

    Raises `CourseError` if the old lines are not in the solution exactly once, if two edits
    overlap, or if the result is not Python.
    """
    lines = solution.splitlines()
    changes = []
    for edit in edits:
        start, size, shift = len(lines), len(edit.old), 0
        if edit.old:
            old = dedent("\n".join(edit.old))
            matches = [i for i in range(start) if dedent("\n".join(lines[i : i + size])) == old]
            if len(matches) != 1:
                remedy = "take the line before or after it into both parts of the edit"
                if not matches:
                    remedy = "copy the line from the source notebook as it is there now"
                raise CourseError(
                    f"{where} replaces `{edit.old[0].strip()}`, which is in the solution "
                    f"{len(matches)} times, not once: {remedy}"
                )
            start = matches[0]
            shift = _indent(lines[start]) - _indent(edit.old[0])
        new = [" " * (_indent(line) + shift) + line.lstrip() for line in edit.new]
        changes.append((start, start + size, new))
    changes.sort()
    for (_, stop, _), (start, _, _) in pairwise(changes):
        if start < stop:
            raise CourseError(f"{where} replaces `{lines[start].strip()}` twice: join the edits")
    # Applied from the end on, so that the indexes of earlier lines stay valid.
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
    """Return the cells of a file in percent format.

    Raises `CourseError` if a cell has two headers with the same key.
    """
    cells: list[PercentCell] = []
    # `continued`: the key of the header that a line beginning with `#   ` continues.
    # `sign`: "-" or "+" if the line before belongs to an edit, else "".
    continued = sign = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("# %% "):
            kind, _, name = line.removeprefix("# %% ").rpartition(": ")
            cells.append(PercentCell(f"{path}, line {number}: {kind} {name}", kind, name.strip()))
            continued = sign = ""
            continue
        if not cells:
            continue
        cell = cells[-1]
        edit = re.fullmatch(r"# ([-+])(?: (.*))?", line)
        header = re.fullmatch(r"# (\w+): (.*)", line)
        if edit:
            # `-` lines and the `+` lines right after them are one edit. Any other change of the
            # sign begins another edit.
            if sign != edit[1] and (sign, edit[1]) != ("-", "+"):
                cell.edits.append(Edit())
            last, text = cell.edits[-1], edit[2] or ""
            (last.old if edit[1] == "-" else last.new).append(text)
        elif header:
            continued, text = header[1], header[2].strip()
            if continued in cell.headers or continued in cell.alternatives:
                raise CourseError(f"{cell.where} has two lines `# {continued}: …`: rename one")
            if cell.edits and cell.kind in UNNAMED:
                cell.alternatives[continued] = Edit(cell.edits[-1].old, [text])
            else:
                cell.headers[continued] = text
        elif line.startswith("#   ") and continued in cell.alternatives:
            cell.alternatives[continued].new.append(line[4:])
        elif line.startswith("#   ") and continued in cell.headers:
            cell.headers[continued] += " " + line[4:].strip()
        else:
            continued = ""
            cell.source += line + "\n"
        sign = edit[1] if edit else ""
    for cell in cells:
        cell.source = cell.source.strip() + "\n"
    return cells


def resolve_like(path: Path, cell: PercentCell) -> PercentCell:
    """Complete a cell that has a header `like` from the cell to which `like` refers; return it.

    `like: second/total` refers to the first cell of the same kind in `second/total.py`, and
    `like: second/total.NAME` to the cell `total.NAME` there. The given cell takes over all headers
    that it does not have itself, and the source, to which its own edits are applied.

    Args:
        path: the file of the given cell.

    Raises `CourseError` if there is no cell to refer to, or an edit does not fit its source.
    """
    if "like" not in cell.headers:
        return cell
    folder, _, name = cell.headers.pop("like").rpartition("/")
    other = path.parents[1] / folder / f"{name.partition('.')[0]}.py"
    cells = percent_cells(other) if other.is_file() else []
    candidates = [each for each in cells if name in (other.stem, each.name)]
    original = next((each for each in candidates if each.kind == cell.kind), None)
    if original is None:
        raise CourseError(f"{cell.where}: there is no {cell.kind} in {other}: correct `like`")
    cell.headers = {**original.headers, **cell.headers}
    cell.source, cell.edits = apply_edits(cell.where, original.source, cell.edits), []
    return cell
