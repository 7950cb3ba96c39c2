"""Grades the model solution behind the wall, to report faults of the course to its author."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from ..course_folder.assignments import Assignment, source_of
from ..course_folder.settings import files_below, load_settings
from ..model import LOST, Cell, Judged, Ran, Verdict, flaw_in_words
from .hidden_tests import Suite
from .models import Models

_SEED = bytes(16)
_SHOWN = 10
"""Greatest number of values from a test that are shown, the last ones."""

_LONGEST = 300
"""Greatest number of characters of an error's text that are shown."""
_MOST_NAMES = 5
"""Greatest number of files and folders that are named as a possible cause."""

_LACKS = ("ModuleNotFoundError", "FileNotFoundError")
_NO_NETWORK = ("URLError", "gaierror", "ConnectionError", "ConnectError", "MaxRetryError")


def rehearse(
    assignment: Assignment, suite: Suite, models: Models, seed: bytes = _SEED
) -> list[str]:
    """Return the hidden tests that the model solution does not pass, and the exercises without
    tests, in words for their author.
    """
    flaws = []
    for exercise in [each.id for each in assignment.exercises.values() if not each.manual]:
        tests = suite.promises(exercise)
        if not tests:
            untested = suite.without_tests(exercise)
            flaws.append(flaw_in_words(assignment.name, exercise, untested))
            continue
        for test in tests:
            if flaw := flaw_of(suite, models, exercise, test.test, seed):
                flaws.append(flaw_in_words(assignment.name, exercise, f"{test.test}: {flaw}"))
    return flaws


def flaw_of(suite: Suite, models: Models, exercise: str, test: str, seed: bytes) -> str:
    """Return why the model solution does not pass a hidden test; "" if it passes.

    The values are the author's own, so they are shown, with the line of the test and the traceback
    of the solution's error. A package or a file that the solution lacks is no fault of the test.
    """
    trunk, place = models.solution(exercise)
    target = trunk.target(place)
    target.asks_why = True
    right = suite.run_test(exercise, test, target, seed)
    if right.passed:
        return ""
    return (
        right.broken
        or _lacking(models.assignment, trunk.ran[:place], target.why)
        or f"{_reason(right)}\n{_details(right, target.why)}".strip()
    )


def _lacking(assignment: Assignment, ran: Sequence[Ran], why: str) -> str:
    """Return the package or file that the model solution lacks, with the remedy; "" if none."""
    folder = source_of(assignment.tests.parents[1], assignment.name).parent
    errors = [(each["ename"], each["evalue"]) for cell in ran for each in _errors(cell)]
    last = why.strip().rpartition("\n")[2].partition(": ")
    for kind, text in [*errors, (last[0], last[2])]:
        if kind in _LACKS:
            remedy = _remedy(folder, assignment, kind, text)
            return f"the model solution lacks something: {kind}: {text[:_LONGEST]}\n{remedy}"
    return ""


def _reason(right: Verdict) -> str:
    if right.lost:
        return f"the model solution's process was lost, or its answer not read ({right.lost})"
    return (
        "the model solution does not pass this test with these numbers. (Objects of the student's "
        "are equal to themselves alone: student.equal(a, b) asks their own `__eq__`.)"
    )


def _details(right: Verdict, why: str) -> str:
    seen = ", ".join(repr(each)[:200] for each in right.seen[-_SHOWN:])
    parts = [right.line and f"It ended at {right.line}", seen and f"It saw, last: {seen}", why]
    return "\n".join(filter(None, parts))


def flaws_of_test_cells(
    folder: Path, assignment: Assignment, cells: Sequence[Cell], judged: Judged
) -> dict[str, str]:
    """Return why the source notebook does not pass its own test cells, by exercise.

    Args:
        folder: the source notebook's.
        cells: the code cells that were judged.
    """
    places = {cell.tests: place for place, cell in enumerate(cells) if cell.tests}
    flaws = {}
    for result in judged.report.exercises:
        if result.status in ("manual", "passed") and not result.flaw:
            continue
        place = places[result.id]
        why = f"its last line gives {result.points or 0:g} of {result.max_points:g} points"
        if result.flaw:
            why = result.flaw.partition(": ")[2]
        elif result.status in LOST:
            why = f"it {LOST[result.status]} ([limits] in course.toml says what it may take)"
        else:
            known = _cause(folder, assignment, cells, judged.ran, place)
            why = known or f"{why}\n{_unnamed(folder, assignment)}".rstrip()
        flaws[result.id] = f"{result.id}: its own solution does not pass it: {why}"
    return flaws


def _cause(
    folder: Path, assignment: Assignment, cells: Sequence[Cell], ran: Sequence[Ran], place: int
) -> str:
    """Return the error that keeps a test cell from passing, with its remedy if one is known.

    If a name is missing, return the error of the cell that should have defined it.
    """
    errors = {each: output for each in range(place + 1) for output in _errors(ran[each])}
    if place in errors:
        named = re.match(r"name '(\w+)'", errors[place]["evalue"])
        makes = re.compile(rf"\b{named[1]}\b" if named else "$.")
        where = next(each for each in errors if each == place or makes.search(cells[each].source))
        kind, text = errors[where]["ename"], errors[where]["evalue"][:_LONGEST]
        remedy = _remedy(folder, assignment, kind, text)
        cell = "" if where == place else f" in {_name(cells, where)}"
        return f"{kind}: {text}{cell}\n{remedy}".rstrip()
    for output in ran[place].outputs:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            return f"it writes to stderr, which earns nothing: {output['text'][:_LONGEST]}"
    return ""


def _errors(ran: Ran) -> list[dict[str, Any]]:
    """Return the outputs of a cell that are errors."""
    return [output for output in ran.outputs if output["output_type"] == "error"]


def _name(cells: Sequence[Cell], place: int) -> str:
    cell = cells[place]
    return f"the cell {cell.tests or cell.exercise or place + 1}"


def _remedy(folder: Path, assignment: Assignment, kind: str, text: str) -> str:
    """Return a sentence on how to mend an error of the solution's, or may; "" if none is known."""
    name = assignment.name.partition("/")[0]
    source = f"source/{name}"
    named = re.search(r"No module named '(\w+)", text)
    module = named[1] if named else ""
    beside = [
        path.name
        for path in sorted(folder.iterdir())
        if path.suffix != ".ipynb" and (path.name in text or path.name == f"{module}.py")
    ]
    if beside:
        return (
            f'{source} needs {beside[0]}: add "{beside[0]}" to data under '
            f"[assignments.{name}] in course.toml"
        )
    if module:
        found = packages_distributions().get(module)
        first = "" if found else "install it, and "
        return (
            f"{source} needs {found[0] if found else module}: {first}add it to "
            "student_code.packages in course.toml"
        )
    if kind == "FileNotFoundError":
        return (
            f"{source} does not hold it: put it there, and add it to data under "
            f"[assignments.{name}] in course.toml"
        )
    if kind in _NO_NETWORK:
        return "There is no network: put what is loaded beside the notebook, and name it as data"
    return _unnamed(folder, assignment)


def _unnamed(folder: Path, assignment: Assignment) -> str:
    """Return a sentence on what lies beside the notebook and is not named as data; "" if nothing
    is."""
    name = assignment.name.partition("/")[0]
    data = {path for *_, path in load_settings(folder.parents[1]).visible.data}
    beside = [path for path in files_below(folder) if str(path) not in data]
    found = list(dict.fromkeys(path.relative_to(folder).parts[0] for path in beside))
    if not found:
        return ""
    more = " and more" if len(found) > _MOST_NAMES else ""
    return (
        f"source/{name} also holds {', '.join(found[:_MOST_NAMES])}{more}: if the code reads it, "
        f"add it to data under [assignments.{name}] in course.toml"
    )
