"""Formats the results of an audit: as one line, a table, JSON, or a block of a Markdown page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...course_folder.misconceptions import UNNAMED
from ...errors import CourseError
from .accepted import NAME
from .cases import Case
from .judging import JUDGED_ALONE, CaseOutcome
from .running import Audit

COLUMNS = ("held against", "cases", "wrong", "killed", "named", "false alarms")
TITLES = {
    "mistake": "a misconception alone",
    "two_exercises": "misconceptions in two exercises",
    "two_in_one": "two mistakes in one exercise",
    "mutant": "one-change mutants of the solution",
    "edge": "answers wrong at an edge alone",
    "cheat": "cheats",
    "variant": "right solutions",
}


def summary(audit: Audit) -> str:
    """Return the results in one line."""
    alone, right = audit.count("mistake"), audit.count("variant")
    return (
        f"killed {alone.killed}/{alone.wrong} · named {alone.named}/{alone.wrong} · "
        f"false alarms {right.alarms}/{right.cases}"
    )


def remarks(audit: Audit) -> Iterator[str]:
    """Yield sentences about exercises without misconceptions and tests without docstrings."""
    if audit.unchecked:
        yield (
            f"not checked: whether mistakes are named, in exercises without misconceptions "
            f"({', '.join(audit.unchecked)})"
        )
    if audit.without_docstring:
        yield (
            "no docstring, which is the sentence that students read when the test fails: "
            f"{', '.join(audit.without_docstring)}"
        )


def rows(audit: Audit) -> list[list[str]]:
    """Return the rows of the table, one for each assignment and kind of case."""
    table = []
    for name in dict.fromkeys(outcome.assignment for outcome in audit.outcomes):
        for kind, title in TITLES.items():
            count = audit.count(kind, name)
            if not count.cases:
                continue
            right = kind == "variant"
            named = str(count.named) if kind in ("mistake", "two_exercises") else ""
            cells = [f"{name}: {title}", str(count.cases)]
            cells += ["", "", ""] if right else [str(count.wrong), str(count.killed), named]
            table.append([*cells, str(count.alarms)])
    return table


def problem(outcome: CaseOutcome) -> str:
    """Return a sentence on a case whose verdicts are not as expected."""
    if outcome.alarms:
        lost = "; ".join(f"{name}: {text}" for name, text in outcome.alarms.items())
        return f"right, and lost points: {lost}"
    if outcome.kind in UNNAMED:
        return "passes hidden tests that it must fail: add a test, or make one stricter"
    if outcome.kind in JUDGED_ALONE:
        return (
            f"passes all hidden tests: {outcome.about}. Add a test that it fails; if it is right, "
            f"add it to grading_tests/{NAME}"
        )
    missed = [name for name in outcome.messages if name not in outcome.killed]
    if missed:
        return f"{', '.join(missed)}: passes all hidden tests though it is wrong"
    wrong = [name for name in outcome.messages if name not in outcome.named]
    return "not named by its own message: " + "; ".join(
        f"{name} was explained as {outcome.messages[name]}" for name in wrong
    )


def reproduce(outcome: CaseOutcome, seed: str) -> str:
    """Return the command that judges this case alone."""
    options = f"--seed {seed} --case '{outcome.id}'"
    return f"autograder audit {shlex.quote(outcome.assignment)} {options}"


def as_json(audit: Audit) -> dict[str, Any]:
    """Return the audit in the form that `autograder audit --json` prints."""
    return {
        "passed": audit.passed,
        "summary": summary(audit),
        "seed": audit.seed,
        "table": [dict(zip(COLUMNS, row, strict=True)) for row in rows(audit)],
        "gaps": audit.gaps,
        "unchecked": audit.unchecked,
        "without_docstring": audit.without_docstring,
        "failures": [
            {
                "assignment": outcome.assignment,
                "kind": outcome.kind,
                "case": outcome.id,
                "problem": problem(outcome),
                "reproduce": reproduce(outcome, audit.seed),
            }
            for outcome in audit.failures
        ],
    }


def case_in_full(case: Case, outcome: CaseOutcome) -> str:
    """Return all details of one case as text."""
    lines = [f"{case.assignment} · {case.kind} · {case.id}", ""]
    for exercise, source in case.answers.items():
        lines += [f"# {exercise}", source.rstrip(), ""]
    lines.append(f"killed: {', '.join(outcome.killed) or 'nothing'}")
    if outcome.accepted:
        lines.append(f"accepted: {outcome.accepted}")
    for title, texts in (("message", outcome.messages), ("false alarm", outcome.alarms)):
        lines += [f"{title}, {name}: {text}" for name, text in texts.items()]
    return "\n".join(lines)


def page_block(audit: Audit) -> str:
    """Return the audit as Markdown."""
    table = [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 1), *rows(audit)]
    lines = [f"`{summary(audit)}`, seed `{audit.seed}`.", ""]
    lines += ["| " + " | ".join(row) + " |" for row in table]
    accepted = audit.count("mutant").accepted
    lines += ["", f"{accepted} of the mutants pass and are accepted as right."]
    lines += [f"- {each.exercises[0]}: `{each.about}` passes." for each in audit.survivors]
    return "\n".join(lines)


def write_block(page: Path, name: str, text: str) -> None:
    """Replace the text between two markers in a Markdown page.

    Args:
        name: the name in the markers.

    Raises `CourseError` unless the page has these markers exactly once.
    """
    start, end = f"<!-- {name}: generated, do not edit -->", f"<!-- end of {name} -->"
    before = page.read_text("utf-8")
    pattern = re.escape(start) + ".*?" + re.escape(end)
    after, count = re.subn(pattern, lambda _: f"{start}\n{text}\n{end}", before, flags=re.DOTALL)
    if count != 1:
        raise CourseError(
            f"{page}: nothing was written, since there is no place for it. Put the lines {start} "
            f"and {end} where it is to be, once."
        )
    page.write_text(after, "utf-8")
