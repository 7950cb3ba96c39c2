"""The `autograder` command: the group of all commands."""

from __future__ import annotations

import click

from .. import log
from . import authoring, backup, grading, lms, results, serving, students, trying


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="oneway-autograder")
@click.option(
    "--log-level",
    type=click.Choice(log.LEVELS),
    default="warning",
    show_default=True,
    help="From which level on to log to stderr; with debug, each mark can be followed.",
)
def main(log_level: str) -> None:
    """Grade the notebooks of a course: student code in a sandbox, verdicts outside it."""
    log.set_level(log_level)


for part in (authoring, backup, grading, lms, results, serving, students, trying):
    for command in part.COMMANDS:
        main.add_command(command)


if __name__ == "__main__":
    main()
