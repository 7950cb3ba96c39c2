"""What grading says about a submission: plain data, its JSON and the card in the notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from course.messages import Example, describe

LOST = {
    "timeout": "ran out of time",
    "out_of_memory": "ran out of memory",
    "crashed": "ended the whole process",
}


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


_MARKS = {"passed": "✓", "partial": "◐", "manual": "✎"}

_STYLE = (
    "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;color:#1b1f24;"
    "background:#fff;border:1px solid #c9ced6;border-left:6px solid {accent};"
    "border-radius:6px;padding:10px 14px;margin:4px 0;max-width:60em"
)
_ACCENT = {"passed": "#1a7f4b", "partial": "#b35c00", "manual": "#4a5568"}


def card(result: ExerciseResult) -> str:
    """The verdict as HTML, for the test cell's output in formgrader and feedback."""
    accent = _ACCENT.get(result.status, "#b3261e")
    mark = _MARKS.get(result.status, "✗")
    points = "—" if result.points is None else f"{result.points:g}"
    parts = [
        f'<div style="{_STYLE.format(accent=accent)}">',
        f'<div style="font-weight:600">{mark} {escape(result.title or result.id)}: '
        f"{points} of {result.max_points:g} points "
        f'<span style="font-weight:400;color:#57606a">({result.status.replace("_", " ")})</span>'
        "</div>",
    ]
    if result.message:
        # What follows the first paragraph is the example, which is set as a table here.
        head = result.message.split("\n\n")[0]
        parts.append(f'<p style="margin:.5em 0">{_marked_up(head)}</p>')
    if result.example is not None:
        parts.append(_example(result.example))
    if result.note:
        parts.append(f'<p style="margin:.5em 0;color:#57606a">{_marked_up(result.note)}</p>')
    if result.promises and not all(held for _, held in result.promises):
        rows = "".join(
            f"<li>{'✓ holds' if held else '✗ <b>does not hold</b>'}: {_marked_up(text)}</li>"
            for text, held in result.promises
        )
        parts.append(
            '<details><summary style="cursor:pointer;display:list-item">What was tested</summary>'
            f'<ul style="margin:.4em 0;padding-left:1.4em">{rows}</ul></details>'
        )
    return "".join(parts) + "</div>"


def _example(example: Example) -> str:
    box = "background:#f3f4f6;padding:8px 10px;border-radius:4px;margin:.4em 0;overflow-x:auto"
    rows = "".join(
        f"<tr><td style='padding:2px 12px 2px 0'><code>{escape(row.expression)}</code></td>"
        f"<td style='padding:2px 12px 2px 0'>{escape(describe(row.seen))}"
        f"{'' if row.right else ' ✗'}</td>"
        f"<td style='padding:2px 0'>{escape(describe(row.expected))}</td></tr>"
        for row in example.rows
    )
    return (
        f'<pre style="{box}">{escape(example.code.rstrip())}</pre>'
        "<table style='border-collapse:collapse;text-align:left'><tr>"
        "<th style='padding:2px 12px 2px 0'>afterwards</th>"
        "<th style='padding:2px 12px 2px 0'>your code gave</th>"
        f"<th style='padding:2px 0'>expected</th></tr>{rows}</table>"
    )


def _marked_up(text: str) -> str:
    """Escaped text in which `code` is set as code."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 and index < len(pieces) - 1 else
        ("`" * (index % 2) + piece)
        for index, piece in enumerate(pieces)
    )  # fmt: skip
