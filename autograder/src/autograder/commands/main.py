"""The `autograder` command: the group of all commands."""

from __future__ import annotations

import click

from .. import log
from . import authoring, backup, grading, lms, machine, marking, publishing, serving, students

GROUPS = {
    "Grading": grading,
    "Marks by people": marking,
    "What students get": publishing,
    "Learning management systems": lms,
    "Students who leave, return or have another id": students,
    "Authors": authoring,
    "Servers": serving,
    "Backup": backup,
    "This machine": machine,
}
"""The file of each group of commands, by its heading in `--help` and in docs/commands.md."""


class Groups(click.Group):
    """Lists its commands under the headings of their groups."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for heading, part in GROUPS.items():
            lines = [
                (f"{command.name:{width}}", command.get_short_help_str(formatter.width - width - 6))
                for command in part.COMMANDS
            ]
            with formatter.section(heading):
                formatter.write_dl(lines)


@click.group(cls=Groups, context_settings={"help_option_names": ["-h", "--help"]})
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


for part in GROUPS.values():
    for command in part.COMMANDS:
        main.add_command(command)


if __name__ == "__main__":
    main()
