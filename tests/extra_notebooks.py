"""Runs an extra notebook; its answers are in folded boxes below the tasks."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat

from autograder.course_folder.course import find_course

COURSE = find_course(Path(__file__).parent)


class ExtraNotebook:
    """A notebook of `course/extra`: its cells by id, and the answers by the task's cell."""

    def __init__(self, name: str) -> None:
        notebook = nbformat.read(COURSE.root / "course" / "extra" / name, as_version=4)
        self.cells = {cell.id: cell for cell in notebook.cells}
        self.answers: dict[str, str] = {}
        for task, cell in self.cells.items():
            if "task" in cell.metadata.get("tags", []):
                fold = self.cells[f"{task}-answer"].source
                assert fold.startswith("<details><summary>An answer</summary>")
                [self.answers[task]] = re.findall(r"```python\n(.*?)```", fold, re.DOTALL)[:1]

    def run(self, last: str, **changed: str) -> tuple[dict[str, Any], str]:
        """Run the code cells up to one of them, the answers in the place of the tasks."""
        scope: dict[str, Any] = {"__name__": "__main__"}
        printed = io.StringIO()
        for name, cell in self.cells.items():
            if cell.cell_type == "code":
                with contextlib.redirect_stdout(printed):
                    exec(changed.get(name, self.answers.get(name, cell.source)), scope)
            if name == last:
                break
        return scope, printed.getvalue()
