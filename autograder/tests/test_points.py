"""Points: the share of the tests or what the mistake keeps, and at most half without what an
exercise is about."""

from __future__ import annotations

import pytest
from answers import graded, mistake
from schools import KEY, edited_course
from suites import verdicts as verdicts_of

from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.judging.grader import Grader
from autograder.judging.points import lacking, points_for, share_of, share_passed, status_of
from autograder.notebook.cards import card
from autograder.records import HALF, ExerciseResult, Report, Verdict
from autograder.sandbox.time_budget import TimeBudget


def verdicts(marks: str) -> list[Verdict]:
    """Return verdicts: `+` passed, `-` did not, and `E` and `e` are the same for essential ones."""
    return [Verdict("test", f"{i}", each in "+E", essential=each in "Ee")
            for i, each in enumerate(marks)]  # fmt: skip


@pytest.mark.parametrize(
    ("marks", "points", "status"),
    [
        ("", 0, "failed"),
        ("----", 0, "failed"),
        ("++++", 4, "passed"),
        ("+++E", 4, "passed"),
        ("+++-", 3, "partial"),
        ("++-E", 3, "partial"),
        ("+++e", 2, "partial"),
        ("+--e", 1, "partial"),
        ("---e", 0, "failed"),
        ("+Ee", 2, "partial"),
        ("E", 4, "passed"),
        ("e", 0, "failed"),
        ("+" * 16 + "e", 2, "partial"),
        ("+" * 16 + "-", 3.75, "partial"),
    ],
)
def test_points_and_status_follow_from_the_verdicts(marks, points, status):
    share = share_of(verdicts(marks))
    assert (points_for(share, 4.0), status_of(share)) == (points, status)
    assert lacking(verdicts(marks)) == [f"{i}" for i, each in enumerate(marks) if each == "e"]
    assert share <= share_passed(verdicts(marks)) or not marks


@pytest.mark.parametrize(
    ("marks", "keeps", "points"),
    [
        ("----", 0.75, 3),
        ("+---", 0.5, 2),
        ("+++-", 0.5, 3),
        ("+++-", 0.75, 3),
        ("+---", 0.3, 1),
        ("---e", 0.75, 2),
        ("---e", 0.25, 1),
        ("", 0.5, 2),
    ],
)
def test_a_known_mistake_keeps_its_share_and_a_failed_essential_test_still_halves(
    marks, keeps, points
):
    assert points_for(share_of(verdicts(marks), keeps), 4.0) == points


KEPT = "# %% mistake: trace.without_root\n# keeps: 0.5"


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    """Return a grader of a course in which forgetting the root keeps half, where no test passes."""
    file = "grading_tests/misconceptions/value/trace.py"
    folder = tmp_path_factory.mktemp("keeping") / "course"
    with Grader(Course(edited_course(folder, file, KEPT.partition("\n")[0], KEPT)), KEY) as grader:
        yield grader


@pytest.mark.subprocess
def test_the_points_that_a_mistake_takes_are_in_the_message_and_the_record(keeping):
    answer = mistake(keeping.course.assignment("value"), "trace.without_root")

    result = graded(keeping, "value", {"trace": answer}, {"trace"})["trace"]

    report = Report("value", [result])
    [printed], [recorded] = report.as_json()["exercises"], entry(result).verdicts
    assert (result.points, result.status) == (2.5, "partial")
    assert "For what is right you keep 2.5 of 5 points." in result.message
    assert printed["keeps"] == recorded["keeps"] == 0.5


@pytest.mark.subprocess
@pytest.mark.parametrize(
    "answer",
    [
        "def trace(root):\n    return set()\n",
        "def trace(root):\n    return {*root._prev}\n",
        "def trace(root):\n    return None\n",
    ],
    ids=["constant", "other mistake", "error"],
)
def test_an_answer_that_fails_the_same_tests_with_other_values_keeps_nothing(keeping, answer):
    result = graded(keeping, "value", {"trace": answer}, {"trace"})["trace"]

    assert [held for _, held in result.criteria] == [False] * 4
    assert (result.points, result.keeps) == (0.0, 0.0)


@pytest.mark.subprocess
def test_a_mistake_costs_the_same_beside_a_mistake_in_another_exercise(keeping):
    assignment = keeping.course.assignment("value")
    answers = {
        name.partition(".")[0]: mistake(assignment, name)
        for name in ("add.overwrites", "mul.divides", "trace.without_root")
    }

    assert graded(keeping, "value", answers)["trace"].points == 2.5


@pytest.mark.subprocess
def test_a_mistake_keeps_its_share_if_others_used_up_the_notebook_s_time(keeping, monkeypatch):
    answer = mistake(keeping.course.assignment("value"), "trace.without_root")
    monkeypatch.setattr(TimeBudget, "is_up", True)

    assert graded(keeping, "value", {"trace": answer}, {"trace"})["trace"].points == 2.5


def test_a_verdict_says_whether_its_test_is_essential(tmp_path):
    source = """
@exercise("x")
@essential()
def test_about():
    pass


@exercise("x")
def test_other():
    pass
"""
    found = verdicts_of(tmp_path, source, {})
    assert [found[name].essential for name in ("test_about", "test_other")] == [True, False]


@pytest.mark.subprocess
def test_a_failed_essential_test_leaves_at_most_half_of_the_points(tmp_path):
    tests = "grading_tests/test_value.py"
    course = edited_course(
        tmp_path / "course", tests, "close, exercise", "close, essential, exercise"
    )
    text = (course / tests).read_text("utf-8")
    marked = text.replace(
        "    def test_equal_numbers", "    @essential()\n    def test_equal_numbers"
    )
    (course / tests).write_text(marked, "utf-8")
    answer = mistake(Course(course).assignment("value"), "trace.numbers")

    with Grader(Course(course), KEY) as grader:
        result = graded(grader, "value", {"trace": answer}, {"trace"})["trace"]

    missing = "Different Values with the same number are both found."
    [printed] = Report("value", [result]).as_json()["exercises"]
    assert printed["points"] == result.points == 2.5
    assert printed["essential"] == result.essential == [missing]
    assert HALF in result.message
    assert card(result).count("Without this, at most half of the points count.") == 1


def entry(result: ExerciseResult) -> history.Entry:
    return history.entry_of("value", "ada", "file", Report("value", [result]), {})


def recorded(points: float, essential: bool = False, keeps: float = 0.0) -> history.Entry:
    result = ExerciseResult("add", "", 4.0, points, "partial", criteria=[("It holds.", False)])
    result.essential, result.keeps = ["It holds."] if essential else [], keeps
    return entry(result)


def test_the_reason_for_a_changed_mark_says_if_an_essential_test_changed():
    before, now = recorded(3.75, essential=False), recorded(2.0, essential=True)
    [change] = history.changes(before, now)
    assert change.why == ["at most half of the points without this now: It holds."]
    [change] = history.changes(now, before)
    assert change.why == ["no longer at most half of the points without this: It holds."]


def test_the_reason_for_a_changed_mark_says_if_a_mistake_keeps_another_share():
    [change] = history.changes(recorded(1.0), recorded(3.0, keeps=0.75))

    assert change.why == ["the mistake keeps 0.75 of the points, it was 0"]
