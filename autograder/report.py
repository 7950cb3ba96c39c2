"""What grading says about a submission: plain data, its JSON and the card in the notebook."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course import cards
from course.messages import Example

LOST = {
    "timeout": "ran out of time",
    "out_of_memory": "ran out of memory",
    "crashed": "ended the whole process",
}

ADVICE = {
    "timeout": "Look for a loop that never ends, or work that doubles with every step.",
    "out_of_memory": "Look for a list that grows without end, or a number that is far too large.",
    "crashed": "Look for a call that leaves Python, such as `exit()`.",
}

DRAWING = (
    "The example's graph, as right code builds it. A dashed frame and ! mark where yours differs:"
)


@dataclass
class ExerciseResult:
    """The verdict on one exercise.

    Attributes:
        points: from 0 to `max_points`; None where a person gives them.
        status: passed, partial, failed, timeout, out_of_memory, crashed, missing or manual.
        message: what the student reads, in plain text.
        misconception: the id of the recognised misconception, if any.
        promises: each hidden test's sentence and whether it held.
        example: a public example that went wrong.
        note: what else should be known, such as a repaired cell.
    """

    id: str
    title: str
    max_points: float
    points: float | None = 0.0
    status: str = "failed"
    message: str = ""
    misconception: str | None = None
    promises: list[tuple[str, bool]] = field(default_factory=list)
    example: Example | None = None
    note: str = ""


@dataclass
class Report:
    """The verdicts on one submission."""

    assignment: str
    exercises: list[ExerciseResult]
    notes: list[str] = field(default_factory=list)
    seed: str = ""

    @property
    def score(self) -> float:
        return round(sum(result.points or 0.0 for result in self.exercises), 2)

    @property
    def max_score(self) -> float:
        return round(sum(result.max_points for result in self.exercises), 2)

    def as_json(self) -> dict[str, Any]:
        """The report in the form that `autograder check --json` prints."""
        return {
            "assignment": self.assignment,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [
                {
                    "id": result.id,
                    "title": result.title,
                    "points": result.points,
                    "max_points": result.max_points,
                    "status": result.status,
                    "message": result.message,
                    "misconception": result.misconception,
                }
                for result in self.exercises
            ],
            "notes": self.notes,
            "seed": self.seed,
        }


def points_for(share: float, max_points: float) -> float:
    """The points for a share of the tests, in quarters, rounded down: full marks are for all."""
    return math.floor(min(max(share, 0.0), 1.0) * max_points * 4) / 4


_LOOKS = {
    "passed": ("✓", cards.GREEN),
    "partial": ("◐", cards.ORANGE),
    "manual": ("✎", cards.GREY),
    "missing": ("○", cards.GREY),
}


def card(result: ExerciseResult, drawing: str = "") -> str:
    """The verdict as HTML, for the test cell's output in formgrader and feedback.

    Args:
        drawing: the example's graph, marked where it went wrong, as SVG.
    """
    mark, accent = _LOOKS.get(result.status, ("✗", cards.RED))
    points = "—" if result.points is None else f"{result.points:g}"
    head = f"{mark} {escape(result.title or result.id)}: {points} of {result.max_points:g} points"
    parts = [cards.heading(head, f"({result.status.replace('_', ' ')})")]
    if result.message:
        # What follows the first paragraph is the example, which is set as a table here.
        parts.append(cards.paragraph(result.message.split("\n\n")[0]))
    if result.example is not None:
        parts.append(cards.example_table(result.example))
    if drawing:
        parts.append(cards.paragraph(DRAWING, quiet=True))
        parts.append(f'<div style="overflow-x:auto">{drawing}</div>')
    if result.note:
        parts.append(cards.paragraph(result.note, quiet=True))
    if result.status != "missing" and not all(held for _, held in result.promises):
        rows = "".join(
            f"<li>{'✓ holds' if held else '✗ <b>does not hold</b>'}: {cards.marked_up(text)}</li>"
            for text, held in result.promises
        )
        parts.append(
            '<details><summary style="cursor:pointer;display:list-item">What was tested</summary>'
            f'<ul style="margin:.4em 0;padding-left:1.4em">{rows}</ul></details>'
        )
    return cards.box(accent, *parts)
