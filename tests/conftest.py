"""Provides a course of its own for the tests, and a grader that stays warm through all of them.

At the end of a run, after everything else, stands one line with the figures that its tests
measured.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from programs import run_program

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Assignment, find_course, load_assignment
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.wall import WarmServer

collect_ignore = ["courses"]
"""Courses of their own, whose hidden tests are the grader's to run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: with one of them last, the other processes would wait."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Exclude the objects that exist by now from garbage collection, which would slow down
    trainings."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the course without submissions."""
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
    """Return a sandbox to start student processes in."""
    with WarmServer(visible=load_settings(find_course(Path(__file__).parent)).visible) as warm:
        yield warm


@pytest.fixture(scope="session")
def docs_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of docs/, with warnings as errors, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    docs = find_course(Path(__file__).parent) / "docs"
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(folder / "read"), str(docs)]
    run_program([*line, folder / "site"])
    return folder / "site"


@pytest.fixture
def submission(course: Path, tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that makes a submitted notebook out of answers by exercise id."""

    def make(answers: dict[str, str]) -> Path:
        path = tmp_path / "value.ipynb"
        path.write_text(filled_notebook(course, "value", answers), "utf-8")
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
    """Return a function that adds a number to one of the figures in the last line:
    `measured("attacks", 3)`."""

    def add(name: str, number: int) -> None:
        assert name in _FIGURES
        record_property("measured", [name, number])

    return add


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # If several processes run the tests, this comes with every test to the one that reports.
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
