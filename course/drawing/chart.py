"""Charts as SVG: curves, points and areas on a plane with axes, each with its words.

Colours follow JupyterLab's theme, light or dark; elsewhere a chart brings its own light card. No
colour says anything alone: curves differ in dashes and carry their names, points in shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape

from course.drawing.svg import fitting

Point = tuple[float, float]

_STYLE = """
.ch-card{fill:var(--jp-layout-color0,#fff)}
.ch text{white-space:pre;font:12px system-ui,sans-serif;fill:var(--jp-content-font-color0,#1b1f24)}
.ch .ch-quiet{fill:var(--jp-content-font-color1,#4d5560)}
.ch .ch-small{font-size:11px}
.ch .ch-title{font-weight:bold;font-size:13px}
.ch .ch-axis{fill:none;stroke:var(--jp-content-font-color1,#4d5560)}
.ch .ch-grid{stroke:var(--jp-border-color1,#c4cad1);stroke-opacity:.6}
.ch .ch-line{fill:none;stroke-width:2.2;stroke-linejoin:round}
.ch .ch-ink{stroke:var(--jp-content-font-color0,#1b1f24);fill:none}
.ch .ch-0{stroke:#2f7fd6}.ch .ch-1{stroke:#d1610f}.ch .ch-2{stroke:#2a8f5b}.ch .ch-3{stroke:#9c5fc4}
.ch .ch-fill-0{fill:#2f7fd6}.ch .ch-fill-1{fill:#d1610f}.ch .ch-fill-2{fill:#2a8f5b}
.ch .ch-fill-3{fill:#9c5fc4}.ch .ch-fill-ink{fill:var(--jp-content-font-color0,#1b1f24)}
.ch .ch-dot{stroke:var(--jp-layout-color0,#fff);stroke-width:1.2}
.ch .ch-cell{fill-opacity:.22}
.ch .ch-node{fill:var(--jp-layout-color1,#f6f8fa);stroke:var(--jp-content-font-color1,#4d5560)}
.ch .ch-height{fill:none;stroke:var(--jp-content-font-color1,#4d5560);stroke-opacity:.55}
"""
_DASHES = ("", "7 4", "2 4", "9 4 2 4")
_MARKS = {0: "h.1", 2: "h5"}
_CHARACTER = 7.2
"""Width of a character in pixels, roughly: enough to leave room for a name."""
_ROW = 18.0  # pixels from one row of names to the next


class Svg:
    """A drawing in pixels: its parts, and its description."""

    def __init__(self, width: float, height: float, about: str) -> None:
        self.width, self.height, self.about = width, height, about
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, anchor: str = "start", look: str = "") -> None:
        self.parts.append(
            f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{escape(words)}</text>"
        )

    def add(self, part: str) -> None:
        self.parts.append(part)

    def __str__(self) -> str:
        about = escape(self.about)
        width, height = math.ceil(self.width), math.ceil(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ch" role="img" aria-label="{about}" '
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'style="display:block;max-width:none"><title>{about}</title><style>{_STYLE}</style>'
            f'<rect class="ch-card" width="{width}" height="{height}" rx="6"/>'
            f"{''.join(self.parts)}</svg>"
        )


class Picture:
    """A finished picture: a notebook shows the drawing, a terminal the words.

    Args:
        drawings: one or several, which stand side by side.
        summary: what they show, in a sentence or two.
        chart: a map in characters, if there is one.
    """

    def __init__(self, drawings: Sequence[Svg], summary: str, chart: str = "") -> None:
        self.svg = _side_by_side(drawings, summary) if len(drawings) > 1 else str(drawings[0])
        self._html = _in_rows(drawings) if len(drawings) > 1 else fitting(self.svg)
        self.summary = summary
        self.text = f"{summary}\n\n{chart}" if chart else summary

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._html, "text/plain": self.text}


def _in_rows(drawings: Sequence[Svg]) -> str:
    """Put drawings side by side, a little smaller if need be, and below one another on a phone."""
    boxes = "".join(
        f'<div style="flex:1 1 {0.6 * each.width:.0f}px;max-width:{each.width:.0f}px">'
        f"{fitting(str(each), scrolls=False)}</div>"
        for each in drawings
    )
    return f'<div style="display:flex;flex-wrap:wrap">{boxes}</div>'


def _side_by_side(drawings: Sequence[Svg], about: str) -> str:
    whole = Svg(sum(each.width for each in drawings), max(each.height for each in drawings), about)
    left = 0.0
    for each in drawings:
        whole.add(f'<g transform="translate({left:.0f} 0)">{"".join(each.parts)}</g>')
        left += each.width
    return str(whole)


class Axes(Svg):
    """A plane with axes, onto which curves, points and areas are drawn.

    Args:
        across, up: the range of each axis.
        size: width and height of the plane itself, in pixels.
        title, x_label, y_label: words around it.
        about: what the chart shows, for those who do not see it.
        logarithmic: whether the upward axis counts in powers of ten.
        counts: whether the axis across counts whole things, such as epochs.
    """

    def __init__(
        self,
        across: Point,
        up: Point,
        size: Point = (400, 230),
        title: str = "",
        x_label: str = "",
        y_label: str = "",
        about: str = "",
        logarithmic: bool = False,
        counts: bool = False,
    ) -> None:
        self._left, self._top = 62.0, 34.0 if title else 14.0
        self._size = size
        super().__init__(self._left + size[0] + 16, self._top + size[1] + 44, about)
        self._scale: Callable[[float], float] = math.log10 if logarithmic else float
        self._across, self._up = across, (self._scale(up[0]), self._scale(up[1]))
        self._named = 0.0  # where the last name ends
        bottom, right = self._top + size[1], self._left + size[0]
        for tick in _powers(*up) if logarithmic else _ticks(*up):
            y = self.place(across[0], tick)[1]
            self.add(f'<path class="ch-grid" d="M{self._left:.1f},{y:.1f}H{right:.1f}"/>')
            self.text(self._left - 6, y + 4, f"{tick:g}", "end", "ch-quiet")
        for tick in _ticks(*across, finest=1.0 if counts else 0.0):
            x = self.place(tick, up[0])[0]
            self.add(f'<path class="ch-axis" d="M{x:.1f},{bottom:.1f}v4"/>')
            self.text(x, bottom + 17, f"{tick:g}", "middle", "ch-quiet")
        self.add(f'<path class="ch-axis" d="M{self._left},{self._top}V{bottom}H{right}"/>')
        middle = self._left + size[0] / 2
        if title:
            self.text(middle, 20, title, "middle", "ch-title")
        self.text(middle, bottom + 36, x_label, "middle", "ch-quiet")
        if y_label:
            height = self._top + size[1] / 2
            self.add(
                f'<text class="ch-quiet" text-anchor="middle" '
                f'transform="translate(14 {height:.1f}) rotate(-90)">{escape(y_label)}</text>'
            )

    def place(self, x: float, y: float) -> Point:
        """Return the place of a point of the plane in the drawing, in pixels."""
        (x0, x1), (y0, y1) = self._across, self._up
        return (
            self._left + (x - x0) / (x1 - x0) * self._size[0],
            self._top + (1 - (self._scale(y) - y0) / (y1 - y0)) * self._size[1],
        )

    def curve(
        self, points: Iterable[Point], name: str = "", number: int = 0, look: str = ""
    ) -> None:
        """Draw a curve; `number` chooses colour and dashes, `name` stands below the plane."""
        # A curve that leaves the plane runs along its edge.
        bottom = self._top + self._size[1]
        drawn = (self.place(*point) for point in points)
        places = [(x, min(max(y, self._top), bottom)) for x, y in drawn]
        dash = f' stroke-dasharray="{_DASHES[number % 4]}"' if number % 4 else ""
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        look = look or f"ch-{number % 4}"
        self.add(f'<polyline class="ch-line {look}"{dash} points="{corners}"/>')
        if name:
            self._name(name, f'{look}"{dash}')

    def _name(self, name: str, look: str) -> None:
        """Add a name to the last row below the plane, or to a new one."""
        room = 45 + _CHARACTER * len(name)
        if not self._named or self._named + room > self.width:
            self._named, self.height = self._left, self.height + _ROW
        x, y = self._named, self.height - 10
        self.add(f'<path class="ch-line {look} d="M{x:.1f},{y - 4:.1f}h24"/>')
        self.text(x + 29, y, name)
        self._named += room
        self.width = max(self.width, self._named)

    def dot(self, x: float, y: float, shape: str = "circle", number: int = 0) -> None:
        """Draw a point: a `circle`, a `triangle` or a `square`."""
        at, to = self.place(x, y)
        look = f'class="ch-dot ch-fill-{number % 4}"'
        if shape == "circle":
            self.add(f'<circle {look} cx="{at:.1f}" cy="{to:.1f}" r="5.5"/>')
        elif shape == "square":
            self.add(f'<rect {look} x="{at - 5:.1f}" y="{to - 5:.1f}" width="10" height="10"/>')
        else:
            self.add(f'<path {look} d="M{at:.1f},{to - 6.5:.1f}l6.2,11h-12.4z"/>')

    def note(self, x: float, y: float, words: str) -> None:
        """Write words to the left of a point, a little above it."""
        at, to = self.place(x, y)
        self.text(at - 9, to - 9, words, "end")

    def areas(
        self,
        columns: Sequence[float],
        rows: Sequence[float],
        answers: Sequence[Sequence[float]],
        threshold: float,
    ) -> None:
        """Fill the area of a grid with answers above a threshold blue and dotted, and the rest
        orange, with a line between. Inside each square of the grid the border is a straight
        line."""
        above = [[answer - threshold for answer in row] for row in answers]
        below = [[-margin for margin in row] for row in above]
        self.regions(columns, rows, [above, below])

    def regions(
        self,
        columns: Sequence[float],
        rows: Sequence[float],
        margins: Sequence[Sequence[Sequence[float]]],
        numbers: Sequence[int] = (0, 1, 2, 3),
    ) -> None:
        """Fill the area of a grid in which each margin is above 0, in its colour; blue is dotted,
        green has strokes. Between them runs a line."""
        border = []
        for rank, (margin, number) in enumerate(zip(margins, numbers, strict=False), 1):
            inside, marks = [], []
            for j in range(len(rows) - 1):
                for i in range(len(columns) - 1):
                    around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                    corners = [
                        (self.place(columns[a], rows[b]), _bounded(margin[b][a])) for a, b in around
                    ]
                    crossed = _cut(corners)
                    inside.append(_path([place for place, side in crossed if side >= 0]))
                    edge = [place for place, side in crossed if side == 0]
                    if rank < len(margins):  # a border has two sides, and is drawn once
                        border += [_path(pair) for pair in zip(edge[::2], edge[1::2], strict=False)]
                    (x, y), side = corners[0]
                    if side > 0 and i % 2 and j % 2 and number in _MARKS:
                        marks.append(f"M{x:.1f},{y:.1f}{_MARKS[number]}")
            self.add(f'<path class="ch-cell ch-fill-{number}" d="{"".join(inside)}"/>')
            self.add(
                f'<path class="ch-line ch-{number}" stroke-linecap="round" d="{"".join(marks)}"/>'
            )
        self.add(f'<path class="ch-line ch-ink" stroke-linecap="round" d="{"".join(border)}"/>')

    def contour(
        self,
        columns: Sequence[float],
        rows: Sequence[float],
        heights: Sequence[Sequence[float]],
        level: float,
    ) -> None:
        """Draw a thin line where heights on a grid pass a level."""
        lines = []
        for j in range(len(rows) - 1):
            for i in range(len(columns) - 1):
                around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                corners = [
                    (self.place(columns[a], rows[b]), heights[b][a] - level) for a, b in around
                ]
                edge = [place for place, side in _cut(corners) if side == 0]
                lines += [_path(pair) for pair in zip(edge[::2], edge[1::2], strict=False)]
        self.add(f'<path class="ch-height" d="{"".join(lines)}"/>')


def _cut(corners: list[tuple[Point, float]]) -> list[tuple[Point, float]]:
    """Return the corners of a square, and between two on either side of 0 the place of the 0."""
    cut = []
    sided = [(place, side or 1e-12) for place, side in corners]
    for (here, side), (there, other) in zip(sided, sided[1:] + sided[:1], strict=True):
        cut.append((here, side))
        if side * other < 0:
            part = side / (side - other)
            x, y = (a + part * (b - a) for a, b in zip(here, there, strict=True))
            cut.append(((x, y), 0.0))
    return cut


def _bounded(number: float) -> float:
    """Return a finite number: a network that was trained with too large a step may answer infinity
    or NaN."""
    return min(max(number, -1e9), 1e9) if number == number else -1e9


def _path(places: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places) if places else ""


def _ticks(low: float, high: float, finest: float = 0.0) -> list[float]:
    """Return round numbers between two others, about five of them."""
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = next(step * f for f in (0.25, 0.5, 1.0, 2.0, 5.0) if (high - low) / (step * f) <= 6)
    step = max(step, finest)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 10) + 0.0 for n in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:
        return [low, high]
    return [10.0**n for n in range(first, last + 1, max(1, (last - first) // 5))]
