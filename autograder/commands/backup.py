"""Commands that back up the data of a course, and restore it."""

from __future__ import annotations

from pathlib import Path

import click

from ..course_folder.assignments import find_course
from ..terminal import course_option, for_people, say


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@course_option
@for_people
def backup(file: Path, course: Path | None) -> None:
    """Write gradebook, key, submissions and attempts into FILE, a .tar.gz.

    Grading and the service may go on meanwhile. FILE appears once it is complete. It holds the
    course's key and everybody's work: keep it where you keep these.
    """
    from ..delivery.backup import back_up

    say(f"{file} holds {', '.join(back_up(find_course(course), file))}")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Set aside what is there; else it is an error.")
@course_option
@for_people
def restore(file: Path, replace: bool, course: Path | None) -> None:
    """Put what `backup` wrote into FILE in its place. End the service and the formgrader before."""
    from ..delivery.backup import restore as put_back

    aside = put_back(find_course(course), file, replace)
    say(f"{file} is restored" + (f"; what was there is in {aside}" if aside else ""))


COMMANDS = (backup, restore)
