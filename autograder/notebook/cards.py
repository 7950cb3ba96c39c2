"""The card that shows the verdict on an exercise, in the notebook and on feedback pages."""

from __future__ import annotations

from html import escape

from coursecheck import cards

from ..model import ExerciseResult

DRAWING = "The example, drawn as right code has it. A dashed frame and ! mark where yours differs:"

_LOOKS = {
    "passed": ("✓", cards.GREEN),
    "partial": ("◐", cards.ORANGE),
    "manual": ("✎", cards.GREY),
    "ungraded": ("–", cards.GREY),
    "missing": ("○", cards.GREY),
}


def card(result: ExerciseResult, drawing: str = "") -> str:
    """Return the verdict as HTML, for the test cell's output in formgrader and feedback.

    Args:
        drawing: the course's SVG drawing of the example, marked where it went wrong.
    """
    mark, accent = _LOOKS.get(result.status, ("✗", cards.RED))
    points = "—" if result.points is None else f"{result.points:g}"
    of = f"of {result.max_points:g}{' bonus' if result.bonus else ''} points"
    head = f"{mark} {escape(result.title or result.id)}: {points} {of}"
    weight = ", extra" if result.extra else ""
    parts = [cards.heading(head, f"({result.status.replace('_', ' ')}{weight})")]
    if result.message:
        # The rest after the first paragraph is the example, which is a table here.
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
