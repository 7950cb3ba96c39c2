"""Checks answers to questions, which are a letter or a number.

In a class, only the form of an answer is checked, unless the course shows answers at once: then the
table holds the right answers, and says why other answers are wrong. In a self-study edition, the
file `answers.json` beside the notebook does.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from coursecheck.examples import Observation, plain
from coursecheck.messages import Finding, describe, is_error
from coursecheck.tables import CheckEntry, QuestionAnswers

ANSWERS = "answers.json"
_RELATIVE = 1e-3  # numbers are compared to three digits

NOTED = "noted."
"""`AnswerCheck.passed` of an answer that has the right form, where the right answer is unknown."""

_DOTS = {"object": "ellipsis"}
"""The observation of `...`, which stands for an answer that is still missing."""

_NO_ANSWERS_HERE = "Your answer is {}. This check cannot know whether it is right; the grader does."


class AnswerCheck(NamedTuple):
    """The result of checking an answer.

    Attributes:
        finding: what is wrong with the answer; None if nothing is.
        passed: the outcome in a word, such as "right.", if nothing is wrong.
        more: further sentences for the student, if nothing is wrong.
    """

    finding: Finding | None
    passed: str = ""
    more: str = ""


def check_answer(name: str, entry: CheckEntry, namespace: dict[str, Any]) -> AnswerCheck:
    """Check the answer to the question called `name`.

    Args:
        entry: the question in the table.
        namespace: the namespace that holds the answer.
    """
    answer = namespace.get(name)
    text = _short(repr(answer))
    seen = plain(answer)
    if type(answer) is int and abs(answer) < 10**300:
        seen = float(answer)  # `plain` returns only the type of a large int.
    says = misformed(name, entry["form"], seen, text)
    answers = entry.get("answers") or _answers().get(name)
    if says:
        return AnswerCheck(Finding(says))
    if answers is None:
        return AnswerCheck(None, NOTED, _NO_ANSWERS_HERE.format(text))
    wrong = answers["wrong"]
    if _same(answer, answers["right"]):
        others = [f"Why not {each['answer']}: {each['says']}" for each in wrong]
        return AnswerCheck(None, "right.", "\n".join(others))
    unknown = "Work it out once more, step by step, and compare each number."
    why = next((each["says"] for each in wrong if _same(answer, each["answer"])), unknown)
    return AnswerCheck(Finding(f"{text} is not right. {why}"))


def _answers() -> dict[str, QuestionAnswers]:
    """Return, by question, the right answer and messages on wrong ones; {} in a class, where the
    file is missing."""
    try:
        questions = json.loads(Path(ANSWERS).read_text("utf-8"))["questions"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # The file is missing, or the student has made another one with this name.
    return questions if isinstance(questions, dict) else {}


def _same(answer: Any, known: str | float) -> bool:
    if isinstance(known, str):
        return bool(answer.strip().lower() == known)
    return math.isclose(answer, known, rel_tol=_RELATIVE)


def misformed(name: str, form: str, seen: Observation, text: str = "") -> str:
    """Return a sentence on what is wrong with the form of an answer; "" if nothing is.

    Args:
        name: the question's name.
        form: the form of the answer, such as "one of a b c d" or "a number".
        seen: the observation of the answer.
        text: the answer as text for the sentence; by default the text is made from `seen`.
    """
    options = form.removeprefix("one of ").split() if form.startswith("one of ") else []
    if options:
        letters = ", ".join(f'"{option}"' for option in options)
        wanted = f"one of the letters {letters}, in quotes"
    else:
        wanted = "a number, such as 3 or -0.25, without quotes"
    if seen is None or seen == _DOTS or is_error(seen):
        return (
            f"There is no answer yet. Write `{name} = …` in the cell above, with {wanted}, and run "
            "that cell."
        )
    if isinstance(seen, str) and seen.strip().lower() in options:
        return ""
    is_number = isinstance(seen, (int, float)) and not isinstance(seen, bool)
    if not options and is_number and abs(seen) < 1e300:
        return ""
    text = text or _short(describe(seen) if isinstance(seen, dict) else repr(seen))
    comma = (
        ""
        if options or not isinstance(seen, dict) or "tuple" not in seen
        else (" A decimal sign is a point in Python; a comma makes a pair.")
    )
    return f"The answer is {wanted}. Yours is {text}.{comma}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
