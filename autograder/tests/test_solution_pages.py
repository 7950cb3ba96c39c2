"""The pages with solution and discussion: their content, and when they are refused."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner, Result
from tested_course import COURSE

from autograder.authoring.release import copy_course, write
from autograder.commands.main import main
from autograder.course_folder.course import Course

pytestmark = pytest.mark.subprocess

NAMES = ("value", "checkpoint")


def publish(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["publish", "--solutions", *arguments])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    course, folder = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("pages")
    copy_course(COURSE, course)
    for name in NAMES:
        write(Course(course), "solutions", name)
    done = publish(*NAMES, "--course", str(course), "--output", str(folder))
    assert done.exit_code == 0, done.output
    return {path.stem: path.read_text("utf-8") for path in folder.iterdir()}


def test_each_wrong_option_has_its_reason_and_each_exercise_its_solution(pages):
    assert set(pages) == {*NAMES}
    for mistake in COURSE.assignment("checkpoint").exercises["q1"].mistakes:
        assert mistake.source.strip().replace('"', "&#34;") in pages["checkpoint"]
    words = re.sub("<[^>]*>", "", pages["value"])
    for exercise in COURSE.assignment("value").exercises.values():
        shown = [mistake for mistake in exercise.mistakes if not mistake.hidden]
        assert (f"What often goes wrong: {exercise.title}" in words) == bool(shown), exercise.id
    assert "def trace(root):" in words
    assert "Three points for a reason and an example." in pages["checkpoint"]


def test_solution_pages_have_no_grading_data_and_ask_no_other_host(pages):
    for page in pages.values():
        assert "HIDDEN TESTS" not in page
        assert "SOLUTION" not in page
        assert "<script" not in page
        assert "default-src 'none'" in page
        assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', page) == []


def test_solution_pages_need_named_assignments_and_solved_notebooks(tmp_path):
    assert "name the assignments that are over" in " ".join(
        publish("--course", str(COURSE)).output.split()
    )
    copy_course(COURSE, tmp_path / "course")
    done = publish("value", "--course", str(tmp_path / "course"))
    assert done.exit_code == 2
    assert "autograder release --solutions value" in " ".join(done.output.split())
