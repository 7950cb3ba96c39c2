"""The pages with solution and discussion: their content, and when they are refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.assignments import find_course, load_assignment

COURSE = find_course(Path(__file__).parent)


def publish(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["publish", "--solutions", *arguments])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    done = publish("backward", "checkpoint", "--output", str(folder))
    assert done.exit_code == 0, done.output
    return {path.stem: path.read_text("utf-8") for path in folder.iterdir()}


def test_each_wrong_option_has_its_reason_and_each_exercise_its_solution(pages):
    assert set(pages) == {"backward", "checkpoint"}
    for mistake in load_assignment(COURSE, "checkpoint").exercises["q7"].mistakes:
        assert mistake.source.strip().replace('"', "&#34;") in pages["checkpoint"]
    words = re.sub("<[^>]*>", "", pages["backward"])
    for exercise in load_assignment(COURSE, "backward").exercises.values():
        shown = [mistake for mistake in exercise.mistakes if not mistake.hidden]
        assert (f"What often goes wrong: {exercise.title}" in words) == bool(shown), exercise.id
    assert "def topological_order(root):" in words
    assert "How to mark it" in pages["checkpoint"]


def test_solution_pages_have_no_grading_data_and_ask_no_other_host(pages):
    for page in pages.values():
        assert "HIDDEN TESTS" not in page and "SOLUTION" not in page
        assert "<script" not in page and "default-src 'none'" in page
        assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', page) == []


def test_solution_pages_are_made_by_name_and_need_the_solved_notebook(tmp_path):
    assert "name the assignments that are over" in " ".join(publish().output.split())
    copy_course(COURSE, tmp_path / "course")
    shutil.rmtree(tmp_path / "course" / "solutions", ignore_errors=True)
    done = publish("value", "--course", str(tmp_path / "course"))
    assert done.exit_code == 2
    assert "autograder release --solutions value" in " ".join(done.output.split())
