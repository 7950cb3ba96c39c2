"""A gradebook with one student, that is graded and marked without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Comment, Grade, Gradebook

from autograder.course_folder.course import Course
from autograder.gradebook import by_hand, history
from autograder.gradebook.class_results import class_results
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.records import Marks


def quiz_course(folder: Path) -> Course:
    """Write a course folder whose assignment `quiz` has the exercises of a `Book`."""

    def about(name: str, points: float = 0.0, **kind: bool) -> dict[str, Any]:
        kinds = dict.fromkeys(("grade", "solution", "locked", "task"), False) | kind
        return {"nbgrader": {"schema_version": 3, "grade_id": name, "points": points, **kinds}}

    answer = "### BEGIN SOLUTION\nadd = 1\n### END SOLUTION"
    cells = [
        new_code_cell(answer, metadata=about("add", solution=True)),
        new_code_cell("add", metadata=about("test_add", 6.0, grade=True)),
        new_markdown_cell(answer, metadata=about("why", 4.0, grade=True, solution=True)),
    ]
    notebook = new_notebook(cells=cells)
    for step in ("source", "release"):
        (folder / step / "quiz").mkdir(parents=True)
        nbformat.write(notebook, folder / step / "quiz" / "quiz.ipynb")
    (folder / "course.toml").write_text('id = "quiz"\ntitle = "Quiz"\n')
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    return Course(folder)


class Book:
    """A gradebook with an autograded exercise `add` of 6 points, and a free text `why` of 4."""

    def __init__(self, gradebook: Gradebook, student: str = "ada") -> None:
        self.gradebook, self.student = gradebook, student
        if not gradebook.assignments:
            gradebook.add_assignment("quiz")
            gradebook.add_notebook("quiz", "quiz")
            gradebook.add_grade_cell("test_add", "quiz", "quiz", max_score=6, cell_type="code")
            gradebook.add_solution_cell("add", "quiz", "quiz")
            gradebook.add_grade_cell("why", "quiz", "quiz", max_score=4, cell_type="markdown")
            gradebook.add_solution_cell("why", "quiz", "quiz")
            history.prepare(gradebook)
        self.state = {"add": ["a", 6.0, 6.0], "why": ["w", None, 4.0]}

    def grade(self, **changes: tuple) -> dict[str, str]:
        """Grade with other answers, points or maxima; return what waits, and why."""
        for name, change in changes.items():
            self.state[name] = [*change, *self.state[name][len(change) :]]
        keys = ("answer", "points", "max_points")
        more = {"status": "passed", "misconception": None, "broken": []}
        verdicts = [
            {"id": name, **dict(zip(keys, each, strict=True)), **more}
            for name, each in self.state.items()
        ]
        entry = history.Entry("quiz", self.student, "file", "seed", {}, verdicts)
        points = {"test_add": self.state["add"][1], "why": self.state["why"][1]}
        marks = SubmissionMarks("quiz", self.student, Marks(points, {}), None, entry)
        record(self.gradebook, [marks])
        return self.waiting()

    def waiting(self) -> dict[str, str]:
        self.gradebook.db.expire_all()
        [result] = class_results(self.gradebook, "quiz").results
        assert [result] == class_results(self.gradebook, "quiz", self.student).results
        needs = {name for name in ("add", "why") if self.cell(name).needs_manual_grade}
        assert needs == {*result.waiting}
        return result.waiting

    def cell(self, name: str):
        return self.gradebook.find_grade(
            {"add": "test_add"}.get(name, name), "quiz", "quiz", self.student
        )

    def save(self, name: str, points: float | None, extra: float | None = None) -> None:
        """Store points as the formgrader does."""
        grade = self.cell(name)
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = points is None and grade.auto_score is None
        self.gradebook.db.commit()

    def snapshot(self, name: str) -> by_hand.Snapshot:
        self.gradebook.db.rollback()
        grade = self.cell(name)
        with self.gradebook.engine.connect() as db:
            return by_hand.take_snapshots(db, grade.notebook_id)[grade.id]

    def give(self, name: str, points: float | None, text: str = "", **more: Any) -> bool:
        """Store a mark as the marking page does."""
        typed = {"manual_score": points, "manual_comment": text or None, **more}
        return self.store(name, Grade, typed)

    def store(self, name: str, kind: type[Grade | Comment], typed: by_hand.Snapshot) -> bool:
        """Store a mark or a comment with a line in the record, unless somebody else has changed it
        meanwhile; return whether it is stored."""
        seen, row = self.snapshot(name), self.cell(name)
        if kind is Comment:
            row = self.gradebook.find_comment(name, "quiz", "quiz", self.student)
        return by_hand.store(self.gradebook.engine, kind, row.id, seen, typed, "tess")[0]

    def all_given(self, name: str) -> dict[str, Any]:
        """Return what a person gave, by column of the record."""
        seen = self.snapshot(name)
        return {
            "points": seen["manual_score"], "extra": seen["extra_credit"],
            "comment": seen["manual_comment"], "items": seen["items"], "adjust": seen["adjust"],
        }  # fmt: skip

    def given(self, name: str) -> tuple[float | None, str | None]:
        self.gradebook.db.expire_all()
        comment = self.gradebook.find_comment(name, "quiz", "quiz", self.student).manual_comment
        return self.cell(name).manual_score, comment

    def comment(self, name: str, text: str) -> None:
        self.gradebook.find_comment(name, "quiz", "quiz", self.student).manual_comment = text
        self.gradebook.db.commit()

    def weigh(self, name: str, points: float) -> None:
        self.cell(name).cell.max_score = points
        self.gradebook.db.commit()
