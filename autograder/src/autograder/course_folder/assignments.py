"""Reads an assignment from a course folder: its exercises, tests and misconceptions.

Exercises, points and solutions are read from the source notebook, stubs from the release notebook,
mistakes and public examples from `grading_tests/misconceptions/NAME/EXERCISE.py`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from coursecheck.examples import PublicExample
from coursecheck.inference import sweep_examples

from ..errors import CourseError
from ..records import IN_NOTEBOOK
from .misconceptions import (
    Mistake,
    PercentCell,
    UnnamedMistake,
    apply_edits,
    percent_cells,
    resolve_like,
)
from .nbgrader_settings import Delimiters, NbgraderSettings
from .own_notebooks import exercises_of, read_cells
from .settings import AT_ONCE, Settings
from .sweeps import Sweep, read_sweep

_ABOUT = re.compile(r"^.* points?(?: · (core|extra))?$", re.MULTILINE)
"""Matches the line below an exercise's heading."""
_BONUS = re.compile(r"([\d.]+) bonus points?")

_NO_TESTS = ("misconceptions", "__pycache__")
"""Folders in grading_tests/ from which no hidden test imports."""


@dataclass
class Exercise:
    """One graded unit: a solution cell and its test cell, a written answer, or a task.

    Attributes:
        title: the heading above it; its id if there is none.
        form: the kind of answer to a question, such as "one of a b c d" or "a number"; "" for an
            exercise that is solved with code.
        manual: whether a person reads and marks the answer.
        extra: whether the course can be finished without this exercise.
        bonus: whether the points come on top of the total. In nbgrader, the exercise's cell has 0
            points.
        released_points: the points in the release notebook; None if that lacks the exercise.
        solution_marks: the delimiters of the answer in the source notebook.
    """

    id: str
    title: str
    max_points: float
    solution: str = ""
    stub: str = ""
    examples: list[PublicExample] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    unnamed: list[UnnamedMistake] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    form: str = ""
    manual: bool = False
    extra: bool = False
    bonus: bool = False
    released_points: float | None = None
    solution_marks: Delimiters = ("BEGIN SOLUTION", "END SOLUTION")

    @property
    def total_points(self) -> float:
        """Points that count towards the assignment's total, as nbgrader stores them for the
        cell."""
        return 0.0 if self.bonus else self.max_points

    @property
    def sweep_examples(self) -> list[PublicExample]:
        """The sweeps as public examples, one for each point of each sweep."""
        return sweep_examples([sweep.as_table for sweep in self.sweeps])

    @property
    def wrong_answers(self) -> list[tuple[str, str]]:
        """The known wrong answers to a question, as code, and what is wrong with each."""
        statements = [(mistake, ast.parse(mistake.source).body[-1]) for mistake in self.mistakes]
        return [
            (ast.get_source_segment(mistake.source, statement.value) or "", mistake.says)
            for mistake, statement in statements
            if self.form and isinstance(statement, ast.Assign)
        ]

    @property
    def marking_guide(self) -> str:
        """Model answer and rubric of a written answer, from the source notebook; else ""."""
        begin, end = map(re.escape, self.solution_marks)
        match = re.search(rf"{begin}.*\n((?:.*\n)*?).*{end}", self.solution)
        return match.group(1).strip() if self.manual and match else ""


@dataclass
class Assignment:
    """An assignment's exercises in the order of the notebook, and its locked cells.

    Attributes:
        setup: the sources of locked code cells that are not graded, by grade_id.
        source: the path of the source notebook.
        tests: the path of the module with the hidden tests, which may be missing.
        table: the path of the table of the visible checks.
        nbgrader: the settings of nbgrader's own steps.
        hints: pairs of a regular expression for error messages and the advice to a student, as
            `coursecheck.messages.Hints`.
        drawing: the function that draws a public example, as course.toml names it; "" for none.
        data_folder: the folder of the data files; None if the assignment has none.
        in_notebook: whether the notebook's own test cells give the points, not hidden tests.
        core_only: whether tests of extra parts are left out.
        answers_at_once: whether the visible checks of questions know the right answers.
    """

    name: str
    exercises: dict[str, Exercise]
    setup: dict[str, str]
    source: Path
    tests: Path
    table: Path
    nbgrader: NbgraderSettings
    hints: tuple[tuple[str, str], ...] = ()
    drawing: str = ""
    data_folder: Path | None = None
    in_notebook: bool = False
    core_only: bool = False
    answers_at_once: bool = False


def test_files(tests: Path) -> list[Path]:
    """Return the module of hidden tests, and all files that the tests may import or send to a
    student process."""
    folder = tests.parent
    return sorted([
        tests,
        *(path for path in folder.glob("*.py") if not path.name.startswith("test_")),
        *(
            path
            for subfolder in folder.iterdir()
            if subfolder.is_dir() and subfolder.name not in _NO_TESTS
            for path in subfolder.rglob("*.py")
        ),
    ])  # fmt: skip


def stamps_of_tests(tests: Path) -> tuple[int, ...]:
    """Return the modification times of `test_files`, as a cache key."""
    return tuple(path.stat().st_mtime_ns for path in test_files(tests) if path.exists())


@dataclass(frozen=True)
class AssignmentFiles:
    """The files from which an assignment is read.

    Attributes:
        sources: the header, the source notebook and the footer, without missing ones.
        hints: the file of advice on error messages; () if it is missing.
    """

    source: Path
    sources: tuple[Path, ...]
    release: Path
    misconceptions: tuple[Path, ...]
    hints: tuple[Path, ...]
    tests: Path
    table: Path

    def stamps(self) -> tuple[int, ...]:
        """Return the modification times of the files that are read, as a cache key."""
        files = (self.release, *self.sources, *self.misconceptions, *self.hints)
        return tuple(file.stat().st_mtime_ns for file in files)


@lru_cache
def read_assignment(
    name: str,
    files: AssignmentFiles,
    stamps: tuple[int, ...],
    settings: Settings,
    nbgrader: NbgraderSettings,
) -> Assignment:
    """Return an assignment. It is cached, and shared by all callers.

    Args:
        stamps: `files.stamps()`, as a part of the cache's key.
        settings: the course's settings.

    Raises `CourseError` if a file is invalid.
    """
    source, release = files.source, files.release
    exercises: dict[str, Exercise] = {}
    setup: dict[str, str] = {}
    solutions: dict[str, str] = {}
    heading = about = ""
    cells = read_cells(*files.sources)
    ids = exercises_of(cells)
    for cell in cells:
        # A heading applies to every exercise up to the next heading.
        match = settings.heading.search(cell.source) if cell.cell_type == "markdown" else None
        if match:
            heading = match.group(1).strip()
            about = line_below_heading(cell.source[match.end() :])
        marks = cell.metadata.get("nbgrader") or {}
        grade_id = marks.get("grade_id", "")
        if exercise_id := ids.get(grade_id):
            # nbgrader's "manually graded answer" is a solution cell that has points itself.
            is_manual = bool(marks.get("solution") or marks.get("task"))
            text = cell.source if is_manual else ""
            exercise = Exercise(
                exercise_id, heading or exercise_id, _points(source, marks), text, manual=is_manual
            )
            _set_weight(exercise, about, settings)
            exercises[exercise_id] = exercise
        elif marks.get("solution"):
            solutions[grade_id] = cell.source
        elif marks.get("locked") and cell.cell_type == "code":
            setup[grade_id] = cell.source
    stubs: dict[str, str] = {}
    released: dict[str, float] = {}
    cells = read_cells(release)
    released_ids = exercises_of(cells)
    for cell in cells:
        marks = cell.metadata.get("nbgrader") or {}
        if marks.get("solution"):
            stubs[marks["grade_id"]] = cell.source
        if exercise_id := released_ids.get(marks.get("grade_id", "")):
            released[exercise_id] = _points(release, marks)
    titles = distinct_titles({id: exercise.title for id, exercise in exercises.items()})
    for exercise in exercises.values():
        exercise.title = titles[exercise.id]
        exercise.solution = solutions.get(exercise.id, exercise.solution)
        exercise.stub = stubs.get(exercise.id, "")
        exercise.released_points = released.get(exercise.id)
        exercise.solution_marks = nbgrader.solution
    _read_misconceptions(files.misconceptions, exercises)
    return Assignment(
        name,
        exercises,
        setup,
        source,
        files.tests,
        files.table,
        nbgrader,
        tuple(hint for path in files.hints for hint in _read_hints(path)),
        settings.drawing,
        source.parent if settings.of(name).data else None,
        settings.of(name).tests == IN_NOTEBOOK,
        settings.core_only,
        settings.answers == AT_ONCE,
    )


def distinct_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles, with the id added in brackets to each title that several exercises share.

    Args:
        titles: the titles of a notebook's exercises, by id.
    """
    uses = Counter(titles.values())
    return {id: f"{title} ({id})" if uses[title] > 1 else title for id, title in titles.items()}


def _read_hints(path: Path) -> list[tuple[str, str]]:
    """Return pairs of a regular expression and the advice for errors that match it."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))["hint"]
        hints = [(table["pattern"], table["says"]) for table in tables]
        for pattern, _ in hints:
            re.compile(pattern)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise CourseError(
            f"{path}: {type(error).__name__}: {error}. Each hint is a table `[[hint]]` with a "
            "`pattern`, a regular expression, and what it `says`."
        ) from error
    return hints


def _points(path: Path, marks: dict[str, Any]) -> float:
    """Return the points of a graded cell.

    Args:
        path: the notebook, for messages.
        marks: nbgrader's metadata of the cell.
    """
    try:
        return float(marks["points"])
    except (KeyError, TypeError, ValueError) as error:
        raise CourseError(
            f"{path}: the cell {marks.get('grade_id')!r} is graded and says no points: give it "
            "some in JupyterLab, under Create Assignment"
        ) from error


def line_below_heading(text: str) -> str:
    """Return the line that says the points, from the first paragraph below a heading; "" if there
    is none.

    Args:
        text: the text that follows the heading.
    """
    match = _ABOUT.search(text.lstrip().partition("\n\n")[0])
    return match.group() if match else ""


def is_extra(about: str) -> bool:
    """Return whether the line below a heading marks the exercise as extra."""
    return about.endswith("· extra")


def _set_weight(exercise: Exercise, about: str, settings: Settings) -> None:
    """Set whether an exercise is extra or bonus, and its points, by the line below its heading."""
    exercise.extra = is_extra(about)
    if match := _BONUS.search(about):
        exercise.bonus, exercise.max_points = True, float(match.group(1))
    if exercise.extra and settings.core_only:
        exercise.max_points = 0.0


def _read_misconceptions(paths: Iterable[Path], exercises: dict[str, Exercise]) -> None:
    """Add the misconceptions, public examples and sweeps in these files to their exercises."""
    for path in paths:
        exercise = exercises.get(path.stem)
        if exercise is None:
            known = ", ".join(exercises)
            raise CourseError(
                f"{path} is about an exercise that the notebook does not have: "
                f"name it after one that it has ({known}), or delete it"
            )
        for cell in percent_cells(path):
            _read_cell(resolve_like(path, cell), exercise)


_NEEDED = {"example": "observe", "form": "answer", "mistake": "says"}
"""The header that a cell in a file of misconceptions must have, by kind of cell."""

_RENAMED = {"probe": "example", "sample": "sweep"}
"""By former name of a kind of cell, its present name."""


def _read_cell(cell: PercentCell, exercise: Exercise) -> None:
    """Add what a cell of a file of misconceptions declares to the exercise."""
    name, kind, headers, source = cell.name, cell.kind, cell.headers, cell.source
    if name.partition(".")[0] != exercise.id:
        raise CourseError(
            f"{cell.where} is about another exercise: "
            "move it to the file that has that exercise's name"
        )
    if kind in _RENAMED:
        raise CourseError(
            f"{cell.where} is called {_RENAMED[kind]} now: write `# %% {_RENAMED[kind]}:`"
        )
    needed = _NEEDED.get(kind)
    if needed and needed not in headers:
        raise CourseError(f"{cell.where} lacks its line `# {needed}: …`")
    match kind:
        case "example":
            example = PublicExample(code=source, observe=_top_level_parts(headers["observe"]))
            if headers.get("part") == "extra":
                example["extra"] = True
            if "tells" in headers:
                example["tells"] = headers["tells"]
                if example["tells"] not in example["observe"]:
                    example["observe"].append(example["tells"])
            exercise.examples.append(example)
        case "sweep":
            exercise.sweeps.append(read_sweep(cell.where, headers, source))
        case "form":
            exercise.form = headers["answer"]
        case "mistake":
            answer = cell.answer(exercise.solution)
            endless, check = headers.get("outcome") == "timeout", headers.get("check")
            keeps = _share_kept(cell)
            exercise.mistakes.append(
                Mistake(
                    name, headers["says"], answer, endless, check == "none", check == "examples",
                    keeps,
                )
            )  # fmt: skip
        case "edge" | "cheat" if cell.alternatives:
            for alternative, edit in cell.alternatives.items():
                answer = apply_edits(f"{cell.where}.{alternative}", exercise.solution, [edit])
                exercise.unnamed.append(UnnamedMistake(f"{name}.{alternative}", kind, answer))
        case "edge" | "cheat":
            # A cell without code repeats the answer of the mistake of the same name.
            same = [mistake.source for mistake in exercise.mistakes if mistake.id == name]
            answer = same[0] if same and not cell.has_answer else cell.answer(exercise.solution)
            worthless = headers.get("earns") == "nothing"
            exercise.unnamed.append(UnnamedMistake(name, kind, answer, worthless))
        case _:
            raise CourseError(
                f"{cell.where} is of no kind that is known: make it an example, form, sweep, "
                "mistake, edge or cheat"
            )


def _share_kept(cell: PercentCell) -> float:
    """Return the share of the points that a mistake keeps.

    Raises `CourseError` if it is no number from 0 to below 1, or if the mistake has an `outcome`:
    the hidden tests do not run its code, so that no verdicts can be compared.
    """
    text = cell.headers.get("keeps", "0")
    with suppress(ValueError):
        if 0 <= float(text) < 1 and not ("keeps" in cell.headers and "outcome" in cell.headers):
            return float(text)
    raise CourseError(
        f"{cell.where} keeps {text!r} of the points: write a share from 0 to below 1, such as "
        "`# keeps: 0.75`, or leave the line out, as a mistake with an `outcome` has to"
    )


def _top_level_parts(text: str) -> list[str]:
    """Return the expressions of a comma-separated list, split outside brackets."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [*parts, part.strip()]
