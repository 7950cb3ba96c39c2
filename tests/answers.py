"""Grades notebooks that are right but for a few answers."""

from __future__ import annotations

from collections.abc import Mapping

from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Assignment, load_assignment
from autograder.judging.grader import Grader
from autograder.model import Cell, ExerciseResult, Report
from autograder.pipeline.one_submission import grade_content


def mistake(assignment: Assignment, name: str) -> str:
    """Return the answer with a known mistake: `mistake(value, "add.overwrites")`."""
    exercise = assignment.exercises[name.partition(".")[0]]
    return next(each.source for each in exercise.mistakes if each.id == name)


def cells(assignment: Assignment, answers: Mapping[str, str | None]) -> list[Cell]:
    """Return the code cells of a notebook that is right but for these answers; None leaves a stub,
    and "" leaves the cell out."""
    made = [Cell(source) for source in assignment.setup.values()]
    for exercise in assignment.exercises.values():
        source = answers.get(exercise.id, exercise.solution)
        if source != "" and not exercise.manual:
            made.append(Cell(exercise.stub if source is None else source, exercise.id))
    return made


def graded(
    grader: Grader, name: str, answers: Mapping[str, str | None], only: set[str] | None = None
) -> dict[str, ExerciseResult]:
    """Return the results of a notebook that is right but for these answers, by exercise."""
    notebook = cells(load_assignment(grader.course, name), answers)
    return {each.id: each for each in grader.grade(name, notebook, only).report.exercises}


def report_on(grader: Grader, name: str, answers: Mapping[str, str]) -> Report:
    """Return the report on a submitted file with these answers alone."""
    content = filled_notebook(grader.course, name, dict(answers)).encode()
    return grade_content(grader, content, f"{name}.ipynb", name)[1]


def report_on_right_but(grader: Grader, name: str, answers: Mapping[str, str]) -> Report:
    """Return the report on a submitted file that is right but for these answers."""
    return report_on(grader, name, {**solutions(name, grader.course), **answers})


def wrong(report: Report) -> list[str]:
    """Return the exercises without full points, but for those that a person marks."""
    return [each.id for each in report.exercises if each.status not in ("passed", "manual")]
