"""Commands that try a machine: what is missing on it, and a sample class graded there."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.text import Text

from ..course_folder.course import Course
from ..terminal import console, course_option, echo, folder_option, print_json, report_errors


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@folder_option
@report_errors
def doctor(as_json: bool, course: Path | None) -> None:
    """Report what is missing on this machine, and the command that mends it."""
    from .doctor import examine

    findings = examine(course)
    if as_json:
        print_json([vars(finding) for finding in findings], indent=2)
    else:
        for finding in findings:
            mark = "✓" if finding.fine else ("✗" if finding.needed else "!")
            style = "green" if finding.fine else ("red" if finding.needed else "yellow")
            console.print(Text(f"{mark} ", style=style) + Text(f"{finding.what}: {finding.found}"))
            if finding.remedy:
                echo(f"    {finding.remedy}")
    if any(finding.needed and not finding.fine for finding in findings):
        sys.exit(1)


@click.command()
@click.argument("assignment", required=False)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the sample course; a new temporary folder by default.",
)
@course_option
@report_errors
def demo(assignment: str | None, folder: Path | None, course: Course) -> None:
    """Run a sample class through the whole pipeline in a scratch folder.

    Without ASSIGNMENT, on the first one that has hidden tests.
    """
    from .demo import run_demo

    run_demo(course, assignment, folder)


COMMANDS = (doctor, demo)
