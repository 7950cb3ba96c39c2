"""The visible checks: right answers pass, mistakes are named, and nothing is slow to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.assignments import find_course, load_assignment
from course.check import CheckFailed, check

VALUE = load_assignment(find_course(), "value")
MISTAKES = [m for e in VALUE.exercises.values() for m in e.mistakes if not m.endless]


@pytest.mark.parametrize("exercise", list(VALUE.exercises))
def test_right_answers_pass(exercise, capsys):
    check(exercise, VALUE.namespace())
    assert "come out right" in capsys.readouterr().out


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.id)
def test_mistakes_are_named_as_the_grader_names_them(mistake):
    exercise = mistake.id.partition(".")[0]
    with pytest.raises(CheckFailed) as caught:
        check(exercise, VALUE.namespace(**{exercise: mistake.source}))
    assert mistake.says in str(caught.value)


@pytest.mark.parametrize("exercise", list(VALUE.exercises))
def test_a_stub_is_called_unfinished(exercise):
    with pytest.raises(CheckFailed, match=r"Not finished yet: `.+` still raises"):
        check(
            exercise, VALUE.namespace(**{exercise: in_a_notebook(VALUE.exercises[exercise].stub)})
        )


def in_a_notebook(source: str) -> str:
    """The same code, compiled under a name such as a notebook's cells have."""
    return f"exec(compile({source!r}, '<ipython-input-1>', 'exec'), globals())\n"


def test_an_earlier_mistake_is_pointed_at():
    """`mul` is broken, so `neg_sub`, which is composed of it, fails in a way that has no name."""
    scope = VALUE.namespace(mul="def mul(self, other):\n    return None\nValue.__mul__ = mul\n")
    with pytest.raises(CheckFailed, match="The check of `mul` fails too"):
        check("neg_sub", scope)


def test_an_unknown_exercise_is_a_value_error():
    with pytest.raises(ValueError, match="no exercise called 'adding'"):
        check("adding", {})


def test_the_course_imports_nothing_of_the_instructors_and_nothing_heavy():
    code = "import sys, course; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"autograder", "nbgrader", "IPython", "matplotlib", "numpy"} & set(loaded)
