"""Each recipe of the cookbook makes a course that grades right and wrong answers as expected.

`recipes/NAME.py` holds answers in percent format. `# %% right: EXERCISE` earns all points; `# %%
wrong: EXERCISE` earns the points in its header `points`, and may be an edit of the solution.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest
from answers import report_on
from campaigns import size
from schools import solutions

from autograder.authoring.audit.cases import Case
from autograder.authoring.audit.report import summary
from autograder.authoring.audit.running import audit
from autograder.authoring.cookbook import RECIPES
from autograder.authoring.new_course import make_course
from autograder.course_folder.course import Course
from autograder.course_folder.misconceptions import percent_cells
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.records import Report

pytestmark = pytest.mark.subprocess

ANSWERS = Path(__file__).parent / "recipes"


@pytest.fixture(scope="module", params=RECIPES)
def made(request, tmp_path_factory) -> tuple[str, Path]:
    """Return the name of a recipe, and the course that it makes."""
    folder = tmp_path_factory.mktemp(request.param) / "course"
    return request.param, make_course(folder, "A course", request.param)


def graded(grader: Grader, name: str, answers: dict[str, str]) -> Report:
    report = report_on(grader, name, answers)
    assert not report.defects
    return report


def test_right_answers_to_a_recipe_get_full_points_and_wrong_ones_lose_points(made):
    name, course = made
    right = solutions(name, Course(course))
    exercises = Course(course).assignment(name).exercises.values()
    full = {each.id: each.max_points for each in exercises}
    cells = percent_cells(ANSWERS / f"{name}.py")
    assert {cell.name for cell in cells if cell.kind == "right"} == {*full}
    assert {cell.name for cell in cells if cell.kind == "wrong"} == {*full}
    with Grader(Course(course), bytes(32)) as grader:
        assert graded(grader, name, {}).score == 0
        assert graded(grader, name, right).score == sum(full.values())
        for cell in cells:
            answer = cell.answer(right[cell.name])
            report = graded(grader, name, right | {cell.name: answer})
            found = {each.id: round(each.points or 0, 2) for each in report.exercises}
            expected = float(cell.headers.get("points", full[cell.name]))
            assert found == full | {cell.name: expected}, cell.where
            assert expected < full[cell.name] or cell.kind == "right"


def test_the_release_of_a_recipe_holds_no_solution(made):
    name, course = made
    release = (course / "release" / name / f"{name}.ipynb").read_text("utf-8")

    assert "SOLUTION" not in release
    assert "HIDDEN" not in release
    assert "Say here" not in release
    assert not [*course.rglob("*words*")]
    assert f"source/{name}/{name}.ipynb" in (course / "README.md").read_text("utf-8")


def few(case: Case) -> Case | None:
    """Leave out most cases that the audit generates; a campaign grades all of them."""
    is_made = case.kind in ("mutant", "two_in_one", "two_exercises")
    return None if is_made and crc32(case.id.encode()) % size(8, 1) else case


@pytest.mark.full
@pytest.mark.sized
def test_the_hidden_tests_of_a_recipe_pass_the_audit(made):
    name, course = made
    found = audit(Course(course), [name], workers=1, chosen=few)

    assert found.passed, summary(found)


def test_an_unknown_recipe_is_refused_with_a_list_of_all_recipes(tmp_path):
    with pytest.raises(CourseError, match=r"no recipe 'soup': choose one of async, .*, sql"):
        make_course(tmp_path / "course", "A course", "soup")
    assert not [*tmp_path.iterdir()]
