"""Draws the computational graph behind a Value, as a picture and in words.

The drawing is made in three steps that share only plain data: read the graph from the student's
objects, find a place for everything (with the `dot` program where it is installed, otherwise with
a layout of our own), and write the SVG. Both layouts feed the same writer, so a graph looks the
same on every machine.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

MAX_NODES = 150
_MISSING = object()

_CHARACTER = 7.9
_ROW = 18
_PADDING = 10
_DOT_TIMEOUT = 5

Point = tuple[float, float]
_Neighbours = dict[str, list[tuple[str, int]]]


class GraphDrawing:
    """A finished drawing: JupyterLab shows the picture, a terminal shows the words.

    Attributes:
        svg: the picture, a standalone SVG document whose description puts the graph in words.
        dot: the graph in the DOT language, for other tools.
        text: the graph in words, one line for each node, operands first.
        renderer: "dot" or "built-in", whichever placed the nodes.
    """

    def __init__(self, svg: str, dot: str, text: str, renderer: str) -> None:
        self.svg = svg
        self.dot = dot
        self.text = text
        self.renderer = renderer

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": _scrolling(self.svg), "text/plain": self.text}


def draw_graph(
    root: Any,
    *,
    max_nodes: int = MAX_NODES,
    direction: str = "LR",
    highlight: Mapping[Any, str] | Iterable[Any] = (),
    renderer: str | None = None,
) -> GraphDrawing:
    """Draw the graph of everything that `root` was computed from.

    Args:
        root: a Value, yours or the course's; half-finished ones are drawn with "?" for what they
            do not have yet.
        max_nodes: values to draw at most. The ones nearest the root are drawn and the rest is
            folded into one box that says how many there are.
        direction: "LR" draws from left to right, "TB" from top to bottom.
        highlight: nodes to mark, as a list, or as a mapping from node to a short note. Nodes that
            are not drawn are passed over.
        renderer: "dot" or "built-in" to insist on one layout; by default dot where it works.

    Returns:
        The drawing. Put it on the last line of a cell to see it.

    Raises:
        TypeError: `root` is not a Value.
        ValueError: an option has a value that is not listed above.
        RuntimeError: dot was insisted on and is missing or failed.
    """
    if not _looks_like_a_value(root):
        raise TypeError(_not_a_value(root))
    if direction not in ("LR", "TB"):
        raise ValueError(f'direction must be "LR" or "TB", not {direction!r}')
    if renderer not in (None, "dot", "built-in"):
        raise ValueError(f'renderer must be "dot" or "built-in", not {renderer!r}')
    if not isinstance(max_nodes, int) or max_nodes < 1:
        raise ValueError(f"max_nodes must be a whole number from 1 up, not {max_nodes!r}")

    graph = _read(root, max_nodes, _notes(highlight))
    picture = _compose(graph)
    dot = _dot_source(picture, direction)
    layout = None if renderer == "built-in" else _layout_by_dot(dot)
    if layout is None and renderer == "dot":
        raise RuntimeError("the dot program is missing or failed; leave out renderer to do without")
    used = "built-in" if layout is None else "dot"
    if layout is None:
        layout = _layout_in_layers(picture, direction)
    return GraphDrawing(_svg(graph, picture, layout), dot, graph.text(), used)


# Reading: from the student's objects to plain strings. Nothing after this part touches a Value.


@dataclass
class _Node:
    """One value of the graph, in words; `operands` are places in `_Graph.nodes`."""

    number: int
    label: str
    data: str
    grad: str
    op: str
    operands: list[int]
    tags: list[str]
    note: str
    name: str = ""
    hidden_operands: int = 0


@dataclass
class _Graph:
    """The drawn nodes, operands first and root last, and what was folded."""

    nodes: list[_Node]
    folded: int
    folded_leaves: int

    @property
    def title(self) -> str:
        values = self.folded + len(self.nodes)
        operations = sum(bool(node.op) for node in self.nodes)
        drawn = " drawn" if self.folded else ""
        return (
            f"Computational graph of {self.nodes[-1].name}: {_count(values, 'value')}, "
            f"{_count(operations, 'operation')}{drawn}"
        )

    @property
    def folded_text(self) -> list[str]:
        results = self.folded - self.folded_leaves
        return [
            f"{_count(self.folded, 'more node')}",
            f"{_count(results, 'result')}, {_count(self.folded_leaves, 'leaf', 'leaves')}",
            f"max_nodes={self.folded + len(self.nodes)} draws all",
        ]

    def text(self) -> str:
        lines = [self.title + "."]
        if self.folded:
            more, kinds, advice = self.folded_text
            lines.append(f"  (folded: {more}, {kinds}; {advice})")
        lines += ["  " + self.sentence(node) for node in self.nodes]
        return "\n".join(lines)

    def sentence(self, node: _Node) -> str:
        """Say what one node is: "z: data 6.0, grad 1.0, from x times y"."""
        words = f"{node.name}: data {node.data}, grad {node.grad}"
        if node.op:
            words += ", from " + self._operation(node)
        words += "".join(f", {tag}" for tag in node.tags)
        return words + (f" [marked: {node.note}]" if node.note else "")

    def _operation(self, node: _Node) -> str:
        names = [self.nodes[i].name for i in node.operands]
        if node.hidden_operands:
            names.append(_count(node.hidden_operands, "folded node"))
        infix = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}.get(node.op)
        if infix and len(names) == 2:
            return f"{names[0]} {infix} {names[1]}"
        if node.op.startswith("**") and len(names) == 1:
            return f"{names[0]} to the power {node.op[2:]}"
        operation = "an unnamed operation" if node.op == "?" else node.op
        return f"{operation} of {' and '.join(names) or 'no recorded operand'}"


def _read(root: Any, max_nodes: int, notes: Mapping[int, str]) -> _Graph:
    """Walk the graph breadth first, keep the `max_nodes` values nearest the root, describe them."""
    found = [root]
    place = {id(root): 0}
    operands_of: list[list[int]] = []
    for value in found:  # grows while it is walked
        places = []
        for operand in _operands(value) or ():
            if id(operand) not in place:
                place[id(operand)] = len(found)
                found.append(operand)
            places.append(place[id(operand)])
        operands_of.append(places)

    drawn = min(len(found), max_nodes)
    order = _operands_first(operands_of, drawn)
    number = {found_at: i for i, found_at in enumerate(order)}
    nodes = []
    for found_at in order:
        node = _describe(found[found_at], number[found_at], notes.get(id(found[found_at]), ""))
        node.operands = [number[i] for i in operands_of[found_at] if i < drawn]
        node.hidden_operands = len(operands_of[found_at]) - len(node.operands)
        nodes.append(node)
    nodes[-1].tags.append("root")
    labels = [node.label for node in nodes]
    for node in nodes:
        own = f"v{node.number + 1}"
        unique = node.label and labels.count(node.label) == 1
        node.name = node.label if unique else f"{node.label} ({own})" if node.label else own
    leaves = sum(not operands for operands in operands_of[drawn:])
    return _Graph(nodes, len(found) - drawn, leaves)


def _operands_first(operands_of: list[list[int]], drawn: int) -> list[int]:
    """Return the drawn places so that operands precede results; the root, place 0, comes last."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [(0, False)]
    while stack:
        i, operands_done = stack.pop()
        if operands_done:
            order.append(i)
        elif i not in seen and i < drawn:
            seen.add(i)
            stack.append((i, True))
            stack += [(operand, False) for operand in reversed(operands_of[i])]
    return order


def _describe(value: Any, number: int, note: str) -> _Node:
    if not _looks_like_a_value(value):
        data = _short(value)
        return _Node(number, "", data, "?", "", [], ["not a Value"], note)
    operands = _operands(value)
    op = _attribute(value, "_op")
    op = op if isinstance(op, str) else ""
    tags = []
    if operands is None:
        tags.append("_prev ?")
    elif operands and not op:
        op = "?"
    elif not operands and not op:
        tags.append("leaf")
    label = _attribute(value, "label")
    return _Node(
        number,
        _clean(label, 32) if isinstance(label, str) else "",
        _short(_attribute(value, "data")),
        _short(_attribute(value, "grad")),
        _clean(op, 14),
        [],
        tags,
        note,
    )


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception:
        # A property of an unfinished class may raise anything; the drawing then shows "?".
        return _MISSING


def _operands(value: Any) -> list[Any] | None:
    """Return what `_prev` holds, [] where there is no `_prev`, None where it cannot be read."""
    if not _looks_like_a_value(value):
        return []
    operands = _attribute(value, "_prev")
    if operands is _MISSING:
        return []
    if isinstance(operands, (tuple, list, set, frozenset)):
        return list(operands)
    return None


def _looks_like_a_value(thing: Any) -> bool:
    if isinstance(thing, type):
        return False
    if type(thing).__name__ == "Value" or _attribute(thing, "_prev") is not _MISSING:
        return True
    return all(_attribute(thing, name) is not _MISSING for name in ("data", "grad"))


def _not_a_value(root: Any) -> str:
    kind = type(root).__name__
    if root is None:
        advice = "None often means that a function ended without `return out`."
    elif isinstance(root, type):
        kind = f"the class {root.__name__}"
        advice = "Draw an instance, such as the result of a computation."
    elif isinstance(root, (int, float)):
        advice = "A plain number has no graph. Pass the Value itself, not its `.data`."
    elif isinstance(root, (list, tuple, set)):
        advice = "Pass one element, or add the elements up and draw the sum."
    else:
        advice = "A Value has at least `data`, `grad` and `_prev`."
    return f"draw_graph draws the graph behind one Value, but it was given {kind}. {advice}"


def _notes(highlight: Mapping[Any, str] | Iterable[Any]) -> dict[int, str]:
    if isinstance(highlight, Mapping):
        return {id(node): _clean(str(note), 40) or "marked" for node, note in highlight.items()}
    return {id(node): "marked" for node in highlight}


def _short(number: Any) -> str:
    """Write a number with four significant digits; "?" and its type for what is no number."""
    if number is _MISSING:
        return "?"
    if number is None or isinstance(number, bool):
        return str(number)
    try:
        if isinstance(number, str):
            raise TypeError("a string is not a number, even where float() would read it")
        text = f"{float(number):.4g}"
    except Exception:
        # Conversion runs the methods of whatever was stored, which may raise anything.
        return f"? ({_clean(type(number).__name__, 12)})"
    whole = text.lstrip("-").isdigit()
    return text + ".0" if whole and not isinstance(number, int) else text


def _clean(text: str, longest: int) -> str:
    """Put text on one line, replace what XML cannot hold, and shorten it."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


# Composing: which shapes there are, how large, and what connects them.


@dataclass
class _Shape:
    """A box for a value, a circle for an operation, or the box that stands for folded nodes."""

    id: str
    kind: str
    width: float
    height: float
    text: list[str]
    depth: int
    node: _Node | None = None

    @property
    def weight(self) -> int:
        """How much the shape insists on a straight arrow: leaves give way to the main line."""
        return 1 if self.node and not self.node.op else 100


@dataclass
class _Picture:
    shapes: dict[str, _Shape] = field(default_factory=dict)
    arrows: list[tuple[str, str]] = field(default_factory=list)


def _compose(graph: _Graph) -> _Picture:
    """Turn nodes into shapes and arrows. Even depths hold values, odd ones operations."""
    depth = [0] * len(graph.nodes)
    for node in reversed(graph.nodes):
        for operand in node.operands:
            if operand < node.number:  # an operand that comes later closes a cycle
                depth[operand] = max(depth[operand], depth[node.number] + 2)

    picture = _Picture()
    shapes, arrows = picture.shapes, picture.arrows
    for node in graph.nodes:
        shape = _value_shape(node, depth[node.number])
        shapes[shape.id] = shape
        if node.op:
            width = max(30.0, _width(node.op) + 18)
            op = _Shape(f"op{node.number + 1}", "op", width, 30, [node.op], shape.depth + 1)
            shapes[op.id] = op
            arrows += [(f"v{i + 1}", op.id) for i in node.operands]
            arrows.append((op.id, shape.id))
    if graph.folded:
        cut = [f"op{node.number + 1}" for node in graph.nodes if node.hidden_operands]
        text = graph.folded_text
        width = max(_width(line) for line in text) + 2 * _PADDING
        height = len(text) * _ROW + _PADDING
        deepest = max(shapes[op].depth for op in cut)
        shapes["more"] = _Shape("more", "more", width, height, text, deepest + 1)
        arrows += [("more", op) for op in cut]
    return picture


def _value_shape(node: _Node, depth: int) -> _Shape:
    heading = [node.label] if node.label else []
    heading += [", ".join(node.tags)] if node.tags else []
    rows = ["  ".join(heading)] if heading else []
    rows += [f"data  {node.data}", f"grad  {node.grad}"]
    rows += [f"! {node.note}"] if node.note else []
    width = max(max(_width(row) for row in rows) + 2 * _PADDING, 90)
    return _Shape(
        f"v{node.number + 1}", "value", width, len(rows) * _ROW + _PADDING, rows, depth, node
    )


def _width(text: str) -> float:
    """Estimate the width of monospaced text in pixels; East Asian wide characters count double."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) * _CHARACTER


def _dot_source(picture: _Picture, direction: str) -> str:
    lines = [
        "digraph computation {",
        f"  rankdir={direction}; ranksep=0.35; nodesep=0.2;",
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
        outside = 8 if leaf else 0  # dot puts the second border around the size it is given
        width, height = shape.width - outside, shape.height - outside
        size = f"width={width / 72:.3f}, height={height / 72:.3f}"
        lines.append(f'  {shape.id} [label="{label}", {look}, {size}];')
    for tail, head in picture.arrows:
        lines.append(f"  {tail} -> {head} [weight={picture.shapes[tail].weight}];")
    return "\n".join([*lines, "}", ""])


# Layout: a centre for every shape and a route for every arrow.


@dataclass
class _Layout:
    """Centres by shape, and for each arrow its ends, Bézier points, and tip."""

    width: float
    height: float
    centres: dict[str, Point]
    routes: list[tuple[str, list[Point], Point]]


def _layout_by_dot(source: str) -> _Layout | None:
    """Ask the dot program for a layout; None where it is missing, too slow, or not understood."""
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
    return _Layout(width, height, centres, routes)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


_COLUMN_GAP = 34.0
_ROW_GAP = 14.0
_ARROW = 7.0


def _layout_in_layers(picture: _Picture, direction: str) -> _Layout:
    """Place shapes in columns by depth, the root's column last.

    An arrow that passes a column gets a free lane there, so that it never runs behind a box. The
    order within a column comes from the mean place of neighbours, then each column is moved as
    near to its neighbours as order and gaps allow. Works in (along, across) coordinates, where
    `along` is the direction of the arrows.
    """
    flat = direction == "LR"
    shapes = picture.shapes
    along_size = {i: s.width if flat else s.height for i, s in shapes.items()}
    across_size = {i: s.height if flat else s.width for i, s in shapes.items()}
    columns: list[list[str]] = [[] for _ in range(1 + max(s.depth for s in shapes.values()))]
    for shape in shapes.values():
        columns[shape.depth].append(shape.id)

    lanes: list[list[str]] = []  # for each arrow, the lanes it takes from tail to head
    weight = {i: s.weight for i, s in shapes.items()}
    inner: _Neighbours = {}  # one column nearer the root
    outer: _Neighbours = {}  # one column farther from it
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
    thickness = [max((along_size.get(i, 0.0) for i in column), default=0.0) for column in columns]
    edge = 0.0
    for depth in reversed(range(len(columns))):
        along[depth] = edge + thickness[depth] / 2
        edge += thickness[depth] + _COLUMN_GAP

    def point(x: float, y: float) -> Point:
        return (x, y) if flat else (y, x)

    parallel: dict[tuple[str, str], int] = {}
    for arrow in picture.arrows:
        parallel[arrow] = parallel.get(arrow, 0) + 1
    drawn: dict[tuple[str, str], int] = {}
    routes = []
    for (tail, head), path in zip(picture.arrows, lanes, strict=True):
        turn = drawn[tail, head] = drawn.get((tail, head), 0) + 1
        shift = 10.0 * (turn - (parallel[tail, head] + 1) / 2)
        start = along[shapes[tail].depth] + along_size[tail] / 2, across[tail] + shift
        tip = along[shapes[head].depth] - along_size[head] / 2, across[head] + shift
        if shapes[head].kind == "op" and flat:  # the rim of the circle bends away from the arrow
            tip = tip[0] + 15 - math.sqrt(225 - min(abs(shift), 14) ** 2), tip[1]
        turns = [start]
        for lane in path:
            depth = int(lane.rpartition("@")[2])
            turns.append((along[depth] - thickness[depth] / 2, across[lane]))
            turns.append((along[depth] + thickness[depth] / 2, across[lane]))
        turns.append((tip[0] - _ARROW, tip[1]))
        route = [point(*start)]
        for (x0, y0), (x1, y1) in itertools.pairwise(turns):
            middle = (x0 + x1) / 2
            route += [point(middle, y0), point(middle, y1), point(x1, y1)]
        routes.append((tail, route, point(*tip)))

    breadth = max(across[i] + across_size[i] / 2 for i in across)
    width, height = point(edge - _COLUMN_GAP, breadth)
    centres = {i: point(along[shape.depth], across[i]) for i, shape in shapes.items()}
    return _Layout(width, height, centres, routes)


def _order_columns(columns: list[list[str]], inner: _Neighbours, outer: _Neighbours) -> None:
    """Sort each column by the mean place of its neighbours, sweeping to and fro."""
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
    """Return a coordinate for every name, near its neighbours' and without overlap."""
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
    """Return the places nearest to the wishes (weighted least squares) that keep order and gaps.

    Without the gaps this is isotonic regression: neighbours that would overlap are pooled into a
    block, which goes to the mean of their wishes.
    """
    offsets = list(itertools.accumulate(gaps, initial=0.0))
    blocks: list[tuple[float, int, int]] = []  # mean, weight and length
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


# Writing: colours follow JupyterLab's theme; elsewhere the drawing brings its own light card.

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
.cg .cg-head{fill:var(--jp-content-font-color1,#4d5560)}
"""


def _svg(graph: _Graph, picture: _Picture, layout: _Layout) -> str:
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


def _svg_shape(shape: _Shape, x: float, y: float) -> Iterable[str]:
    if shape.kind == "op":
        yield _rect("cg-op", x, y, shape.width, shape.height, shape.height / 2)
        yield _text("cg-label", x, y + 4.5, "middle", shape.text[0])
        return
    top = y - shape.height / 2 + _PADDING / 2 + 13
    if shape.kind == "more":
        yield _rect("cg-more", x, y, shape.width, shape.height, 6)
        for i, line in enumerate(shape.text):
            style = "cg-quiet" if i else "cg-label"
            yield _text(style, x, top + i * _ROW, "middle", line)
        return
    assert shape.node is not None
    node = shape.node
    left, right = x - shape.width / 2 + _PADDING, x + shape.width / 2 - _PADDING
    yield _rect("cg-value", x, y, shape.width, shape.height, 6)
    if "leaf" in node.tags:
        yield _rect("cg-inner", x, y, shape.width - 6, shape.height - 6, 4)
    if node.note:
        yield _rect("cg-mark", x, y, shape.width + 9, shape.height + 9, 9)
    if node.label or node.tags:
        yield _text("cg-label", left, top, "start", node.label)
        yield _text("cg-quiet cg-tag", right, top, "end", ", ".join(node.tags))
        top += _ROW
    for word, number in (("data", node.data), ("grad", node.grad)):
        yield _text("cg-quiet", left, top, "start", word)
        yield _text("", right, top, "end", number)
        top += _ROW
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


def _scrolling(svg: str) -> str:
    """Wrap the picture so that a wide one scrolls, by keyboard too, instead of shrinking."""
    return f'<div tabindex="0" style="max-width:100%;overflow-x:auto">{svg}</div>'
