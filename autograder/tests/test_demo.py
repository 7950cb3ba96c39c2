"""The sample class of `autograder demo` can be made for any assignment."""

from __future__ import annotations

import pytest
from schools import COURSE

from autograder.commands.demo import _HOSTILE, run_demo, sample_class
from autograder.course_folder.course import Course
from autograder.errors import CourseError


def test_each_hostile_answer_of_the_sample_class_is_in_a_different_exercise(course):
    """The first exercise comes last: most others need it."""
    students = sample_class(Course(course).assignment("value"))
    right = students["all_right"]
    changed = [
        [exercise for exercise in right if students[student][exercise] != right[exercise]]
        for student in _HOSTILE
    ]
    assert changed == [["add"], ["mul"], ["trace"], ["node"]]


def test_the_sample_class_has_students_who_solved_some_exercises_or_none(course):
    students = sample_class(Course(course).assignment("value"))
    assert students["not_started"] == {}
    assert 0 < len(students["half_done"]) < len(students["all_right"])


def test_a_missing_assignment_is_reported(tmp_path):
    with pytest.raises(
        CourseError, match=r"no assignment 'nothing' in .* \(there are: checkpoint, "
    ):
        run_demo(COURSE, "nothing", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_course_without_hidden_tests_is_refused(tmp_path):
    (tmp_path / "source").mkdir()
    with pytest.raises(CourseError, match="has hidden tests, so there is nothing to show"):
        run_demo(Course(tmp_path), None, tmp_path / "new")
