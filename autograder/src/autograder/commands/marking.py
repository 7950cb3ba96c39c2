"""The command with which people mark written answers."""

from __future__ import annotations

import click

from ..course_folder.course import Course
from ..errors import CourseError
from ..terminal import course_option, echo, report_errors
from ..texts import visible


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
@course_option
@report_errors
def mark(
    assignment: str, port: int, browser: bool, asked: tuple[str, str, str] | None, course: Course
) -> None:
    """Mark the written answers in ASSIGNMENT: one question, all students, without names.

    A page on this machine shows one answer after another, in an order drawn for each question.
    Points and comments go to nbgrader's gradebook, and who gave what to the record. Ctrl-C ends it.
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
    if not answers.exercises and not answers.asks():
        raise CourseError(f"{assignment} has no exercise that a person marks")
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


COMMANDS = [mark]
