"""Draws a public example that fails, and marks the nodes that the student's code got wrong.

The graph is that of the solution. A marked node has a dashed frame and the student's result as
text.
"""

from __future__ import annotations

import re
from typing import Any

from course.draw import draw_graph
from course.drawing.graph import looks_like_a_value

MAX_NODES = 12
"""Greatest number of nodes in a drawing: a larger graph would not help the student."""

_NUMBER = re.compile(r"(\w+)\.(data|grad)")
_OPERAND = re.compile(r"(\w+) in (\w+)\._prev")
_OPERATION = re.compile(r"(\w+)\._op")


def marked_graph(solution: dict[str, Any], code: str, wrong: list[tuple[str, str]]) -> str:
    """Return the drawing as SVG; "" if no graph shows the mistake.

    Args:
        solution: the names that the solution's cells define.
        code: the code of a public example.
        wrong: by expression that the student's code got wrong: the student's result as text.
    """
    about = [_note(expression, seen) for expression, seen in wrong]
    if not any(name for name, _ in about):
        return ""
    scope = dict(solution)
    try:
        exec(code, scope)
    except Exception:  # the solution may raise an error on an example
        return ""
    values = {
        name: value
        for name, value in scope.items()
        if name not in solution and looks_like_a_value(value)
    }
    notes: dict[str, list[str]] = {}
    for name, note in about:
        if name in values:
            notes.setdefault(name, []).append(note)
    for root in values.values():
        graph = _graph(root)
        marked = {name for name in notes if any(values[name] is node for node in graph)}
        if 2 <= len(graph) <= MAX_NODES and len(marked) == len(notes) > 0:
            for name, value in values.items():
                value.label = value.label or name
            highlight = {values[name]: ", ".join(notes[name]) for name in notes}
            return draw_graph(root, highlight=highlight).svg
    return ""


def _note(expression: str, seen: str) -> tuple[str, str]:
    """Return the name of the node that the expression is about, and the text for it."""
    if found := _NUMBER.fullmatch(expression):
        return found[1], f"your {found[2]}: {seen}"
    if seen == "False" and (found := _OPERAND.fullmatch(expression)):
        return found[2], f"your _prev lacks {found[1]}"
    if found := _OPERATION.fullmatch(expression):
        return found[1], f"your _op: {seen}"
    return "", ""


def _graph(root: Any) -> list[Any]:
    found = [root]
    for value in found:  # grows while it is walked
        found += [each for each in value._prev if not any(each is known for known in found)]
    return found
