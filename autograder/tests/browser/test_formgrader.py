"""An instructor grades in the formgrader; the command line gives the same marks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from looking import open_formgrader, press, row
from nbgrader.api import Gradebook
from playwright.sync_api import FrameLocator, Page, expect
from schools import released, run, solutions
from serving import Lab

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course

MISTAKE = "mul.own_data"


@pytest.fixture
def handed_in(course: Path) -> Path:
    """Return the course with an assignment released and three submissions, none of them graded."""
    released(course)
    value, right = Course(course).assignment("value"), solutions("value")
    [wrong] = [each.source for each in value.exercises["mul"].mistakes if each.id == MISTAKE]
    hand_in(
        Course(course), value, {"right": right, "untouched": {}, "wrong": {**right, "mul": wrong}}
    )
    return course


def test_autograding_in_the_formgrader_gives_the_same_marks_as_both_commands(
    handed_in: Path, lab: Lab, page: Page, tmp_path: Path, picture: Callable[[str], None]
) -> None:
    by_autograder = shutil.copytree(handed_in, tmp_path / "by_autograder")
    by_nbgrader = shutil.copytree(handed_in, tmp_path / "by_nbgrader")
    run(by_autograder, "autograder", "grade", "value", "--force")
    run(by_nbgrader, "nbgrader", "autograde", "value", "--force")

    formgrader = _open_submissions(lab, page)
    for student in ("right", "untouched", "wrong"):
        _autograde(formgrader, student)
    picture("submissions")

    marks = _marks(handed_in)
    assert marks == _marks(by_autograder) == _marks(by_nbgrader)
    for student, points in marks.items():
        score = row(formgrader, student).locator(".score")
        expect(score).to_have_text(f"{round(sum(points.values()), 2):g} / 16")
    assert sum(marks["right"].values()) == 16
    assert sum(marks["untouched"].values()) == 0
    lost = {name for name, points in marks["wrong"].items() if points < marks["right"][name]}
    assert lost == {"test_mul"}


def test_the_formgrader_shows_the_explanation_that_names_the_mistake(
    handed_in: Path, lab: Lab, page: Page, picture: Callable[[str], None]
) -> None:
    run(handed_in, "autograder", "grade", "value", "--student", "wrong")
    says = next(
        mistake.says
        for mistake in Course(handed_in).assignment("value").exercises["mul"].mistakes
        if mistake.id == MISTAKE
    )

    formgrader = _open_submissions(lab, page)
    row(formgrader, "wrong").locator(".student-name a").click()
    formgrader.get_by_role("row", name="value").get_by_role("link").click()
    card = formgrader.locator(".output_html", has_text=says)
    expect(card).to_contain_text("Products")
    card.scroll_into_view_if_needed()
    picture("card")
    card.get_by_text("What was tested").click()
    expect(card).to_contain_text("does not hold")


def test_the_formgrader_reads_edited_hidden_tests_again_and_reports_a_defect(
    handed_in: Path, lab: Lab, page: Page, picture: Callable[[str], None]
) -> None:
    """Grade by the button, in the server's own process, which has read the tests before."""
    formgrader = _open_submissions(lab, page)
    _autograde(formgrader, "right")
    expect(row(formgrader, "right").locator(".score")).to_have_text("16 / 16")
    tests = handed_in / "grading_tests" / "test_value.py"
    whole = tests.read_text("utf-8")
    broken = "def test_more(student):\n    assert (student.Value(1) + 2).data == close(1 + beta)\n"
    tests.write_text(f'{whole}\n\n@exercise("add")\n{broken}', "utf-8")
    _autograde(formgrader, "right")
    expect(row(formgrader, "right").locator(".score")).to_have_text("12 / 16")
    expect(row(formgrader, "right")).to_contain_text("needs manual grading")
    row(formgrader, "right").locator(".student-name a").click()
    formgrader.get_by_role("row", name="value").get_by_role("link").click()
    error = formgrader.get_by_text("name 'beta' is not defined")
    error.scroll_into_view_if_needed()
    expect(error).to_be_visible()
    expect(formgrader.get_by_text("Sums: — of 4 points")).to_be_visible()
    picture("broken_test")
    tests.write_text(whole, "utf-8")
    formgrader = _open_submissions(lab, page)
    _autograde(formgrader, "right")
    expect(row(formgrader, "right").locator(".score")).to_have_text("16 / 16")


def _open_submissions(lab: Lab, page: Page) -> FrameLocator:
    """Return the formgrader with the submissions of the assignment."""
    page.goto(lab.address("lab"))
    formgrader = open_formgrader(page)
    formgrader.get_by_role("row", name="value").locator(".num-submissions a").click()
    return formgrader


def _autograde(formgrader: FrameLocator, student: str) -> None:
    says = f"Successfully autograded 'value' for student '{student}'"
    press(formgrader, row(formgrader, student).locator(".autograde a"), says)


def _marks(course: Path) -> dict[str, dict[str, float]]:
    """Return the points by student and test cell."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                grade.name: grade.score for book in submission.notebooks for grade in book.grades
            }
            for submission in gradebook.assignment_submissions("value")
        }
