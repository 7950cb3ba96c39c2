"""The class that the benchmarks grade: drawn from a seed, and no two of its notebooks are alike.

In an ordinary notebook each exercise's answer is drawn on its own: right in the solution's way or
in one of those in `tests/variants`, a known mistake (a misconception of the grader's), or a mutant,
which is a right answer with one change made by a machine that is none of the known mistakes. In
some notebooks one answer loops for ever, crashes, or eats memory; in some nothing was begun.

What is drawn is tried in a process of its own, with all the notebook's cells and the hidden tests:
a variant is right beside the solution's other cells, and an ordinary notebook comes to an end
within its time and memory.
"""

from __future__ import annotations

import ast
import json
import os
import random
import resource
import signal
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from itertools import repeat
from pathlib import Path

import nbformat

import course.interactives  # noqa: F401 (imported before the processes are forked)
from autograder.authoring.audit.cases import all_cases
from autograder.authoring.audit.mutation import mutants
from autograder.course_folder.assignments import (
    Assignment,
    Exercise,
    compiled,
    find_course,
    load_assignment,
)
from autograder.errors import CourseError
from autograder.judging.hidden_tests import Suite
from autograder.wall.targets import LocalTarget

ORDINARY, UNTOUCHED = "ordinary", "not started"
HOSTILE = ("loops", "crashes", "eats memory")
NOTEBOOKS = {ORDINARY: 0.90, UNTOUCHED: 0.04, "loops": 0.02, "crashes": 0.02, "eats memory": 0.02}
"""The shares of the kinds of notebooks; from five notebooks on, there is one of each at least."""

RIGHT, MISTAKE, MUTANT = "right", "known mistake", "mutant"
ANSWERS = {RIGHT: 0.80, MISTAKE: 0.10, MUTANT: 0.10}
"""How likely each kind of answer is, for each exercise of an ordinary notebook."""

SECONDS, MEMORY = 5, 700 << 20
"""Processor time and memory within which an ordinary notebook and its hidden tests end; trainings
have five times what they take in the solution."""

_TAKES_MEMORY = 'hoard = [b"x" * 2**20 for _ in range(2048)]'
_RECURSION = """
import sys
sys.setrecursionlimit(10**6)
def again(depth):
    return max([depth], key=lambda each: again(each + 1))
again(0)
"""
_HOSTILE = {
    "loops": ["while True: pass"],
    "crashes": ["import os; os._exit(1)", _RECURSION],
    "eats memory": [_TAKES_MEMORY],
}


@dataclass(frozen=True)
class Notebook:
    """What one student handed in for one assignment.

    Attributes:
        kind: one of `NOTEBOOKS`.
        answers: the solution cells by exercise; empty if nothing was begun.
        drawn: which of `ANSWERS` each of them is, or the notebook's kind where it is hostile.
        attempt: a code cell that the student tried something in, and left.
    """

    assignment: str
    student: str
    kind: str
    answers: dict[str, str]
    drawn: dict[str, str]
    attempt: str

    def hand_in(self, course: Path) -> None:
        """Write it into the course's `submitted/`."""
        path = course / "release" / self.assignment / f"{self.assignment}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and marks.get("grade_id") in self.answers:
                cell.source = self.answers[marks["grade_id"]]
        notebook.cells.append(nbformat.v4.new_code_cell(self.attempt, id="attempt"))
        folder = course / "submitted" / self.student / self.assignment
        folder.mkdir(parents=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        (folder / f"{self.assignment}.ipynb").write_text(text, "utf-8")


def draw_classes(names: Sequence[str], students: int, with_examples: bool = True) -> list[Notebook]:
    """The notebooks of a class for several assignments, drawn at the same time."""
    with ProcessPoolExecutor() as pool:
        found = pool.map(
            draw_class, names, repeat(students), repeat("class"), repeat(with_examples)
        )
        return [notebook for notebooks in found for notebook in notebooks]


def draw_class(
    name: str, students: int, seed: str = "class", with_examples: bool = True
) -> list[Notebook]:
    """The notebooks of a class for one assignment, in the order of the students.

    Args:
        name: the assignment.
        students: how many.
        seed: what everything is drawn from.
        with_examples: whether ordinary notebooks come to their end with the examples and visible
            checks between the answers, too. To find that out takes most of the time.
    """
    kinds = [kind for kind, count in _counts(students).items() for _ in range(count)]
    random.Random(f"{seed} {name}").shuffle(kinds)
    drawing, known, found = _drawing(name, with_examples), set[str](), []
    for number, kind in enumerate(kinds):
        rng = random.Random(f"{seed} {name} {number}")
        notebook = drawing.notebook(f"student_{number:04}", kind, rng)
        while content(notebook) in known:
            notebook = drawing.notebook(f"student_{number:04}", kind, rng)
        known.add(content(notebook))
        found.append(notebook)
    return found


def content(notebook: Notebook) -> str:
    """What the student's code says: all of it but comments and layout."""
    if notebook.kind == UNTOUCHED:
        return notebook.attempt
    return "\n".join(f"{name}: {_code(cell)}" for name, cell in sorted(notebook.answers.items()))


def _counts(students: int) -> Counter[str]:
    """How many notebooks of each kind a class has."""
    least = 1 if students >= len(NOTEBOOKS) else 0
    counts = Counter(
        {kind: max(least, round(share * students)) for kind, share in NOTEBOOKS.items()}
    )
    counts[ORDINARY] += students - counts.total()
    return counts


@lru_cache(maxsize=100_000)
def _code(source: str) -> str:
    """A cell without its comments; as it is, where it is no Python."""
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError:
        return source


@lru_cache
def _drawing(name: str, with_examples: bool) -> _Drawing:
    return _Drawing(load_assignment(find_course(), name), with_examples)


class _Drawing:
    """Draws notebooks of one assignment."""

    def __init__(self, assignment: Assignment, with_examples: bool) -> None:
        self._assignment = assignment
        self._with_examples = with_examples
        self._exercises = [e for e in assignment.exercises.values() if not e.manual]
        self._trial = _Trial(assignment)
        self._right = {e.id: {_code(e.solution): e.solution} for e in self._exercises}
        for case in all_cases(find_course(), assignment, "", ["variant"]):
            for exercise, source in case.answers.items():
                self._right[exercise].setdefault(_code(source), source)

    def notebook(self, student: str, kind: str, rng: random.Random) -> Notebook:
        name, attempt = self._assignment.name, f"{rng.uniform(-9, 9):.6f} * {rng.uniform(0, 9):.6f}"
        if kind == UNTOUCHED:
            return Notebook(name, student, kind, {}, {}, attempt)
        while True:
            answers, drawn = {}, {}
            for exercise in self._exercises:
                drawn[exercise.id] = rng.choices([*ANSWERS], [*ANSWERS.values()])[0]
                answers[exercise.id] = self._answer(exercise, drawn[exercise.id], rng)
            if self._trial.passed(answers, self._with_examples) is not None:
                break
        if kind in HOSTILE:
            exercise = rng.choice(self._exercises)
            answers[exercise.id] = _hostile(exercise, kind, rng)
            drawn[exercise.id] = kind
        # Not even the text of two cells is the same.
        answers = {each: f"{cell}\n# {rng.random()}\n" for each, cell in answers.items()}
        return Notebook(name, student, kind, answers, drawn, attempt)

    def _answer(self, exercise: Exercise, kind: str, rng: random.Random) -> str:
        """One answer of a kind; where there is no other, a mistake in the place of a mutant."""
        if kind == RIGHT:
            return self._right_answer(exercise, rng)
        mistakes = [mistake.source for mistake in exercise.mistakes if not mistake.endless]
        if kind == MUTANT:
            known = {*map(_code, mistakes), *self._right[exercise.id]}
            for _ in range(10):
                cell = self._right_answer(exercise, rng)
                for mutant in mutants(exercise.id, cell, 5, str(rng.random())):
                    if _code(mutant.source) not in known:
                        return mutant.source
        return rng.choice(mistakes)

    def _right_answer(self, exercise: Exercise, rng: random.Random) -> str:
        """The solution or a variant that is right beside the solution's other cells."""
        while True:
            source = rng.choice([*self._right[exercise.id].values()])
            if source == exercise.solution or self._trial.right_alone(exercise.id, source):
                return source


def _hostile(exercise: Exercise, kind: str, rng: random.Random) -> str:
    """A right answer that does harm when it is run, or when what it defines is called."""
    ways = list(_HOSTILE[kind])
    mistakes = [each.source for each in exercise.mistakes if each.endless]
    if kind == "loops" and mistakes and rng.random() < 0.5:
        return rng.choice(mistakes)
    harm, tree = ast.parse(rng.choice(ways)).body, ast.parse(exercise.solution)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    called = bool(functions) and rng.random() < 0.5
    (functions[0] if called else tree).body[:0] = harm
    return ast.unparse(tree)


class _Trial:
    """Runs an assignment's notebook and its hidden tests, in a process forked for each trial."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._suite = Suite(assignment.tests)
        release = find_course() / "release" / assignment.name / f"{assignment.name}.ipynb"
        self._cells = [
            (cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
            for cell in nbformat.read(release, as_version=4).cells
            if cell.cell_type == "code"
        ]
        self._alone: dict[tuple[str, str], bool] = {}
        self._seconds = 600
        started = os.times().children_user
        passed = self.passed({})
        if passed is None or not all(passed.values()):
            raise CourseError(f"{assignment.name}: the solution does not pass its hidden tests")
        self._seconds = max(SECONDS, round(5 * (os.times().children_user - started)))

    def right_alone(self, exercise: str, source: str) -> bool:
        """Whether an answer, beside the solution's other cells, leaves all exercises right."""
        if (exercise, source) not in self._alone:
            passed = self.passed({exercise: source}, whole=False)
            self._alone[exercise, source] = passed is not None and all(passed.values())
        return self._alone[exercise, source]

    def passed(self, answers: dict[str, str], whole: bool = True) -> dict[str, bool] | None:
        """Which exercises pass all hidden tests; None if that does not come to an end.

        Args:
            answers: the cells that differ from the solution's, by exercise.
            whole: whether the visible checks and the examples between them are run too, which may
                loop where the hidden tests do not.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self._run(answers, writing, whole)
            finally:
                os._exit(1)
        os.close(writing)
        with open(reading) as pipe:
            told = pipe.read()
        _, status, used = os.wait4(child, 0)
        ended = not status and told and used.ru_maxrss << 10 <= MEMORY
        return json.loads(told) if ended else None

    def _run(self, answers: dict[str, str], writing: int, whole: bool) -> None:
        """Run cells and tests within the limits, tell which exercises passed, and end."""
        resource.setrlimit(resource.RLIMIT_CPU, (self._seconds, self._seconds))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.alarm(20 * self._seconds)
        scope = {"__name__": "__main__"}
        solutions = {e.id: e.solution for e in self._assignment.exercises.values() if not e.manual}
        filled = solutions | answers
        kept = filled.keys() | self._assignment.setup.keys()
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            for name, source in self._cells:
                if whole or name in kept:
                    with suppress(Exception):
                        exec(compiled(filled.get(name, source)), scope)
            passed = {
                exercise: all(
                    verdict.passed
                    for verdict in self._suite.run(exercise, lambda _: LocalTarget(scope), b"class")
                )
                for exercise in self._suite.exercises
            }
        with open(writing, "w") as pipe:
            pipe.write(json.dumps(passed))
        os._exit(0)
