"""Commands that back up the data of a course, and restore it."""

from __future__ import annotations

from pathlib import Path

import click

from ..course_folder.course import Course
from ..terminal import course_option, echo, report_errors


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@course_option
@report_errors
def backup(file: Path, course: Course) -> None:
    """Write gradebook, key, submissions and attempts into FILE, a .tar.gz.

    Grading and the service may go on meanwhile. FILE appears once it is complete. It holds the
    course's key and everybody's work: keep it where you keep these.
    """
    from ..backup import back_up

    echo(f"{file} holds {', '.join(back_up(course, file))}")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Set aside what is there; else it is an error.")
@course_option
@report_errors
def restore(file: Path, replace: bool, course: Course) -> None:
    """Put what `backup` wrote into FILE in its place. End the service and the formgrader before."""
    from ..backup import restore as put_back

    aside = put_back(course, file, replace)
    echo(f"{file} is restored" + (f"; what was there is in {aside}" if aside else ""))


COMMANDS = (backup, restore)
