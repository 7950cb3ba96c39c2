"""Grades notebooks in which all answers are right, except a few given ones."""

from __future__ import annotations

from collections.abc import Mapping

from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Assignment
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content
from autograder.records import Cell, ExerciseResult, Report


def mistake(assignment: Assignment, name: str) -> str:
    """Return the answer with a known mistake: `mistake(value, "add.overwrites")`."""
    exercise = assignment.exercises[name.partition(".")[0]]
    return next(each.source for each in exercise.mistakes if each.id == name)


def cells(assignment: Assignment, answers: Mapping[str, str | None]) -> list[Cell]:
    """Return the code cells of a notebook with right answers, except for the given ones. For the
    answer None, the cell holds the stub; for "", there is no cell."""
    made = [Cell(source) for source in assignment.setup.values()]
    for exercise in assignment.exercises.values():
        source = answers.get(exercise.id, exercise.solution)
        if source != "" and not exercise.manual:
            made.append(Cell(exercise.stub if source is None else source, exercise.id))
    return made


def graded(
    grader: Grader, name: str, answers: Mapping[str, str | None], only: set[str] | None = None
) -> dict[str, ExerciseResult]:
    """Return, by exercise, the results of a notebook with right answers, except for the given
    ones."""
    notebook = cells(grader.course.assignment(name), answers)
    return {each.id: each for each in grader.grade(name, notebook, only).report.exercises}


def report_on(grader: Grader, name: str, answers: Mapping[str, str]) -> Report:
    """Return the report on a submitted file that has only these answers."""
    content = filled_notebook(grader.course, name, dict(answers)).encode()
    return grade_content(grader, content, f"{name}.ipynb", name)[1]


def report_on_right_but(grader: Grader, name: str, answers: Mapping[str, str]) -> Report:
    """Return the report on a submitted file with right answers, except for the given ones."""
    return report_on(grader, name, {**solutions(name, grader.course), **answers})


def wrong(report: Report) -> list[str]:
    """Return the ids of the exercises without full points, except those that a person marks."""
    return [each.id for each in report.exercises if each.status not in ("passed", "manual")]
