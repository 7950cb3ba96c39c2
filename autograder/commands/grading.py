"""Commands that grade: one notebook, a class, a class again, and the audit's cases."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..course_folder.assignments import find_course, parts_of, require_hidden_tests
from ..course_folder.settings import LAST, load_settings
from ..errors import CourseError
from ..model import Report
from ..terminal import EachAssignment, console, course_option, errors, for_people, print_json, say
from ..texts import visible
from .flaws import by_test, print_flaws, rehearsed

if TYPE_CHECKING:
    from ..pipeline.classroom import Classroom
    from ..pipeline.workers import Workers

_STYLES = {"passed": "green", "partial": "yellow", "manual": "blue", "ungraded": "blue"}


_assignments_argument = click.argument(
    "assignments", nargs=-1, required=True, metavar="ASSIGNMENT..."
)
_student_option = click.option("--student", help="Grade this student's submission alone.")
_scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on this Dask cluster's workers."
)
_insecure_option = click.option(
    "--insecure", is_flag=True, help="Talk to that cluster without encryption, whoever listens."
)
_workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="one a processor",
    help="How many processes work at the same time.",
)


@click.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--assignment", help="Which assignment it is; by default found from its cells.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@course_option
@for_people
def check(notebook: Path, assignment: str | None, as_json: bool, course: Path | None) -> None:
    """Grade one filled NOTEBOOK, touching no gradebook.

    Ends with status 1 if the file could not be graded, or a hidden test is broken.
    """
    from ..course_folder.key import course_key
    from ..errors import UnreadableNotebook
    from ..judging.grader import Grader
    from ..pipeline.one_submission import grade_file

    folder = find_course(course)
    _print_sandbox(folder)
    with Grader(folder, course_key(folder)) as grader:
        try:
            with errors.status("grading"):
                _, report = grade_file(grader, notebook, assignment)
        except UnreadableNotebook as error:
            if as_json:
                print_json({"error": str(error)})
            say(f"autograder: {error}", "red", errors)
            sys.exit(1)
    if as_json:
        print_json(report.as_json(), indent=2)
    else:
        _print_report(report)
    print_flaws(report.flaws)


def _print_sandbox(course: Path) -> None:
    """Print the kind of sandbox, if it is not the usual one."""
    from ..wall.kinds import notice

    if text := notice(load_settings(course).sandbox):
        say(f"autograder: {text}", to=errors)


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
    if report.by_hand:
        say(f"A person gives {report.by_hand}.")
    for note in report.notes:
        say(note)
    console.print(f"seed {report.seed}, sandbox {report.sandbox}", style="dim")


@click.command()
@_assignments_argument
@_student_option
@click.option("--force", is_flag=True, help="Grade again what is graded and unchanged.")
@_workers_option
@_scheduler_option
@_insecure_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON report a submission.")
@course_option
@for_people
def grade(
    assignments: tuple[str, ...],
    student: str | None,
    force: bool,
    workers: int,
    scheduler: str | None,
    insecure: bool,
    as_json: bool,
    course: Path | None,
) -> None:
    """Grade what was submitted for each ASSIGNMENT and store the marks.

    Submissions that were graded before and have not changed are left alone. Ends with status 1 if
    some submission could not be graded, or a hidden test is broken; all others are graded all the
    same.
    """
    unreadable, names = 0, _parts(course, assignments)
    each_of = EachAssignment(names)
    hands = _workers(find_course(course), names, workers, scheduler, insecure)
    with _classroom(find_course(course), hands, force) as room, _progress() as progress:
        flaws = rehearsed(find_course(course), each_of)  # The workers warm up meanwhile.
        wanted: dict[str, list[str]] = {}
        for name in each_of.left():
            with each_of.kept(name):
                room.require(name)
                for changed in _chosen(room, find_course(course), room.place(name).folder):
                    say(visible(changed), to=errors)
                wanted[name] = room.submissions(name, student)
        for name in () if student else wanted:
            for text in room.misplaced(name):
                say(text, "red", errors)
        task = progress.add_task("grading", total=sum(map(len, wanted.values())))
        for name, students in wanted.items():
            with each_of.kept(name):
                for outcome in room.grade([(name, each) for each in students]):
                    whose = f"{outcome.assignment} · {visible(outcome.student)}"
                    progress.update(task, description=whose)
                    progress.advance(task)
                    unreadable += outcome.error is not None
                    flaws |= by_test(outcome.report.flaws if outcome.report else [])
                    _print_outcome(outcome, as_json)
    each_of.report()
    print_flaws(flaws.values())
    if unreadable or each_of.failed:
        sys.exit(1)


def _chosen(room: Classroom, course: Path, name: str) -> Iterator[str]:
    """Put the imported attempts that count in their places; yield what changed."""
    if (rule := load_settings(course).counts) == LAST:
        return iter(())
    from ..delivery.lms.choosing import choose

    return choose(room, course, name, rule)


def _parts(course: Path | None, names: Sequence[str]) -> list[str]:
    """Return the names with each part of those that have several notebooks."""
    return [part for name in names for part in parts_of(find_course(course), name)]


@contextmanager
def _classroom(
    course: Path, hands: AbstractContextManager[Workers], force: bool
) -> Iterator[Classroom]:
    with hands as workers:
        from ..pipeline.classroom import Classroom

        with Classroom(course, workers, force) as room:
            yield room


@contextmanager
def _workers(
    course: Path, names: Sequence[str], count: int, scheduler: str | None, insecure: bool
) -> Iterator[Workers]:
    from ..course_folder.key import course_key

    key = course_key(course)
    if scheduler is not None:
        from ..pipeline.cluster import Cluster

        with Cluster(course, key, scheduler, insecure) as cluster:
            yield cluster
        return
    from ..wall import WarmServer
    from ..wall.memory import fitting_workers

    settings = load_settings(course)
    if (fitting := fitting_workers(count, settings.limits)) < count:
        text = f"there is memory for {fitting} of {count} workers, so no more are started"
        say(f"autograder: {text}", to=errors)
        count = fitting
    # Launched before the imports below, so that the servers start meanwhile.
    servers = WarmServer.launched(count, settings.limits, settings.visible, settings.sandbox)
    _print_sandbox(course)
    from ..pipeline.workers import ManyProcesses

    with ManyProcesses(course, key, count, servers, names) as many:
        yield many


def _print_outcome(outcome: Any, as_json: bool) -> None:
    report, student = outcome.report, visible(outcome.student)
    if as_json:
        about = {
            "student": student,
            "skipped": outcome.skipped,
            "error": outcome.error,
            "late_penalty": outcome.penalty,
            "warning": outcome.warning or None,
        }
        print_json({**about, **(report.as_json() if report else {})})
    elif outcome.error:
        say(f"{student}: {visible(outcome.error)}", "red", errors)
    elif outcome.skipped:
        say(f"{student}: graded before, unchanged", "dim", errors)
    elif report is not None:
        wrong = [r for r in report.exercises if r.status not in ("passed", "manual")]
        text = ", ".join(f"{r.id} {r.misconception or r.status}" for r in wrong)
        line = f"{student}: {report.score:g} / {report.max_score:g}"
        line += f"; a person gives {report.by_hand}" if report.by_hand else ""
        line += f", {outcome.penalty:g} off for being late" if outcome.penalty else ""
        line += f"  ({text})" if text else ""
        say(line, to=errors)
        for note in report.notes:
            say(f"  {note}", to=errors)
    if outcome.warning and not as_json:
        say(f"{student}: {outcome.warning}", "yellow", errors)


@click.command()
@_assignments_argument
@_student_option
@click.option("--yes", is_flag=True, help="Store the new marks without asking.")
@_workers_option
@_scheduler_option
@_insecure_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a submission.")
@course_option
@for_people
def regrade(
    assignments: tuple[str, ...],
    student: str | None,
    yes: bool,
    workers: int,
    scheduler: str | None,
    insecure: bool,
    as_json: bool,
    course: Path | None,
) -> None:
    """Grade again what was graded for each ASSIGNMENT, and report whose marks change and why.

    Then it asks whether to store the new marks. Marks and comments that a person gave stay. With
    --json it asks no question, and stores marks only if --yes is given.
    """
    from ..pipeline.regrading import Regrading
    from .results import print_regraded

    names = _parts(course, assignments)
    hands = _workers(find_course(course), names, workers, scheduler, insecure)
    with (
        _classroom(find_course(course), hands, force=True) as room,
        TemporaryDirectory(prefix="autograder-regrade-") as aside,
    ):
        again = Regrading(room, Path(aside))
        each_of = EachAssignment(names)
        flaws = rehearsed(find_course(course), each_of)
        recorded = {}
        for name in each_of.left():
            with each_of.kept(name):
                recorded[name] = again.recorded(name, student)
        if not any(recorded.values()) and not each_of.failed:
            raise CourseError(
                "the record holds no such grading: `autograder grade` grades what was submitted"
            )
        with _progress() as progress:
            task = progress.add_task("grading again", total=sum(map(len, recorded.values())))
            found = []
            for name, entries in recorded.items():
                with each_of.kept(name):
                    for each in again.run(entries):
                        found.append(each)
                        progress.advance(task)
        each_of.report()
        print_regraded(found, as_json)
        is_graded = any(each.now for each in found)
        if is_graded and (yes or (not as_json and click.confirm("Store the new marks?"))):
            stored = [*again.store()]
            failed = {whose: why for whose, why in stored if why}
            for whose, why in failed.items():
                say(visible(f"{whose}: not stored: {why}"), "red", errors)
            say(f"{len(stored) - len(failed)} submissions stored", to=errors)
            if failed:
                sys.exit(1)
        print_flaws(flaws.values())
        if each_of.failed:
            sys.exit(1)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
    )


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@_workers_option
@click.option("--seed", default="audit", show_default=True, help="What is drawn depends on it.")
@click.option("--case", "case_id", help="Judge this case alone and print all about it.")
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
    """Run the grading tests on every known mistake and every accepted solution.

    Without ASSIGNMENT, of all assignments. Ends with status 1 if the tests pass a wrong answer,
    misname it, or fail a right one.
    """
    from ..authoring.audit.command import audit_all, audit_one

    folder = find_course(course)
    names = require_hidden_tests(folder, assignments)
    if case_id is not None:
        passed = audit_one(folder, names, seed, case_id)
    else:
        with _progress() as progress:
            passed = audit_all(folder, names, seed, workers, progress, as_json, page)
    sys.exit(not passed)


COMMANDS = (check, grade, regrade, audit)
