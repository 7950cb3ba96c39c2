"""Writes the drawing of a graph as SVG, when the places of all its parts are known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from course.drawing.graph import Graph
from course.drawing.layout import PADDING, ROW, Layout, Picture, Point, Shape

# Colours follow JupyterLab's theme; outside JupyterLab the drawing has its own light background.

_STYLE = """
.cg-card{fill:var(--jp-layout-color0,#fff)}
.cg text{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
fill:var(--jp-content-font-color0,#1b1f24)}
.cg .cg-label{font-weight:bold}
.cg .cg-quiet{fill:var(--jp-content-font-color1,#4d5560)}
.cg .cg-tag{font-style:italic}
.cg rect,.cg ellipse{stroke:var(--jp-content-font-color1,#4d5560);stroke-width:1.2}
.cg .cg-value{fill:var(--jp-layout-color1,#f6f8fa)}
.cg .cg-inner{fill:none}
.cg .cg-op{fill:var(--jp-layout-color3,#dfe5ec)}
.cg .cg-more{fill:none;stroke-dasharray:2 3}
.cg .cg-mark{fill:none;stroke:var(--jp-warn-color0,#b34700);stroke-width:3.5;stroke-dasharray:8 5}
.cg .cg-arrow{fill:none;stroke:var(--jp-content-font-color1,#4d5560);stroke-width:1.3}
.cg .cg-folded{stroke-dasharray:2 3}
.cg .cg-data{stroke:#2f7fd6;stroke-width:3}.cg .cg-grad{stroke:#d1610f;stroke-width:3}
.cg .cg-head{fill:var(--jp-content-font-color1,#4d5560)}
"""


def svg_of(graph: Graph, picture: Picture, layout: Layout) -> str:
    margin = 14
    width, height = math.ceil(layout.width) + 2 * margin, math.ceil(layout.height) + 2 * margin
    title = escape(graph.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cg" role="img" aria-label="{title}" '
        f'width="{width}" height="{height}" viewBox="{-margin} {-margin} {width} {height}" '
        f'style="display:block;max-width:none">',
        f"<title>{title}</title>",
        f"<desc>{escape(graph.text())}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="cg-card" x="{-margin}" y="{-margin}" width="{width}" height="{height}" '
        f'rx="6" style="stroke:none"/>',
    ]
    parts += [_svg_arrow(*route) for route in layout.routes]
    for shape in picture.shapes.values():
        about = graph.sentence(shape.node) if shape.node else " ".join(shape.text)
        body = "".join(_svg_shape(shape, *layout.centres[shape.id]))
        parts.append(f"<g><title>{escape(about)}</title>{body}</g>")
    return "\n".join([*parts, "</svg>"])


def _svg_arrow(tail: str, route: list[Point], tip: Point) -> str:
    start, *rest = (f"{x:.1f},{y:.1f}" for x, y in route)
    base_x, base_y = route[-1]
    length = math.hypot(tip[0] - base_x, tip[1] - base_y) or 1.0
    # Half the arrowhead's width, at right angles to its direction.
    side_x, side_y = (base_y - tip[1]) / length * 3.5, (tip[0] - base_x) / length * 3.5
    head = [(base_x + side_x, base_y + side_y), tip, (base_x - side_x, base_y - side_y)]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
    folded = " cg-folded" if tail == "more" else ""
    return (
        f'<path class="cg-arrow{folded}" d="M{start} C{" ".join(rest)}"/>'
        f'<polygon class="cg-head" points="{corners}"/>'
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
        yield _text("", right, top, "end", number)
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


def scrolling(svg: str, from_end: bool = False) -> str:
    """Wrap a picture in a box in which a wide picture scrolls, by keyboard too, and is not shrunk.

    Args:
        from_end: whether the right end of the picture is shown first.
    """
    # A box with text from right to left is shown from its right end at first, without a script.
    # In such a box, browsers do not scroll to what reaches out of the inner box to the right, so
    # the inner box is as wide as the picture.
    end = ";direction:rtl" if from_end else ""
    inner = f'<div dir="ltr" style="min-width:min-content">{svg}</div>' if from_end else svg
    return f'<div tabindex="0" style="max-width:100%;overflow-x:auto{end}">{inner}</div>'


def fitting(svg: str, smallest: float = 0.6, scrolls: bool = True, from_end: bool = False) -> str:
    """Make a wide picture shrink to the width of the page.

    This is for pictures that are drawn again and again: a scrolled one would jump back to its start
    each time.

    Args:
        smallest: the share of its width to which the picture may shrink; below that it scrolls.
        scrolls: False to shrink the picture further, without scrolling.
        from_end: as in `scrolling`.
    """
    width = float(svg.partition(' width="')[2].partition('"')[0]) if scrolls else 0.0
    size = f"max-width:100%;min-width:{width * smallest:.0f}px;height:auto"
    shrunk = svg.replace("max-width:none", size, 1)
    return scrolling(shrunk, from_end) if scrolls else shrunk
