"""Adds the cells of a new exercise to a source notebook: `python -m autograder.authoring`."""

from __future__ import annotations

import re
from pathlib import Path

import click
import nbformat
from nbformat.notebooknode import NotebookNode

from .assignments import CourseError, find_course, load_assignment
from .terminal import console, course_option, for_people

_NUMBER = re.compile(r"^## (?:Exercise|Question) (\d+) ·", re.MULTILINE)

_INTRO = """\
## {kind} {number} · {title}

Difficulty {difficulty} of 5 · about {minutes} minute{s} · {points:g} point{ss}

Say here what is wanted, and why."""

_TEST = """\
check("{name}")
### BEGIN HIDDEN TESTS
from autograder.local import run_hidden_tests
run_hidden_tests("{name}")
### END HIDDEN TESTS"""


@click.command()
@click.argument("assignment")
@click.argument("name")
@click.option("--title", required=True, help="What the heading calls it.")
@click.option("--points", type=float, required=True)
@click.option("--difficulty", type=click.IntRange(1, 5), default=2, show_default=True)
@click.option("--minutes", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--question", is_flag=True, help="It is answered with a letter or a number.")
@click.option(
    "--solution",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="The solution cell, with ### BEGIN SOLUTION and ### END SOLUTION around the answer.",
)
@course_option
@for_people
def main(
    assignment: str,
    name: str,
    title: str,
    points: float,
    difficulty: int,
    minutes: int,
    question: bool,
    solution: Path,
    course: Path | None,
) -> None:
    """Add the exercise NAME to the source notebook of ASSIGNMENT, after its last exercise.

    It adds a heading, the solution cell and the test cell. Hidden tests, public probes and
    misconceptions are added by hand; docs/authors.md walks through it.
    """
    folder = find_course(course)
    intro = _INTRO.format(
        kind="Question" if question else "Exercise",
        number="{number}",
        title=title,
        difficulty=difficulty,
        minutes=minutes,
        s="" if minutes == 1 else "s",
        points=points,
        ss="" if points == 1 else "s",
    )
    add_exercise(folder, assignment, name, intro, solution.read_text("utf-8"), points)
    path = folder / "source" / assignment / f"{assignment}.ipynb"
    console.print(f"{path} has the exercise {name}", markup=False, highlight=False, soft_wrap=True)


def add_exercise(
    course: Path, assignment: str, name: str, intro: str, solution: str, points: float
) -> None:
    """Write the exercise's three cells into the source notebook.

    Args:
        intro: the first cell's text; `{number}` in it becomes the exercise's number.

    Raises:
        CourseError: the name is taken or no name, or the solution is not marked as one.
    """
    known = load_assignment(course, assignment).exercises
    if not name.isidentifier():
        raise CourseError(f"{name!r} cannot be a name: letters, digits and _ can")
    if name in known:
        raise CourseError(f"{assignment} has an exercise {name!r} already")
    if "### BEGIN SOLUTION" not in solution or "### END SOLUTION" not in solution:
        raise CourseError("put ### BEGIN SOLUTION and ### END SOLUTION around the answer")
    path = course / "source" / assignment / f"{assignment}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    numbers = [int(n) for cell in notebook.cells for n in _NUMBER.findall(cell.source)]
    graded = [
        index
        for index, cell in enumerate(notebook.cells)
        if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    place = graded[-1] + 1
    notebook.cells[place:place] = [
        _cell("markdown", f"{name}-intro", intro.replace("{number}", f"{max(numbers) + 1}")),
        _cell("code", f"{name}-solution", solution.strip(), _marks(name, solution=True)),
        _cell("code", f"{name}-test", _TEST.format(name=name), _marks(f"test_{name}", points)),
    ]
    path.write_text(nbformat.writes(notebook) + "\n", "utf-8")


def _marks(grade_id: str, points: float | None = None, solution: bool = False) -> dict[str, object]:
    """nbgrader's metadata of a solution cell, or of a test cell with its points."""
    marks: dict[str, object] = {
        "grade": not solution,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        marks["points"] = int(points) if points == int(points) else points
    return {"nbgrader": dict(sorted(marks.items()))}


def _cell(
    kind: str, id: str, source: str, metadata: dict[str, object] | None = None
) -> NotebookNode:
    make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    cell: NotebookNode = make(source, id=id, metadata=metadata or {})
    return cell


if __name__ == "__main__":
    main()
