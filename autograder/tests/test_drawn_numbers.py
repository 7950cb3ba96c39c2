"""Hidden tests draw their numbers from key and answers, and verdicts do not depend on the
numbers."""

from __future__ import annotations

import json

import pytest
from answers import mistake, report_on_right_but

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content

pytestmark = pytest.mark.subprocess


@pytest.fixture
def answers(assignment) -> dict[str, str]:
    """Return an answer with a mistake, and the text of a right one."""
    return {
        "add": mistake(assignment, "add.overwrites"),
        "mul": assignment.exercises["mul"].solution,
    }


def test_another_attempt_gets_other_numbers_and_the_same_verdicts(grader, answers):
    """Change only a comment: even then, numbers of an earlier attempt are useless."""
    again = {name: f"{source}# again\n" for name, source in answers.items()}

    first, second = (report_on_right_but(grader, "value", each) for each in (answers, again))
    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]


def test_another_key_draws_other_numbers_and_gives_the_same_verdicts(grader, course, answers):
    first = report_on_right_but(grader, "value", answers)
    with Grader(Course(course), b"another key, just as long as it must be") as other:
        second = report_on_right_but(other, "value", answers)

    assert first.seed != second.seed
    assert first.as_json()["exercises"] == second.as_json()["exercises"]


def test_outputs_and_metadata_do_not_change_the_numbers(grader, course):
    text = filled_notebook(Course(course), "value", {})
    notebook = json.loads(text)
    notebook["metadata"]["mine"] = 1
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = 7, []

    first, second = (
        grade_content(grader, content.encode(), "value.ipynb", "value")[1]
        for content in (text, json.dumps(notebook))
    )

    assert first.seed == second.seed
