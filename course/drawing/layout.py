"""Finds a place for each node and arrow of a drawing: with the `dot` program, or without it."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from course.drawing.graph import Graph, Node

CHARACTER = 7.9
ROW = 18
PADDING = 10
_DOT_TIMEOUT = 5

Point = tuple[float, float]
_Neighbours = dict[str, list[tuple[str, int]]]


@dataclass
class Shape:
    """A box for a value, a circle for an operation, or the box that stands for folded nodes.

    Attributes:
        kind: "value", "op" or "more", in this order.
        width, height: the size in pixels.
        text: the lines of text in the shape.
        depth: the number of arrows from this shape to the root's, on the longest way.
        node: the node of a value; None for other kinds.
    """

    id: str
    kind: str
    width: float
    height: float
    text: list[str]
    depth: int
    node: Node | None = None

    @property
    def weight(self) -> int:
        """Weight of the wish that the arrows from this shape are straight: small for a leaf."""
        return 1 if self.node and not self.node.op else 100


@dataclass
class Picture:
    shapes: dict[str, Shape] = field(default_factory=dict)
    arrows: list[tuple[str, str]] = field(default_factory=list)


def compose(graph: Graph) -> Picture:
    """Return the shapes and arrows for a graph. Values have even depths, operations odd ones."""
    depth = [0] * len(graph.nodes)
    for node in reversed(graph.nodes):
        for operand in node.operands:
            if operand < node.number:  # an operand that comes later in the list closes a cycle
                depth[operand] = max(depth[operand], depth[node.number] + 2)

    picture = Picture()
    shapes, arrows = picture.shapes, picture.arrows
    for node in graph.nodes:
        shape = _value_shape(node, depth[node.number])
        shapes[shape.id] = shape
        if node.op:
            width = max(30.0, text_width(node.op) + 18)
            op = Shape(f"op{node.number + 1}", "op", width, 30, [node.op], shape.depth + 1)
            shapes[op.id] = op
            arrows += [(f"v{i + 1}", op.id) for i in node.operands]
            arrows.append((op.id, shape.id))
    if graph.folded:
        cut = [f"op{node.number + 1}" for node in graph.nodes if node.hidden_operands]
        text = graph.folded_text
        width = max(text_width(line) for line in text) + 2 * PADDING
        height = len(text) * ROW + PADDING
        deepest = max(shapes[op].depth for op in cut)
        shapes["more"] = Shape("more", "more", width, height, text, deepest + 1)
        arrows += [("more", op) for op in cut]
    return picture


def _value_shape(node: Node, depth: int) -> Shape:
    heading = [node.label] if node.label else []
    heading += [", ".join(node.tags)] if node.tags else []
    rows = ["  ".join(heading)] if heading else []
    rows += [f"data  {node.data}", f"grad  {node.grad}"]
    rows += [f"! {node.note}"] if node.note else []
    width = max(max(text_width(row) for row in rows) + 2 * PADDING, 90)
    return Shape(
        f"v{node.number + 1}", "value", width, len(rows) * ROW + PADDING, rows, depth, node
    )


def text_width(text: str) -> float:
    """Estimate the width of monospaced text in pixels; East Asian wide characters count double."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) * CHARACTER


def dot_source(picture: Picture) -> str:
    lines = [
        "digraph computation {",
        "  rankdir=LR; ranksep=0.35; nodesep=0.2;",
        '  node [fontname="monospace", fontsize=12, fixedsize=true];',
    ]
    for shape in picture.shapes.values():
        label = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in shape.text)
        look = {"value": "shape=box, style=rounded", "op": "shape=oval"}.get(
            shape.kind, "shape=box, style=dashed"
        )
        leaf = shape.node is not None and "leaf" in shape.node.tags
        if leaf:
            look = "shape=box, peripheries=2"
        outside = 8 if leaf else 0  # dot draws the second border outside of the given size
        width, height = shape.width - outside, shape.height - outside
        size = f"width={width / 72:.3f}, height={height / 72:.3f}"
        lines.append(f'  {shape.id} [label="{label}", {look}, {size}];')
    for tail, head in picture.arrows:
        lines.append(f"  {tail} -> {head} [weight={picture.shapes[tail].weight}];")
    return "\n".join([*lines, "}", ""])


# Layout: a centre for every shape and a route for every arrow.


@dataclass
class Layout:
    """The position of every part of a drawing, in pixels.

    Attributes:
        centres: the centre of each shape, by id.
        routes: for each arrow the id of the shape at which it begins, the points of its Bézier
            curve, and the arrowhead's tip.
    """

    width: float
    height: float
    centres: dict[str, Point]
    routes: list[tuple[str, list[Point], Point]]


def layout_of(picture: Picture, renderer: str | None = None) -> tuple[Layout, str]:
    """Return a layout, and what made it: "dot" or "built-in".

    Args:
        renderer: "built-in" to leave out the `dot` program; otherwise `dot` is used if it works.
    """
    found = None if renderer == "built-in" else layout_by_dot(dot_source(picture))
    return (found, "dot") if found else (layout_in_layers(picture), "built-in")


def layout_by_dot(source: str) -> Layout | None:
    """Return the layout that the `dot` program makes; None if the program is missing, fails, or
    takes too long.

    Args:
        source: the picture in the DOT language.
    """
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        finished = subprocess.run(
            [program, "-Tjson0"],
            input=source.encode(),
            capture_output=True,
            timeout=_DOT_TIMEOUT,
            check=True,
        )
        answer = json.loads(finished.stdout)
        width, height = _numbers(answer["bb"])[2:]
        names = {thing["_gvid"]: thing["name"] for thing in answer["objects"]}

        def flip(text: str) -> Point:
            x, y = _numbers(text)
            return x, height - y

        centres = {thing["name"]: flip(thing["pos"]) for thing in answer["objects"]}
        routes = []
        for edge in answer.get("edges", ()):
            tip, *points = edge["pos"].split()
            route = [flip(point) for point in points]
            routes.append((names[edge["tail"]], route, flip(tip.removeprefix("e,"))))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return None
    return Layout(width, height, centres, routes)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


_COLUMN_GAP = 34.0
_ROW_GAP = 14.0
ARROW = 7.0


def layout_in_layers(picture: Picture) -> Layout:
    """Return a layout with the shapes in columns by depth, the root's column on the right.

    An arrow that passes a column gets a free lane there, so that it never runs behind a box. The
    order in a column follows from the mean place of each shape's neighbours. Then the shapes of
    each column are moved as near to their neighbours as order and gaps allow. In the variables,
    `along` is the horizontal direction, in which the arrows run, and `across` the vertical one.
    """
    shapes = picture.shapes
    across_size = {i: s.height for i, s in shapes.items()}
    columns: list[list[str]] = [[] for _ in range(1 + max(s.depth for s in shapes.values()))]
    for shape in shapes.values():
        columns[shape.depth].append(shape.id)

    lanes: list[list[str]] = []  # for each arrow, the lanes from its tail to its head
    weight = {i: s.weight for i, s in shapes.items()}
    inner: _Neighbours = {}  # neighbours one column nearer to the root, with weights
    outer: _Neighbours = {}  # neighbours one column farther from the root, with weights
    for tail, head in picture.arrows:
        path = []
        for depth in range(shapes[tail].depth - 1, shapes[head].depth, -1):
            lane = f"{tail}@{depth}"  # arrows that leave the same shape share a lane
            path.append(lane)
            if lane not in across_size:
                across_size[lane] = 4.0
                weight[lane] = 1
                columns[depth].append(lane)
        lanes.append(path)
        if shapes[tail].depth > shapes[head].depth:
            stops = [tail, *path, head]
            for far, near in itertools.pairwise(stops):
                inner.setdefault(far, []).append((near, shapes[tail].weight))
                outer.setdefault(near, []).append((far, shapes[tail].weight))

    _order_columns(columns, inner, outer)
    across = _settle_columns(columns, across_size, weight, inner, outer)

    along: dict[int, float] = {}
    width = {i: s.width for i, s in shapes.items()}
    thickness = [max((width.get(i, 0.0) for i in column), default=0.0) for column in columns]
    edge = 0.0
    for depth in reversed(range(len(columns))):
        along[depth] = edge + thickness[depth] / 2
        edge += thickness[depth] + _COLUMN_GAP

    parallel: dict[tuple[str, str], int] = {}
    for arrow in picture.arrows:
        parallel[arrow] = parallel.get(arrow, 0) + 1
    drawn: dict[tuple[str, str], int] = {}
    routes = []
    for (tail, head), path in zip(picture.arrows, lanes, strict=True):
        turn = drawn[tail, head] = drawn.get((tail, head), 0) + 1
        shift = 10.0 * (turn - (parallel[tail, head] + 1) / 2)
        start = along[shapes[tail].depth] + width[tail] / 2, across[tail] + shift
        tip = along[shapes[head].depth] - width[head] / 2, across[head] + shift
        if shapes[head].kind == "op":  # the rim of the circle bends away from the arrow
            tip = tip[0] + 15 - math.sqrt(225 - min(abs(shift), 14) ** 2), tip[1]
        turns = [start]
        for lane in path:
            depth = int(lane.rpartition("@")[2])
            turns.append((along[depth] - thickness[depth] / 2, across[lane]))
            turns.append((along[depth] + thickness[depth] / 2, across[lane]))
        turns.append((tip[0] - ARROW, tip[1]))
        route = [start]
        for (x0, y0), (x1, y1) in itertools.pairwise(turns):
            middle = (x0 + x1) / 2
            route += [(middle, y0), (middle, y1), (x1, y1)]
        routes.append((tail, route, tip))

    breadth = max(across[i] + across_size[i] / 2 for i in across)
    centres = {i: (along[shape.depth], across[i]) for i, shape in shapes.items()}
    return Layout(edge - _COLUMN_GAP, breadth, centres, routes)


def _order_columns(columns: list[list[str]], inner: _Neighbours, outer: _Neighbours) -> None:
    """Sort each column by the mean place of each shape's neighbours, several times: from the root's
    column outward, then back, and so on."""
    place = {name: float(i) for column in columns for i, name in enumerate(column)}
    for sweep in range(7):
        outward = sweep % 2 == 0
        neighbours = inner if outward else outer
        for column in columns if outward else reversed(columns):
            mean = {name: _mean(place, neighbours.get(name, ()), place[name]) for name in column}
            column.sort(key=mean.__getitem__)
            place.update((name, float(i)) for i, name in enumerate(column))


def _settle_columns(
    columns: list[list[str]],
    size: Mapping[str, float],
    weight: Mapping[str, int],
    inner: _Neighbours,
    outer: _Neighbours,
) -> dict[str, float]:
    """Return a vertical coordinate for every shape and lane, near those of its neighbours and
    without overlap."""
    across = {name: 0.0 for column in columns for name in column}
    for sweep in range(8):
        outward = sweep % 2 == 0
        neighbours = inner if outward else outer
        for column in columns if outward else reversed(columns):
            wish = [_mean(across, neighbours.get(name, ()), across[name]) for name in column]
            gaps = [(size[a] + size[b]) / 2 + _ROW_GAP for a, b in itertools.pairwise(column)]
            places = _spread(wish, gaps, [weight[name] for name in column])
            across.update(zip(column, places, strict=True))
    top = min(across[name] - size[name] / 2 for name in across)
    return {name: place - top for name, place in across.items()}


def _spread(wishes: list[float], gaps: list[float], weights: list[int]) -> list[float]:
    """Return the coordinates nearest to the wishes (weighted least squares) that keep the order and
    the gaps.

    After the gaps are subtracted this is isotonic regression: neighbours that would overlap are
    pooled into a block, whose coordinate is the mean of their wishes.

    Args:
        wishes: the wanted coordinate of each item.
        gaps: the least distance between each item and the next.
        weights: how important each wish is.
    """
    offsets = list(itertools.accumulate(gaps, initial=0.0))
    blocks: list[tuple[float, int, int]] = []  # of each: mean, weight, number of items
    for wish, offset, weight in zip(wishes, offsets, weights, strict=False):
        block = wish - offset, weight, 1
        while blocks and blocks[-1][0] > block[0]:
            (mean, weight, length), (later, added, more) = blocks.pop(), block
            total = weight + added
            block = (mean * weight + later * added) / total, total, length + more
        blocks.append(block)
    means = [mean for mean, _, length in blocks for _ in range(length)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


def _mean(place: Mapping[str, float], near: Iterable[tuple[str, int]], otherwise: float) -> float:
    pairs = [(place[name], weight) for name, weight in near]
    total = sum(weight for _, weight in pairs)
    return sum(at * weight for at, weight in pairs) / total if pairs else otherwise
