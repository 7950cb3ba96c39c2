"""Makes the cases of the audit: mistakes, combinations, mutants, right solutions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ...course_folder.assignments import Assignment, Exercise
from ...course_folder.course import Course
from ...course_folder.misconceptions import UNNAMED, Mistake, percent_cells
from ...course_folder.modules import course_object
from ...course_folder.settings import Settings
from .mutation import Mutant, merged, mutants

MUTANTS = 100
"""Greatest number of mutants drawn for one solution cell."""

MUTANTS_OF_SLOW = 15
"""Greatest number of mutants of an exercise that course.toml lists in `trainings`: its tests are
slow."""

WHOLE = 8
"""One in this number of notebooks with mistakes in two exercises is graded as a whole. In the
others, slow exercises without a mistake are left out."""

COMBINATIONS = 12
"""Greatest number of answers with two mistakes that are drawn for one exercise."""

KINDS = ("mistake", "two_exercises", "two_in_one", "mutant", *UNNAMED, "variant")


@dataclass(frozen=True)
class Case:
    """A notebook whose verdicts are known in advance.

    Attributes:
        kind: one of `KINDS`.
        id: the case's name, unique among the cases of its kind and assignment.
        answers: by id of an exercise, the answer that takes the place of the solution.
        mistakes: the ids of the misconceptions in these answers.
        about: a description of the change.
        endless: whether a mistake makes the code loop for ever.
        spared: ids of the exercises that are not graded, to save time.
        worthless: whether the answer must not pass a single test, since no part of it is right.
    """

    kind: str
    id: str
    assignment: str
    answers: dict[str, str]
    mistakes: tuple[str, ...] = ()
    about: str = ""
    endless: bool = False
    spared: frozenset[str] = frozenset()
    worthless: bool = False

    @property
    def exercise(self) -> str:
        """The id of the changed exercise, for cases that change only one."""
        return next(iter(self.answers))


def all_cases(
    course: Course, assignment: Assignment, seed: str, kinds: Collection[str] = KINDS
) -> list[Case]:
    """Return an assignment's cases of these kinds.

    Args:
        seed: the seed with which mutants and combinations are drawn.
        kinds: some of `KINDS`; by default all.
    """
    settings = course.settings
    automatic = [each for each in assignment.exercises.values() if not each.manual]
    makers: dict[str, Callable[[], Iterator[Case]]] = {
        "mistake": lambda: _mistakes(assignment, automatic),
        "two_exercises": lambda: _pairs(assignment, automatic, seed, settings),
        "two_in_one": lambda: _two_in_one(assignment, automatic, seed, settings),
        "mutant": lambda: _mutants(assignment, automatic, seed, settings),
        "edge": lambda: _edges(course, assignment, automatic, settings),
        "cheat": lambda: _unnamed("cheat", assignment, automatic),
        "variant": lambda: _variants(course, assignment),
    }
    cases = (case for kind in KINDS if kind in kinds for case in makers[kind]())
    return list({(case.kind, case.id): case for case in cases}.values())


def _mutants(
    assignment: Assignment, exercises: list[Exercise], seed: str, settings: Settings
) -> Iterator[Case]:
    for exercise in exercises:
        limit = MUTANTS_OF_SLOW if exercise.id in settings.limits.trainings else MUTANTS
        attributes = settings.audit.attributes
        for mutant in mutants(exercise.id, exercise.solution, limit, seed, attributes):
            yield _mutant_case("mutant", assignment, mutant)


def _mutant_case(kind: str, assignment: Assignment, mutant: Mutant, *mistakes: str) -> Case:
    answers = {mutant.exercise: mutant.source}
    return Case(kind, mutant.id, assignment.name, answers, mistakes, mutant.change)


def _mistakes(assignment: Assignment, exercises: list[Exercise]) -> Iterator[Case]:
    for exercise in exercises:
        for mistake in exercise.mistakes:
            yield Case(
                "mistake",
                mistake.id,
                assignment.name,
                {exercise.id: mistake.source},
                (mistake.id,),
                mistake.says,
                mistake.endless,
            )


def _unnamed(kind: str, assignment: Assignment, exercises: list[Exercise]) -> Iterator[Case]:
    for exercise in exercises:
        for each in exercise.unnamed:
            if each.kind == kind:
                answers = {exercise.id: each.source}
                yield Case(kind, each.id, assignment.name, answers, worthless=each.worthless)


def _edges(
    course: Course, assignment: Assignment, exercises: list[Exercise], settings: Settings
) -> Iterator[Case]:
    """Yield edges: those in the files of misconceptions, and those that the function `audit.edges`
    of course.toml makes."""
    yield from _unnamed("edge", assignment, exercises)
    if settings.audit.edges:
        edges_of = course_object(course, settings.audit.edges)
        for exercise in exercises:
            for name, source in edges_of(exercise.id, exercise.solution):
                answers = {exercise.id: source}
                yield Case("edge", f"{exercise.id}.{name}", assignment.name, answers)


def _pairs(
    assignment: Assignment, exercises: list[Exercise], seed: str, settings: Settings
) -> Iterator[Case]:
    """Yield notebooks with mistakes in two exercises.

    If possible each mistake occurs once, and the pairs of exercises are all different.
    """
    mistakes = [m for each in exercises for m in each.mistakes if not m.endless]
    random.Random(f"{seed} {assignment.name}").shuffle(mistakes)
    used: set[frozenset[str]] = set()
    remaining = list(mistakes)
    while remaining:
        first = remaining.pop()
        others = [m for m in remaining if _exercise(m) != _exercise(first)]
        fresh = [m for m in others if frozenset((_exercise(m), _exercise(first))) not in used]
        # For the last mistake no partner may be left: then a mistake that was used is used again.
        rest = [m for m in mistakes if _exercise(m) != _exercise(first)]
        if not rest:
            return
        second = (fresh or others or rest)[-1]
        if second in remaining:
            remaining.remove(second)
        used.add(frozenset((_exercise(first), _exercise(second))))
        answers = {_exercise(m): m.source for m in (first, second)}
        name, both = f"{first.id}+{second.id}", (first.id, second.id)
        slow = frozenset(settings.limits.trainings) - set(answers)
        spared = slow if len(used) % WHOLE else frozenset()
        yield Case("two_exercises", name, assignment.name, answers, both, spared=spared)


def _exercise(mistake: Mistake) -> str:
    return mistake.id.partition(".")[0]


def _two_in_one(
    assignment: Assignment, exercises: list[Exercise], seed: str, settings: Settings
) -> Iterator[Case]:
    """Yield answers with two mistakes in one exercise. If too few pairs of mistakes can be merged,
    further answers have a mistake and one change as in a mutant."""
    for exercise in exercises:
        mistakes = [mistake for mistake in exercise.mistakes if not mistake.endless]
        pairs = list(itertools.combinations(mistakes, 2))
        random.Random(f"{seed} {exercise.id}").shuffle(pairs)
        count = 0
        for first, second in pairs:
            source = merged(exercise.solution, first.source, second.source)
            if source is not None and count < COMBINATIONS:
                count += 1
                name = f"{first.id}+{second.id.partition('.')[2]}"
                answers = {exercise.id: source}
                yield Case("two_in_one", name, assignment.name, answers, (first.id, second.id))
        for mistake in mistakes[: 0 if exercise.form else COMBINATIONS - count]:
            for mutant in mutants(exercise.id, mistake.source, 1, seed, settings.audit.attributes):
                yield _mutant_case("two_in_one", assignment, mutant, mistake.id)


def _variants(course: Course, assignment: Assignment) -> Iterator[Case]:
    """Yield variants: right answers in other styles. For exercises that a file of variants leaves
    out, the solution is used."""
    for path in sorted((course.root / "tests" / "variants" / assignment.name).glob("*.py")):
        answers = {cell.name: cell.source for cell in percent_cells(path)}
        yield Case("variant", path.stem, assignment.name, answers)
