"""The command with which people mark written answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from ..course_folder.course import Course
from ..errors import CourseError
from ..terminal import course_option, echo, report_errors
from ..texts import visible

if TYPE_CHECKING:
    from ..marking.answers import Answers


@click.command()
@click.argument("assignment")
@click.option("--port", default=0, help="Where to listen, on this machine alone; by default any.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page in a browser.")
@click.option(
    "--asked",
    nargs=3,
    metavar="STUDENT EXERCISE WORDS",
    help="Enter what a student asked about a mark, by mail for example; opens no page.",
)
@click.option("--yes", is_flag=True, help="Store marks that a changed rubric moves unasked.")
@course_option
@report_errors
def mark(
    assignment: str,
    port: int,
    browser: bool,
    asked: tuple[str, str, str] | None,
    yes: bool,
    course: Course,
) -> None:
    """Mark the answers in ASSIGNMENT that a person marks: one exercise, all students, no names.

    A page on this machine shows one answer after another, in an order drawn for each question.
    Points and comments go to nbgrader's gradebook, and who gave what to the record. Ctrl-C ends it.
    If the rubric has changed since marks were given, it first reports which ones have a changed
    item, and asks whether to store their new points.
    """
    import asyncio
    import secrets
    import webbrowser

    from tornado.netutil import bind_sockets

    from ..gradebook.by_hand import person
    from ..marking.answer_pages import Marking, application

    marking, token = Marking(course, [assignment]), secrets.token_urlsafe(24)
    answers = marking.classes[assignment]
    if asked is not None:
        answers.ask(person(), *asked)
        echo(visible(f"{asked[0]} asks for another look at {asked[1]}: it comes first now"))
        return
    if not (answers.exercises or answers.rubrics() or answers.asks()):
        raise CourseError(f"{assignment} has no exercise that a person marks")
    _recount(answers, person(), yes)
    sockets = bind_sockets(port, "127.0.0.1")
    address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/?token={token}"

    async def run() -> None:
        from tornado.httpserver import HTTPServer

        HTTPServer(application(marking, token, person())).add_sockets(sockets)
        echo(f"Mark {assignment} at {address} until Ctrl-C")
        if browser:
            webbrowser.open(address)
        await asyncio.Event().wait()

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        echo("All marks are stored.")


def _recount(answers: Answers, who: str, yes: bool) -> None:
    """Report the marks that a changed rubric moves, and store their new points if a person agrees.

    Args:
        who: the person's name, for the record.
        yes: whether to store them without asking.
    """
    from ..marking.recount import changed_marks, store

    if not (found := changed_marks(answers)):
        return
    echo("The rubric has changed since marks were given:")
    counts = Counter((mark.exercise, change) for mark in found for change in mark.changes)
    for (exercise, change), number in counts.items():
        echo(f"{exercise}, {change}: {number} student{'s' * (number > 1)}")
    for mark in found:
        if adjust := mark.typed["adjust"]:
            before, now = mark.points
            text = f"{mark.student}, {mark.exercise}: {before:g} → {now:g}"
            echo(visible(f"{text}, which a person had adjusted by {adjust:+g}"))
    moved = sum(before != now for before, now in (mark.points for mark in found))
    echo(f"marks with these items: {len(found)}, with other points now: {moved}")
    if not yes and not click.confirm("Store the new points?"):
        echo("All marks are as they were.")
        return
    left = [mark for mark in found if not store(answers, mark, who)]
    echo(f"marks stored: {len(found) - len(left)}")
    for mark in left:
        echo(visible(f"{mark.student}, {mark.exercise}: not stored: somebody has just changed it"))


COMMANDS = [mark]
