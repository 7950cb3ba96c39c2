"""Adds the cells of a new exercise to a source notebook: `autograder new-exercise`."""

from __future__ import annotations

import re

import nbformat
from nbformat.notebooknode import NotebookNode

from ..course_folder.course import Course
from ..errors import CourseError

_INTRO = """\
## {kind} {number} · {title}

Difficulty {difficulty} of 5 · about {minutes} minute{s} · {points:g} point{ss}

Say here what is wanted, and why."""

_TEST = """\
check("{name}")
### {begin}
from autograder.authoring.in_notebook import run_hidden_tests
run_hidden_tests("{name}")
### {end}"""

_WRONG_ANSWERS = """\
# Read as text, never imported: public examples and wrong answers, as in docs/authors.md. A mistake
# is a sentence for the student, lines of the solution, and what stands in their place:
#
#     # %% mistake: {name}.ANY_NAME
#     # says: What the student reads.
#     # - a line of the solution
#     # + the same line with the mistake
"""


def intro(
    course: Course, title: str, points: float, difficulty: int, minutes: int, is_question: bool
) -> str:
    """Return the text of an exercise's first cell, with `{number}` left to be filled in.

    The heading of an exercise begins with the first of the words that `course.toml` allows for
    headings, the heading of a question with the last.

    Args:
        difficulty: from 1 to 5.
        minutes: how long the exercise takes a student.
    """
    headings = course.settings.headings
    return _INTRO.format(
        kind=headings[-1 if is_question else 0],
        number="{number}",
        title=title,
        difficulty=difficulty,
        minutes=minutes,
        s="" if minutes == 1 else "s",
        points=points,
        ss="" if points == 1 else "s",
    )


def add_exercise(
    course: Course,
    assignment: str,
    name: str,
    intro: str,
    solution: str,
    points: float,
    manual: bool = False,
) -> None:
    """Add an exercise to the source notebook, and create its file of misconceptions.

    An exercise has three cells: text, solution and tests. If a person marks the answer, it has two:
    text, and a Markdown cell for the answer.

    Args:
        name: the exercise's id.
        intro: the first cell's text; `{number}` in it becomes the exercise's number.
        solution: the text of the solution cell, with the delimiters around the answer.
        manual: whether a person marks the answer.

    Raises `CourseError` if the name is taken or invalid, or the solution has no delimiters.
    """
    path = course.source_of(assignment)
    notebook = nbformat.read(path, as_version=4)
    metadata = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    if not name.isidentifier():
        raise CourseError(f"{name!r} cannot be a name: letters, digits and _ can")
    if any(each.get("grade_id") in (name, f"test_{name}") for each in metadata):
        raise CourseError(f"{assignment} has an exercise {name!r} already")
    settings = course.nbgrader
    if any(mark not in solution for mark in settings.solution):
        begin, end = settings.solution
        raise CourseError(f"put ### {begin} and ### {end} around the answer")
    pattern = re.compile(r"^## \w+ (\d+) ·", re.MULTILINE)
    numbers = [int(n) for each in notebook.cells for n in pattern.findall(each.source)]
    # Inserted behind the last graded cell, so that closing remarks stay at the notebook's end.
    graded = [index for index, each in enumerate(metadata) if each.get("grade")]
    index = graded[-1] + 1 if graded else len(notebook.cells)
    text = intro.replace("{number}", f"{max(numbers, default=0) + 1}")
    begin, end = settings.hidden_tests
    test = _TEST.format(name=name, begin=begin, end=end)
    tests = cell("code", f"{name}-test", test, marks(f"test_{name}", points))
    kind, own_points = ("markdown", points) if manual else ("code", None)
    answer = marks(name, own_points, locked=False)
    notebook.cells[index:index] = [
        cell("markdown", f"{name}-intro", text),
        cell(kind, f"{name}-{'answer' if manual else 'solution'}", solution.strip(), answer),
        *([] if manual else [tests]),
    ]
    path.write_text(nbformat.writes(notebook) + "\n", "utf-8")
    wrong = course.misconceptions_of(assignment, name)
    if not manual and not wrong.exists():
        wrong.parent.mkdir(parents=True, exist_ok=True)
        wrong.write_text(_WRONG_ANSWERS.format(name=name), "utf-8")


def marks(grade_id: str, points: float | None = None, locked: bool = True) -> dict[str, object]:
    """Return nbgrader's metadata for a cell.

    A test cell has points and is locked; a read-only cell is locked and has no points; the cell of
    an answer is not locked, and has points only if a person marks it.
    """
    fields: dict[str, object] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": not locked,
        "task": False,
    }
    if points is not None:
        fields["points"] = int(points) if points == int(points) else points
    return {"nbgrader": dict(sorted(fields.items()))}


def cell(
    kind: str, id: str, source: str, metadata: dict[str, object] | None = None
) -> NotebookNode:
    """Return a new cell; `kind` is "markdown" or "code"."""
    make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    new: NotebookNode = make(source, id=id, metadata=metadata or {})
    return new
