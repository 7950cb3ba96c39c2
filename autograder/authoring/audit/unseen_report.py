"""Tells what became of unseen answers: as a table, as JSON, as a block of a page."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from . import report
from .unseen import RIGHT, Answer, Unseen, unseen

KILLED = 0.995
EXPLAINED_FORMULAS = 0.9
EXPLAINED_OTHERS = 0.75
DRAWN = 20
"""How many explanations stand on the page."""

COLUMNS = ("exercises", "wrong", "killed", "stop with an error", "compute", "named", "inferred",
           "explained", "false")  # fmt: skip


def audit_unseen(
    course: Path,
    names: list[str],
    seed: str,
    size: int,
    workers: int,
    console: Console,
    as_json: bool,
    page: Path | None,
) -> bool:
    """Draw unseen answers, judge them, and print what came of it.

    Returns:
        Whether the bars are met.
    """
    found = unseen(course, names, seed, size, workers)
    if as_json:
        click.echo(json.dumps(as_data(found), indent=2, ensure_ascii=False))
    else:
        table = Table(*COLUMNS)
        for row in rows(found):
            table.add_row(*row)
        console.print(table)
        for answer in problems(found):
            console.print(f"✗ {_problem(answer)}", markup=False, highlight=False, soft_wrap=True)
        console.print(summary(found), highlight=False)
    if page is not None:
        report.write_block(page, "unseen", page_block(found, size))
    return passed(found)


def summary(found: Unseen) -> str:
    """The one line that says it all."""
    right = [each for each in found.answers if each.kind == RIGHT]
    killed, wrong = len(found.wrong) - len(found.survivors), len(found.wrong)
    explained = len(found.computing) - len(found.untold)
    return (
        f"killed {killed}/{wrong} · explained {explained}/{len(found.computing)} · false "
        f"explanations {len(found.false)} · false alarms {len(found.alarms)}/{len(right)} · "
        f"seed {found.seed}"
    )


def rows(found: Unseen) -> list[list[str]]:
    """The table: exercises with formulas, the others, and all."""
    groups = (
        ("with formulas", [each for each in found.answers if each.is_formula]),
        ("others", [each for each in found.answers if not each.is_formula]),
        ("all", found.answers),
    )
    table = []
    for title, answers in groups:
        part = Unseen(found.seed, answers)
        named = [each for each in part.computing if each.named]
        inferred = [each for each in part.computing if each.inferred and not each.named]
        count = len(part.computing)
        explained = f"{(count - len(part.untold)) / count:.1%}" if count else ""
        killed = len(part.wrong) - len(part.survivors)
        numbers = (
            len(part.wrong), killed, killed - count, count, len(named), len(inferred),
        )  # fmt: skip
        table.append([title, *map(str, numbers), explained, str(len(part.false))])
    return table


def fairness(found: Unseen) -> list[list[str]]:
    """The right answers by style: how many exercises are answered so, and how many false alarms."""
    right = [each for each in found.answers if each.kind == RIGHT]
    styles = sorted({(each.assignment, each.variant) for each in right})
    table = []
    for assignment, style in styles:
        answers = [each for each in right if (each.assignment, each.variant) == (assignment, style)]
        alarms = [each.exercise for each in answers if each.false]
        numbers = (len(answers), ", ".join(alarms) or "0")
        table.append([assignment, style.replace("_", " "), *map(str, numbers)])
    return table


def passed(found: Unseen) -> bool:
    """Whether the bars are met."""
    for is_formula, bar in ((True, EXPLAINED_FORMULAS), (False, EXPLAINED_OTHERS)):
        part = Unseen(found.seed, [a for a in found.answers if a.is_formula == is_formula])
        if len(part.untold) > (1 - bar) * len(part.computing):
            return False
    few = len(found.survivors) <= (1 - KILLED) * len(found.wrong)
    return few and not found.false and not found.alarms


def problems(found: Unseen) -> list[Answer]:
    """What went otherwise than it should, what is merely not explained included."""
    return [*found.survivors, *found.false, *found.alarms, *found.untold]


def _problem(answer: Answer) -> str:
    where = f"{answer.assignment} · {answer.exercise} · {answer.kind} of {answer.variant}"
    if answer.kind == RIGHT:
        return f"{where}: right, and told: {answer.false}"
    if not answer.killed:
        return f"{where}: passes all hidden tests: {answer.change}\n{answer.source}"
    if answer.false:
        return f"{where}: {answer.change}: false: {answer.inferred}: {answer.false}"
    return f"{where}: not explained: {answer.change}"


def as_data(found: Unseen) -> dict[str, object]:
    """The outcome in the form that `autograder audit --unseen N --json` prints."""
    return {
        "passed": passed(found),
        "summary": summary(found),
        "seed": found.seed,
        "table": [dict(zip(COLUMNS, row, strict=True)) for row in rows(found)],
        "problems": [{"problem": _problem(each), **asdict(each)} for each in problems(found)],
        "explanations": [asdict(each) for each in drawn(found)],
    }


def drawn(found: Unseen) -> list[Answer]:
    """Explanations by inference, drawn at random."""
    told = [each for each in found.computing if each.inferred]
    return random.Random(found.seed).sample(told, min(DRAWN, len(told)))


def page_block(found: Unseen, size: int) -> str:
    """The outcome as Markdown."""
    table = [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 1), *rows(found)]
    names = " ".join(dict.fromkeys(each.assignment for each in found.answers))
    lines = [f"`{summary(found)}`, by", ""]
    lines += [f"    autograder audit {names} --unseen {size} --seed {found.seed}", ""]
    lines += ["| " + " | ".join(row) + " |" for row in table]
    lines += ["", "Explanations, drawn at random:", ""]
    for each in drawn(found):
        change = each.change.replace("`", "")
        lines.append(f"- {each.exercise}, where `{change}`: {each.inferred}")
    right, head = fairness(found), ("assignment", "style", "right answers", "false alarms")
    lines += ["", "Right answers, by the style in which they are written:", ""]
    lines += ["| " + " | ".join(row) + " |" for row in (head, ["---"] * 2 + ["---:"] * 2, *right)]
    return "\n".join(lines)
