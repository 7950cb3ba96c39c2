"""Grades the reference solution in the sandbox, to report faults of the course to its author."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from coursecheck.messages import line_of_error

from ..course_folder.assignments import Assignment
from ..course_folder.own_notebooks import has_solution
from ..course_folder.settings import files_below, load_settings, may_be_data
from ..records import (
    LOST,
    Cell,
    CellResult,
    JudgedNotebook,
    Status,
    Verdict,
    VisibleFiles,
    defect_in_words,
)
from ..sandbox.visible import packages
from ..texts import toml_table
from .course_sessions import CourseSessions
from .hidden_tests import Suite

_SEED = bytes(16)
_SHOWN = 10
"""Greatest number of values that a message shows: the last values that the test fetched."""

_LONGEST = 300
"""Greatest number of characters of an error's text in a message."""
_MOST_NAMES = 5
"""Greatest number of files and folders that a message names as a possible cause."""

_LACKS = ("ModuleNotFoundError", "ImportError", "FileNotFoundError")
_MODULE = re.compile(r"No module named '(\w+)|`?Import (\w+)`? failed|^(\w+) is required")
"""What an error's message says of the module that is missing; the last two are pandas'."""
_ASKED = re.compile(
    r"(?:requires?|install|import|dependency) (?:the )?['\"`]?(\w+)"
    r"|(\w+)['\"`]? (?:(?:installation )?is required|(?:is |was )?not (?:found|installed))",
    re.IGNORECASE,
)
"""Texts of other errors of libraries about a module that they would need: "The '.style' accessor
requires jinja2". The word may be any other one, so it has to be that of an installed module."""
_ERROR = re.compile(r"\b(\w+Error): (.+?)(?:, in the line `|$)", re.MULTILINE)
_NO_NETWORK = ("URLError", "gaierror", "ConnectionError", "ConnectError", "MaxRetryError")
_OF_SANDBOX = {*_LACKS, *_NO_NETWORK, "PermissionError", "OSError", "CalledProcessError"}
"""Errors of a cell that may come from the sandbox, and not from the cell."""
_LIMIT = {Status.TIMEOUT: "cell_seconds", Status.OUT_OF_MEMORY: "memory"}
"""The limit in course.toml that a cell has reached, by how it was lost."""


def check_solution(
    assignment: Assignment, suite: Suite, course_sessions: CourseSessions, seed: bytes = _SEED
) -> list[str]:
    """Return a message to the author for each hidden test that the reference solution does not
    pass, and for each exercise without a test."""
    defects = []
    for exercise in [each.id for each in assignment.exercises.values() if not each.manual]:
        tests = suite.criteria(exercise)
        if not tests:
            untested = suite.without_tests(exercise)
            defects.append(defect_in_words(assignment.name, exercise, untested))
            continue
        for test in tests:
            if defect := defect_of(suite, course_sessions, exercise, test.test, seed):
                defects.append(defect_in_words(assignment.name, exercise, f"{test.test}: {defect}"))
    return defects


def defect_of(
    suite: Suite, course_sessions: CourseSessions, exercise: str, test: str, seed: bytes
) -> str:
    """Return why the reference solution does not pass a hidden test; "" if it passes.

    The text shows the values that the test saw, since these are the author's own, the line of the
    test and the traceback of the solution's error. If the solution lacks a package or a file, the
    text says that instead, since the test is not at fault.
    """
    session, place = course_sessions.solution(exercise)
    target = session.target(place)
    target.asks_why = True
    right = suite.run_test(exercise, test, target, seed)
    if right.passed:
        return ""
    return (
        right.broken
        or _lacking(course_sessions.assignment, session.ran[:place], target.why)
        or f"{_reason(right)}\n{_details(right, target.why)}".strip()
    )


def _lacking(assignment: Assignment, ran: Sequence[CellResult], why: str) -> str:
    """Return a sentence on a package or file that the reference solution lacks, with the remedy; ""
    if it lacks none.

    Args:
        ran: how the cells went.
        why: the traceback of the solution's error in the test; its last line is looked at.
    """
    errors = [(each["ename"], each["evalue"]) for cell in ran for each in _errors(cell)]
    last = why.strip().rpartition("\n")[2].partition(": ")
    for kind, text in [*errors, (last[0], last[2])]:
        if kind in _LACKS:
            remedy = _remedy(assignment, kind, text)
            return f"the reference solution lacks something: {kind}: {text[:_LONGEST]}\n{remedy}"
    return ""


def _reason(right: Verdict) -> str:
    if right.lost:
        return f"the reference solution's process was lost, or its answer not read ({right.lost})"
    return (
        "the reference solution does not pass this test with these numbers. (Objects of the "
        "student's are equal to themselves alone: student.equal(a, b) asks their own `__eq__`.)"
    )


def _details(right: Verdict, why: str) -> str:
    seen = ", ".join(repr(each)[:200] for each in right.seen[-_SHOWN:])
    parts = [right.line and f"It ended at {right.line}", seen and f"It saw, last: {seen}", why]
    return "\n".join(filter(None, parts))


def defects_of_test_cells(
    assignment: Assignment, cells: Sequence[Cell], judged: JudgedNotebook
) -> dict[str, str]:
    """Return by exercise: why the source notebook does not pass its own test cell.

    A test of answers that the source notebook does not solve is no defect: there is nothing to try.

    Args:
        cells: the code cells of the source notebook, which were judged.
        judged: the source notebook's verdicts and outputs.
    """
    places = {cell.tests: place for place, cell in enumerate(cells) if cell.tests}
    defects = {}
    for result in judged.report.exercises:
        if result.status in (Status.MANUAL, Status.PASSED) and not result.defect:
            continue
        place = places[result.id]
        if not _is_solved(cells, place):
            continue
        why = f"its last line gives {result.points or 0:g} of {result.max_points:g} points"
        if result.defect:
            why = result.defect.partition(": ")[2]
        elif result.status in LOST:
            why = f"it {LOST[result.status]} ([limits] in course.toml says what it may take)"
        else:
            known = _cause(assignment, cells, judged.ran, place)
            why = known or f"{why}\n{_unnamed(assignment)}".rstrip()
        defects[result.id] = f"{result.id}: its own solution does not pass it: {why}"
    return defects


def _is_solved(cells: Sequence[Cell], place: int) -> bool:
    """Return whether one of the answers between the test cell before and this one is solved, or
    there are no answers.

    Args:
        place: the index of the test cell in `cells`.
    """
    answers: list[str] = []
    for cell in cells[:place][::-1]:
        if cell.tests and answers:
            break
        answers += [cell.source] if cell.exercise else []
    return not answers or any(map(has_solution, answers))


def _cause(
    assignment: Assignment, cells: Sequence[Cell], ran: Sequence[CellResult], place: int
) -> str:
    """Return the error that keeps a test cell from passing, with the remedy if one is known; "" if
    there is no error.

    If the test cell lacks a name, the error is that of the cell which should have defined the name,
    and so on if that cell lacks a name, too.

    Args:
        place: the index of the test cell in `cells`.
    """
    errors = {each: output for each in range(place + 1) for output in _errors(ran[each])}
    if place in errors:
        where, after = place, place + 1
        while where < after and (named := re.match(r"name '(\w+)'", errors[where]["evalue"])):
            makes, after = re.compile(rf"\b{named[1]}\b"), where
            where = next(e for e in errors if e == where or makes.search(cells[e].source))
        kind, text = errors[where]["ename"], errors[where]["evalue"][:_LONGEST]
        remedy = _remedy(assignment, kind, text)
        cell = "" if where == place else f" in {_name(cells, where)}"
        return f"{kind}: {text}{cell}\n{remedy}".rstrip()
    for output in ran[place].outputs:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            return f"it writes to stderr, which earns nothing: {output['text'][:_LONGEST]}"
    return ""


def failing_cells(
    assignment: Assignment, cells: Sequence[Cell], ran: Sequence[CellResult], known: Sequence[str]
) -> list[str]:
    """Return a message for each cell of the source notebook, other than test cells, that ends in an
    error which the sandbox may cause, the first one first. Each cause is reported once.

    Args:
        ran: how the cells went.
        known: messages on test defects. What they report is not reported again.
    """
    messages: list[str] = []
    visible = load_settings(assignment.source.parents[2]).visible
    for place, each in enumerate(ran):
        for error in () if cells[place].tests else _errors(each):
            kind, text = error["ename"], error["evalue"]
            why = f"{kind}: {text[:_LONGEST]}"
            if kind in LOST:
                how = LOST[Status(kind)]
            elif any(why in said for said in (*known, *messages)):
                continue
            elif kind in _OF_SANDBOX or _hidden_module(visible, text):
                how = f"ends with {why}"
                line = line_of_error(text, "\n".join(error["traceback"]), cells[place].source)
                if line and line not in _name(cells, place):
                    how += f", in the line `{line}`"
            else:
                continue
            where = f"{_name(cells, place)} of the source notebook"
            remedy = _remedy(assignment, kind, text)
            messages.append(f"{assignment.name}: {where} {how}\n{remedy}".rstrip())
    return messages


def _errors(ran: CellResult) -> list[dict[str, Any]]:
    """Return the outputs of a cell that are errors. A cell that was interrupted ran out of time."""
    found = [output for output in ran.outputs if output["output_type"] == "error"]
    return [{**each, "ename": Status.TIMEOUT.value} if ran.stopped else each for each in found]


def _name(cells: Sequence[Cell], place: int) -> str:
    cell = cells[place]
    first_line = cell.source.strip().partition("\n")[0]
    return f"the cell {cell.tests or cell.exercise or f'`{first_line}`'}"


def needs_of_answers(assignment: Assignment, messages: Iterable[str]) -> list[str]:
    """Return a sentence on each package and file that an answer lacks although this machine or the
    course's folder holds it.

    Args:
        messages: what the student reads about the answers.
    """
    visible = load_settings(assignment.source.parents[2]).visible
    needs = (
        _remedy(assignment, error[1], error[2], "an answer")
        for message in messages
        for error in _ERROR.finditer(message)
        if error[1] in _LACKS or _hidden_module(visible, error[2])
    )
    return [each for each in dict.fromkeys(needs) if ": add " in each]


def handed_in_beside(folder: Path, messages: Iterable[str]) -> list[str]:
    """Return the names of the files beside a submitted notebook that its answers lack.

    Args:
        folder: the submission's folder.
        messages: what the student reads about the answers.
    """
    errors = (error for message in messages for error in _ERROR.finditer(message))
    lacking_of = (error[2] for error in errors if error[1] in _LACKS)
    lacking = {name for text in lacking_of for name in re.findall(r"'([^'\n]+)'", text)}
    files = {Path(name).name for name in lacking} | {f"{name}.py" for name in lacking}
    return sorted(files & {path.name for path in folder.glob("*")})


def _remedy(assignment: Assignment, kind: str, text: str, who: str = "") -> str:
    """Return a sentence on what mends, or may mend, an error of the solution; "" if no remedy is
    known.

    Args:
        kind: the name of the error's class.
        text: the error's message.
        who: whose error it is, by default the source's.
    """
    name, folder = assignment.name.partition("/")[0], assignment.source.parent
    source = who or f"source/{name}"
    here = f"under {toml_table('assignments', name)} in course.toml"
    settings = load_settings(folder.parents[1])
    if kind in _LIMIT:
        key = _LIMIT[Status(kind)]
        most = getattr(settings.limits, key)
        return f"If the cell needs more, raise limits.{key} in course.toml: it is {most:g}"
    named = _MODULE.search(text) if kind in _LACKS else None
    module = named[named.lastindex or 0] if named else _hidden_module(settings.visible, text)
    paths = [f"{module}.py"] if module else re.findall(r"'([^'\n]+)'", text)
    paths += [each.name for each in sorted(folder.iterdir()) if each.name in text]
    usable = (
        path
        for path in paths
        if may_be_data(path) and (folder / path).exists() and not path.endswith(".ipynb")
    )
    if path := next(usable, ""):
        if path in {place for of, place, _ in settings.visible.data if of == name}:
            return (
                f"{path} can only be read, since it is too large to be copied or is named by its "
                "whole path: write to another file"
            )
        return f'{source} needs {path}: add "{path}" to data {here}'
    if module:
        distributions = _installed().get(module)
        first = "" if distributions else "install it, and "
        return (
            f"{source} needs {distributions[0] if distributions else module}: {first}add it to "
            "student_code.packages in course.toml"
        )
    if kind == "FileNotFoundError":
        return f"{source} does not hold it: put it there, and add it to data {here}"
    if kind in _NO_NETWORK:
        return "There is no network: put what is loaded beside the notebook, and name it as data"
    if kind == "CalledProcessError" and "pip" in text:
        return (
            "Cells install nothing: take the line out, and name the packages in "
            "student_code.packages in course.toml"
        )
    if "[Errno 1]" in text or text.startswith("could not bind"):
        return "The sandbox refuses this: docs/security.md says what each kind allows"
    return _unnamed(assignment)


def _hidden_module(visible: VisibleFiles, text: str) -> str:
    """Return the module that an error's message asks for and that is installed, but not where
    student code can import it; "" if there is none."""
    asked = [(found[1] or found[2]).lower() for found in _ASKED.finditer(text)]
    if not asked:
        return ""
    seen = {name.removesuffix(".py").lower() for name in packages(visible)}
    modules = {name.lower(): name for name in _installed()}
    return next((modules[each] for each in asked if each in modules.keys() - seen), "")


@cache
def _installed() -> dict[str, list[str]]:
    """Return by module: the distributions on this machine that hold it."""
    return dict(packages_distributions())


def _unnamed(assignment: Assignment) -> str:
    """Return a sentence on the files beside the source notebook that course.toml does not name as
    data; "" if there are none."""
    folder = assignment.source.parent
    data = {path for *_, path in load_settings(folder.parents[1]).visible.data}
    beside = [path for path in files_below(folder) if str(path) not in data]
    found = list(dict.fromkeys(path.relative_to(folder).parts[0] for path in beside))
    if not found:
        return ""
    more = " and more" if len(found) > _MOST_NAMES else ""
    return (
        f"source/{folder.name} also holds {', '.join(found[:_MOST_NAMES])}{more}: if the code "
        f"reads it, add it to data under {toml_table('assignments', folder.name)} in course.toml"
    )
