"""Checks answers to questions, which are a letter or a number.

In a class, a check looks at the form of an answer alone. A self-study edition has the file
`answers.json` beside the notebook, and by it the check reports the right answer, and why the others
are wrong.
"""

from __future__ import annotations

import json
import math
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from coursecheck.messages import Finding

ANSWERS = "answers.json"
_RELATIVE = 1e-3  # numbers are compared to three digits

NOTED = "noted."
"""The words for an answer of the right form, if the right answer is not known."""

_NO_ANSWERS_HERE = "Your answer is {}. Your files do not hold the right one: only the grader does."


class Look(NamedTuple):
    """The result of a check: a fault of the answer, or the words for a right one, and further
    words."""

    finding: Finding | None
    passed: str = ""
    more: str = ""


def look_at(name: str, form: str, namespace: dict[str, Any]) -> Look:
    """Check the answer to the question called `name`.

    Args:
        form: the form of the answer, such as "one of a b c d" or "a number".
        namespace: the names of the answer.
    """
    finding = _misformed(name, form, namespace)
    known = _answers().get(name)
    if finding:
        return Look(finding)
    if known is None:
        return Look(None, NOTED, _NO_ANSWERS_HERE.format(_short(namespace[name])))
    answer, wrong = namespace[name], known["wrong"]
    if _same(answer, known["right"]):
        others = [f"Why not {each['answer']}: {each['says']}" for each in wrong]
        return Look(None, "right.", "\n".join(others))
    says = next((each["says"] for each in wrong if _same(answer, each["answer"])), None)
    unknown = "Work it out once more, step by step, and compare each number."
    return Look(Finding(f"{_short(answer)} is not right. {says or unknown}"))


def _answers() -> dict[str, Any]:
    """Return the right answers and the messages on wrong ones in a self-study edition; else {}."""
    try:
        found = json.loads(Path(ANSWERS).read_text("utf-8"))["questions"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # No such file, or one of the student's own.
    return found if isinstance(found, dict) else {}


def _same(answer: Any, known: str | float) -> bool:
    if isinstance(known, str):
        return bool(answer.strip().lower() == known)
    return math.isclose(answer, known, rel_tol=_RELATIVE)


def _misformed(name: str, form: str, namespace: dict[str, Any]) -> Finding | None:
    """Return the fault in the form of the answer called `name`, or None if it can be graded."""
    options = form.removeprefix("one of ").split() if form.startswith("one of ") else []
    if options:
        letters = ", ".join(f'"{option}"' for option in options)
        wanted = f"one of the letters {letters}, in quotes"
    else:
        wanted = "a number, such as 3 or -0.25, without quotes"
    answer = namespace.get(name)
    if answer is None or answer is ...:
        return Finding(
            f"There is no answer yet. Write `{name} = …` in the cell above, with {wanted}, and run "
            "that cell."
        )
    if isinstance(answer, str) and answer.strip().lower() in options:
        return None
    if not options and _is_number(answer) and abs(answer) < 1e300:
        return None
    return Finding(f"The answer is {wanted}. Yours is {_short(answer)}.")


def _is_number(answer: Any) -> bool:
    return isinstance(answer, Real) and not isinstance(answer, bool)


def _short(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 60 else f"{text[:60]}…"
