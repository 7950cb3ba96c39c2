"""The sample class of `autograder demo` can be made for any assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.commands.demo import _HOSTILE, run_demo, sample_class
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.errors import CourseError

COURSE = find_course(Path(__file__).parent)


@pytest.mark.parametrize("name", assignment_names(COURSE))
def test_hostile_answers_stand_in_the_first_coded_exercises_after_the_first(name):
    assignment = load_assignment(COURSE, name)
    students = sample_class(assignment)
    right = students["all_right"]
    exercises = assignment.exercises.values()
    coded = [each.id for each in exercises if not (each.form or each.manual)]
    changed = [
        [each for each in right if students[student][each] != right[each]] for student in _HOSTILE
    ]
    wanted = [*coded[1:], *coded[:1]]
    assert changed == [[wanted[n % len(wanted)]] for n in range(len(_HOSTILE))]
    assert students["not_started"] == {} and 0 < len(students["half_done"]) < len(right)


def test_a_missing_assignment_is_reported(tmp_path):
    with pytest.raises(CourseError, match=r"no assignment 'nothing' in .* \(there are: backward, "):
        run_demo(COURSE, "nothing", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_course_without_hidden_tests_is_refused(tmp_path):
    (tmp_path / "source").mkdir()
    with pytest.raises(CourseError, match="has hidden tests, so there is nothing to show"):
        run_demo(tmp_path, None, tmp_path / "new")
