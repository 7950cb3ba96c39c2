"""The `autograder` command: whole jobs for instructors."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from .assignments import CourseError, find_course
from .report import Report
from .sandbox import SandboxUnavailable

console = Console()
errors = Console(stderr=True)

_STYLES = {"passed": "green", "partial": "yellow", "manual": "blue"}


def _for_people(command: Callable[..., Any]) -> Callable[..., Any]:
    """A user's mistake, or a machine that lacks something, is told in a sentence."""

    @wraps(command)
    def told(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (CourseError, SandboxUnavailable) as error:
            errors.print(f"autograder: {error}", style="red", highlight=False, markup=False)
            sys.exit(2)
        except KeyboardInterrupt:
            errors.print("autograder: stopped; what was graded so far is stored")
            sys.exit(130)

    return told


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="autograder")
def main() -> None:
    """Grade the autograd course: student code in a sandbox, verdicts outside it."""


_course = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The course folder; by default the one you are in.",
)


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--assignment", help="Which assignment it is; by default found from its cells.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@_course
@_for_people
def check(notebook: Path, assignment: str | None, as_json: bool, course: Path | None) -> None:
    """Grade one filled NOTEBOOK, touching no gradebook.

    Ends with status 1 where nothing in the file could be graded.
    """
    from .grading import Grader
    from .keys import course_key
    from .notebooks import UnreadableNotebook
    from .submissions import grade_file

    folder = find_course(course)
    with Grader(folder, course_key(folder)) as grader:
        try:
            with errors.status("grading"):
                _, report = grade_file(grader, notebook, assignment)
        except UnreadableNotebook as error:
            if as_json:
                click.echo(json.dumps({"error": str(error)}))
            errors.print(f"autograder: {error}", style="red", highlight=False, markup=False)
            sys.exit(1)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        _print_report(report)


def _print_report(report: Report) -> None:
    table = Table(title=f"{report.assignment}: {report.score:g} of {report.max_score:g} points")
    table.add_column("exercise")
    table.add_column("points", justify="right")
    table.add_column("status")
    table.add_column("what was found")
    for result in report.exercises:
        points = "—" if result.points is None else f"{result.points:g}"
        found = "\n\n".join(part for part in (result.message, result.note) if part)
        table.add_row(
            result.id,
            f"{points} / {result.max_points:g}",
            Text(result.status.replace("_", " "), style=_STYLES.get(result.status, "red")),
            Text(found),
        )
    console.print(table)
    for note in report.notes:
        console.print(note, markup=False, highlight=False)
    console.print(f"seed {report.seed}", style="dim")


@main.command()
@click.argument("assignments", nargs=-1, required=True, metavar="ASSIGNMENT...")
@click.option("--student", help="Grade this student's submission alone.")
@click.option("--force", is_flag=True, help="Grade again what is graded and unchanged.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON report a submission.")
@_course
@_for_people
def grade(
    assignments: tuple[str, ...],
    student: str | None,
    force: bool,
    as_json: bool,
    course: Path | None,
) -> None:
    """Grade what was submitted for each ASSIGNMENT and store the marks.

    Submissions that were graded before and have not changed are left alone. Ends with status 1
    where some submission held nothing to grade; the others are graded all the same.
    """
    from .classroom import Classroom
    from .grading import Grader
    from .keys import course_key

    folder = find_course(course)
    unreadable = 0
    with Grader(folder, course_key(folder)) as grader, Classroom(folder, grader, force) as room:
        jobs = [(name, each) for name in assignments for each in room.submissions(name, student)]
        with _progress() as progress:
            task = progress.add_task("grading", total=len(jobs))
            for name, each in jobs:
                progress.update(task, description=f"{name} · {each}")
                for outcome in room.grade(name, [each]):
                    unreadable += outcome.error is not None
                    _tell(progress.console, outcome, as_json)
                progress.advance(task)
    if unreadable:
        sys.exit(1)


def _tell(screen: Console, outcome: Any, as_json: bool) -> None:
    report = outcome.report
    if as_json:
        about = {"student": outcome.student, "skipped": outcome.skipped, "error": outcome.error}
        click.echo(json.dumps({**about, **(report.as_json() if report else {})}))
    elif outcome.skipped:
        screen.print(f"{outcome.student}: graded before, unchanged", style="dim", highlight=False)
    elif outcome.error:
        screen.print(f"{outcome.student}: {outcome.error}", style="red", markup=False)
    elif report is not None:
        wrong = [r for r in report.exercises if r.status not in ("passed", "manual")]
        told = ", ".join(f"{r.id} {r.misconception or r.status}" for r in wrong)
        line = f"{outcome.student}: {report.score:g} / {report.max_score:g}"
        screen.print(line + (f"  ({told})" if told else ""), markup=False, highlight=False)
        for note in report.notes:
            screen.print(f"  {note}", markup=False, highlight=False)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
    )


@main.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the sample course; a new temporary folder by default.",
)
@_course
@_for_people
def demo(folder: Path | None, course: Path | None) -> None:
    """Run a sample class through the whole pipeline in a scratch folder."""
    from .demo import run_demo

    run_demo(find_course(course), folder, console)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@_course
def doctor(as_json: bool, course: Path | None) -> None:
    """Say what is missing on this machine, and the command that mends it."""
    from .doctor import examine

    findings = examine(course)
    if as_json:
        click.echo(json.dumps([vars(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            mark = "✓" if finding.fine else ("✗" if finding.needed else "!")
            style = "green" if finding.fine else ("red" if finding.needed else "yellow")
            console.print(Text(f"{mark} ", style=style) + Text(f"{finding.what}: {finding.found}"))
            if finding.remedy:
                console.print(f"    {finding.remedy}", markup=False, highlight=False)
    if any(finding.needed and not finding.fine for finding in findings):
        sys.exit(1)


if __name__ == "__main__":
    main()
