"""The audit tells whether hidden tests distinguish right from wrong."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from schools import run
from tested_course import COURSE

from autograder.authoring.audit.accepted import NAME, accepted_mutants, reason
from autograder.authoring.audit.cases import Case
from autograder.authoring.audit.judging import ENDLESS, Judge
from autograder.authoring.audit.mutation import merged, mutants
from autograder.authoring.audit.report import remarks, summary
from autograder.authoring.audit.running import SEED, Audit, audit
from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.judging.hidden_tests import Suite
from autograder.sandbox.targets import LocalTarget

pytestmark = pytest.mark.subprocess


@pytest.mark.full
def test_every_mistake_fails_a_test_and_is_named_and_costs_only_its_own_exercise():
    kinds = ("mistake", "two_exercises", "variant")

    found = audit(COURSE, ["value"], 1, chosen=lambda case: case if case.kind in kinds else None)

    assert found.passed, summary(found)
    assert summary(found) == "killed 13/13 · named 13/13 · false alarms 0/1"


def test_an_endless_mutant_is_stopped():
    endless = "def trace(root):\n    while True:\n        pass\n"
    case = Case("mutant", "trace.endless", "value", {"trace": endless})

    with Judge(COURSE, SEED) as judge:
        assert list(judge.verdicts(case)) == [(ENDLESS, False)]


def test_a_list_of_accepted_mutants_that_cannot_be_read_is_refused(tmp_path):
    assert reason(Course(tmp_path), "add", "a → b") == ""
    (tmp_path / "grading_tests").mkdir()
    (tmp_path / "grading_tests" / NAME).write_text("[[accepted]]\nbecause = 'Right.'\n", "utf-8")
    with pytest.raises(CourseError, match=r"accepted_mutants\.toml: KeyError: 'exercises'. Each"):
        accepted_mutants(Course(tmp_path))


ADD = """
def add(a, b):
    '''Return the sum.'''
    total = a + float(b)
    if total > 10:
        total += 1
    return total
"""


def test_each_mutant_changes_one_thing():
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


def test_each_audit_draws_the_same_mutants():
    assert mutants("add", ADD, 5, "seed") == mutants("add", ADD, 5, "seed")
    assert mutants("add", ADD, 5, "seed") != mutants("add", ADD, 5, "other")
    assert len(mutants("add", ADD, 5, "seed")) == 5


def test_two_mistakes_are_joined_if_they_change_different_lines():
    one, other = ADD.replace("total > 10", "total < 10"), ADD.replace("return total", "return a")
    both = merged(ADD, one, other)

    assert both is not None
    assert "total < 10" in both
    assert "return a" in both
    assert merged(ADD, one, ADD.replace("total > 10", "total > 9")) is None
    assert merged(ADD, one, one) is None


@pytest.fixture
def blind_course(tmp_path):
    """Return a course whose hidden tests accept any letter for q1, and expect a wrong number for
    q2."""
    copy_course(COURSE, tmp_path)
    tests = tmp_path / "grading_tests" / "test_checkpoint.py"
    text = tests.read_text("utf-8")
    for right, wrong in (('== "c"', '!= ""'), ("== 2", "== 22")):
        assert right in text
        text = text.replace(right, wrong)
    tests.write_text(text, "utf-8")
    return tmp_path


@pytest.mark.full
def test_the_audit_reports_mistakes_that_the_tests_miss(blind_course):
    def about(case):
        return case if case.kind in ("mistake", "mutant") else None

    found = audit(Course(blind_course), ["checkpoint"], 1, chosen=about)

    assert not found.passed
    assert found.survivors
    assert summary(found).startswith("killed 0/4 · ")
    killed = {case.id: case.killed for case in found.of("mistake")}
    assert not killed["q1.from_the_left"]
    assert not killed["q1.all_multiplied"]
    # A test that the solution does not pass either shows no mistake of a student's.
    alarms = {case.id: case.alarms.get("q2", "") for case in found.of("mistake")}
    assert alarms["q2.from_the_right"].startswith("q2 cannot be graded")
    assert not alarms["q2.sign"].startswith("q2 cannot be graded")


def test_hidden_tests_of_two_courses_with_the_same_file_name_are_not_mixed_up(blind_course):
    target = LocalTarget({"q2": 22})
    passed = [
        all(verdict.passed for verdict in suite.run("q2", lambda _: target, b"seed"))
        for course in (COURSE, Course(blind_course), COURSE)
        for suite in [Suite(course.tests_of("checkpoint"))]
    ]

    assert passed == [False, True, False]


def test_the_audit_can_run_a_single_case(blind_course):
    command = ["autograder", "audit", "checkpoint", "--case"]
    seen = run(blind_course, *command, "q1.from_the_left", status=1)
    assert 'q1 = "a"' in seen
    assert "killed: nothing" in seen
    run(blind_course, *command, "q1.option_z", status=2)


@pytest.mark.full
def test_the_command_prints_json_and_commands_that_reproduce_failures(monkeypatch):
    from autograder.authoring.audit import command

    def little(course, names, workers, seed, show):
        some = ("add.overwrites", "recursive")
        return audit(course, names, workers, seed, lambda case: case if case.id in some else None)

    monkeypatch.setattr(command, "audit", little)
    result = CliRunner().invoke(
        main, ["audit", "value", "--course", str(COURSE), "--workers", "1", "--json"]
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["summary"] == "killed 1/1 · named 1/1 · false alarms 0/1"
    assert printed["passed"]
    assert printed["failures"] == []
    assert len(printed["table"]) == 2
    assert printed["without_docstring"] == []


def test_the_audit_names_hidden_tests_without_a_docstring():
    [remark] = remarks(Audit("audit", without_docstring=["words: test_half"]))
    assert remark.startswith("no docstring")
    assert remark.endswith(": words: test_half")


def test_the_audit_refuses_to_write_into_a_page_that_lacks_its_markers(tmp_path):
    from autograder.authoring.audit.report import write_block

    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(CourseError, match="no place for it"):
        write_block(page, "audit", "text")
