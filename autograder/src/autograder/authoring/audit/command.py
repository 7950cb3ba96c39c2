"""Runs `autograder audit` and prints its results."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from ...course_folder.course import Course
from ...errors import CourseError
from ...terminal import console, echo, print_json
from . import report
from .cases import all_cases
from .judging import CaseOutcome, Judge
from .running import Audit, audit, is_as_expected


def audit_all(
    course: Course,
    names: list[str],
    seed: str,
    workers: int,
    progress: Progress,
    as_json: bool,
    page: Path | None,
) -> bool:
    """Run the audit on all cases and print its results; return whether it is passed.

    Args:
        seed: the seed of everything that is drawn.
        workers: the number of processes.
        as_json: whether to print JSON in place of a table.
        page: a Markdown page whose generated block is replaced by the results; None for none.
    """
    task = progress.add_task("auditing", total=None)

    def show(done: int, total: int, outcome: CaseOutcome | None) -> None:
        name = f" {outcome.assignment}" if outcome else ""
        progress.update(task, completed=done, total=total, description=f"auditing{name}")

    result = audit(course, names, workers, seed, show=show)
    progress.stop()
    if as_json:
        print_json(report.as_json(result), indent=2)
    else:
        _print(result)
    if page is not None:
        report.write_block(page, "audit", report.page_block(result))
    return result.passed


def _print(result: Audit) -> None:
    table = Table(*report.COLUMNS)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in report.rows(result):
        table.add_row(*row)
    console.print(table)
    for gap in result.gaps:
        echo(f"✗ {gap}", "red")
    for outcome in result.failures:
        echo(f"✗ {outcome.assignment} · {outcome.id}: {report.problem(outcome)}", "red")
        echo(f"    {report.reproduce(outcome, result.seed)}")
    echo(report.summary(result), "green" if result.passed else "red")
    for remark in report.remarks(result):
        echo(remark)
    echo(f"seed {result.seed}", "dim")


def audit_one(course: Course, names: list[str], seed: str, case_id: str) -> bool:
    """Judge every case with this id and print all details; return whether all verdicts are as
    expected.

    Raises `CourseError` if there is no such case in the assignments `names`.
    """
    cases = [
        case
        for name in names
        for case in all_cases(course, course.assignment(name), seed)
        if case.id == case_id
    ]
    if not cases:
        where = ", ".join(names)
        raise CourseError(f"no case {case_id!r} in {where} with the seed {seed!r}")
    outcomes = []
    with Judge(course, seed) as judge:
        for case in cases:
            outcomes.append(judge.judge(case))
            echo(report.case_in_full(case, outcomes[-1]))
    return all(map(is_as_expected, outcomes))
