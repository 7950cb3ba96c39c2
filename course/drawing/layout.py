"""Finds a place for each node, arrow and label of a drawing."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from course.drawing.graph import Graph, Node, short

CHARACTER = 7.9
ROW = 18
PADDING = 10

Point = tuple[float, float]
_Box = tuple[float, float, float, float]
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


class Arrow(NamedTuple):
    """An arrow from an operand to an operation, or from an operation to its result.

    Attributes:
        tail, head: the ids of its shapes.
        gradient: the gradient that passes along it.
        label: the local derivative; "" for none.
        way: the arrow's name for the script: "RESULT.OPERAND" in numbers, or "RESULT".
    """

    tail: str
    head: str
    gradient: float = 0.0
    label: str = ""
    way: str = ""


@dataclass
class Picture:
    shapes: dict[str, Shape] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)


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
            for slot, i in enumerate(node.operands):
                known = node.derivatives and graph.is_labelled
                label = short(node.derivatives[slot]) if known else ""
                way = f"{node.number}.{slot}"
                arrows.append(Arrow(f"v{i + 1}", op.id, node.passes(slot), label, way))
            gradient = node.number_of[1] or 0.0
            arrows.append(Arrow(op.id, shape.id, gradient, way=str(node.number)))
    if graph.folded:
        cut = [f"op{node.number + 1}" for node in graph.nodes if node.hidden_operands]
        text = graph.folded_text
        width = max(text_width(line) for line in text) + 2 * PADDING
        height = len(text) * ROW + PADDING
        deepest = max(shapes[op].depth for op in cut)
        shapes["more"] = Shape("more", "more", width, height, text, deepest + 1)
        arrows += [Arrow("more", op) for op in cut]
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
    for arrow in picture.arrows:
        weight = picture.shapes[arrow.tail].weight
        lines.append(f"  {arrow.tail} -> {arrow.head} [weight={weight}];")
    return "\n".join([*lines, "}", ""])


# Layout: a centre for every shape and a route for every arrow.


@dataclass
class Layout:
    """The position of every part of a drawing, in pixels.

    Attributes:
        centres: the centre of each shape, by id.
        routes: for each arrow the points of its Bézier curve, and the arrowhead's tip.
        labels: for each arrow the centre of its label; None if it has no label, or no place for it.
    """

    width: float
    height: float
    centres: dict[str, Point]
    routes: list[tuple[list[Point], Point]]
    labels: list[Point | None]


_COLUMN_GAP = 28.0
_ROW_GAP = 14.0
_LABEL_HEIGHT = 16.0
ARROW = 8.0


def label_size(label: str) -> tuple[float, float]:
    """Return width and height of an arrow's label."""
    return 0.85 * text_width(label) + 8, _LABEL_HEIGHT


def layout_in_layers(picture: Picture, down: bool = False) -> Layout:
    """Return a layout with the shapes in layers by depth: columns with the root's on the right, or
    rows with the root's at the bottom.

    An arrow that passes a layer gets a free lane there, so that it never runs behind a box. The
    order in a layer follows from the mean place of each shape's neighbours. Then the shapes of
    each layer are moved as near to their neighbours as order and gaps allow. In the variables,
    `along` is the direction in which the arrows run, and `across` the other one; a layer is called
    a column.

    Args:
        down: whether the arrows lead from top to bottom, and not from left to right.
    """
    shapes = picture.shapes
    across_size = {i: s.width if down else s.height for i, s in shapes.items()}
    columns: list[list[str]] = [[] for _ in range(1 + max(s.depth for s in shapes.values()))]
    for shape in shapes.values():
        columns[shape.depth].append(shape.id)

    lanes: list[list[str]] = []  # for each arrow, the lanes from its tail to its head
    weight = {i: s.weight for i, s in shapes.items()}
    inner: _Neighbours = {}  # neighbours one column nearer to the root, with weights
    outer: _Neighbours = {}  # neighbours one column farther from the root, with weights
    for tail, head, *_ in picture.arrows:
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
    width = {i: s.height if down else s.width for i, s in shapes.items()}
    thickness = [max((width.get(i, 0.0) for i in column), default=0.0) for column in columns]
    gap_before = [_COLUMN_GAP] * len(columns)  # room for the labels of the arrows into a column
    for arrow in picture.arrows:
        if arrow.label:
            depth = shapes[arrow.head].depth
            room = label_size(arrow.label)[down] + ARROW + 16
            gap_before[depth] = max(gap_before[depth], room)
    edge = 0.0
    for depth in reversed(range(len(columns))):
        along[depth] = edge + thickness[depth] / 2
        edge += thickness[depth] + (gap_before[depth - 1] if depth else 0.0)

    parallel = Counter((arrow.tail, arrow.head) for arrow in picture.arrows)
    drawn: Counter[tuple[str, str]] = Counter()
    routes = []
    for (tail, head, *_), path in zip(picture.arrows, lanes, strict=True):
        drawn[tail, head] += 1
        place = drawn[tail, head] - (parallel[tail, head] + 1) / 2  # beside its parallel arrows
        start = (
            along[shapes[tail].depth] + width[tail] / 2,
            across[tail] + (60 if down else 36) * place,
        )
        tip = along[shapes[head].depth] - width[head] / 2, across[head] + 16 * place
        if shapes[head].kind == "op":  # the rim of the circle bends away from the arrow
            bent = min(max(abs(16 * place) - (across_size[head] - 30) / 2, 0), 14)
            tip = tip[0] + 15 - math.sqrt(225 - bent**2), tip[1]
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
        routes.append((route, tip))

    breadth = max(across[i] + across_size[i] / 2 for i in across)
    centres = {i: (along[shape.depth], across[i]) for i, shape in shapes.items()}
    if down:
        centres = {i: (y, x) for i, (x, y) in centres.items()}
        routes = [([(y, x) for x, y in route], (tip[1], tip[0])) for route, tip in routes]
    size = (breadth, edge) if down else (edge, breadth)
    return Layout(*size, centres, routes, _place_labels(picture, centres, routes))


def _place_labels(
    picture: Picture, centres: Mapping[str, Point], routes: Sequence[tuple[list[Point], Point]]
) -> list[Point | None]:
    """Return for each arrow's label a place on its own arrow, away from shapes, other labels and,
    if possible, other arrows."""
    taken = [
        (*centres[i], shape.width + 4, shape.height + 4) for i, shape in picture.shapes.items()
    ]
    points = [
        _points_of(route) if any(a.label for a in picture.arrows) else [] for route, _ in routes
    ]
    found: list[Point | None] = []
    for i, arrow in enumerate(picture.arrows):
        place = None
        if arrow.label:
            size = label_size(arrow.label)
            others = [(*point, 4.0, 4.0) for k, way in enumerate(points) if k != i for point in way]
            # The last part of the arrow, near its operation, is its own; the rest may be shared.
            near, far = points[i][-16:], points[i][-17::-1]
            for way in (sorted(near, key=lambda at: math.dist(at, near[8])), far):
                free = [at for at in way if not _meets((*at, *size), taken)]
                clear = [at for at in free if not _meets((*at, *size), others)]
                place = place or next(iter(clear + free), None)
            if place:
                taken.append((*place, *size))
        found.append(place)
    return found


def _points_of(route: list[Point]) -> list[Point]:
    """Return points on a Bézier curve, 16 for each of its segments."""
    found = []
    for k in range(0, len(route) - 1, 3):
        p, q, r, s = route[k : k + 4]
        for step in range(1, 17):
            t = step / 17
            a, b, c, d = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
            found.append(
                (
                    a * p[0] + b * q[0] + c * r[0] + d * s[0],
                    a * p[1] + b * q[1] + c * r[1] + d * s[1],
                )
            )
    return found


def _meets(box: _Box, others: Iterable[_Box]) -> bool:
    """Return whether a box, given by its centre and its size, overlaps another one."""
    x, y, width, height = box
    return any(
        abs(x - u) < (width + w) / 2 and abs(y - v) < (height + h) / 2 for u, v, w, h in others
    )


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
