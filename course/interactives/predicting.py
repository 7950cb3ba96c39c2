"""Asks for a prediction, says what is right, and why."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from course.interactives.model import Control
from course.interactives.showing import show


@dataclass(frozen=True)
class Question:
    """A question with one right answer.

    Attributes:
        text: the beginning of a sentence, which the answer completes.
        right: the right answer: a number in digits, or one of the options.
        why: the reason.
        options: the possible answers; () for a number that is typed.
    """

    text: str
    right: str
    why: str
    options: tuple[str, ...] = ()


QUESTIONS = {
    "x-plus-x": Question(
        "With y = x + x and y.grad = 1, x.grad will be",
        "2",
        "x feeds the + twice, and gets a 1 for each use. The two add up.",
    ),
    "diamond-early": Question(
        "With b too early, a.grad will be",
        "0",
        "b passes on what it holds at that moment: 0. Its true gradient, 2, arrives later.",
    ),
    "diamond-twice": Question(
        "With b run twice, a.grad will be",
        "8",
        "Each run of b gives a another 2 + 2.",
    ),
    "wrong-order": Question(
        "With d before e, the gradient that is still right is that of",
        "c",
        "c feeds only e, and e ran after f. But d ran while its own gradient was still 0, so a and "
        "b got nothing.",
        ("a", "b", "c"),
    ),
    "order-once": Question(
        "When each node runs once, as soon as it is met, a.grad will be",
        "2",
        "The order is d, b, c: b passes on its 1 before c gives it another 3.",
    ),
    "backward-twice": Question(
        "After the second call, the gradients of a, b and c are",
        "something else",
        "The nodes in between still hold their gradients, the second pass adds to them, and they "
        "pass on all of it.",
        ("the same", "twice as large", "something else"),
    ),
    "one-neuron": Question(
        "Of the four points, one neuron gets right at most",
        "3",
        "Its border is a straight line, and a straight line can cut off one point, but it cannot "
        "part the two ones from the two zeros.",
    ),
    "batches": Question(
        "After 15 epochs, the loss is lowest with batches of",
        "1",
        "Batches of 1 make 450 steps in the time in which all 30 points at once make 15.",
        ("30", "10", "1"),
    ),
}


def predict(name: str) -> None:
    """Ask what you expect; then say what is right, and why. Nobody marks it."""
    show(Prediction(QUESTIONS[name]))


class Prediction:
    """The model of a question and of the student's answer to it."""

    title = "Your prediction"
    running = False

    def __init__(self, question: Question) -> None:
        self._question = question
        self._live = False
        self.news = ""

    def begin(self) -> None:
        self._live = True

    def controls(self) -> list[Control]:
        options = self._question.options
        return [Control("answer", self._question.text, "field", options=options)]

    def act(self, name: str, value: str) -> None:
        said, right = value, self._question.right
        if not self._question.options and _number(said) is None:
            self.news = "Type a number, such as 3 or -0.5."
        elif said == right or (_number(said) == _number(right) is not None):
            self.news = f"You said {said}, and that is right. {self._question.why}"
        else:
            self.news = f"You said {said}; it is {right}. {self._question.why}"

    def html(self) -> str:
        if self._live:
            return f"<p>{escape(self.news)}</p>" if self.news else ""
        answer = f"<p>{escape(self._question.right)}. {escape(self._question.why)}</p>"
        question = f"<summary>{escape(self._question.text)} …</summary>"
        return f"<details>{question}{answer}</details>"

    def text(self) -> str:
        return self.news or f"{self._question.text} …"


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
