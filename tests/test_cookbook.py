"""Each recipe of the cookbook makes a course that marks right and wrong answers as it should.

`recipes/NAME.py` holds answers in percent format. `# %% right: EXERCISE` earns all points, and
`# %% wrong: EXERCISE` those of its header `points`; it may be an edit of the solution.
"""

from __future__ import annotations

import re
from pathlib import Path
from zlib import crc32

import pytest
from answers import report_on
from campaigns import size
from schools import solutions

from autograder.authoring.audit.cases import Case
from autograder.authoring.audit.report import summary
from autograder.authoring.audit.running import audit
from autograder.authoring.cookbook import _FOLDER, RECIPES
from autograder.authoring.new_course import make_course
from autograder.course_folder.assignments import load_assignment
from autograder.course_folder.misconceptions import percent_cells
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.model import Report

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "cookbook.md").read_text("utf-8")


@pytest.fixture(scope="module", params=RECIPES)
def made(request, tmp_path_factory) -> tuple[str, Path]:
    """A recipe's name and the course that it makes."""
    folder = tmp_path_factory.mktemp(request.param) / "course"
    return request.param, make_course(folder, "A course", request.param)


def graded(grader: Grader, name: str, answers: dict[str, str]) -> Report:
    report = report_on(grader, name, answers)
    assert not report.flaws
    return report


def test_right_and_wrong_answers_get_their_marks(made):
    name, course = made
    right = solutions(name, course)
    exercises = load_assignment(course, name).exercises.values()
    full = {each.id: each.max_points for each in exercises}
    cells = percent_cells(TESTS / "recipes" / f"{name}.py")
    assert {cell.name for cell in cells if cell.kind == "right"} == {*full}
    assert {cell.name for cell in cells if cell.kind == "wrong"} == {*full}
    with Grader(course, bytes(32)) as grader:
        assert graded(grader, name, {}).score == 0
        assert graded(grader, name, right).score == sum(full.values())
        for cell in cells:
            answer = cell.answer(right[cell.name])
            report = graded(grader, name, right | {cell.name: answer})
            found = {each.id: round(each.points or 0, 2) for each in report.exercises}
            expected = float(cell.headers.get("points", full[cell.name]))
            assert found == full | {cell.name: expected}, cell.where
            assert expected < full[cell.name] or cell.kind == "right"


def test_the_release_is_current_and_without_solutions(made):
    name, course = made
    release = (course / "release" / name / f"{name}.ipynb").read_text("utf-8")
    assert "SOLUTION" not in release and "HIDDEN" not in release and "Say here" not in release
    assert not [*course.rglob("*words*")]
    assert f"source/{name}/{name}.ipynb" in (course / "README.md").read_text("utf-8")


def few(case: Case) -> Case | None:
    """Leave out most of the cases that a program makes; a campaign judges them all."""
    is_made = case.kind in ("mutant", "two_in_one", "two_exercises")
    return None if is_made and crc32(case.id.encode()) % size(8, 1) else case


@pytest.mark.slow
@pytest.mark.sized
def test_the_hidden_tests_of_a_recipe_pass_the_audit(made):
    name, course = made
    found = audit(course, [name], workers=1, chosen=few)
    assert found.passed, summary(found)


def test_the_page_shows_each_recipe_as_it_is():
    assert set(re.findall(r"autograder new \w+ --like (\w+)", PAGE)) == set(RECIPES)
    texts = [path.read_text("utf-8") for path in _FOLDER.rglob("*.py")]
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        assert any(block in text for text in texts), block


def test_an_unknown_recipe_is_refused_with_those_that_are_there(tmp_path):
    with pytest.raises(CourseError, match=r"no recipe 'soup': choose one of async, .*, sql"):
        make_course(tmp_path / "course", "A course", "soup")
    assert not [*tmp_path.iterdir()]
