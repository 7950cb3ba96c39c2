"""Renders the verdict on an exercise as HTML, for the notebook and for feedback pages."""

from __future__ import annotations

from html import escape

from coursecheck import cards

from ..records import ExerciseResult, Status

DRAWING = "The example, drawn as right code has it. A dashed frame and ! mark where yours differs:"

_ESSENTIAL = " Without this, at most half of the points count."

_LOOKS = {
    Status.PASSED: ("✓", cards.GREEN),
    Status.PARTIAL: ("◐", cards.ORANGE),
    Status.MANUAL: ("✎", cards.GREY),
    Status.UNGRADED: ("–", cards.GREY),
    Status.MISSING: ("○", cards.GREY),
}


def card(result: ExerciseResult, drawing: str = "") -> str:
    """Return the verdict on an exercise as HTML, to be shown as the output of its test cell.

    Args:
        drawing: the failed public example as an SVG drawing by the course; "" for none.
    """
    mark, accent = _LOOKS.get(result.status, ("✗", cards.RED))
    points = "—" if result.points is None else f"{result.points:g}"
    of = f"of {result.max_points:g}{' bonus' if result.bonus else ''} points"
    head = f"{mark} {escape(result.title)}: {points} {of}"
    weight = ", extra" if result.extra else ""
    parts = [cards.heading(head, f"({result.status.replace('_', ' ')}{weight})")]
    if result.message:
        # The rest of the message is the failed example as text, which is shown as a table here.
        parts.append(cards.paragraph(result.message.split("\n\n")[0]))
    if result.failed_example is not None:
        parts.append(cards.example_table(result.failed_example))
    if drawing:
        parts.append(cards.paragraph(DRAWING, quiet=True))
        parts.append(f'<div style="overflow-x:auto">{drawing}</div>')
    if result.note:
        parts.append(cards.paragraph(result.note, quiet=True))
    if result.status != Status.MISSING and not all(held for _, held in result.criteria):
        rows = "".join(
            f"<li>{'✓ holds' if held else '✗ <b>does not hold</b>'}: {cards.marked_up(text)}"
            f"{_ESSENTIAL if text in result.essential and not held else ''}</li>"
            for text, held in result.criteria
        )
        parts.append(
            '<details><summary style="cursor:pointer;display:list-item">What was tested</summary>'
            f'<ul style="margin:.4em 0;padding-left:1.4em">{rows}</ul></details>'
        )
    return cards.box(accent, *parts)
