"""The grading tests distinguish right from wrong, and so does the audit that measures it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from zlib import crc32

import pytest
from campaigns import size
from click.testing import CliRunner
from schools import run

from autograder.authoring.audit.accepted import NAME, accepted_mutants, reason
from autograder.authoring.audit.cases import all_cases
from autograder.authoring.audit.judging import ENDLESS, Judge, notebook_cells
from autograder.authoring.audit.mutation import merged, mutants
from autograder.authoring.audit.report import TITLES, remarks, rows, summary
from autograder.authoring.audit.running import SEED, Audit, audit
from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.course_folder.misconceptions import UNNAMED
from autograder.course_folder.settings import load_settings
from autograder.errors import CourseError
from autograder.judging.hidden_tests import Suite
from autograder.judging.submission import Submission
from autograder.wall.targets import LocalTarget
from namespaces import namespace_at

pytestmark = pytest.mark.slow

COURSE = find_course()
NAMES = assignment_names(COURSE)
ASSIGNMENTS = {name: load_assignment(COURSE, name) for name in NAMES}

REPEATS = int(os.environ.get("REPEATS", "3"))
"""Number of times that one submission is graded; `make audit` asks for 200."""

SEEDS = int(os.environ.get("SEEDS", "0"))
"""Number of seeds with which every known mistake is judged; here, two of them judge one in
twenty."""

MADE_BY_MACHINE = ("two_exercises", "two_in_one", "mutant")
EVERY = {"mistake": 1, "cheat": 1, "edge": 16, **dict.fromkeys(MADE_BY_MACHINE, 40)}
"""Of the wrong answers of a kind, one in so many is judged here, and of those to a training, which
take seconds, one in seven of these; `make audit` judges all."""

TRAINED = {"closures": "xor", "own_loops": "moons", "trains_until_done": "four_points"}
"""Right solutions of which a training is judged."""

SLOW = set(load_settings(COURSE).limits.trainings)


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


def test_every_misconception_is_killed_and_named_and_costs_its_own_exercise(found):
    for kind in ("mistake", "two_exercises"):
        count = found.count(kind)
        assert count.killed == count.wrong and count.alarms == 0
        assert count.named >= 0.97 * count.wrong
    assert found.count("mistake").cases > 0.9 * len(cases("mistake"))
    alone = {case.id for case in cases("mistake") if not case.endless}
    assert alone == {name for case in cases("two_exercises") for name in case.mistakes}


def test_every_mutant_is_killed_or_accepted(found):
    for kind in ("mutant", "two_in_one"):
        count = found.count(kind)
        assert count.killed == count.wrong and count.cases > 0


def test_edges_and_cheats_fail(found):
    for kind in UNNAMED:
        assert found.count(kind).killed == found.count(kind).wrong > 15


def test_right_solutions_get_full_marks(found):
    count = found.count("variant")
    assert count.cases == len(cases("variant")) >= 40
    assert [each.alarms for each in found.of("variant") if each.alarms] == []


def test_the_audit_passes_and_the_page_shows_its_results(found):
    assert found.passed and found.gaps == []
    page = (COURSE / "docs" / "audit.md").read_text("utf-8")
    whole = tuple(TITLES[kind] for kind in ("mistake", "cheat", "variant"))
    for cells in rows(found):
        if cells[0].endswith(whole) and not cells[0].startswith("mlp: "):
            assert f"| {' | '.join(cells)} |" in page


def test_the_page_counts_all_cases():
    """Compare the page's numbers of cases with today's, without running any."""
    page = (COURSE / "docs" / "audit.md").read_text("utf-8")
    for name in NAMES:
        for kind, title in TITLES.items():
            assert f"| {name}: {title} | {len(cases(kind, name))} |" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_three_misconceptions(name):
    for exercise in ASSIGNMENTS[name].exercises.values():
        assert exercise.manual or len(exercise.mistakes) >= 3, exercise.id


def test_every_exercise_has_a_cheat_and_all_wrong_answers_are_python():
    automatic = {e.id for each in ASSIGNMENTS.values() for e in each.exercises.values()
                 if not e.manual}  # fmt: skip
    assert {case.exercise for case in cases("cheat")} == automatic
    for case in cases("mistake") + cases("edge") + cases("cheat"):
        compile(case.answers[case.exercise], case.id, "exec")


# Verdicts in the grader's own process are those from behind the wall.


def verdicts_here(case, seed):
    """Return the promises of the case's exercise, each with its verdict, by the hidden tests in
    this process."""
    assignment = ASSIGNMENTS[case.assignment]
    scope = namespace_at(assignment, case.exercise, case.answers[case.exercise])
    with Suite(assignment.tests) as suite:
        verdicts = suite.run(case.exercise, lambda _: LocalTarget(scope), seed)
        return [(verdict.promise, verdict.passed) for verdict in verdicts]


@pytest.mark.sized
@pytest.mark.parametrize(("kind", "every"), [("mistake", size(27, 3)), ("two_in_one", size(75, 9))])
def test_verdicts_are_the_same_on_both_sides_of_the_wall(grader, kind, every):
    differ = {}
    for case in cases(kind)[::every]:
        if case.endless:  # on either side
            continue
        assignment = ASSIGNMENTS[case.assignment]
        cells = notebook_cells(assignment, case)
        behind = grader.grade(case.assignment, cells, {case.exercise}).report.exercises[0].promises
        seed = Submission(assignment, cells, grader._key).seed_of(case.exercise)
        if behind != (here := verdicts_here(case, seed)):
            differ[case.id] = behind, here
    assert differ == {}


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


@pytest.mark.parametrize("name", NAMES)
def test_repeated_gradings_give_the_same_report_to_the_byte(grader, name):
    case = next(each for each in cases("two_exercises", name) if SLOW.isdisjoint(each.answers))
    notebook = notebook_cells(ASSIGNMENTS[name], case)
    reports = {
        json.dumps(grader.grade(name, notebook, set(case.answers)).report.as_json())
        for _ in range(REPEATS)
    }
    assert len(reports) == 1


def test_an_endless_mutant_is_stopped():
    case = replace(cases("mutant")[0], answers={"zero_grad": "def zero_grad(parameters):\n"
                   "    while True:\n        pass\n"})  # fmt: skip
    with Judge(COURSE, SEED) as judge:
        assert list(judge.verdicts(replace(case, assignment="backward"))) == [(ENDLESS, False)]


# Accepted changes, and mutants.


def test_every_accepted_edit_is_a_mutant_s():
    seen = [(case.exercise, case.about) for case in (*cases("mutant"), *cases("two_in_one"))]
    unused = [
        edit.pattern
        for each in accepted_mutants(COURSE)
        for edit in each.edits
        if not any(name in each.exercises and edit.fullmatch(change) for name, change in seen)
    ]
    assert unused == []


def test_a_list_of_accepted_mutants_that_cannot_be_read_is_refused(tmp_path):
    assert reason(tmp_path, "add", "a → b") == ""
    (tmp_path / "grading_tests").mkdir()
    (tmp_path / "grading_tests" / NAME).write_text("[[accepted]]\nbecause = 'Right.'\n", "utf-8")
    with pytest.raises(CourseError, match=r"accepted_mutants\.toml: KeyError: 'exercises'. Each"):
        accepted_mutants(tmp_path)


ADD = """
def add(a, b):
    '''Return the sum.'''
    total = a + float(b)
    if total > 10:
        total += 1
    return total
"""


def test_mutants_change_one_thing_each():
    made = mutants("add", ADD, 1000, "seed")
    assert len({each.id for each in made}) == len({each.source for each in made}) == len(made)
    changes = {each.change for each in made}
    assert {
        "total = a + float(b) → total = a - float(b)",
        "total = a + float(b) → total = a",
        "total = a + float(b) → total = a + b",
        "total = a + float(b) → total = b + float(b)",
        "if total > 10: → if total >= 10:",
        "if total > 10: → if True:",
        "if total > 10: → if total > 11:",
        "total += 1 → total = 1",
        "total += 1 → total -= 1",
        "total += 1 → pass",
        "return total → pass",
        "return total → return a",
    } <= changes
    for each in made:
        compile(each.source, "mutant", "exec")


def test_mutants_are_drawn_the_same_way_each_time():
    assert mutants("add", ADD, 5, "seed") == mutants("add", ADD, 5, "seed")
    assert mutants("add", ADD, 5, "seed") != mutants("add", ADD, 5, "other")
    assert len(mutants("add", ADD, 5, "seed")) == 5


def test_two_mistakes_are_joined_if_they_change_different_lines():
    one, other = ADD.replace("total > 10", "total < 10"), ADD.replace("return total", "return a")
    both = merged(ADD, one, other)
    assert both is not None and "total < 10" in both and "return a" in both
    assert merged(ADD, one, ADD.replace("total > 10", "total > 9")) is None
    assert merged(ADD, one, one) is None


# Messages for an author.


@pytest.fixture
def blind_course(tmp_path):
    """Return a course in which the author forgot a requirement of an answer."""
    copy_course(COURSE, tmp_path)
    tests = tmp_path / "grading_tests" / "test_checkpoint.py"
    text = tests.read_text("utf-8")
    assert '"q3": "b"' in text and '"q2": 2.0' in text
    asked = "plain(student[question], to_letter) == right"
    assert asked in text
    text = text.replace(asked, "plain(student[question])")
    tests.write_text(text.replace('"q2": 2.0', '"q2": 12.0'), "utf-8")
    return tmp_path


def test_the_audit_reports_mistakes_that_the_tests_miss(blind_course):
    def about(case):
        asked = set(case.answers) <= {"q2", "q3"} and case.kind in ("mistake", "mutant")
        return case if asked else None

    found = audit(blind_course, ["checkpoint"], 1, chosen=about)
    assert not found.passed
    mistakes = found.of("mistake")
    asked, broken = ([m for m in mistakes if m.id.startswith(q)] for q in ("q3.", "q2."))
    assert {each.id for each in asked if not each.killed} == {
        "q3.option_a", "q3.option_c", "q3.option_d",
    }  # fmt: skip
    assert found.survivors and summary(found).startswith(f"killed 0/{len(mistakes)} · ")
    # A test that the solution does not pass either shows no mistake of a student's.
    ungraded = {m.id for m in broken if m.alarms.get("q2", "").startswith("q2 cannot be graded")}
    assert {m.id for m in broken} - ungraded == {"q2.only_over_b"}


def test_two_courses_keep_their_tests_apart(blind_course):
    target = LocalTarget({"q2": 12.0})
    passed = [
        all(verdict.passed for verdict in suite.run("q2", lambda _: target, b"seed"))
        for folder in (COURSE, blind_course, COURSE)
        for suite in [Suite(folder / "grading_tests" / "test_checkpoint.py")]
    ]
    assert passed == [False, True, False]


def test_a_case_can_be_run_alone(blind_course):
    command = ["autograder", "audit", "checkpoint", "--case"]
    seen = run(blind_course, *command, "q3.option_c", status=1)
    assert 'q3 = "c"' in seen and "killed: nothing" in seen
    run(blind_course, *command, "q3.option_z", status=2)


def test_the_command_prints_json_and_commands_that_reproduce_failures(tmp_path, monkeypatch):
    from autograder.authoring.audit import command

    def little(course, names, workers, seed, show):
        some = ("q3.option_a", "fractions")
        return audit(course, names, workers, seed, lambda case: case if case.id in some else None)

    monkeypatch.setattr(command, "audit", little)
    result = CliRunner().invoke(main, ["audit", "checkpoint", "--workers", "1", "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["summary"] == "killed 1/1 · named 1/1 · false alarms 0/1"
    assert printed["passed"] and printed["failures"] == [] and len(printed["table"]) == 2
    assert printed["without_docstring"] == []


def test_the_audit_names_hidden_tests_without_a_docstring():
    [remark] = remarks(Audit("audit", without_docstring=["words: test_half"]))
    assert remark.startswith("no docstring") and remark.endswith(": words: test_half")


def test_a_page_without_markers_is_refused(tmp_path):
    from autograder.authoring.audit.report import write_block

    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(CourseError, match="no place for it"):
        write_block(page, "audit", "text")
