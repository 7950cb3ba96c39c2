"""Errors in hidden tests are reported to their authors."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from answers import cells as answered
from click.testing import CliRunner
from nbgrader.api import Gradebook
from schools import edited_course, release, run, solutions
from suites import verdicts

from autograder.commands.demo import filled_notebook, hand_in
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.versions import versions
from autograder.errors import AuthorError, SuiteError
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import Suite
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import LocalTarget
from autograder.testing import close


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def test_sum(student:\n    pass\n", "was never closed"),
        ("import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("", "there are none in it"),
        ("def test_sum(student):\n    pass\n", "test_sum names no exercise"),
    ],
    ids=["syntax", "import", "empty", "no exercise"],
)
def test_an_error_in_a_file_of_hidden_tests_is_reported(
    tmp_path: Path, source: str, says: str
) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text(source, "utf-8")
    with pytest.raises(SuiteError, match=says):
        Suite(path)


TESTS = "grading_tests/test_value.py"
SOURCE = "source/value/value.ipynb"


@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (TESTS, "from autograder", "import nothing_of_that_name\nfrom autograder",
         "the tests cannot be collected.*No module named 'nothing_of_that_name'"),
        (TESTS, '@exercise("node")', '@exercise("sum")',
         "tests grade sum, which the notebook does not have"),
        (TESTS, "@exercise(", '@exercise("sum")\ndef test_sum(student):\n    pass\n\n\n@exercise(',
         "tests grade sum, which the notebook does not have"),
        (SOURCE, '{\n "cells"', '<<<<<<< ours\n{\n "cells"', r"not a whole notebook \(Expecting v"),
        (SOURCE, '"points": 3', '"points": 8', "node not worth what the release says"),
        (SOURCE, '"points": 3', '"points": null', "'test_node' is graded and says no points"),
    ],
    ids=["import", "renamed", "unknown", "conflict", "stale", "points"],
)  # fmt: skip
def test_an_error_in_a_course_s_file_ends_the_command_with_a_message_that_names_it(
    tmp_path: Path, file: str, old: str, new: str, says: str
) -> None:
    broken = edited_course(tmp_path / "course", file, old, new)
    notebook = broken / "release" / "value" / "value.ipynb"

    printed = run(broken, "autograder", "check", str(notebook), status=2)

    assert file in printed
    assert re.search(says, printed, re.DOTALL)


@pytest.mark.parametrize(
    ("actual", "expected", "alike"),
    [
        (1.0 + 1e-10, 1.0, True),
        (1.0 + 1e-8, 1.0, False),
        (1e-13, 0.0, True),
        (1e-11, 0.0, False),
        (1, 1.0, True),
        (math.inf, math.inf, True),
        (math.inf, 1e308, False),
        (math.nan, math.nan, False),
        (10**400, 1.0, False),
        (10**400, 10**400, True),
        ((1.0, 2), [1.0, 2.0], True),
        ([1.0], [1.0, 2.0], False),
        ([1.0, 2.0], 1.0, False),
        (1.0, [1.0], False),
        ([[1.0], [2.0]], [[1.0], [2.0]], True),
        ([[1.0], [2.0]], [[1.0], [2.1]], False),
        ("1.0", 1.0, False),
        (None, 0.0, False),
        (0.0, None, False),
        (1.0, {1.0}, False),
    ],
)
def test_numbers_are_close_up_to_rounding(actual: Any, expected: Any, alike: bool) -> None:
    assert (actual == close(expected)) is alike
    assert (close(expected) == actual) is alike


def test_an_object_is_never_close_to_a_number() -> None:
    student = Student(LocalTarget({"made": object()}))
    assert student.made != close(0.0)
    assert [student.made] != close([0.0])


# Ordinary pytest.


def test_a_fixture_is_torn_down_after_a_failed_test_too(tmp_path: Path) -> None:
    source = """
@exercise("x")
class TestX:
    @pytest.fixture
    def made(self, student):
        yield student.open()
        student.close()

    def test_fails(self, made):
        assert made == 2

    def test_error(self, made):
        made.nothing.at_all()

    def test_passes(self, made):
        assert made == 1
"""
    held: list[str] = []
    names = {"open": lambda: held.append("open") or 1, "close": lambda: held.append("close")}
    found = verdicts(tmp_path, source, names)
    assert [each.passed for each in found.values()] == [False, False, True]
    assert held == ["open", "close"] * 3


ORDINARY = """
@exercise("x")
class TestX:
    made = []

    def setup_method(self):
        self.made = ["set up"]

    def teardown_method(self):
        TestX.torn = True

    @pytest.fixture
    def doubled(self, shared, rng):
        yield 2 * shared
        TestX.ended = True

    @pytest.fixture(autouse=True)
    def unasked(self):
        self.made.append("autouse")

    def test_set_up(self, student):
        assert self.made == ["set up", "autouse"] and student.f(1) == 2
        self.made.append("left over")

    def test_anew(self):
        assert self.made == ["set up", "autouse"] and TestX.torn

    def test_fixtures(self, doubled, student):
        assert student.f(doubled) == 9

    def test_ended(self):
        assert TestX.ended

    @pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=pytest.mark.skip)])
    def test_each(self, student, n):
        assert student.f(n) == n + 1

    @pytest.mark.skip(reason="broken since Monday")
    def test_skipped(self):
        raise AssertionError

    @pytest.mark.skipif("True", reason="a condition")
    def test_skipped_if(self):
        raise AssertionError

    @pytest.mark.xfail(reason="known")
    def test_known_to_fail(self):
        raise AssertionError

    @pytest.mark.usefixtures("unasked")
    def test_raises(self, student):
        with student.raises(ZeroDivisionError):
            student.g()
        with pytest.raises(ZeroDivisionError):
            student.g() == 1

    def test_fails(self):
        pytest.fail("on purpose")
"""
CONFTEST = """
import pytest
from beside import FOUR

@pytest.fixture
def shared():
    return FOUR
"""


def test_pytest_settings_in_the_environment_do_not_affect_hidden_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test_one.py"
    path.write_text(
        "from autograder.testing import exercise\n\n\n"
        '@exercise("one")\ndef test_one(student):\n    assert student.one == 1\n'
    )
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no_plugin_of_that_name -k nothing")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_plugin_of_that_name")
    with Suite(path) as suite:
        [verdict] = suite.run("one", lambda _: LocalTarget({"one": 1}), b"seed")
    assert verdict.passed


def test_supported_features_of_pytest_behave_as_in_pytest(tmp_path: Path) -> None:
    names = {"f": lambda n: n + 1, "g": lambda: 1 / 0}
    found = verdicts(tmp_path, ORDINARY, names, conftest=CONFTEST, beside="FOUR = 4\n")
    assert {name for name, verdict in found.items() if not verdict.passed} == {"test_fails"}
    assert {"test_each[1]", "test_each[2]", "test_fixtures", "test_anew"} <= set(found)
    assert not any("skipped" in name or "[3]" in name or "known" in name for name in found)
    assert not any(verdict.broken for verdict in found.values())


CRITERIA = '''
class Doubles:
    @pytest.mark.parametrize("n", [1, 2])
    def test_value(self, student, n):
        """`{name}({n})` is in {1, 2, …} and {is_nothing}."""
        assert student[self.name](n) == 2 * n

@exercise("x")
class TestF(Doubles):
    name = "f"
'''


def test_a_criterion_is_filled_with_parameters_and_attributes_of_the_class(tmp_path: Path) -> None:
    found = verdicts(tmp_path, CRITERIA, {"f": lambda n: 2})
    assert {verdict.criterion: verdict.passed for verdict in found.values()} == {
        "`f(1)` is in {1, 2, …} and {is_nothing}.": True,
        "`f(2)` is in {1, 2, …} and {is_nothing}.": False,
    }


def test_hidden_tests_of_two_courses_import_their_own_modules_of_one_name(tmp_path: Path) -> None:
    source = (
        "from beside import N\n@exercise('x')\ndef test_it(student):\n    assert student.n == N\n"
    )
    for n in (1, 2):
        folder = tmp_path / str(n)
        folder.mkdir()
        found = verdicts(folder, source, {"n": n}, beside=f"N = {n}\n", conftest=f"M = {n}\n")
        assert found["test_it"].passed


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import unittest\n@exercise('x')\nclass TestX(unittest.TestCase):\n"
         "    def test_it(self):\n        pass\n", "test_it is a TestCaseFunction"),
        ("@exercise('x')\nasync def test_it():\n    pass\n", "test_it is a coroutine"),
        ("@exercise('x')\n@pytest.mark.flaky\ndef test_it():\n    pass\n",
         "the mark flaky does nothing"),
    ],
    ids=["unittest", "coroutine", "mark"],
)  # fmt: skip
def test_unsupported_features_are_refused_by_name(tmp_path: Path, source: str, says: str) -> None:
    with pytest.raises(SuiteError, match=says):
        verdicts(tmp_path, source, {})


def test_hooks_that_are_not_called_are_refused_by_name(tmp_path: Path) -> None:
    hook = "def pytest_runtest_setup(item):\n    raise AssertionError\n"
    with pytest.raises(SuiteError, match="the hook pytest_runtest_setup is not called here"):
        verdicts(tmp_path, "@exercise('x')\ndef test_it(): pass\n", {}, conftest=hook)


def test_a_helper_module_that_is_not_python_is_reported_by_line(tmp_path: Path) -> None:
    (tmp_path / "remote").mkdir()
    (tmp_path / "remote" / "tools.py").write_text("def f(:\n", "utf-8")
    with pytest.raises(SuiteError, match=r"remote/tools\.py: line 1"):
        verdicts(tmp_path, "@exercise('x')\ndef test_it(): pass\n", {})


def test_student_inside_is_refused_with_the_new_name_student_remote(tmp_path: Path) -> None:
    with pytest.raises(AuthorError, match=r"student\.inside is called student\.remote now"):
        Student(LocalTarget({})).inside  # noqa: B018
    (tmp_path / "inside").mkdir()
    with pytest.raises(SuiteError, match="inside is called remote now: rename it"):
        verdicts(tmp_path, "@exercise('x')\ndef test_it(): pass\n", {})


def test_an_error_in_a_test_s_last_step_fails_the_test(tmp_path: Path) -> None:
    source = "@exercise('x')\ndef test_it(student):\n    student.g()\n"
    assert not verdicts(tmp_path, source, {"g": lambda: 1 / 0})["test_it"].passed
    assert verdicts(tmp_path, source, {"g": lambda: 1})["test_it"].passed


BROKEN = {
    "its own line": ("assert 1 + None == student.f(1)", "TypeError: unsupported operand"),
    "a name": ("assert expected == student.f(1)", "NameError: name 'expected' is not defined"),
    "a function": ("student.f(lambda x: x)", "a function of the test stays here"),
    "skip": ("pytest.skip('not today')", "Skipped: not today"),
    "xfail": ("pytest.xfail('not today')", "XFailed"),
    "assertion's message": ("assert student.f(1) == 5, missing", "NameError: name 'missing'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_in_a_hidden_test_s_own_code_counts_as_a_test_defect(
    tmp_path: Path, name: str
) -> None:
    body, says = BROKEN[name]
    source = f"@exercise('x')\ndef test_it(student):\n    {body}\n"
    verdict = verdicts(tmp_path, source, {"f": lambda n: n + 1})["test_it"]
    assert says in verdict.broken
    assert verdict.blames_test
    assert not verdict.passed
    if name in ("its own line", "a name"):
        assert "test_some.py" in verdict.broken
        assert body in verdict.broken


def test_a_missing_fixture_is_reported(tmp_path: Path) -> None:
    source = "@exercise('x')\ndef test_it(nunmber):\n    pass\n"
    verdict = verdicts(tmp_path, source, {})["test_it"]
    assert verdict.blames_test
    assert verdict.broken == "fixture 'nunmber' not found"


SHAPES = {
    "too many to unpack": ("a, b = student.f(1)", {"f": lambda n: [1, 2, 3]}),
    "a key that is not there": ("{student.f(0): 1}[5]", {"f": lambda n: n}),
}


def test_without_a_docstring_students_read_the_name_without_its_parameters(tmp_path: Path) -> None:
    test = "@pytest.mark.parametrize('n', [7])\ndef test_half_of_n(student, n):\n    assert n < 0\n"
    found = verdicts(tmp_path, f"@exercise('x')\n{test}", {})
    assert found["test_half_of_n[7]"].criterion == "half of n"
    with Suite(tmp_path / "test_some.py") as suite:
        assert suite.without_docstring == ["test_half_of_n[7]"]


@pytest.mark.parametrize("name", SHAPES)
def test_an_error_on_an_unexpected_answer_does_not_yet_count_as_a_test_defect(
    tmp_path: Path, name: str
) -> None:
    body, names = SHAPES[name]
    verdict = verdicts(tmp_path, f"@exercise('x')\ndef test_it(student):\n    {body}\n", names)[
        "test_it"
    ]
    assert verdict.broken
    assert not verdict.blames_test
    assert not verdict.passed


# An author's mistake in a course is reported, and costs no points.


LAST = '@exercise("trace")\n'
MISTAKES = {
    "a name": ("student", "close(three)", "NameError: name 'three' is not defined"),
    "a wrong number": ("student", "close(4)", "the reference solution does not pass this test"),
    "a rare error": ("student", "close(3), undefined_in_the_message", ""),
}


def one_more(name: str) -> str:
    """Return the hidden tests of `trace`, and before them a test of `add` with a mistake."""
    takes, expected, _ = MISTAKES[name]
    text = f"def test_more({takes}):\n    assert (student.Value(1) + 2).data == {expected}\n"
    return f'@exercise("add")\n{text}\n\n{LAST}'


@pytest.mark.subprocess
@pytest.mark.parametrize("name", MISTAKES)
def test_a_broken_hidden_test_costs_no_points(tmp_path: Path, name: str) -> None:
    says = MISTAKES[name][-1]
    folder = edited_course(tmp_path / "course", TESTS, LAST, one_more(name))
    notebook = tmp_path / "value.ipynb"
    right = solutions("value", Course(folder))
    wrong = next(m.source for m in Course(folder).assignment("value").exercises["mul"].mistakes)
    notebook.write_text(filled_notebook(Course(folder), "value", {**right, "mul": wrong}), "utf-8")
    result = CliRunner().invoke(main, ["check", str(notebook), "--course", str(folder), "--json"])
    report = json.loads(result.stdout)
    by_id = {each["id"]: each for each in report["exercises"]}
    assert by_id["mul"]["status"] in ("partial", "failed")
    assert by_id["mul"]["misconception"]
    rest = [each for each in report["exercises"] if each["id"] not in ("add", "mul")]
    assert all(each["status"] == "passed" for each in rest)
    if not says:
        assert by_id["add"]["status"] == "passed"
        assert result.exit_code == 0
        return
    assert by_id["add"]["status"] == "ungraded"
    assert by_id["add"]["points"] is None
    assert says in by_id["add"]["defect"]
    assert says in result.stderr
    assert "no fault of yours" in by_id["add"]["message"]
    assert "does not hold yet" not in by_id["add"]["message"]
    assert result.exit_code == 1


@pytest.mark.full
@pytest.mark.subprocess
def test_a_broken_hidden_test_is_reported_by_grade_and_graded_again(tmp_path: Path) -> None:
    says = MISTAKES["a name"][-1]
    folder = edited_course(tmp_path / "course", TESTS, LAST, one_more("a name"))
    right = solutions("value", Course(folder))
    hand_in(Course(folder), Course(folder).assignment("value"), {"first": right, "second": right})
    invoke = partial(CliRunner().invoke, main)
    arguments = ["grade", "value", "--course", str(folder), "--workers", "1"]
    release(folder, "value")
    first = invoke(arguments)
    assert first.exit_code == 1 and first.stderr.count(says) == 1, first.output
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("test_add", "value", "value", "first")
        assert grade.auto_score is None
        assert grade.needs_manual_grade
        assert gradebook.find_submission("value", "first").score == 12
    path = folder / TESTS
    path.write_text(path.read_text("utf-8").replace(one_more("a name"), LAST), "utf-8")
    second = invoke(arguments)
    assert second.exit_code == 0, second.output
    assert "unchanged" not in second.output
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        assert gradebook.find_submission("value", "first").score == 16


@pytest.mark.full
@pytest.mark.subprocess
def test_nbgrader_reports_a_broken_hidden_test_and_feedback_does_not(tmp_path: Path) -> None:
    """The formgrader's button does the same as `nbgrader autograde`."""
    says = MISTAKES["a name"][-1]
    folder = edited_course(tmp_path / "course", TESTS, LAST, one_more("a name"))
    course = Course(folder)
    hand_in(course, course.assignment("value"), {"first": solutions("value", course)})
    release(folder, "value")
    assert says in run(folder, "nbgrader", "autograde", "value")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("test_add", "value", "value", "first")
        assert grade.auto_score is None
        assert grade.needs_manual_grade
        assert gradebook.find_submission("value", "first").score == 12
    graded = (folder / "autograded/first/value/value.ipynb").read_text("utf-8")
    assert "### A test is broken" in graded
    assert says in graded
    run(folder, "nbgrader", "generate_feedback", "value")
    page = (folder / "feedback/first/value/value.html").read_text("utf-8")
    assert "no fault of yours" in page
    assert "NameError" not in page
    assert "A test is broken" not in page


@pytest.mark.subprocess
def test_an_exercise_whose_tests_are_all_skipped_is_ungraded(tmp_path: Path) -> None:
    skip = f'{LAST}@__import__("pytest").mark.skip(reason="under repair")\n'
    folder = edited_course(tmp_path / "course", TESTS, LAST, skip)
    notebook = tmp_path / "value.ipynb"
    right = solutions("value", Course(folder))
    notebook.write_text(filled_notebook(Course(folder), "value", right), "utf-8")
    result = CliRunner().invoke(main, ["check", str(notebook), "--course", str(folder), "--json"])
    [last] = [each for each in json.loads(result.stdout)["exercises"] if each["id"] == "trace"]
    assert last["status"] == "ungraded"
    assert "under repair" in last["defect"]


@pytest.mark.subprocess
def test_a_running_grader_reads_edited_hidden_tests_again(tmp_path: Path) -> None:
    folder = edited_course(tmp_path / "course", TESTS, "remote.builtins.len", "remote.sizes.size")
    helper = folder / "grading_tests" / "remote" / "sizes.py"
    helper.parent.mkdir()
    helper.write_text("def size(found):\n    return len(found)\n", "utf-8")
    notebook = answered(Course(folder).assignment("value"), {})
    with Grader(Course(folder), bytes(32)) as grader:
        assert grader.grade("value", notebook).report.score == 16
        for path, old, new in (
            (folder / TESTS, "data == a + b", "data == a - b"),
            (folder / "grading_tests/conftest.py", "def number(rng)", "def nobody(rng)"),
            (helper, "len(found)", "len(found) + 1"),
        ):
            text = path.read_text("utf-8")
            before = versions(Course(folder), bytes(32), "value")
            path.write_text(text.replace(old, new, 1), "utf-8")
            assert grader.grade("value", notebook).report.defects
            assert versions(Course(folder), bytes(32), "value") != before
            path.write_text(text, "utf-8")
            assert grader.grade("value", notebook).report.score == 16
