"""Runs `autograder audit` and prints its results."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from ...course_folder.assignments import load_assignment
from ...errors import CourseError
from ...terminal import console, print_json, say
from . import report
from .cases import all_cases
from .judging import Judge, Outcome
from .running import Audit, audit, is_as_it_should_be


def audit_all(
    course: Path,
    names: list[str],
    seed: str,
    workers: int,
    progress: Progress,
    as_json: bool,
    page: Path | None,
) -> bool:
    """Run the audit on all cases and print its results.

    Returns:
        Whether the required shares are reached.
    """
    task = progress.add_task("auditing", total=None)

    def show(done: int, total: int, outcome: Outcome | None) -> None:
        name = f" {outcome.assignment}" if outcome else ""
        progress.update(task, completed=done, total=total, description=f"auditing{name}")

    found = audit(course, names, workers, seed, show=show)
    progress.stop()
    if as_json:
        print_json(report.as_json(found), indent=2)
    else:
        _print(found)
    if page is not None:
        report.write_block(page, "audit", report.page_block(found))
    return found.passed


def _print(found: Audit) -> None:
    table = Table(*report.COLUMNS)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in report.rows(found):
        table.add_row(*row)
    console.print(table)
    for gap in found.gaps:
        say(f"✗ {gap}", "red")
    for outcome in found.failures:
        say(f"✗ {outcome.assignment} · {outcome.id}: {report.problem(outcome)}", "red")
        say(f"    {report.reproduce(outcome, found.seed)}")
    say(report.summary(found), "green" if found.passed else "red")
    for remark in report.remarks(found):
        say(remark)
    say(f"seed {found.seed}", "dim")


def audit_one(course: Path, names: list[str], seed: str, case_id: str) -> bool:
    """Judge one case and print all about it.

    Returns:
        Whether its verdicts are as expected.

    Raises `CourseError` if there is no such case.
    """
    cases = [
        case
        for name in names
        for case in all_cases(course, load_assignment(course, name), seed)
        if case.id == case_id
    ]
    if not cases:
        where = ", ".join(names)
        raise CourseError(f"no case {case_id!r} in {where} with the seed {seed!r}")
    outcomes = []
    with Judge(course, seed) as judge:
        for case in cases:
            outcomes.append(judge.judge(case))
            say(report.case_in_full(case, outcomes[-1]))
    return all(map(is_as_it_should_be, outcomes))
