"""Commands for a first look: a sample class, and a look at the machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.text import Text

from ..course_folder.assignments import find_course
from ..terminal import console, course_option, for_people, print_json, say


@click.command()
@click.argument("assignment", required=False)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the sample course; a new temporary folder by default.",
)
@course_option
@for_people
def demo(assignment: str | None, folder: Path | None, course: Path | None) -> None:
    """Run a sample class through the whole pipeline in a scratch folder.

    Without ASSIGNMENT, on the first one that has hidden tests.
    """
    from .demo import run_demo

    run_demo(find_course(course), assignment, folder)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@course_option
@for_people
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
                say(f"    {finding.remedy}")
    if any(finding.needed and not finding.fine for finding in findings):
        sys.exit(1)


COMMANDS = (demo, doctor)
