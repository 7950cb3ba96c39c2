"""The broken engines on which the check of `q21` tries a student's test."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tested_course import COURSE

from course.broken_engines import ENGINES, Trial
from coursecheck.cards import paragraph

CHECKPOINT = COURSE.assignment("checkpoint")


@pytest.fixture
def scope() -> dict[str, Any]:
    made: dict[str, Any] = {"math": math}
    exec(CHECKPOINT.setup["given_engine"], made)
    exec(CHECKPOINT.exercises["q21"].solution, made)
    return made


def test_the_solution_catches_all_broken_engines_and_no_right_one(scope: dict[str, Any]) -> None:
    assert scope["test_engine"](scope["Value"])
    trial = Trial(scope["test_engine"], scope["Value"])
    assert (trial.got_away, trial.says) == ([], "")


def test_each_engine_is_right_somewhere(scope: dict[str, Any]) -> None:
    def only_a_sum(Value: Any) -> bool:
        x, y = Value(0.4), Value(0.6)
        z = x + y
        z.backward()
        return bool((z.data, x.grad, y.grad) == (1.0, 1.0, 1.0))

    trial = Trial(only_a_sum, scope["Value"])
    assert trial.got_away == list(range(1, 15))
    head, *riddles, more = trial.says.splitlines()
    assert head.startswith("Caught 0 of 14 broken engines. Use values twice, numbers on both")
    numbered = [f"{number}: “{riddle}”" for number, riddle in enumerate(ENGINES, 1)]
    assert (riddles, more) == (numbered[:4], "And 10 more.")
    longest = sorted(numbered, key=len)[-4:]
    assert len("\n".join([head, *longest, more])) <= 400, "a longer text of an example is cut off"
    assert "pre-line" in paragraph(trial.says)
