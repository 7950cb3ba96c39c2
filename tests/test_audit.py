"""The hidden tests of this course distinguish right from wrong answers, and the audit measures
that."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from zlib import crc32

import pytest
from campaigns import size

from autograder.authoring.audit.accepted import accepted_mutants
from autograder.authoring.audit.cases import all_cases
from autograder.authoring.audit.judging import Judge, notebook_cells
from autograder.authoring.audit.report import TITLES, rows
from autograder.authoring.audit.running import SEED, audit
from autograder.course_folder.course import find_course
from autograder.course_folder.misconceptions import UNNAMED
from autograder.judging.hidden_tests import Suite
from autograder.judging.submission import Submission
from autograder.sandbox.targets import LocalTarget
from namespaces import namespace_at

pytestmark = pytest.mark.subprocess

COURSE = find_course()
NAMES = COURSE.assignment_names()
ASSIGNMENTS = {name: COURSE.assignment(name) for name in NAMES}

REPEATS = int(os.environ.get("REPEATS", "3"))
"""Number of times that one submission is graded; `make audit` asks for 200."""

SEEDS = int(os.environ.get("SEEDS", "0"))
"""Number of seeds with which every known mistake is judged; here, two of them judge one in
twenty."""

MADE_BY_MACHINE = ("two_exercises", "two_in_one", "mutant")
EVERY = {"mistake": 1, "cheat": 1, "edge": 16, **dict.fromkeys(MADE_BY_MACHINE, 40)}
"""Of the wrong answers of a kind, one in so many is judged here, and of those to a training, which
take seconds, one in seven of these; `make audit` judges all."""

TRAINED = {"closures": "xor", "one_from_another": "moons", "trains_until_done": "four_points"}
"""Right solutions of which a training is judged."""

SLOW = set(COURSE.settings.limits.trainings)


@cache
def cases(kind: str, name: str | None = None):
    chosen = [name] if name else NAMES
    return [case for each in chosen for case in all_cases(COURSE, ASSIGNMENTS[each], SEED, [kind])]


def drawn(case, every):
    """Return whether this is one of the cases, one in `every`, that are always judged."""
    return crc32(case.id.encode()) % every == 0


# The results of the audit.


@pytest.fixture(scope="session")
def found():
    """Run the audit on all right solutions, and on a sample of the wrong answers."""
    assert {*TRAINED.values()} == SLOW

    def chosen(case):
        if case.kind == "variant":
            return replace(case, spared=frozenset(SLOW - {TRAINED.get(case.id)}))
        every = EVERY[case.kind] * (7 if case.exercise in SLOW else 1)
        return case if drawn(case, every) else None

    return audit(COURSE, NAMES, workers=os.cpu_count() or 1, chosen=chosen)


@pytest.mark.full
def test_every_mistake_fails_a_test_and_is_named_and_costs_only_its_own_exercise(found):
    for kind in ("mistake", "two_exercises"):
        count = found.count(kind)
        assert count.killed == count.wrong and count.alarms == 0
        assert count.named >= 0.97 * count.wrong
    assert found.count("mistake").cases > 0.9 * len(cases("mistake"))
    alone = {case.id for case in cases("mistake") if not case.endless}
    assert alone == {name for case in cases("two_exercises") for name in case.mistakes}


@pytest.mark.full
def test_every_mutant_is_killed_or_accepted(found):
    for kind in ("mutant", "two_in_one"):
        count = found.count(kind)
        assert count.killed == count.wrong and count.cases > 0


@pytest.mark.full
def test_every_edge_case_and_every_cheat_loses_points(found):
    for kind in UNNAMED:
        assert found.count(kind).killed == found.count(kind).wrong > 15


@pytest.mark.full
def test_right_solutions_get_full_marks(found):
    count = found.count("variant")
    assert count.cases == len(cases("variant")) >= 40
    assert [each.alarms for each in found.of("variant") if each.alarms] == []


@pytest.mark.full
def test_the_audit_passes_and_the_page_shows_its_results(found):
    assert found.passed and found.gaps == []
    page = (COURSE.root / "docs" / "audit.md").read_text("utf-8")
    whole = tuple(TITLES[kind] for kind in ("mistake", "cheat", "variant"))
    for cells in rows(found):
        if cells[0].endswith(whole) and not cells[0].startswith("mlp: "):
            assert f"| {' | '.join(cells)} |" in page


@pytest.mark.full
def test_the_audit_s_page_has_the_present_number_of_cases_of_each_kind():
    """Compare the page's numbers of cases with today's, without running any."""
    page = (COURSE.root / "docs" / "audit.md").read_text("utf-8")
    for name in NAMES:
        for kind, title in TITLES.items():
            assert f"| {name}: {title} | {len(cases(kind, name))} |" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_three_misconceptions(name):
    for exercise in ASSIGNMENTS[name].exercises.values():
        assert exercise.manual or len(exercise.mistakes) >= 3, exercise.id


def test_a_cheat_that_is_a_known_mistake_keeps_nothing():
    exercises = [e for each in ASSIGNMENTS.values() for e in each.exercises.values()]
    cheats = {case.id for case in cases("cheat")}
    kept = {each.id for exercise in exercises for each in exercise.mistakes if each.keeps}

    assert cheats & kept == set()


def test_every_exercise_has_a_cheat_and_all_wrong_answers_are_python():
    automatic = {e.id for each in ASSIGNMENTS.values() for e in each.exercises.values()
                 if not e.manual}  # fmt: skip
    assert {case.exercise for case in cases("cheat")} == automatic
    for case in cases("mistake") + cases("edge") + cases("cheat"):
        compile(case.answers[case.exercise], case.id, "exec")


# Verdicts in the grader's own process are those from in the sandbox.


def verdicts_here(case, seed):
    """Return the promises of the case's exercise, each with its verdict, by the hidden tests in
    this process."""
    assignment = ASSIGNMENTS[case.assignment]
    scope = namespace_at(assignment, case.exercise, case.answers[case.exercise])
    with Suite(assignment.tests) as suite:
        verdicts = suite.run(case.exercise, lambda _: LocalTarget(scope), seed)
        return [(verdict.criterion, verdict.passed) for verdict in verdicts]


@pytest.mark.full
@pytest.mark.sized
@pytest.mark.parametrize(("kind", "every"), [("mistake", size(27, 3)), ("two_in_one", size(75, 9))])
def test_hidden_tests_give_the_same_verdicts_in_the_sandbox_and_in_the_grader_s_process(
    grader, kind, every
):
    differ = {}
    for case in cases(kind)[::every]:
        if case.endless:  # on either side
            continue
        assignment = ASSIGNMENTS[case.assignment]
        cells = notebook_cells(assignment, case)
        behind = grader.grade(case.assignment, cells, {case.exercise}).report.exercises[0].criteria
        seed = Submission(assignment, cells, grader._key).seed_of(case.exercise)
        if behind != (here := verdicts_here(case, seed)):
            differ[case.id] = behind, here
    assert differ == {}


@pytest.mark.full
def test_other_seeds_give_the_same_verdicts():
    """A submission's marks do not depend on the drawn numbers."""
    verdicts: dict[str, dict[tuple, set[str]]] = {}
    chosen = [case for case in cases("mistake") if not case.endless and (SEEDS or drawn(case, 20))]
    for number in range(SEEDS or 2):
        with Judge(COURSE, f"seed {number}") as judge:
            for case in chosen:
                seen = verdicts.setdefault(case.id, {})
                seen.setdefault(tuple(judge.verdicts(case)), set()).add(f"seed {number}")
    assert {name: seen for name, seen in verdicts.items() if len(seen) > 1} == {}


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_repeated_gradings_give_the_same_report_to_the_byte(grader, name):
    case = next(each for each in cases("two_exercises", name) if SLOW.isdisjoint(each.answers))
    notebook = notebook_cells(ASSIGNMENTS[name], case)
    reports = {
        json.dumps(grader.grade(name, notebook, set(case.answers)).report.as_json())
        for _ in range(REPEATS)
    }
    assert len(reports) == 1


@pytest.mark.full
def test_every_accepted_pattern_matches_an_edit_of_a_mutant():
    seen = [(case.exercise, case.about) for case in (*cases("mutant"), *cases("two_in_one"))]
    unused = [
        edit.pattern
        for each in accepted_mutants(COURSE)
        for edit in each.edits
        if not any(name in each.exercises and edit.fullmatch(change) for name, change in seen)
    ]
    assert unused == []
