"""Commands of the service that grades on arrival."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..course_folder.assignments import find_course
from ..terminal import course_option, for_people, say


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
@course_option
@for_people
def serve(
    address: str, port: int, workers: int, instructors: tuple[str, ...], course: Path | None
) -> None:
    """Grade submissions as they arrive, and return the feedback at once.

    They arrive in nbgrader's exchange, or are uploaded on a page. Feedback is there for nbgrader's
    *Fetch Feedback* and on that page, as [service] in course.toml says. A JupyterHub that starts
    this as its service says who people are; without one, each student has a secret link.
    """
    from ..delivery.service.serving import CHANGED, serve

    on_hub = "JUPYTERHUB_SERVICE_PREFIX" in os.environ
    why = serve(find_course(course), address, port, workers, [*instructors], on_hub)
    if why == CHANGED:
        # A new process holds nothing of the course as it was before the change.
        say("The course has changed: the service restarts.")
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, "-m", "autograder", *sys.argv[1:]])
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
@for_people
def links(url: str, renew: tuple[str, ...], course: Path | None) -> None:
    """Print each student's secret link to the service, as CSV for a mail program.

    Anyone with a link can hand in and read feedback as its student.
    """
    from ..delivery.service.serving import links
    from ..pages.csv_cells import csv_text

    rows = links(find_course(course), url, [*renew])
    click.echo(csv_text([("student", "email", "link"), *rows]), nl=False)


COMMANDS = (serve, links)
