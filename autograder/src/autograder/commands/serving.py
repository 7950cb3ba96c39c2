"""Commands about servers: the service that grades on arrival, and a JupyterHub."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from ..course_folder.course import Course
from ..terminal import course_option, echo, report_errors


@click.command()
@click.option("--address", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8010, show_default=True, help="Where to listen.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="one a processor",
    help="How many attempts are graded at the same time.",
)
@click.option(
    "--instructor",
    "instructors",
    multiple=True,
    default=("instructor",),
    show_default=True,
    help="Who sees the class; on a hub a user's name. Give it once for each.",
)
@click.option(
    "--grader",
    "graders",
    multiple=True,
    help="Who marks answers and sees nothing else; on a hub a user's name. Give it once for each.",
)
@course_option
@report_errors
def serve(
    address: str,
    port: int,
    workers: int,
    instructors: tuple[str, ...],
    graders: tuple[str, ...],
    course: Course,
) -> None:
    """Grade submissions as they arrive, and return the feedback at once.

    They arrive in nbgrader's exchange, or are uploaded on a page. Feedback is there for nbgrader's
    *Fetch Feedback* and on that page, as [service] in course.toml says. A JupyterHub that starts
    this as its service says who people are; without one, each student has a secret link.
    """
    from ..service.listening import open_sockets, passed_sockets, supervise

    hub = os.environ.get("JUPYTERHUB_SERVICE_URL")
    if not (sockets := passed_sockets()):
        where = urlsplit(hub or "")
        supervise(open_sockets(where.hostname or address, where.port or port))
        return
    from ..service.serving import CHANGED, serve

    why = serve(course, sockets, workers, [*instructors], [*graders], on_hub=hub is not None)
    if why == CHANGED:
        # This process ends, and the supervisor starts another one, which reads the course anew.
        echo("The course has changed: the service restarts.")
    if not why:
        sys.exit(1)


@click.command()
@click.option(
    "--url",
    default="http://127.0.0.1:8010",
    show_default=True,
    help="Where students reach the service.",
)
@click.option(
    "--renew", multiple=True, metavar="STUDENT", help="Make this student's old link invalid."
)
@course_option
@report_errors
def links(url: str, renew: tuple[str, ...], course: Course) -> None:
    """Print each student's secret link to the service, as CSV for a mail program.

    Anyone with a link can hand in and read feedback as its student.
    """
    from ..pages.csv_cells import csv_text
    from ..service.serving import links

    rows = links(course, url, [*renew])
    click.echo(csv_text([("student", "email", "link"), *rows]), nl=False)


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the hub keeps everything; by default ~/autograder-hub.",
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
@report_errors
def hub(
    folder: Path | None,
    port: int,
    students: tuple[str, ...],
    names: tuple[str, ...],
    config: Path | None,
    course: Course,
) -> None:
    """Start a JupyterHub for the course on this machine alone, for a trial.

    With --config it is a hub of your own, and your settings say who may log in.
    """
    from ..hub.starting import start

    if not students and config is None:
        students = ("ada", "blaise", "carl")
    start(course, folder or Path.home() / "autograder-hub", port, students, names, config)


COMMANDS = (serve, links, hub)
