"""Draws the computational graph behind a Value, as a picture and in words.

The drawing is made in three steps that share only plain data: read the graph from the student's
objects, find a place for everything (with the `dot` program if it is installed, otherwise with a
layout of our own), and write the SVG. Both layouts are written as SVG by the same code, so nodes
and arrows look the same on every machine. Arrows lead from left to right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from course.drawing.graph import looks_like_a_value, not_a_value, notes_of, read_graph
from course.drawing.layout import compose, dot_source, layout_of
from course.drawing.svg import fitting, svg_of

MAX_NODES = 150


class GraphDrawing:
    """A finished drawing: JupyterLab shows the picture, a terminal shows the words.

    Attributes:
        svg: the picture, a standalone SVG document whose description puts the graph in words.
        dot: the graph in the DOT language, for other tools.
        text: the graph in words, one line for each node, operands first.
        renderer: what placed the nodes: "dot" or "built-in".
    """

    def __init__(self, svg: str, dot: str, text: str, renderer: str) -> None:
        self.svg = svg
        self.dot = dot
        self.text = text
        self.renderer = renderer

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": fitting(self.svg, 0.75, from_end=True), "text/plain": self.text}


def draw_graph(
    root: Any,
    *,
    max_nodes: int = MAX_NODES,
    highlight: Mapping[Any, str] | Iterable[Any] = (),
    renderer: str | None = None,
) -> GraphDrawing:
    """Draw the computational graph of `root`: all Values from which it was computed.

    Args:
        root: a Value, yours or the course's. If your class is not finished, the drawing shows "?"
            in place of what is missing.
        max_nodes: the largest number of Values to draw. Those nearest to the root are drawn, and
            one box stands for all others and says how many they are.
        highlight: nodes to mark: a list of them, or a dictionary from a node to a short note. Nodes
            that are not drawn are ignored.
        renderer: "dot" or "built-in" to choose what places the nodes; by default the program dot if
            it works.

    Returns:
        The drawing. Put it on the last line of a cell to see it.

    Raises:
        TypeError: `root` is not a Value.
        ValueError: an option has a value that is not listed above.
        RuntimeError: you chose "dot", and the program is missing or failed.
    """
    if not looks_like_a_value(root):
        raise TypeError(not_a_value(root))
    if renderer not in (None, "dot", "built-in"):
        raise ValueError(f'renderer must be "dot" or "built-in", not {renderer!r}')
    if not isinstance(max_nodes, int) or max_nodes < 1:
        raise ValueError(f"max_nodes must be a whole number from 1 up, not {max_nodes!r}")

    graph = read_graph(root, max_nodes, notes_of(highlight))
    picture = compose(graph)
    dot = dot_source(picture)
    layout, used = layout_of(picture, renderer)
    if used != (renderer or used):
        raise RuntimeError("the dot program is missing or failed; leave out renderer to do without")
    return GraphDrawing(svg_of(graph, picture, layout), dot, graph.text(), used)
