"""Makes ordinary notebooks, and nbgrader courses from the texts in `courses/nbgrader`.

A text describes an assignment. Each of its parts begins with a line `%% KIND WHAT`: `format 4.2`,
`kernel LANGUAGE NAME`, `setting LINE` (a line of course.toml), `file NAME` (a file beside the
notebook), `notebook NAME`, or a cell: `code`, `text`, `solution ID`, `written ID POINTS`, `task ID
POINTS` and `test ID POINTS = …`. A test's line ends with the points that nbgrader gives to the
solution, the stub, and a notebook in which every other answer is the stub; `-` means that the
exercise is ungraded here, since the solution does not pass the test cell.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from schools import append, release, run
from tested_course import COURSE

TEXTS = Path(__file__).resolve().parents[1] / "courses" / "nbgrader"
VARIANTS = ("solution", "stub", "half")
_PART = re.compile(r"^%% (\w+) ?(.*)\n", re.MULTILINE)
_NBGRADER = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
_KINDS: dict[str, dict[str, Any]] = {
    "solution": {"solution": True},
    "written": {"solution": True, "grade": True},
    "test": {"grade": True, "locked": True},
    "task": {"task": True, "locked": True},
}


@dataclass
class Text:
    """An assignment: its notebooks, the files beside them, lines of course.toml, and by notebook
    and test cell the points that stock nbgrader gives to each of `VARIANTS`."""

    name: str
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)
    points: dict[str, dict[str, tuple[float | None, ...]]] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the assignment's folder in `source/`."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        for name, notebook in self.notebooks.items():
            # Without nbformat's `write`, which would repair the notebook.
            (folder / f"{name}.ipynb").write_text(nbformat.v4.writes(notebook))


def marked_cell(name: str, source: str, **marks: object) -> NotebookNode:
    """Return a code cell with nbgrader's metadata: `marked_cell("test_half", "", grade=True)`."""
    made: NotebookNode = nbformat.v4.new_code_cell(source)
    made.metadata["nbgrader"] = {**_NBGRADER, **marks, "grade_id": name}
    return made


def python_notebook(cells: list[NotebookNode]) -> NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return made


def read_text(path: Path) -> Text:
    """Read the text that describes an assignment."""
    made = Text(path.stem)
    minor, spec = 5, {"language": "python", "name": "python3", "display_name": "Python 3"}
    cells: list[NotebookNode] = []
    for kind, what, body in _parts(path.read_text("utf-8")):
        first, *more = what.split()
        match kind:
            case "format":
                minor = int(first.partition(".")[2])
            case "kernel":
                spec = {"language": first, "name": more[0], "display_name": more[0]}
            case "setting":
                made.settings.append(what)
            case "file":
                made.files[first] = body
            case "notebook":
                cells = []
                notebook = nbformat.v4.new_notebook(metadata={"kernelspec": spec})
                notebook.nbformat_minor, notebook.cells = minor, cells
                made.notebooks[first], made.points[first] = notebook, {}
            case _:
                cells.append(_cell(kind, body.rstrip("\n"), first, more, minor))
                if kind == "test":
                    made.points[[*made.points][-1]][first] = tuple(
                        None if each == "-" else float(each) for each in more[2:]
                    )
    return made


def _parts(text: str) -> Iterator[tuple[str, str, str]]:
    _, *parts = _PART.split(text)
    return zip(parts[::3], (each or "-" for each in parts[1::3]), parts[2::3], strict=True)


def _cell(kind: str, source: str, name: str, more: list[str], minor: int) -> NotebookNode:
    is_text = kind in ("text", "written", "task")
    cell = (nbformat.v4.new_markdown_cell if is_text else nbformat.v4.new_code_cell)(source)
    if minor < 5:
        del cell["id"]
    if kind in _KINDS:
        marks = {**_NBGRADER, **_KINDS[kind], "grade_id": name}
        cell.metadata["nbgrader"] = marks | ({"points": float(more[0])} if more else {})
    return cell


def make_course(folder: Path, texts: list[Text], settings: str = "", config: str = "") -> Path:
    """Make a course whose assignments are graded by their own test cells, and release them.

    Args:
        settings: further lines of course.toml.
        config: further lines of nbgrader_config.py.
    """
    for text in texts:
        text.write(folder / "source" / text.name)
    lines = ['id = "found"', 'title = "Found"', settings]
    for text in texts:
        lines += [f"[assignments.{text.name}]", 'tests = "in-notebook"', *text.settings]
    (folder / "course.toml").write_text("\n".join(lines))
    shutil.copy(COURSE.root / "nbgrader_config.py", folder)
    append(folder / "nbgrader_config.py", config)
    release(folder, *(text.name for text in texts))
    return folder


def variant(folder: Path, text: Text, notebook: str, kind: str) -> NotebookNode:
    """Return a student's notebook: the release with all answers ("solution"), no answer ("stub"),
    or every other answer ("half")."""
    path = folder / "release" / text.name / f"{notebook}.ipynb"
    made: NotebookNode = nbformat.read(path, as_version=4)
    answers = [c for c in made.cells if c.metadata.get("nbgrader", {}).get("solution")]
    right = {c.metadata.nbgrader.grade_id: c.source for c in text.notebooks[notebook].cells
             if c.metadata.get("nbgrader", {}).get("solution")}  # fmt: skip
    for place, cell in enumerate(answers):
        if kind == "solution" or (kind == "half" and place % 2 == 0):
            cell.source = right[cell.metadata.nbgrader.grade_id]
    return made


def graded_class(folder: Path, text: Text, kinds: dict[str, str], by_hand: str) -> Path:
    """Make a course in which each student's variant of a notebook is graded. The student `by_hand`
    has a manual mark and a comment on the cell `why`."""
    make_course(folder, [text])
    for student, kind in kinds.items():
        target = folder / "submitted" / student / text.name
        target.mkdir(parents=True)
        nbformat.write(variant(folder, text, text.name, kind), target / f"{text.name}.ipynb")
    run(folder, "autograder", "grade", text.name, "--workers", "1")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        cell = ("why", text.name, text.name, by_hand)
        grade = gradebook.find_grade(*cell)
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.find_comment(*cell).manual_comment = "Well said."
        gradebook.db.commit()
    return folder
