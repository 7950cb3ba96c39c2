"""Commands for authors: new courses and exercises, generated files, the audit."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from ..course_folder.course import Course
from ..terminal import AssignmentErrors, course_option, echo, errors, report_errors
from .defects import print_defects, solution_defects
from .grading import progress_bar, workers_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", help="What the course is called; by default what its folder is called.")
@click.option("--like", help="A recipe, which makes its assignment: sql, numpy, files and more.")
@report_errors
def new(folder: Path, title: str | None, like: str | None) -> None:
    """Make a course in FOLDER that works: one assignment, its exercises, hidden tests."""
    from ..authoring.new_course import make_course

    made = make_course(folder, title or folder.resolve().name, like or "")
    echo(f"{made} is a course. Next: cd {shlex.quote(str(folder))} && autograder audit")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--title", help="What the course is called; by default what its folder is called.")
@report_errors
def adopt(folder: Path, title: str | None) -> None:
    """Make the nbgrader course in FOLDER one that is graded here, and leave its notebooks alone.

    It writes course.toml, from what the notebooks import and read, adds our steps to
    nbgrader_config.py, and grades every solution in the sandbox. Ends with status 1 if something is
    open.
    """
    from ..authoring import adopting

    with errors.status("trying the solutions"):
        done = adopting.adopt(folder, title or folder.resolve().name)
    for path in done.wrote:
        echo(f"{path} is written")
    for line in done.seen:
        echo(line)
    for each in done.open:
        echo(f"autograder: {each}", "red", errors)
    if done.open:
        echo(f"{len(done.open)} open. Settle them in {folder}, and run the same command again.")
        sys.exit(1)
    text = f"{folder} is in order: each solution passes its {done.tests} test cells in the sandbox."
    echo(text, "green")


@click.command("new-assignment")
@click.argument("name")
@course_option
@report_errors
def new_assignment(name: str, course: Course) -> None:
    """Add an assignment without exercises to the course: a notebook, and a file for its tests."""
    from ..authoring.new_course import add_assignment

    for path in add_assignment(course, name):
        echo(path)
    quoted = shlex.quote(name)
    echo(f"Next: autograder new-exercise {quoted} EXERCISE --title … --points … --solution FILE")


@click.command("new-exercise")
@click.argument("assignment")
@click.argument("name")
@click.option("--title", required=True, help="What the heading calls it.")
@click.option("--points", type=float, required=True)
@click.option("--difficulty", type=click.IntRange(1, 5), default=2, show_default=True)
@click.option("--minutes", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--question", is_flag=True, help="It is answered with a letter or a number.")
@click.option("--manual", is_flag=True, help="It is answered with a text, which a person marks.")
@click.option(
    "--solution",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="The solution cell, with ### BEGIN SOLUTION and ### END SOLUTION around the answer.",
)
@course_option
@report_errors
def new_exercise(
    assignment: str,
    name: str,
    title: str,
    points: float,
    difficulty: int,
    minutes: int,
    question: bool,
    manual: bool,
    solution: Path,
    course: Course,
) -> None:
    """Add the exercise NAME to the source notebook of ASSIGNMENT, after its last exercise.

    It adds a heading, the solution cell and the test cell, and begins the file of its examples and
    misconceptions. These and hidden tests are written by hand; docs/authors.md walks through it.
    """
    from ..authoring.new_exercise import add_exercise, intro

    head = intro(course, title, points, difficulty, minutes, question)
    add_exercise(course, assignment, name, head, solution.read_text("utf-8"), points, manual)
    echo(f"{course.source / assignment / f'{assignment}.ipynb'} has the exercise {name}")


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@course_option
@report_errors
def tables(assignments: tuple[str, ...], course: Course) -> None:
    """Make the tables of the visible checks again, by default for all assignments.

    A table holds the results of the public examples on the solution and on each known mistake.
    """
    from ..authoring.release import copy_beside
    from ..judging.check_tables import write_table

    for name in course.require_hidden_tests(assignments):
        echo(write_table(course, name))
        copy_beside(course, name)


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@click.option("--solutions", is_flag=True, help="Make the executed solution notebooks instead.")
@course_option
@report_errors
def release(assignments: tuple[str, ...], solutions: bool, course: Course) -> None:
    """Make the release notebooks again from those in source/, by default for all assignments.

    They are what `nbgrader generate_assignment` makes, and the same each time; no gradebook is
    touched. The reference solution is graded once for each version; if it does not pass its own
    hidden tests, the release is there, and the status is 1.
    """
    from ..authoring.release import write
    from ..course_folder.release import RELEASE, SOLUTIONS
    from ..judging.grader import Grader
    from ..pipeline.workers import OneProcess

    chosen = assignments or course.source_names()
    for name in chosen:
        for notebook in course.notebooks_of(name) or [course.source_of(name).stem]:
            each = f"{course.notebook_path(name).folder}/{notebook}"
            echo(write(course, SOLUTIONS if solutions else RELEASE, each))
    if not solutions:
        names = [part for name in chosen for part in course.parts_of(name)]
        with Grader(course, course.key) as grader:
            check = OneProcess(grader).check_solutions
            print_defects(solution_defects(check, AssignmentErrors(names)).values())


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@workers_option
@click.option("--seed", default="audit", show_default=True, help="What is drawn depends on it.")
@click.option("--case", "case_id", help="Judge this case alone and print all about it.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.option(
    "--page",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Write the table into this page, between its markers.",
)
@course_option
@report_errors
def audit(
    assignments: tuple[str, ...],
    workers: int,
    seed: str,
    case_id: str | None,
    as_json: bool,
    page: Path | None,
    course: Course,
) -> None:
    """Run the grading tests on every known mistake and every accepted solution.

    Without ASSIGNMENT, of all assignments. Ends with status 1 if the tests pass a wrong answer,
    misname it, or fail a right one.
    """
    from ..authoring.audit.command import audit_all, audit_one

    names = course.require_hidden_tests(assignments)
    if case_id is not None:
        passed = audit_one(course, names, seed, case_id)
    else:
        with progress_bar() as progress:
            passed = audit_all(course, names, seed, workers, progress, as_json, page)
    sys.exit(not passed)


COMMANDS = (new, adopt, new_assignment, new_exercise, tables, release, audit)
