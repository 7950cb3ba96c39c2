"""Fixtures and hooks that all tests share: a copy of the course, and a grader for the whole
session.

At the end of a run, pytest prints one line with the figures that the tests have measured.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Assignment
from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.sandbox import ForkServer

pytest_plugins = ["tiers"]

# As in an activated environment: nbgrader starts `alembic` by name.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def pytest_collection_finish() -> None:
    """Exclude all present objects from garbage collection, which would slow down trainings."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the course without submissions."""
    folder = tmp_path_factory.mktemp("course")
    copy_course(COURSE, folder)
    return folder


@pytest.fixture(scope="session")
def assignment(course: Path) -> Assignment:
    return Course(course).assignment("value")


@pytest.fixture(scope="session")
def grader(course: Path) -> Iterator[Grader]:
    with Grader(Course(course), bytes(range(32))) as warm:
        yield warm


@pytest.fixture(scope="session")
def server() -> Iterator[ForkServer]:
    """Return a fork server that can import the packages of the course."""
    with ForkServer(visible=COURSE.settings.visible) as warm:
        yield warm


@pytest.fixture
def submission(course: Path, tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes a submitted notebook with the given answers, by exercise id."""

    def make(answers: dict[str, str]) -> Path:
        path = tmp_path / "value.ipynb"
        path.write_text(filled_notebook(Course(course), "value", answers), "utf-8")
        return path

    return make


_measured: Counter[str] = Counter()
_FIGURES = {
    "attacks": "attacks",
    "leaks": "leaks",
    "lost": "submissions lost",
    "damaged": "damaged copies",
    "damaged kept": "of them kept their marks",
    "kills": "kills",
    "kills survived": "of them survived",
}


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """Return a function that adds a number to one of the figures in the last line of the run:
    `measured("attacks", 3)`."""

    def add(name: str, number: int) -> None:
        assert name in _FIGURES
        record_property("measured", [name, number])

    return add


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # With several processes, all reports arrive here, in the process that prints them.
    if report.when == "teardown":
        for key, value in report.user_properties:
            if key == "measured":
                name, number = value
                _measured[name] += number


def pytest_unconfigure(config: pytest.Config) -> None:
    screen = config.pluginmanager.get_plugin("terminalreporter")
    if screen is not None and _measured and not hasattr(config, "workerinput"):
        figures = [
            f"{_measured[name]} {words}" for name, words in _FIGURES.items() if name in _measured
        ]
        screen.write_line(", ".join(figures))
