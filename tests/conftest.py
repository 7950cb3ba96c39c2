"""A course of its own for the tests, and a grader that stays warm through all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.assignments import Assignment, find_course, load_assignment
from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.publishing import copy_course
from autograder.sandbox import WarmServer


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course that nobody's submissions are in."""
    folder = tmp_path_factory.mktemp("course")
    copy_course(find_course(Path(__file__).parent), folder)
    return folder


@pytest.fixture(scope="session")
def assignment(course: Path) -> Assignment:
    return load_assignment(course, "value")


@pytest.fixture(scope="session")
def grader(course: Path) -> Iterator[Grader]:
    with Grader(course, bytes(range(32))) as warm:
        yield warm


@pytest.fixture(scope="session")
def server() -> Iterator[WarmServer]:
    """A sandbox to start student processes in."""
    with WarmServer() as warm:
        yield warm


@pytest.fixture
def submission(course: Path, tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes a submitted notebook out of answers by exercise id."""

    def make(answers: dict[str, str]) -> Path:
        path = tmp_path / "value.ipynb"
        path.write_text(filled_notebook(course, "value", answers), "utf-8")
        return path

    return make
