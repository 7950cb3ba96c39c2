"""Questions that answer a prediction."""

from __future__ import annotations

import pytest

from course.interactives.predicting import QUESTIONS, Prediction


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_prediction_is_answered_with_what_is_right_and_why(name: str) -> None:
    question = QUESTIONS[name]
    model = Prediction(question)
    model.begin()
    model.act("answer", question.right)
    assert model.news == f"You said {question.right}, and that is right. {question.why}"
    wrong = question.options[question.options[0] == question.right] if question.options else "-77"
    model.act("answer", wrong)
    assert model.text() == f"You said {wrong}; it is {question.right}. {question.why}"
    assert question.why in model.html()


def test_a_number_may_be_written_in_several_ways() -> None:
    model = Prediction(QUESTIONS["x-plus-x"])
    for said in ("2", "2.0", "2,0", "+2"):
        model.act("answer", said)
        assert model.news.startswith(f"You said {said}, and that is right.")


def test_words_in_place_of_a_number_are_asked_again() -> None:
    model = Prediction(QUESTIONS["x-plus-x"])
    model.act("answer", "two")
    assert model.news == "Type a number, such as 3 or -0.5."


def test_a_page_without_controls_folds_the_answer() -> None:
    page = Prediction(QUESTIONS["one-neuron"]).html()
    assert "<summary>Of the four points" in page and "<p>3. Its border" in page
