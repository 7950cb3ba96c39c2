"""The `autograder` command: whole jobs for instructors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from . import commands
from .assignments import CourseError, assignment_names, find_course
from .report import Report
from .terminal import console, course_option, errors, for_people

if TYPE_CHECKING:
    from .classroom import Classroom
    from .workers import Workers

_STYLES = {"passed": "green", "partial": "yellow", "manual": "blue"}


def _processors() -> int:
    return len(os.sched_getaffinity(0))


_assignments_argument = click.argument(
    "assignments", nargs=-1, required=True, metavar="ASSIGNMENT..."
)
_student_option = click.option("--student", help="Grade this student's submission alone.")
_scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on this Dask cluster's workers."
)
_workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=_processors,
    show_default="one a processor",
    help="How many processes work at the same time.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="autograder")
def main() -> None:
    """Grade the autograd course: student code in a sandbox, verdicts outside it."""


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--assignment", help="Which assignment it is; by default found from its cells.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@course_option
@for_people
def check(notebook: Path, assignment: str | None, as_json: bool, course: Path | None) -> None:
    """Grade one filled NOTEBOOK, touching no gradebook.

    Ends with status 1 where nothing in the file could be graded.
    """
    from .grading import Grader
    from .intake import UnreadableNotebook
    from .keys import course_key
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
@_assignments_argument
@_student_option
@click.option("--force", is_flag=True, help="Grade again what is graded and unchanged.")
@_workers_option
@_scheduler_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON report a submission.")
@course_option
@for_people
def grade(
    assignments: tuple[str, ...],
    student: str | None,
    force: bool,
    workers: int,
    scheduler: str | None,
    as_json: bool,
    course: Path | None,
) -> None:
    """Grade what was submitted for each ASSIGNMENT and store the marks.

    Submissions that were graded before and have not changed are left alone. Ends with status 1
    where some submission held nothing to grade; the others are graded all the same.
    """
    unreadable = 0
    with _classroom(find_course(course), assignments, workers, scheduler, force) as room:
        wanted = [(name, each) for name in assignments for each in room.submissions(name, student)]
        with _progress() as progress:
            for name in () if student else assignments:
                for told in room.misplaced(name):
                    progress.console.print(told, style="red", markup=False, soft_wrap=True)
            task = progress.add_task("grading", total=len(wanted))
            for outcome in room.grade(wanted):
                progress.update(task, description=f"{outcome.assignment} · {outcome.student}")
                progress.advance(task)
                unreadable += outcome.error is not None
                _tell(progress.console, outcome, as_json)
    if unreadable:
        sys.exit(1)


@contextmanager
def _classroom(
    course: Path, names: Sequence[str], count: int, scheduler: str | None, force: bool
) -> Iterator[Classroom]:
    with _workers(course, names, count, scheduler) as hands:
        from .classroom import Classroom

        with Classroom(course, hands, force) as room:
            yield room


@contextmanager
def _workers(
    course: Path, names: Sequence[str], count: int, scheduler: str | None
) -> Iterator[Workers]:
    from .keys import course_key

    key = course_key(course)
    if scheduler is not None:
        try:
            from .cluster import Cluster
        except ImportError as error:
            raise CourseError(
                "grading on a cluster needs Dask: `pip install 'autograder[cluster]'`"
            ) from error
        with Cluster(course, key, scheduler) as cluster:
            yield cluster
        return
    from .sandbox import WarmServer

    servers = WarmServer.launched(count)  # The rest is imported meanwhile.
    from .grading import Grader
    from .workers import ManyProcesses, OneProcess, collect_seldom, prepare

    if count == 1:
        with Grader(course, key) as grader:
            grader.use(servers[0])
            prepare(grader, names)
            collect_seldom()
            yield OneProcess(grader)
    else:
        with ManyProcesses(course, key, count, servers, names) as many:
            yield many


def _tell(screen: Console, outcome: Any, as_json: bool) -> None:
    report = outcome.report
    if as_json:
        about = {
            "student": outcome.student,
            "skipped": outcome.skipped,
            "error": outcome.error,
            "late_penalty": outcome.penalty,
        }
        click.echo(json.dumps({**about, **(report.as_json() if report else {})}))
    elif outcome.error:
        told = f"{outcome.student}: {outcome.error}"
        screen.print(told, style="red", markup=False, highlight=False, soft_wrap=True)
    elif outcome.skipped:
        screen.print(f"{outcome.student}: graded before, unchanged", style="dim", highlight=False)
    elif report is not None:
        wrong = [r for r in report.exercises if r.status not in ("passed", "manual")]
        told = ", ".join(f"{r.id} {r.misconception or r.status}" for r in wrong)
        line = f"{outcome.student}: {report.score:g} / {report.max_score:g}"
        line += f", {outcome.penalty:g} off for being late" if outcome.penalty else ""
        line += f"  ({told})" if told else ""
        screen.print(line, markup=False, highlight=False, soft_wrap=True)
        for note in report.notes:
            screen.print(f"  {note}", markup=False, highlight=False)


@main.command()
@_assignments_argument
@_student_option
@click.option("--yes", is_flag=True, help="Store the new marks without asking.")
@_workers_option
@_scheduler_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a submission.")
@course_option
@for_people
def regrade(
    assignments: tuple[str, ...],
    student: str | None,
    yes: bool,
    workers: int,
    scheduler: str | None,
    as_json: bool,
    course: Path | None,
) -> None:
    """Grade again what was graded for each ASSIGNMENT, and say whose marks change and why.

    Then it asks whether to store the new marks. Marks and comments that a person gave stay. With
    --json nothing is asked, and nothing stored unless --yes is given.
    """
    from .commands import tell_regraded
    from .regrading import Regrading

    with (
        _classroom(find_course(course), assignments, workers, scheduler, force=True) as room,
        TemporaryDirectory(prefix="autograder-regrade-") as aside,
    ):
        again = Regrading(room, Path(aside))
        recorded = [entry for name in assignments for entry in again.recorded(name, student)]
        if not recorded:
            raise CourseError(
                "the record holds no such grading: `autograder grade` grades what was submitted"
            )
        with _progress() as progress:
            task = progress.add_task("grading again", total=len(recorded))
            found = []
            for each in again.run(recorded):
                found.append(each)
                progress.advance(task)
        tell_regraded(found, as_json)
        is_graded = any(each.now for each in found)
        if is_graded and (yes or (not as_json and click.confirm("Store the new marks?"))):
            stored = len(list(again.store()))
            errors.print(f"{stored} submissions stored", highlight=False)


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
@course_option
@for_people
def demo(folder: Path | None, course: Path | None) -> None:
    """Run a sample class through the whole pipeline in a scratch folder."""
    from .demo import run_demo

    run_demo(find_course(course), folder, console)


@main.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@_workers_option
@click.option("--seed", default="audit", show_default=True, help="What is drawn depends on it.")
@click.option("--case", "case_id", help="Judge this case alone and tell all about it.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.option(
    "--page",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Write the table into this page, between its markers.",
)
@course_option
@for_people
def audit(
    assignments: tuple[str, ...],
    workers: int,
    seed: str,
    case_id: str | None,
    as_json: bool,
    page: Path | None,
    course: Path | None,
) -> None:
    """Hold the grading tests against every known mistake and every accepted solution.

    Without ASSIGNMENT, of all assignments. Ends with status 1 where the tests let something wrong
    pass, misname it, or fail something right.
    """
    from .audit.command import audit_all, audit_one

    folder = find_course(course)
    names = list(assignments) or assignment_names(folder)
    if case_id is not None:
        passed = audit_one(folder, names, seed, case_id, console)
    else:
        with _progress() as progress:
            passed = audit_all(folder, names, seed, workers, progress, console, as_json, page)
    sys.exit(not passed)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@course_option
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


main.add_command(commands.report)
main.add_command(commands.export)
main.add_command(commands.publish)


if __name__ == "__main__":
    main()
