"""New courses are made, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from tested_course import COURSE

from autograder.authoring import new_course
from autograder.authoring.new_course import add_assignment, make_course
from autograder.authoring.new_exercise import add_exercise
from autograder.authoring.release import copy_course, write
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_file


def test_a_course_is_not_created_in_a_folder_that_is_not_empty(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(CourseError, match="is not empty, and nothing was changed in it"):
        make_course(tmp_path, "Zoo")

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_tests_course_has_the_nbgrader_settings_of_a_new_course():
    template = Path(new_course.__file__).with_name("template") / "nbgrader_config.py"

    settings = (COURSE.root / "nbgrader_config.py").read_text("utf-8")

    assert settings == template.read_text("utf-8").replace("COURSE_ID", "numbers")


def test_an_assignment_with_exercises_can_be_added_to_an_existing_course(tmp_path):
    copy_course(COURSE, tmp_path)
    notebook, tests = add_assignment(Course(tmp_path), "extras")
    solution = "### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION"
    add_exercise(Course(tmp_path), "extras", "answer", "## Exercise {number} · All", solution, 1.0)
    cells = nbformat.read(notebook, as_version=4).cells
    assert [cell.id for cell in cells[-3:]] == ["answer-intro", "answer-solution", "answer-test"]
    assert cells[1].source == "from coursecheck import check"
    assert "Exercise 1 ·" in cells[2].source
    compile(tests.read_text("utf-8"), tests, "exec")
    text = "### BEGIN SOLUTION\nBoth, since each has a reason.\n### END SOLUTION"
    add_exercise(
        Course(tmp_path), "extras", "why", "## Exercise {number} · Why", text, 2.5, manual=True
    )
    assert "Both" not in write(Course(tmp_path), "release", "extras").read_text("utf-8")
    exercise = Course(tmp_path).assignment("extras").exercises["why"]
    assert (exercise.manual, exercise.max_points) == (True, 2.5)
    assert not [*tmp_path.rglob("why.py")]
    with pytest.raises(CourseError, match="is there already: choose another name"):
        add_assignment(Course(tmp_path), "extras")
    with pytest.raises(CourseError, match="cannot be a name"):
        add_assignment(Course(tmp_path), "more extras")


@pytest.mark.subprocess
def test_grading_before_the_release_is_refused_with_the_remedy(tmp_path):
    course = make_course(tmp_path / "zoo", "Zoo")
    solution = "def third():\n    ### BEGIN SOLUTION\n    return 3\n    ### END SOLUTION\n"
    add_exercise(Course(course), "words", "third", "## Exercise {number} · Third", solution, 1.0)
    add_assignment(Course(course), "orders")
    add_exercise(Course(course), "orders", "one", "## Exercise {number} · One", solution, 1.0)
    with Grader(Course(course), b"k" * 32) as grader:
        for name, remedy in [("words", "generate_assignment words"), ("orders", "release orders")]:
            with pytest.raises(CourseError, match=remedy):
                grade_file(grader, course / f"source/{name}/{name}.ipynb")
