"""Broken hidden tests are told in words, to those who wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.publishing import copy_course
from autograder.suite import Suite, SuiteError


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
def test_what_is_wrong_with_hidden_tests_is_told(tmp_path: Path, source: str, says: str) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text(source, "utf-8")
    with pytest.raises(SuiteError, match=says):
        Suite(path)


def test_a_command_ends_with_a_sentence(course: Path, tmp_path: Path) -> None:
    broken = tmp_path / "course"
    copy_course(course, broken)
    with (broken / "grading_tests" / "test_value.py").open("a", encoding="utf-8") as tests:
        tests.write("\nimport nothing_of_that_name\n")
    notebook = broken / "release" / "value" / "value.ipynb"
    result = CliRunner().invoke(main, ["check", str(notebook), "--course", str(broken)])
    assert result.exit_code == 2
    assert "the tests cannot be collected" in result.output
    assert "No module named 'nothing_of_that_name'" in result.output
