"""Draws from a seed the class that the benchmarks grade; no two of its cells are alike.

An ordinary notebook is written in one style: that of the solution or of one of `tests/variants`.
Some of its answers are replaced by known mistakes or by mutants, answers with one change made by a
program. In some notebooks one answer never ends, crashes, or uses up memory; some notebooks have no
answer.
"""

from __future__ import annotations

import ast
import atexit
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import nbformat

from autograder.authoring.audit.cases import Case, all_cases
from autograder.authoring.audit.judging import ENDLESS, Judge
from autograder.authoring.audit.mutation import mutants
from autograder.course_folder.assignments import Exercise
from autograder.course_folder.course import find_course

COURSE = find_course(Path(__file__).parent)
ORDINARY, UNTOUCHED = "ordinary", "not started"
HOSTILE = ("loops", "crashes", "eats memory")
NOTEBOOKS = {ORDINARY: 0.90, UNTOUCHED: 0.04, "loops": 0.02, "crashes": 0.02, "eats memory": 0.02}
"""The share of each kind of notebook. A class of five or more students has at least one notebook of
each kind."""

RIGHT, MISTAKE, MUTANT = "right", "known mistake", "mutant"
ANSWERS = {RIGHT: 0.80, MISTAKE: 0.10, MUTANT: 0.10}
"""The probability of each kind of answer in an ordinary notebook."""

POOL = 10
"""Number of mutants of each exercise that are made; those of a class are drawn from these."""

HARM = {
    "loops": "while True: pass",
    "crashes": "import os; os._exit(1)",
    "eats memory": 'hoard = [b"x" * 2**20 for _ in range(2048)]',
}


@dataclass(frozen=True)
class Notebook:
    """One student's notebook for one assignment.

    Attributes:
        kind: one of `NOTEBOOKS`.
        answers: the sources of the solution cells, by exercise; empty if there is no answer.
    """

    assignment: str
    student: str
    kind: str
    answers: dict[str, str]

    def text(self, course: Path) -> str:
        """Return the course's release notebook with the answers in it."""
        path = course / "release" / self.assignment / f"{self.assignment}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and marks.get("grade_id") in self.answers:
                cell.source = self.answers[marks["grade_id"]]
        return json.dumps(notebook, indent=1, ensure_ascii=False)

    def hand_in(self, course: Path) -> None:
        """Write it into the course's `submitted/`."""
        folder = course / "submitted" / self.student / self.assignment
        folder.mkdir(parents=True)
        (folder / f"{self.assignment}.ipynb").write_text(self.text(course), "utf-8")


def draw_class(names: Sequence[str], students: int, seed: str = "class") -> list[Notebook]:
    """Return a class's notebooks for these assignments, drawn from the seed."""
    return [
        _draw(name, f"student_{number:04}", kind, random.Random(f"{seed} {name} {number}"))
        for name in names
        for number, kind in enumerate(_kinds(students, f"{seed} {name}"))
    ]


def _kinds(students: int, seed: str) -> list[str]:
    """Return the kind of each student's notebook."""
    least = 1 if students >= len(NOTEBOOKS) else 0
    counts = Counter({kind: max(least, round(s * students)) for kind, s in NOTEBOOKS.items()})
    counts[ORDINARY] += students - counts.total()
    kinds = [*counts.elements()]
    random.Random(seed).shuffle(kinds)
    return kinds


def _draw(name: str, student: str, kind: str, rng: random.Random) -> Notebook:
    if kind == UNTOUCHED:
        return Notebook(name, student, kind, {})
    exercises = [e for e in COURSE.assignment(name).exercises.values() if not e.manual]
    seed = rng.random()
    style = rng.choice(_styles(name))
    answers = {}
    for exercise in exercises:
        # A mistake that is added later changes no other exercise's draw.
        own = random.Random(f"{seed} {exercise.id}")
        drawn = own.choices([*ANSWERS], [*ANSWERS.values()])[0]
        wrong = [each.source for each in exercise.mistakes if not each.endless]
        if drawn == MUTANT:
            pool = _mutants(name, exercise.id)
            shuffled = own.sample(pool, len(pool))
            wrong = [*islice((m for m in shuffled if _ends(name, exercise.id, m)), 1)] or wrong
        right = style.get(exercise.id, exercise.solution)
        answers[exercise.id] = right if drawn == RIGHT else own.choice(wrong)
    if kind in HOSTILE:
        exercise = rng.choice(exercises)
        answers[exercise.id] = _hostile(exercise, kind, rng)
    # Not even the text of two cells is the same.
    answers = {each: f"{cell}\n# {rng.random()}\n" for each, cell in answers.items()}
    return Notebook(name, student, kind, answers)


@cache
def _styles(name: str) -> list[dict[str, str]]:
    """Return the styles of an assignment, each as the cells that differ from the solution's."""
    variants = all_cases(COURSE, COURSE.assignment(name), "", ["variant"])
    return [{}, *(case.answers for case in variants)]


@cache
def _mutants(name: str, exercise: str) -> list[str]:
    """Return mutants of an exercise's answers in several styles."""
    cell = COURSE.assignment(name).exercises[exercise].solution
    cells = [each.get(exercise, cell) for each in _styles(name)]
    return [
        mutant.source
        for number in range(POOL)
        for mutant in mutants(exercise, cells[number % len(cells)], 1, str(number))
    ]


@cache
def _ends(name: str, exercise: str, answer: str) -> bool:
    """Return whether all hidden tests of an exercise end with this answer."""
    return (ENDLESS, False) not in _judge().verdicts(Case("mutant", "", name, {exercise: answer}))


@cache
def _judge() -> Judge:
    judge = Judge(COURSE, "class")
    atexit.register(judge.close)
    return judge


def _hostile(exercise: Exercise, kind: str, rng: random.Random) -> str:
    """Return the solution with harmful code at the beginning of the cell or of its first
    function."""
    harm, tree = ast.parse(HARM[kind]).body, ast.parse(exercise.solution)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    called = bool(functions) and rng.random() < 0.5
    (functions[0] if called else tree).body[:0] = harm
    return ast.unparse(tree)
