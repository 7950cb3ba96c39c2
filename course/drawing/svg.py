"""Writes the drawing of a graph as SVG and as HTML, when the places of all its parts are known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from html import escape
from pathlib import Path

from course.drawing.graph import Graph
from course.drawing.layout import PADDING, ROW, Arrow, Layout, Picture, Point, Shape, label_size

_SCRIPTS = Path(__file__).parents[1] / "scripts"
# Colours follow the theme of JupyterLab or of the lesson; elsewhere a drawing is light.
_STYLE = (_SCRIPTS / "graph.css").read_text("utf-8")
# Every drawing holds the script, so its comments and indents stay out.
_LINES = map(str.strip, (_SCRIPTS / "0-arrows.js").read_text("utf-8").splitlines())
_SCRIPT = "\n".join(line for line in _LINES if line and not line.startswith("//"))


def svg_of(graph: Graph, picture: Picture, layout: Layout, is_still: bool = True) -> str:
    """Return a drawing as SVG.

    Args:
        is_still: False to leave out what a film shows in its time: labels and widths of arrows, and
            what the script needs.
    """
    nodes = [
        [
            node.name,
            *node.number_of,
            node.op if node.derivatives else "",
            node.operands,
            node.derivatives,
        ]
        for node in graph.nodes
    ]
    data = f'data-nodes="{escape(json.dumps(nodes))}"' if is_still else ""
    margin = 14
    width, height = math.ceil(layout.width) + 2 * margin, math.ceil(layout.height) + 2 * margin
    title = escape(graph.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cg" role="img" aria-label="{title}" '
        f'width="{width}" height="{height}" viewBox="{-margin} {-margin} {width} {height}" '
        f'{data} style="--w:{width};display:block;max-width:none">',
        f"<title>{title}</title>",
        f"<desc>{escape(graph.text())}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="cg-card" x="{-margin}" y="{-margin}" width="{width}" height="{height}" '
        f'rx="6" style="stroke:none"/>',
    ]
    for arrow, route in zip(picture.arrows, layout.routes, strict=True):
        parts.append(_svg_arrow(arrow, *route, arrow.gradient if is_still else 0.0))
    for arrow, place in zip(picture.arrows, layout.labels, strict=True):
        parts += [svg_label(arrow, *place)] if place and is_still else []
    for shape in picture.shapes.values():
        about = graph.sentence(shape.node) if shape.node else " ".join(shape.text)
        body = "".join(_svg_shape(shape, *layout.centres[shape.id]))
        number = f' data-node="{shape.node.number}"' if shape.node else ""
        parts.append(f"<g{number}><title>{escape(about)}</title>{body}</g>")
    return "\n".join([*parts, "</svg>"])


def _svg_arrow(arrow: Arrow, route: list[Point], tip: Point, gradient: float) -> str:
    stroke = min(1.3 + 1.5 * math.log2(1 + abs(gradient)), 8.0)
    start, *rest = (f"{x:.1f},{y:.1f}" for x, y in route)
    base_x, base_y = route[-1]
    length = math.hypot(tip[0] - base_x, tip[1] - base_y) or 1.0
    # Half the arrowhead's width, at right angles to its direction.
    half = 3 + stroke / 2
    side_x, side_y = (base_y - tip[1]) / length * half, (tip[0] - base_x) / length * half
    head = [(base_x + side_x, base_y + side_y), tip, (base_x - side_x, base_y - side_y)]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
    folded = " cg-folded" if arrow.tail == "more" else ""
    return (
        f'<g data-way="{arrow.way}"><path class="cg-arrow{folded}" d="M{start} C{" ".join(rest)}" '
        f'style="stroke-width:{stroke:.1f}"/><polygon class="cg-head" points="{corners}"/></g>'
    )


def svg_label(arrow: Arrow, x: float, y: float) -> str:
    width, height = label_size(arrow.label)
    return (
        f'<g data-way="{arrow.way}">{_rect("cg-pill", x, y, width, height, 4)}'
        f"{_text('cg-local', x, y + 4, 'middle', arrow.label)}</g>"
    )


def _svg_shape(shape: Shape, x: float, y: float) -> Iterable[str]:
    if shape.kind == "op":
        yield _rect("cg-op", x, y, shape.width, shape.height, shape.height / 2)
        yield _text("cg-label", x, y + 4.5, "middle", shape.text[0])
        return
    top = y - shape.height / 2 + PADDING / 2 + 13
    if shape.kind == "more":
        yield _rect("cg-more", x, y, shape.width, shape.height, 6)
        for i, line in enumerate(shape.text):
            style = "cg-quiet" if i else "cg-label"
            yield _text(style, x, top + i * ROW, "middle", line)
        return
    assert shape.node is not None
    node = shape.node
    left, right = x - shape.width / 2 + PADDING, x + shape.width / 2 - PADDING
    yield _rect("cg-value", x, y, shape.width, shape.height, 6)
    if "leaf" in node.tags:
        yield _rect("cg-inner", x, y, shape.width - 6, shape.height - 6, 4)
    if node.note:
        yield _rect("cg-mark", x, y, shape.width + 9, shape.height + 9, 9)
    if node.label or node.tags:
        yield _text("cg-label", left, top, "start", node.label)
        yield _text("cg-quiet cg-tag", right, top, "end", ", ".join(node.tags))
        top += ROW
    for word, number in (("data", node.data), ("grad", node.grad)):
        yield f'<path class="cg-{word}" d="M{left - 5:.1f},{top - 10:.1f}v13"/>'
        yield _text("cg-quiet", left, top, "start", word)
        yield _text("cg-now" if word == "data" else "", right, top, "end", number)
        top += ROW
    if node.note:
        yield _text("cg-label", left, top, "start", f"! {node.note}")


def _rect(style: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    return (
        f'<rect class="{style}" x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx="{radius:.0f}"/>'
    )


def _text(style: str, x: float, y: float, anchor: str, words: str) -> str:
    if not words:
        return ""
    look = f' class="{style}"' if style else ""
    return f'<text{look} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def framed(wide: str, tall: str, steps: bool = False) -> str:
    """Return a drawing as HTML that shrinks a little and then scrolls; below 600 pixels the page
    shows the drawing from top to bottom.

    Args:
        wide: the drawing from left to right.
        tall: the drawing from top to bottom; "" for none.
        steps: whether the drawing is made again at each step, and is kept low enough on a narrow
            screen that its controls stay in sight.
    """
    boxes = [
        fitting(svg, smallest).replace(
            'style="', f'class="cg-box {name}{" cg-steps" * steps}" style="{style}', 1
        )
        for name, svg, smallest, style in (
            ("cg-wide" if tall else "", wide, 0.75, ""),
            ("cg-tall", tall.replace(_STYLE, ""), 0.6, "display:none;"),
        )
        if svg
    ]
    script = f"(()=>{{{_SCRIPT}\narrows(document.currentScript.parentElement)}})()"
    return f'<div class="cg-frame">{"".join(boxes)}<script>{script}</script></div>'


def scrolling(svg: str) -> str:
    """Wrap a picture in a box in which it scrolls, by keyboard too, and is not shrunk."""
    return f'<div tabindex="0" style="max-width:100%;overflow-x:auto">{svg}</div>'


def fitting(svg: str, smallest: float = 0.6, scrolls: bool = True) -> str:
    """Make a wide picture shrink to the width of the page.

    Args:
        smallest: the share of its width to which the picture may shrink; below that it scrolls.
        scrolls: False to shrink the picture further, without scrolling.
    """
    width = float(svg.partition(' width="')[2].partition('"')[0]) if scrolls else 0.0
    size = f"max-width:100%;min-width:{width * smallest:.0f}px;height:auto"
    shrunk = svg.replace("max-width:none", size, 1)
    return scrolling(shrunk) if scrolls else shrunk
