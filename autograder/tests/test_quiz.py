"""The visible check of a question accepts any answer in the expected form, and names this form."""

from __future__ import annotations

import shutil
from fractions import Fraction

import pytest
from schools import append
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.course_folder.course import Course
from autograder.judging.check_tables import write_table
from coursecheck import CheckFailed, check


@pytest.fixture(autouse=True)
def beside_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(COURSE.release / "checkpoint")


@pytest.mark.parametrize("answer", ["a", "b", "c", "B", " c ", "C\n"])
def test_check_lets_any_letter_pass(capsys, answer):
    check("q1", {"q1": answer})
    assert f"noted. Your answer is {answer!r}." in capsys.readouterr().out


@pytest.mark.parametrize("answer", [0, -3, 2.5, Fraction(1, 3), 1e100])
def test_check_lets_any_number_pass(capsys, answer):
    check("q2", {"q2": answer})
    assert f"noted. Your answer is {answer!r}." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        ("q1", "e", 'letters "a", "b", "c"'),
        ("q1", "", "in quotes"),
        ("q1", 2, "Yours is 2."),
        ("q1", ["a"], "letters"),
        ("q2", "2", "without quotes"),
        ("q2", True, "a number"),
        ("q2", float("nan"), "a number"),
        ("q2", 1j, "a number"),
        ("q2", 10**400, "a number"),
        ("q2", "x" * 1000, "…"),
        ("q2", None, "There is no answer yet"),
        ("q1", ..., "There is no answer yet"),
    ],
)
def test_check_says_in_which_form_an_answer_is_expected(question, answer, says):
    with pytest.raises(CheckFailed) as caught:
        check(question, {question: answer})
    assert says in str(caught.value)
    assert len(str(caught.value)) < 250


def test_check_reports_an_unanswered_question():
    with pytest.raises(CheckFailed, match="There is no answer yet"):
        check("q1", {})


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"questions": [1]}'])
def test_a_student_s_file_named_answers_json_changes_no_check(tmp_path, monkeypatch, capsys, text):
    shutil.copy("checks.json", tmp_path)
    (tmp_path / "answers.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    check("q2", {"q2": 12.0})

    assert "noted" in capsys.readouterr().out


@pytest.mark.subprocess
def test_check_explains_right_and_wrong_answers_if_the_course_shows_them_at_once(
    tmp_path, monkeypatch, capsys
):
    copy_course(COURSE, tmp_path)
    append(tmp_path / "course.toml", '[checks]\nanswers = "at-once"\n')
    monkeypatch.chdir(write_table(Course(tmp_path), "checkpoint").parent)

    check("q1", {"q1": "C"})
    assert "right. Why not a: The product comes first" in capsys.readouterr().out
    with pytest.raises(CheckFailed, match="One of the two signs is a plus"):
        check("q1", {"q1": "b"})
