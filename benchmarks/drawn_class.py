"""The class that the benchmarks grade: drawn from a seed, and no two of its cells are alike.

An ordinary notebook is written in one style, the solution's or that of one of `tests/variants`. Of
its answers, some are replaced by a known mistake or by a mutant, which is the answer with one
change made by a machine. In some notebooks one answer loops for ever, crashes, or eats memory; in
some nothing was begun.
"""

from __future__ import annotations

import ast
import atexit
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat

from autograder.authoring.audit.cases import Case, all_cases
from autograder.authoring.audit.judging import ENDLESS, Judge
from autograder.authoring.audit.mutation import mutants
from autograder.course_folder.assignments import Exercise, find_course, load_assignment

COURSE = find_course(Path(__file__).parent)
ORDINARY, UNTOUCHED = "ordinary", "not started"
HOSTILE = ("loops", "crashes", "eats memory")
NOTEBOOKS = {ORDINARY: 0.90, UNTOUCHED: 0.04, "loops": 0.02, "crashes": 0.02, "eats memory": 0.02}
"""The shares of the kinds of notebooks; from five notebooks on, there is one of each at least."""

RIGHT, MISTAKE, MUTANT = "right", "known mistake", "mutant"
ANSWERS = {RIGHT: 0.80, MISTAKE: 0.10, MUTANT: 0.10}
"""Probability of each kind of answer, for each exercise of an ordinary notebook."""

POOL = 10
"""Number of mutants of each exercise that are tried; endless ones are left out."""

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
        answers: the solution cells by exercise; empty if nothing was begun.
    """

    assignment: str
    student: str
    kind: str
    answers: dict[str, str]

    def hand_in(self, course: Path) -> None:
        """Write it into the course's `submitted/`."""
        path = course / "release" / self.assignment / f"{self.assignment}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and marks.get("grade_id") in self.answers:
                cell.source = self.answers[marks["grade_id"]]
        folder = course / "submitted" / self.student / self.assignment
        folder.mkdir(parents=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        (folder / f"{self.assignment}.ipynb").write_text(text, "utf-8")


def draw_class(names: Sequence[str], students: int, seed: str = "class") -> list[Notebook]:
    """Return a class's notebooks for these assignments; all is drawn from the seed."""
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
    exercises = [e for e in load_assignment(COURSE, name).exercises.values() if not e.manual]
    seed = rng.random()
    style = rng.choice(_styles(name))
    answers = {}
    for exercise in exercises:
        # A mistake that is added later changes no other exercise's draw.
        own = random.Random(f"{seed} {exercise.id}")
        drawn = own.choices([*ANSWERS], [*ANSWERS.values()])[0]
        wrong = [each.source for each in exercise.mistakes if not each.endless]
        if drawn == MUTANT:
            wrong = _mutants(name, exercise.id) or wrong
        right = style.get(exercise.id, exercise.solution)
        answers[exercise.id] = right if drawn == RIGHT else own.choice(wrong)
    if kind in HOSTILE:
        exercise = rng.choice(exercises)
        answers[exercise.id] = _hostile(exercise, kind, rng)
    # Not even the text of two cells is the same.
    answers = {each: f"{cell}\n# {rng.random()}\n" for each, cell in answers.items()}
    return Notebook(name, student, kind, answers)


@lru_cache
def _styles(name: str) -> list[dict[str, str]]:
    """Return the ways to write an assignment, as the cells that differ from the solution's."""
    variants = all_cases(COURSE, load_assignment(COURSE, name), "", ["variant"])
    return [{}, *(case.answers for case in variants)]


@lru_cache
def _mutants(name: str, exercise: str) -> list[str]:
    """Return mutants of an exercise's answers, of several styles, whose hidden tests end."""
    cell = load_assignment(COURSE, name).exercises[exercise].solution
    cells = [each.get(exercise, cell) for each in _styles(name)]
    drawn = [
        mutant.source
        for number in range(POOL)
        for mutant in mutants(exercise, cells[number % len(cells)], 1, str(number))
    ]
    return [
        source
        for source in drawn
        if (ENDLESS, False) not in _judge().verdicts(Case("mutant", "", name, {exercise: source}))
    ]


@lru_cache
def _judge() -> Judge:
    judge = Judge(COURSE, "class")
    atexit.register(judge.close)
    return judge


def _hostile(exercise: Exercise, kind: str, rng: random.Random) -> str:
    """Return the solution that does harm when it is run, or when one of its functions is called."""
    harm, tree = ast.parse(HARM[kind]).body, ast.parse(exercise.solution)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    called = bool(functions) and rng.random() < 0.5
    (functions[0] if called else tree).body[:0] = harm
    return ast.unparse(tree)
