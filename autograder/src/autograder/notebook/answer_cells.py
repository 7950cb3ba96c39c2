"""Finds the cells of each answer in a graded notebook, for people who mark it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..course_folder.own_notebooks import exercise_ids, exercises_of

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode

Cells = list[dict[str, Any]]


class GradedNotebook:
    """The answers in a graded notebook. Its file is read again whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = 0
        self._answers: dict[str, Cells] = {}

    def answers(self) -> dict[str, Cells]:
        """Return the cells of each answer, by exercise and by cell; {} if there is no such file."""
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            return {}
        if stamp != self._stamp:
            self._answers = _answers(json.loads(self._path.read_text("utf-8"))["cells"])
            self._stamp = stamp
        return self._answers


def answer_text(cells: Iterable[dict[str, Any]]) -> str:
    """Return the text of an answer: its cells' sources."""
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def questions(cells: Sequence[NotebookNode]) -> dict[str, Cells]:
    """Return the question of each exercise in a release notebook: the Markdown cells directly
    before the answer. Answers and tests that follow each other have the same question."""
    ids = exercises_of(cells)
    found: dict[str, Cells] = {}
    question: Cells = []
    text: Cells = []
    for cell in cells:
        marks = cell["metadata"].get("nbgrader") or {}
        if marks.get("solution") or marks.get("task") or marks.get("grade"):
            question, text = text or question, []
            found.setdefault(ids.get(marks["grade_id"], marks["grade_id"]), question)
        elif cell["cell_type"] == "markdown":
            text = [*text, cell]
        else:
            question, text = [], []
    return found


def _answers(cells: Iterable[dict[str, Any]]) -> dict[str, Cells]:
    answers: dict[str, Cells] = {}
    graded, solutions, task = [], [], ""
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade") or marks.get("task"):
            graded.append(marks["grade_id"])
            answers[marks["grade_id"]] = [cell]
        elif marks.get("solution"):
            solutions.append(cell)
            answers[marks["grade_id"]] = [cell]
        if marks:
            task = marks["grade_id"] if marks.get("task") else ""
        elif task:
            answers[task].append(cell)
    for exercise in exercise_ids(graded).values():
        answers.setdefault(exercise, solutions)  # it may test any of the answers
    return answers
