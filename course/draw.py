"""Draws the computational graph behind a Value, as a picture and in words.

The drawing is made in three steps that share only plain data: read the graph from the student's
objects, find a place for everything, and write the SVG. Arrows lead from left to right and, in a
second drawing for narrow screens, from top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from course.drawing.graph import looks_like_a_value, not_a_value, notes_of, read_graph
from course.drawing.layout import compose, dot_source, layout_in_layers
from course.drawing.svg import framed, svg_of

MAX_NODES = 150


class GraphDrawing:
    """A finished drawing: JupyterLab shows the picture, a terminal shows the words.

    Attributes:
        svg: the picture, a standalone SVG document whose description puts the graph in words.
        tall: the same picture from top to bottom; "" for a large graph.
        dot: the graph in the DOT language, for other tools.
        text: the graph in words, one line for each node, operands first.
        html: both pictures, of which a page shows the one that fits, and the script with which
            they answer a press.
    """

    def __init__(self, svg: str, tall: str, dot: str, text: str) -> None:
        self.svg = svg
        self.tall = tall
        self.dot = dot
        self.text = text

    @property
    def html(self) -> str:
        return framed(self.svg, self.tall)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


def draw_graph(
    root: Any,
    *,
    max_nodes: int = MAX_NODES,
    highlight: Mapping[Any, str] | Iterable[Any] = (),
) -> GraphDrawing:
    """Draw the computational graph of `root`: all Values from which it was computed.

    Args:
        root: a Value, yours or the course's. If your class is not finished, the drawing shows "?"
            in place of what is missing.
        max_nodes: the largest number of Values to draw. Those nearest to the root are drawn, and
            one box stands for all others and says how many they are.
        highlight: nodes to mark: a list of them, or a dictionary from a node to a short note. Nodes
            that are not drawn are ignored.

    Returns:
        The drawing. Put it on the last line of a cell to see it.

    Raises:
        TypeError: `root` is not a Value.
        ValueError: an option has a value that is not listed above.
    """
    if not looks_like_a_value(root):
        raise TypeError(not_a_value(root))
    if not isinstance(max_nodes, int) or max_nodes < 1:
        raise ValueError(f"max_nodes must be a whole number from 1 up, not {max_nodes!r}")

    graph = read_graph(root, max_nodes, notes_of(highlight))
    picture = compose(graph)
    wide = svg_of(graph, picture, layout_in_layers(picture))
    # A large graph fits no narrow screen in either direction.
    tall = svg_of(graph, picture, layout_in_layers(picture, down=True)) if graph.is_labelled else ""
    return GraphDrawing(wide, tall, dot_source(picture), graph.text())
