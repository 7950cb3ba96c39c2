"""The quiz gives the right marks, explains mistakes only in the feedback, and hides right
answers."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from answers import report_on
from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import find_course
from autograder.course_folder.rubrics import rubrics_of
from autograder.nbgrader_plugins.autograde import HideTests
from autograder.notebook.verdict_outputs import MARKING_GUIDE
from autograder.pipeline.one_submission import grade_content
from course import check
from coursecheck.check import CheckFailed
from namespaces import namespace

COURSE = find_course()
CHECKPOINT = COURSE.assignment("checkpoint")
EXERCISES = CHECKPOINT.exercises
RIGHT = solutions("checkpoint")
WRITTEN = [exercise for exercise in EXERCISES.values() if exercise.manual]
GRADED = [exercise for exercise in EXERCISES.values() if not exercise.manual]
QUESTIONS = [exercise for exercise in EXERCISES.values() if exercise.form]


@pytest.fixture
def graded(grader):
    """Return a function for the report on a notebook with these answers."""
    return lambda answers: report_on(grader, "checkpoint", answers)


def wrong_ones(report):
    return {r.id: r for r in report.exercises if r.status not in ("passed", "manual")}


def right_answer(exercise):
    scope: dict = {}
    exec(exercise.solution, scope)
    return scope[exercise.id]


def test_there_are_questions_of_every_kind():
    choices = [exercise for exercise in QUESTIONS if exercise.form.startswith("one of")]
    numbers = [exercise for exercise in QUESTIONS if exercise.form == "a number"]
    assert len(EXERCISES) >= 14 and len(WRITTEN) == 2
    assert len(choices) >= 8 and len(numbers) >= 4
    for exercise in choices:
        wrong = {mistake.id.rpartition("_")[2] for mistake in exercise.mistakes}
        options = set(exercise.form.removeprefix("one of ").split())
        assert wrong == options - {right_answer(exercise)}
    assert len({right_answer(exercise) for exercise in choices}) == 4


def test_the_mistake_in_each_question_is_named_if_all_answers_are_wrong(graded):
    """Each is named, independently of the others."""
    report = graded({**RIGHT, **{e.id: e.mistakes[0].source for e in GRADED}})
    found = {name: r.misconception for name, r in wrong_ones(report).items()}
    assert found == {e.id: e.mistakes[0].id for e in GRADED}


def test_the_mistake_in_a_wrong_answer_is_named_whatever_its_spelling_or_type(graded):
    report = graded({**RIGHT, "q3": 'q3 = " A"', "q2": "from fractions import Fraction\n"
                     "q2 = Fraction(12)"})  # fmt: skip
    found = {name: r.misconception for name, r in wrong_ones(report).items()}
    assert found == {"q2": "q2.only_over_b", "q3": "q3.option_a"}


def test_an_answer_that_equals_everything_earns_nothing(graded):
    text = "class Any({0}):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
    answers = {
        "q1": text.format("str") + "    strip = lower = lambda self: self\nq1 = Any('a')",
        "q2": text.format("float") + "q2 = Any(7)",
        "q4": "q4 = True",
        "q6": "q6 = True",
        "q8": "q8 = [2.5]",
    }
    found = wrong_ones(graded({**RIGHT, **answers}))
    assert set(found) == set(answers)
    assert found["q8"].message.endswith("without quotes. Yours is [2.5].")


# Texts that students may read.


def shipped_texts() -> list[str]:
    release = COURSE.release / "checkpoint" / "checkpoint.ipynb"
    return [path.read_text("utf-8") for path in (release, CHECKPOINT.table)]


def test_release_and_table_hold_no_answer_and_no_explanation():
    texts = [json.dumps(json.loads(text), ensure_ascii=False) for text in shipped_texts()]
    for text in texts:
        for exercise in QUESTIONS:
            assert not re.search(rf"\b{exercise.id} = (?!…)", text)
            for mistake in exercise.mistakes:
                assert mistake.says[:40] not in text
        for exercise in GRADED:
            for mistake in exercise.mistakes:
                assert not mistake.hidden or mistake.says[:40] not in text
        for exercise in WRITTEN:
            assert exercise.marking_guide
            for line in exercise.marking_guide.splitlines():
                assert len(line) < 20 or json.dumps(line, ensure_ascii=False)[1:-1] not in text


def test_the_table_has_the_form_of_a_question_only():
    table = json.loads(CHECKPOINT.table.read_text("utf-8"))["exercises"]
    for exercise in QUESTIONS:
        found = {key: value for key, value in table[exercise.id].items() if key != "extra"}
        assert found == {"title": exercise.title, "form": exercise.form}


@pytest.mark.parametrize("exercise", QUESTIONS, ids=lambda exercise: exercise.id)
def test_no_explanation_reveals_the_right_answer(graded, exercise):
    right = right_answer(exercise)
    shown = [mistake.says for mistake in exercise.mistakes]
    for source in ("pass", f"{exercise.id} = 'z'", f"{exercise.id} = 123456"):
        [result] = wrong_ones(graded({**RIGHT, exercise.id: source})).values()
        assert result.failed_example is None
        says = result.message.replace('"a", "b", "c", "d"', "any")
        shown += [says, *(criterion for criterion, _ in result.criteria)]
    for text in shown:
        if isinstance(right, str):
            assert not re.search(rf"[\"'(]{right}[\"')]|option {right}\b", text, re.IGNORECASE)
            assert option_text(exercise, right) not in text
        else:
            numbers = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", text)
            assert right not in map(float, numbers)


def option_text(exercise, which: str) -> str:
    cells = nbformat.read(COURSE.root / "source/checkpoint/checkpoint.ipynb", as_version=4).cells
    [question] = [cell.source for cell in cells if cell.id == f"{exercise.id}-question"]
    found = re.search(rf"^- \*\*{which}\.\*\* (.*)$", question, re.MULTILINE)
    assert found is not None
    return found.group(1).rstrip(".")


def test_no_context_gives_the_right_answer_of_a_question_to_student_code(graded):
    """While another exercise is tried again, its code finds the student's own answers at most."""
    tell = "def weighted_sum(weights, inputs):\n    return globals().get('q3', 'nothing')\n"
    broken = "def backward(root):\n    return None\n"
    answers = {**RIGHT, "q3": "q3 = 'a'", "q18": tell, "q19": broken}
    shown = graded(answers).exercises
    [found] = [result for result in shown if result.id == "q18"]
    assert '"b"' not in found.message and "'b'" not in found.message
    assert found.failed_example is None or "b" not in [
        row.seen for row in found.failed_example.rows
    ]


# The visible check.


def test_the_check_of_a_question_never_blames_another_question():
    scope = namespace(CHECKPOINT, q18=EXERCISES["q18"].mistakes[0].source)
    del scope["q3"], scope["backward"]
    with pytest.raises(CheckFailed) as caught:
        check("q18", scope)
    assert EXERCISES["q18"].mistakes[0].says in str(caught.value)
    with pytest.raises(CheckFailed) as caught:
        check("q19", scope)
    assert "q18" not in str(caught.value)


# The written answers.


def test_only_the_person_who_marks_sees_the_marking_guide(grader):
    answers = {**RIGHT, "q22": "Because.", "q23": "An answer."}
    content = filled_notebook(grader.course, "checkpoint", answers).encode()
    notebook, _ = grade_content(grader, content, "checkpoint.ipynb", "checkpoint")
    places = {c.metadata.get("nbgrader", {}).get("grade_id"): i for i, c in
              enumerate(notebook.cells)}  # fmt: skip
    for exercise in WRITTEN:
        guide = notebook.cells[places[exercise.id] + 1]
        assert MARKING_GUIDE in guide.metadata.tags and "How to mark it" in guide.source
    # The items' points are compared with the exercises' there.
    assert {*rubrics_of(grader.course, "checkpoint")} == {exercise.id for exercise in WRITTEN}
    nbformat.validate(notebook)
    feedback, _ = HideTests().preprocess(notebook, {})
    text = json.dumps(feedback)
    assert "How to mark it" not in text and "An answer." in text
