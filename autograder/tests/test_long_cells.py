"""A cell that never ends costs its own points, and no other cell its time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nbgrader_courses import make_course, read_text

from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.records import Cell, Report

pytestmark = pytest.mark.subprocess

LIMIT = 0.4
COMPUTE = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
LOOP = "while True: pass"
SET_UP = f"{COMPUTE.format(0.9 * LIMIT)}one = 1"
ANSWERS = [f"def f{number}():\n    return {number} + one" for number in range(4)]
TESTS = [f"assert f{number}() == {number} + 1" for number in range(4)]
TESTS[0], TESTS[3] = f"two = 2\n{TESTS[0]}", "assert f3() == 2 + two"
COURSE = f"%% notebook small\n%% code\n{SET_UP}\n" + "".join(
    f"%% solution f{number}\n{answer}\n%% test test_f{number} 1\n{test}\n"
    for number, (answer, test) in enumerate(zip(ANSWERS, TESTS, strict=True))
)


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Return a grader of a course whose own first cell takes nearly the time of a cell."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.txt").write_text(COURSE)
    settings = f"[limits]\ncell_seconds = {LIMIT}"
    make_course(folder, [read_text(folder / "small.txt")], settings)
    with Grader(Course(folder), bytes(32)) as made:
        yield made


def report_on(grader: Grader, **changed: str) -> Report:
    """Grade the solution with some cells changed."""
    cells = [Cell(changed.get("set_up", SET_UP), is_locked=True)]
    for number, (answer, test) in enumerate(zip(ANSWERS, TESTS, strict=True)):
        name = f"f{number}"
        cells += [Cell(changed.get(name, answer), name), Cell(test, is_locked=True, tests=name)]
    return grader.grade("small", cells).report


@pytest.mark.parametrize("where", ["in the cell", "in the test"])
def test_answers_that_never_end_cost_their_own_points_only(grader, where):
    endless = f"{LOOP}\n" if where == "in the cell" else f"def f{{}}():\n    {LOOP}\n"
    slow = f"{COMPUTE.format(0.8 * LIMIT)}{ANSWERS[3]}"
    report = report_on(grader, f0=endless.format(0), f1=endless.format(1), f3=slow)

    assert [each.points for each in report.exercises] == [0, 0, 1, 1]
    named = [note for note in report.notes if "ran out of time" in note]
    assert len(named) == 2 * (where == "in the cell")
    assert all(f"The cell `f{number}`" in note for number, note in enumerate(named))


def test_a_cell_of_the_course_may_take_longer_where_the_machine_is_busy(grader):
    report = report_on(grader, set_up=f"{COMPUTE.format(1.3 * LIMIT)}one = 1")
    assert [each.points for each in report.exercises] == [1] * 4


def test_a_cell_of_the_course_that_is_cut_off_is_named(grader):
    report = report_on(grader, set_up=f"import time\n{LOOP}\none = 1")
    assert "The cell `import time` ran out of time: what it defines may be missing below." in (
        report.notes
    )
