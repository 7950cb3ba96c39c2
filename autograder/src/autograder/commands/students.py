"""Commands for students who leave a class, come back, or have another id."""

from __future__ import annotations

import click

from ..course_folder.course import Course
from ..terminal import course_option, echo, report_errors


@click.group()
def student() -> None:
    """Take a student out of the class or back in, or move submissions to another id."""


@student.command()
@click.argument("student")
@course_option
@report_errors
def withdraw(student: str, course: Course) -> None:
    """Take STUDENT out of the class: move all rows and files of the student to withdrawn/."""
    from ..pipeline.register import Register

    with Register(course) as register:
        aside = register.withdraw(student)
    echo(f"{student} has left; {aside} holds marks and files. `autograder student enrol` undoes it")


@student.command()
@click.argument("student")
@course_option
@report_errors
def enrol(student: str, course: Course) -> None:
    """Take STUDENT, who was withdrawn, back in with all marks, comments and files."""
    from ..pipeline.register import Register

    with Register(course) as register:
        left = register.enrol(student)
    echo(f"{student} is back")
    if left:
        echo(f"Handed in again meanwhile, so the former one stays in withdrawn/: {', '.join(left)}")


@student.command()
@click.argument("old")
@click.argument("new")
@course_option
@report_errors
def rename(old: str, new: str, course: Course) -> None:
    """Give the student OLD the id NEW, which is not taken yet."""
    _move(course, old, new, merge=False)


@student.command()
@click.argument("old")
@click.argument("new")
@course_option
@report_errors
def merge(old: str, new: str, course: Course) -> None:
    """Move the submissions of the student OLD, who is the same person, to NEW.

    If both submitted an assignment, NEW keeps its own; OLD's is moved to withdrawn/.
    """
    _move(course, old, new, merge=True)


def _move(course: Course, old: str, new: str, merge: bool) -> None:
    from ..lms.importing import move_records
    from ..pipeline.register import Register
    from ..service.attempts import Attempts

    with Register(course) as register:
        both = register.move(old, new, merge)
        move_records(course, old, new)
        if Attempts.exist_in(course):
            attempts = Attempts(course)
            attempts.move(old, new)
            attempts.close()
    echo(f"{new} has what {old} had")
    if both:
        echo(f"Handed in under both ids, so that of {old} is in withdrawn/: {', '.join(both)}")


COMMANDS = (student,)
