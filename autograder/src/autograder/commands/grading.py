"""Commands that grade one notebook, grade a class, grade a class again, and report on a class."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..course_folder.course import Course
from ..course_folder.settings import LAST
from ..errors import CourseError
from ..records import IN_NOTEBOOK, WEAKER, Report, Status, up_to
from ..terminal import (
    AssignmentErrors,
    console,
    course_option,
    echo,
    errors,
    print_json,
    report_errors,
)
from ..texts import visible
from .defects import by_test, print_defects, solution_defects

if TYPE_CHECKING:
    from ..pipeline.classroom import Classroom
    from ..pipeline.cluster import Cluster
    from ..pipeline.regrading import RegradeResult
    from ..pipeline.workers import ManyProcesses, Workers

_STYLES = {
    Status.PASSED: "green",
    Status.PARTIAL: "yellow",
    Status.MANUAL: "blue",
    Status.UNGRADED: "blue",
}


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
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="one a processor",
    help="How many processes work at the same time.",
)


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
    )


@click.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--assignment", help="Which assignment it is; by default found from its cells.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@course_option
@report_errors
def check(notebook: Path, assignment: str | None, as_json: bool, course: Course) -> None:
    """Grade one filled NOTEBOOK, touching no gradebook.

    Ends with status 1 if the file could not be graded, or a hidden test is broken.
    """
    from ..errors import UnreadableNotebook
    from ..judging.grader import Grader
    from ..pipeline.one_submission import grade_file

    _print_sandbox(course)
    with Grader(course, course.key) as grader:
        try:
            with errors.status("grading"):
                _, report = grade_file(grader, notebook, assignment)
        except UnreadableNotebook as error:
            if as_json:
                print_json({"error": str(error)})
            echo(f"autograder: {error}", "red", errors)
            sys.exit(1)
    if as_json:
        print_json(report.as_json(), indent=2)
    else:
        _print_report(report)
    print_defects(report.defects)


def _print_sandbox(course: Course) -> None:
    """Print the kind of sandbox, if it is not the usual one."""
    from ..sandbox.kinds import notice

    if text := notice(course.settings.sandbox):
        echo(f"autograder: {text}", to=errors)


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
        echo(f"A person gives {report.by_hand}.")
    for note in report.notes:
        echo(note)
    if report.tests == IN_NOTEBOOK:
        echo(WEAKER, "dim")
    console.print(f"seed {report.seed}, sandbox {report.sandbox}", style="dim")


@click.command()
@_assignments_argument
@_student_option
@click.option("--force", is_flag=True, help="Grade again what is graded and unchanged.")
@workers_option
@_scheduler_option
@_insecure_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON report a submission.")
@course_option
@report_errors
def grade(
    assignments: tuple[str, ...],
    student: str | None,
    force: bool,
    workers: int,
    scheduler: str | None,
    insecure: bool,
    as_json: bool,
    course: Course,
) -> None:
    """Grade what was submitted for each ASSIGNMENT and store the marks.

    Submissions that were graded before and have not changed are left alone. Ends with status 1 if
    some submission could not be graded, or a hidden test is broken; all others are graded all the
    same.
    """
    unreadable, is_weaker, names = 0, False, _parts(course, assignments)
    needs: Counter[str] = Counter()
    outdated: Counter[str] = Counter()
    each_of = AssignmentErrors(names)
    with (
        _workers(course, names, workers, scheduler, insecure) as hands,
        _classroom(course, hands, force) as room,
        progress_bar() as progress,
    ):
        defects = solution_defects(hands.check_solutions, each_of)
        from ..judging.solution_check import handed_in_beside, needs_of_answers

        wanted: dict[str, list[str]] = {}
        for name in each_of.left():
            with each_of.isolate(name):
                room.require(name)
                for changed in _chosen(room, course, room.notebook_path(name).folder):
                    echo(visible(changed), to=errors)
                wanted[name] = room.submissions(name, student)
        for name in () if student else wanted:
            for text in room.misplaced(name):
                echo(text, "red", errors)
        task = progress.add_task("grading", total=sum(map(len, wanted.values())))
        for name, students in wanted.items():
            with each_of.isolate(name):
                if len(wanted) > 1 and not as_json:
                    echo(name, "bold", errors)
                for outcome in room.grade([(name, each) for each in students]):
                    whose = f"{outcome.assignment} · {visible(outcome.student)}"
                    progress.update(task, description=whose)
                    progress.advance(task)
                    unreadable += outcome.error is not None
                    outdated[name] += outcome.outdated
                    beside: list[str] = []
                    if outcome.report:
                        is_weaker |= outcome.report.tests == IN_NOTEBOOK
                        defects |= by_test(outcome.report.defects)
                        said = [each.message for each in outcome.report.exercises]
                        needs.update(needs_of_answers(course.assignment(name), said))
                        beside = handed_in_beside(room.folder(name, outcome.student), said)
                    _print_outcome(outcome, as_json)
                    if beside and not as_json:
                        what = visible(", ".join(beside))
                        text = f"  {what} beside the notebook is not read: only the notebook counts"
                        echo(text, "yellow", errors)
    for need, times in needs.items():
        echo(f"autograder: {times} of the answers: {need}, if answers may use it", "yellow", errors)
    for name, times in (+outdated).items():
        text = f"{name} has changed since {times} of these were graded: `autograder regrade {name}`"
        echo(f"autograder: {text} grades them again", "yellow", errors)
    if is_weaker and not as_json:
        echo(WEAKER, "dim", errors)
    each_of.report()
    print_defects(defects.values())
    if unreadable or each_of.failed:
        sys.exit(1)


def _chosen(room: Classroom, course: Course, name: str) -> Iterator[str]:
    """Put the imported attempts that count into submitted/; yield a message on each change.

    Args:
        name: the assignment.
    """
    if (rule := course.settings.counts) == LAST:
        return iter(())
    from ..lms.choosing import choose

    return choose(room, course, name, rule)


def _parts(course: Course, names: Sequence[str]) -> list[str]:
    """Return the names of assignments, with the names of its parts in place of one that has
    parts."""
    return [part for name in names for part in course.parts_of(name)]


@contextmanager
def _classroom(course: Course, workers: Workers, force: bool) -> Iterator[Classroom]:
    # Imported once the workers start.
    from ..pipeline.classroom import Classroom

    with Classroom(course, workers, force) as room:
        yield room


@contextmanager
def _workers(
    course: Course, names: Sequence[str], count: int, scheduler: str | None, insecure: bool
) -> Iterator[ManyProcesses | Cluster]:
    key = course.key
    if scheduler is not None:
        from ..pipeline.cluster import Cluster

        with Cluster(course, key, scheduler, insecure) as cluster:
            yield cluster
        return
    from ..sandbox import ForkServer
    from ..sandbox.memory import fitting_workers

    settings = course.settings
    if (fitting := fitting_workers(count, settings.limits)) < count:
        text = f"there is memory for {fitting} of {count} workers, so no more are started"
        echo(f"autograder: {text}", to=errors)
        count = fitting
    # Launched before the imports below: the fork servers start while Python imports.
    servers = ForkServer.start_fork_servers(
        count, settings.limits, settings.visible, settings.sandbox
    )
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
            "earlier_score": outcome.earlier,
            "warning": outcome.warning or None,
        }
        print_json({**about, **(report.as_json() if report else {})})
    elif outcome.error:
        echo(f"{student}: {visible(outcome.error)}", "red", errors)
    elif outcome.skipped:
        echo(f"{student}: graded before, unchanged", "dim", errors)
    elif report is not None:
        wrong = [r for r in report.exercises if r.status not in (Status.PASSED, Status.MANUAL)]
        text = ", ".join(f"{r.id} {r.misconception or r.status}" for r in wrong)
        line = f"{student}: {outcome.score:g} / {report.max_score:g}"
        if outcome.earlier is not None and outcome.earlier > outcome.score:
            line += f" (was {outcome.earlier:g})"
        line += f"; a person gives {up_to(outcome.unmarked)}" if outcome.unmarked else ""
        line += f"; a person looks again at {', '.join(outcome.again)}" if outcome.again else ""
        line += f", {outcome.penalty:g} off for being late" if outcome.penalty else ""
        line += f"  ({text})" if text else ""
        echo(line, to=errors)
        for note in report.notes:
            echo(f"  {note}", to=errors)
    if outcome.warning and not as_json:
        echo(f"{student}: {outcome.warning}", "yellow", errors)


@click.command()
@_assignments_argument
@_student_option
@click.option("--yes", is_flag=True, help="Store the new marks without asking.")
@workers_option
@_scheduler_option
@_insecure_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a submission.")
@course_option
@report_errors
def regrade(
    assignments: tuple[str, ...],
    student: str | None,
    yes: bool,
    workers: int,
    scheduler: str | None,
    insecure: bool,
    as_json: bool,
    course: Course,
) -> None:
    """Grade again what was graded for each ASSIGNMENT, and report whose marks change and why.

    Then it asks whether to store the new marks. Marks and comments that a person gave stay. With
    --json it asks no question, and stores marks only if --yes is given.
    """
    from ..pipeline.regrading import Regrader

    names = _parts(course, assignments)
    with (
        _workers(course, names, workers, scheduler, insecure) as hands,
        _classroom(course, hands, force=True) as room,
        TemporaryDirectory(prefix="autograder-regrade-") as aside,
    ):
        again = Regrader(room, Path(aside))
        each_of = AssignmentErrors(names)
        defects = solution_defects(hands.check_solutions, each_of)
        recorded = {}
        for name in each_of.left():
            with each_of.isolate(name):
                recorded[name] = again.recorded(name, student)
        if not any(recorded.values()) and not each_of.failed:
            raise CourseError(
                "the record holds no such grading: `autograder grade` grades what was submitted"
            )
        with progress_bar() as progress:
            task = progress.add_task("grading again", total=sum(map(len, recorded.values())))
            found = []
            for name, entries in recorded.items():
                with each_of.isolate(name):
                    for each in again.run(entries):
                        found.append(each)
                        progress.advance(task)
        each_of.report()
        _print_regraded(found, as_json)
        is_graded = any(each.now for each in found)
        if is_graded and (yes or (not as_json and click.confirm("Store the new marks?"))):
            stored = [*again.store()]
            failed = {whose: why for whose, why in stored if why}
            for whose, why in failed.items():
                echo(visible(f"{whose}: not stored: {why}"), "red", errors)
            echo(f"{len(stored) - len(failed)} submissions stored", to=errors)
            if failed:
                sys.exit(1)
        print_defects(defects.values())
        if each_of.failed:
            sys.exit(1)


def _print_regraded(found: list[RegradeResult], as_json: bool) -> None:
    """Print whose marks change and why, and then how many submissions were graded."""
    if as_json:
        for each in found:
            print_json(each.as_json())
        return
    changed = [each for each in found if each.changes]
    for each in sorted(found, key=lambda each: (each.before.assignment, each.before.student)):
        who = visible(f"{each.before.student}, {each.before.assignment}")
        if each.left_alone:
            echo(f"{who}: left alone: {visible(each.left_alone)}")
        elif each.changes or each.again:
            echo("\n".join(_lines(each, who)))
    students = len({each.before.student for each in changed})
    echo(f"{len(found)} graded before, {len(changed)} with other points now ({students} students)")
    if again := sum(len(each.again) for each in found):
        echo(
            f"{again} marks or comments that a person gave wait for another look in the formgrader"
        )


def _lines(each: RegradeResult, who: str) -> list[str]:
    before, now = each.marks
    why = f" → {now:g}, since {'; '.join(each.reasons)}" if each.changes else ", as before"
    lines = [f"{who}: {before:g}{why}"]
    lines += [f"  {name} waits for another look: {why}" for name, why in each.again.items()]
    for change in each.changes:
        old, new = ("—" if points is None else f"{points:g}" for points in change.points)
        stays = each.by_hand.get(change.exercise)
        given = "" if stays is None else f" (the {stays:g} given by hand stay)"
        lines.append(f"  {change.exercise}: {old} → {new}{given}")
        lines += [f"    {why}" for why in change.why]
    return lines


@click.command()
@click.argument("assignments", nargs=-1, required=True, metavar="ASSIGNMENT...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put it, or each of several in a folder of its name; by default "
    "class_report/ASSIGNMENT in the course folder.",
)
@click.option("--hide-names", is_flag=True, help="Show numbers in place of students' names.")
@course_option
@report_errors
def report(
    assignments: tuple[str, ...], output: Path | None, hide_names: bool, course: Course
) -> None:
    """Write the class report on each ASSIGNMENT: a page, and its tables as CSV."""
    from ..pages.class_report.page import write_report

    for assignment in assignments:
        place = (output or course.root / "class_report") / assignment
        if output and len(assignments) == 1:
            place = output
        for name in course.parts_of(assignment):
            with errors.status("writing the class report"):
                page = write_report(course, name, place / name.partition("/")[2], hide_names)
            echo(page)


COMMANDS = (check, grade, regrade, report)
