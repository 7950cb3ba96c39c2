"""Broken hidden tests are told in words, to those who wrote them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.channels import LocalChannel
from autograder.cli import main
from autograder.engines import Engine
from autograder.publishing import copy_course
from autograder.suite import Suite, SuiteError
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
def test_what_is_wrong_with_hidden_tests_is_told(tmp_path: Path, source: str, says: str) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text(source, "utf-8")
    with pytest.raises(SuiteError, match=says):
        Suite(path)


TESTS = "grading_tests/test_value.py"
SOURCE = "source/value/value.ipynb"


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (TESTS, "import math", "import nothing_of_that_name",
         "the tests cannot be collected.*No module named 'nothing_of_that_name'"),
        (TESTS, '@exercise("add")', '@exercise("sum")', 'no test grades add: write one'),
        (TESTS, "@exercise(", '@exercise("sum")\ndef test_sum(student):\n    pass\n\n\n@exercise(',
         "tests grade sum, which the notebook does not have"),
        (SOURCE, '{\n "cells"', '<<<<<<< ours\n{\n "cells"', r"not a whole notebook \(Expecting v"),
        (SOURCE, '"points": 4', '"points": 8', "node not worth what the release says"),
        (SOURCE, '"points": 4', '"points": null', "'test_node' is graded and says no points"),
    ],
    ids=["import", "untested", "unknown", "conflict", "stale", "points"],
)  # fmt: skip
def test_a_broken_course_ends_a_command_with_a_sentence(
    course: Path, tmp_path: Path, file: str, old: str, new: str, says: str
) -> None:
    broken = tmp_path / "course"
    copy_course(course, broken)
    text = (broken / file).read_text("utf-8")
    assert old in text
    (broken / file).write_text(text.replace(old, new, 1), "utf-8")
    notebook = broken / "release" / "value" / "value.ipynb"
    result = CliRunner().invoke(main, ["check", str(notebook), "--course", str(broken)])
    assert result.exit_code == 2
    assert file in result.output and re.search(says, result.output, re.DOTALL)


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
        ((1.0, 2), [1.0, 2.0], True),
        ([1.0], [1.0, 2.0], False),
        ([1.0, 2.0], 1.0, False),
        (1.0, [1.0], False),
        ([[1.0], [2.0]], [[1.0], [2.0]], True),
        ([[1.0], [2.0]], [[1.0], [2.1]], False),
        ("1.0", 1.0, False),
        (None, 0.0, False),
    ],
)
def test_numbers_are_close_up_to_rounding(actual: Any, expected: Any, alike: bool) -> None:
    assert (actual == close(expected)) is alike
    assert (close(expected) == actual) is alike


def test_an_object_of_the_engine_is_close_to_no_number() -> None:
    engine = Engine(LocalChannel({"made": object()}))
    assert engine.made != close(0.0)
    assert [engine.made] != close([0.0])
