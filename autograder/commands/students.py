"""Commands for students who leave a class, come back, or have another id."""

from __future__ import annotations

from pathlib import Path

import click

from ..course_folder.assignments import find_course
from ..terminal import course_option, for_people, say


@click.group()
def student() -> None:
    """Take a student out of the class or back in, or move submissions to another id."""


@student.command()
@click.argument("student")
@course_option
@for_people
def withdraw(student: str, course: Path | None) -> None:
    """Take STUDENT out of the class: move all rows and files of the student to withdrawn/."""
    from ..pipeline.register import Register

    with Register(find_course(course)) as register:
        aside = register.withdraw(student)
    say(f"{student} has left; {aside} holds marks and files. `autograder student enrol` undoes it")


@student.command()
@click.argument("student")
@course_option
@for_people
def enrol(student: str, course: Path | None) -> None:
    """Take STUDENT, who was withdrawn, back in with all marks, comments and files."""
    from ..pipeline.register import Register

    with Register(find_course(course)) as register:
        left = register.enrol(student)
    say(f"{student} is back")
    if left:
        say(f"Handed in again meanwhile, so the former one stays in withdrawn/: {', '.join(left)}")


@student.command()
@click.argument("old")
@click.argument("new")
@course_option
@for_people
def rename(old: str, new: str, course: Path | None) -> None:
    """Give the student OLD the id NEW, which is not taken yet."""
    _move(find_course(course), old, new, merge=False)


@student.command()
@click.argument("old")
@click.argument("new")
@course_option
@for_people
def merge(old: str, new: str, course: Path | None) -> None:
    """Move the submissions of the student OLD, who is the same person, to NEW.

    If both submitted an assignment, NEW keeps its own; OLD's is moved to withdrawn/.
    """
    _move(find_course(course), old, new, merge=True)


def _move(course: Path, old: str, new: str, merge: bool) -> None:
    from ..delivery.lms.importing import pass_on
    from ..delivery.service.attempts import Attempts
    from ..pipeline.register import Register

    with Register(course) as register:
        both = register.move(old, new, merge)
        pass_on(course, old, new)
        if Attempts.are_in(course):
            attempts = Attempts(course)
            attempts.pass_on(old, new)
            attempts.close()
    say(f"{new} has what {old} had")
    if both:
        say(f"Handed in under both ids, so that of {old} is in withdrawn/: {', '.join(both)}")


COMMANDS = (student,)
