"""Commands for authors: new exercises, generated files, the lesson, a hub."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from ..course_folder.assignments import find_course, parts_of, require_hidden_tests
from ..terminal import EachAssignment, course_option, errors, for_people, say
from .flaws import print_flaws, rehearsed


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@course_option
@for_people
def tables(assignments: tuple[str, ...], course: Path | None) -> None:
    """Make the tables of the visible checks again, by default for all assignments.

    A table holds the results of the public probes on the solution and on each known mistake.
    """
    from ..authoring.release import copy_beside
    from ..judging.check_tables import write_table

    folder = find_course(course)
    for name in require_hidden_tests(folder, assignments):
        say(write_table(folder, name))
        copy_beside(folder, name)


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@click.option("--solutions", is_flag=True, help="Make the executed solution notebooks instead.")
@course_option
@for_people
def release(assignments: tuple[str, ...], solutions: bool, course: Path | None) -> None:
    """Make the release notebooks again from those in source/, by default for all assignments.

    They are what `nbgrader generate_assignment` makes, and the same each time; no gradebook is
    touched. The model solution is graded once for each version; if it does not pass its own hidden
    tests, the release is there, and the status is 1.
    """
    from ..authoring.release import source_names, write

    folder = find_course(course)
    chosen = assignments or source_names(folder)
    names = [part for name in chosen for part in parts_of(folder, name)]
    for name in names:
        say(write(folder, "solutions" if solutions else "release", name))
    if not solutions:
        print_flaws(rehearsed(folder, EachAssignment(names)).values())


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@course_option
@for_people
def lesson(folder: Path, assignments: tuple[str, ...], course: Path | None) -> None:
    """Write the lesson and the slides into FOLDER, as pages for the browser.

    Assignments that are named have their notebooks beside FOLDER, and the pages lead to them.
    """
    from ..delivery.lesson.site import build

    pages = build(find_course(course), folder, assignments)
    say(f"{len(pages)} pages; begin with {pages[0]}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", help="What the course is called; by default what its folder is called.")
@click.option("--like", help="A recipe, which makes its assignment: sql, numpy, files and more.")
@for_people
def new(folder: Path, title: str | None, like: str | None) -> None:
    """Make a course in FOLDER that works: one assignment, its exercises, hidden tests."""
    from ..authoring.new_course import make_course

    made = make_course(folder, title or folder.resolve().name, like or "")
    say(f"{made} is a course. Next: cd {shlex.quote(str(folder))} && autograder audit")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--title", help="What the course is called; by default what its folder is called.")
@for_people
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
        say(f"{path} is written")
    for line in done.seen:
        say(line)
    for each in done.open:
        say(f"autograder: {each}", "red", errors)
    if done.open:
        say(f"{len(done.open)} open. Settle them in {folder}, and run the same command again.")
        sys.exit(1)
    text = f"{folder} is in order: each solution passes its {done.tests} test cells in the sandbox."
    say(text, "green")


@click.command("new-assignment")
@click.argument("name")
@course_option
@for_people
def new_assignment(name: str, course: Path | None) -> None:
    """Add an assignment without exercises to the course: a notebook, and a file for its tests."""
    from ..authoring.new_course import add_assignment

    for path in add_assignment(find_course(course), name):
        say(path)
    quoted = shlex.quote(name)
    say(f"Next: autograder new-exercise {quoted} EXERCISE --title … --points … --solution FILE")


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
@for_people
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
    course: Path | None,
) -> None:
    """Add the exercise NAME to the source notebook of ASSIGNMENT, after its last exercise.

    It adds a heading, the solution cell and the test cell, and begins the file of its probes and
    misconceptions. These and hidden tests are written by hand; docs/authors.md walks through it.
    """
    from ..authoring.new_exercise import add_exercise, intro

    folder = find_course(course)
    head = intro(folder, title, points, difficulty, minutes, question)
    add_exercise(folder, assignment, name, head, solution.read_text("utf-8"), points, manual)
    say(f"{folder / 'source' / assignment / f'{assignment}.ipynb'} has the exercise {name}")


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the hub keeps everything; by default artefacts/hub in the course folder.",
)
@click.option("--port", default=8000, show_default=True, help="The first of four free ports.")
@click.option(
    "--student",
    "students",
    multiple=True,
    help="A student's name; give it once for each. By default ada, blaise and carl, for a trial.",
)
@click.option(
    "--assignment",
    "names",
    multiple=True,
    help="An assignment that a new course begins with; by default all.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings of JupyterHub that come after this hub's own: another login, above all.",
)
@course_option
@for_people
def hub(
    folder: Path | None,
    port: int,
    students: tuple[str, ...],
    names: tuple[str, ...],
    config: Path | None,
    course: Path | None,
) -> None:
    """Start a JupyterHub for the course on this machine alone, for a trial.

    With --config it is a hub of your own, and your settings say who may log in.
    """
    from ..delivery.hub.starting import start

    clone = find_course(course)
    if not students and config is None:
        students = ("ada", "blaise", "carl")
    start(clone, folder or clone / "artefacts" / "hub", port, students, names, config)


COMMANDS = (tables, release, lesson, new, adopt, new_assignment, new_exercise, hub)
