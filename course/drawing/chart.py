"""Charts as SVG: a plane with curves, points and areas; bars; pixels. Each has a description in
words.

Notebooks (`course/plots.py`) and interactives use them. The training panel draws several charts a
second while a network trains, so drawing a chart must take only milliseconds.

Colours follow JupyterLab's theme, light or dark; outside JupyterLab a chart has a light background
of its own. Nothing is shown by colour only: curves differ in dashes and are named, points differ in
shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from course.drawing.svg import fitting

Point = tuple[float, float]
Grid = Sequence[Sequence[float]]
"""A number for each point of a grid, row by row from the bottom."""

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
CLASSES = (("▲", "triangle", 1), ("●", "circle", 0), ("■", "square", 2))
"""For points of class 0, 1 and 2: the sign in text, the shape, and the number of the colour."""
_CHARACTER = 7.2
"""Estimated width of a character in pixels, to reserve room for a name."""
_ROW = 18.0  # pixels from one row of names to the next
_FAINT = 0.15  # share of the steepest slope below which a pixel's slope is not drawn


class Svg:
    """A drawing as SVG, which is built part by part.

    Args:
        width, height: the size in pixels.
        about: the description for those who do not see the drawing.
    """

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
    """A finished picture: a notebook shows the drawings, a terminal a description in words.

    Args:
        drawings: one drawing, or several that stand side by side.
        summary: the description; by default it is made of the drawings' own descriptions.
        chart: a map in characters, which a terminal shows as well; "" for none.
        smallest: the share of its width to which one of several may shrink.
    """

    def __init__(
        self, drawings: Sequence[Svg], summary: str = "", chart: str = "", smallest: float = 0.6
    ) -> None:
        summary = summary or " ".join(drawing.about for drawing in drawings)
        self.svg = _side_by_side(drawings, summary) if len(drawings) > 1 else str(drawings[0])
        self._html = in_rows(drawings, smallest) if len(drawings) > 1 else fitting(self.svg)
        self.summary = summary
        self.text = f"{summary}\n\n{chart}" if chart else summary

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._html, "text/plain": self.text}


def in_rows(drawings: Sequence[Svg], smallest: float) -> str:
    """Return HTML with the drawings side by side; on a narrow screen they stand below one another.

    Args:
        smallest: the share of its width to which a drawing may shrink.
    """
    boxes = "".join(
        f'<div style="flex:1 1 {smallest * drawing.width:.0f}px;max-width:{drawing.width:.0f}px">'
        f"{fitting(str(drawing), scrolls=False)}</div>"
        for drawing in drawings
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
        across, up: the lowest and the highest number on each axis.
        size: width and height of the plane without title and labels, in pixels.
        title, x_label, y_label: what is written above the plane and at its axes.
        about: what the chart shows, for those who do not see it.
        logarithmic: whether the vertical axis is logarithmic.
        counts: whether the horizontal axis counts whole things, such as epochs.
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
        self._named = 0.0  # the x at which the last name below the plane ends; 0 without names
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
        """Return where the point (x, y) of the plane is in the drawing, in pixels."""
        (x0, x1), (y0, y1) = self._across, self._up
        return (
            self._left + (x - x0) / (x1 - x0) * self._size[0],
            self._top + (1 - (self._scale(y) - y0) / (y1 - y0)) * self._size[1],
        )

    def curve(
        self, points: Iterable[Point], name: str = "", number: int = 0, look: str = ""
    ) -> None:
        """Draw a curve.

        Args:
            points: the points that the curve joins.
            name: what is written below the plane, beside a piece of the line; "" for nothing.
            number: chooses colour and dashes.
            look: CSS class of the line, in place of the colour of `number`.
        """
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
        """Add a curve's name to the last row of names below the plane, or to a new row if that one
        is full."""
        room = 45 + _CHARACTER * len(name)
        if not self._named or self._named + room > self.width:
            self._named, self.height = self._left, self.height + _ROW
        x, y = self._named, self.height - 10
        self.add(f'<path class="ch-line {look} d="M{x:.1f},{y - 4:.1f}h24"/>')
        self.text(x + 29, y, name)
        self._named += room
        self.width = max(self.width, self._named)

    def dot(self, x: float, y: float, shape: str = "circle", number: int = 0) -> None:
        """Draw a point as a `circle`, a `triangle` or a `square`; `number` chooses the colour."""
        at, to = self.place(x, y)
        look = f'class="ch-dot ch-fill-{number % 4}"'
        if shape == "circle":
            self.add(f'<circle {look} cx="{at:.1f}" cy="{to:.1f}" r="5.5"/>')
        elif shape == "square":
            self.add(f'<rect {look} x="{at - 5:.1f}" y="{to - 5:.1f}" width="10" height="10"/>')
        else:
            self.add(f'<path {look} d="M{at:.1f},{to - 6.5:.1f}l6.2,11h-12.4z"/>')

    def note(self, x: float, y: float, words: str) -> None:
        """Write words to the left of the point (x, y), a little above it."""
        at, to = self.place(x, y)
        self.text(at - 9, to - 9, words, "end")

    def regions(
        self, columns: Sequence[float], rows: Sequence[float], margins: Sequence[Grid]
    ) -> None:
        """Fill for each class the area in which its margin is above 0, in the colour of the class.

        The blue area has dots as well, and the green one short strokes. The border between two
        classes is a line, straight inside each square of the grid.

        Args:
            columns, rows: the x of the grid's columns, and the y of its rows.
            margins: for each class a grid of how far its score is above that of any other class.
        """
        border = []
        classes = sorted(zip(CLASSES, margins, strict=False), key=lambda pair: pair[0][2])
        for rank, ((_, _, colour), margin) in enumerate(classes, 1):
            inside, marks = [], []
            for i, j, corners in self._squares(columns, rows, margin):
                crossed = _cut([(place, _bounded(side)) for place, side in corners])
                inside.append(_path([place for place, side in crossed if side >= 0]))
                if rank < len(margins):  # a border has two sides, and is drawn once
                    border += _zeros(crossed)
                (x, y), side = corners[0]
                if side > 0 and i % 2 and j % 2 and colour in _MARKS:
                    marks.append(f"M{x:.1f},{y:.1f}{_MARKS[colour]}")
            self.add(f'<path class="ch-cell ch-fill-{colour}" d="{"".join(inside)}"/>')
            self.add(
                f'<path class="ch-line ch-{colour}" stroke-linecap="round" d="{"".join(marks)}"/>'
            )
        self.add(f'<path class="ch-line ch-ink" stroke-linecap="round" d="{"".join(border)}"/>')

    def contour(
        self, columns: Sequence[float], rows: Sequence[float], heights: Grid, level: float
    ) -> None:
        """Draw a thin line where the heights that are given on a grid equal `level`."""
        above = [[height - level for height in row] for row in heights]
        lines = []
        for _, _, corners in self._squares(columns, rows, above):
            lines += _zeros(_cut(corners))
        self.add(f'<path class="ch-height" d="{"".join(lines)}"/>')

    def _squares(
        self, columns: Sequence[float], rows: Sequence[float], numbers: Grid
    ) -> Iterator[tuple[int, int, list[tuple[Point, float]]]]:
        """Yield each square of a grid: the indexes of its column and row, and its four corners,
        each as a place in the drawing and the number there."""
        for j in range(len(rows) - 1):
            for i in range(len(columns) - 1):
                around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                corners = [(self.place(columns[a], rows[b]), numbers[b][a]) for a, b in around]
                yield i, j, corners


def loss_axes(curves: Mapping[str, Sequence[Point]], **options: Any) -> Axes:
    """Return losses by epoch as curves, on a logarithmic scale if they span several magnitudes.

    Args:
        curves: by name of a curve, its points (epoch, loss). A loss that is not finite is drawn as
            high as the highest one that is.
        options: further arguments of `Axes`.
    """
    losses = [loss for curve in curves.values() for _, loss in curve if math.isfinite(loss)]
    low, high = min(losses, default=0.0), max(losses, default=0.0)
    logarithmic = low > 0 and high > 20 * low
    low = low if logarithmic else min(0.0, low)
    last = max(epoch for curve in curves.values() for epoch, _ in curve)
    up = (low, high * 1.05 if high > low else low + 1)
    axes = Axes((1, max(last, 2)), up, logarithmic=logarithmic, counts=True, **options)
    for number, (name, curve) in enumerate(curves.items()):
        points = [(epoch, loss if math.isfinite(loss) else high) for epoch, loss in curve]
        axes.curve(points, name if len(curves) > 1 else "", number)
    return axes


def plane_axes(
    columns: Sequence[float],
    rows: Sequence[float],
    margins: Sequence[Grid],
    samples: Iterable[tuple[Sequence[float], int]],
    **options: Any,
) -> Axes:
    """Return the areas in which a model decides for each class, and points with their classes.

    Args:
        columns, rows: the x of the grid's columns, and the y of its rows.
        margins: for each class a grid of how far its score is above that of any other class.
        samples: points, each with the number of its class.
        options: further arguments of `Axes`.
    """
    axes = Axes((columns[0], columns[-1]), (rows[0], rows[-1]), **options)
    axes.regions(columns, rows, margins)
    for (x, y), number in samples:
        axes.dot(x, y, *CLASSES[number][1:])
    return axes


def bars(
    title: str, rows: Sequence[tuple[str, float, str]], about: str, scale: Mapping[float, str]
) -> Svg:
    """Return horizontal bars.

    Args:
        title: what is written above the bars.
        rows: for each bar its name, its length from 0 to 1, and what is written to its right.
        about: what the chart shows, for those who do not see it.
        scale: by length from 0 to 1, what is written below a line at this length; {} for no lines.
    """
    left, top, width, bottom = 62.0, 34.0, 150.0, 34.0 + 22 * len(rows)
    svg = Svg(left + width + 78, bottom + (24 if scale else 8), about)
    svg.text(svg.width / 2, 20, title, "middle", "ch-title")
    for share, words in scale.items():
        x = left + width * share
        svg.add(f'<path class="ch-grid" d="M{x:.1f},{top}V{bottom}"/>')
        svg.text(x, bottom + 16, words, "middle", "ch-quiet")
    for number, (name, share, words) in enumerate(rows):
        y = top + 22 * number
        svg.text(left - 6, y + 15, name, "end", "ch-quiet")
        svg.add(
            f'<rect class="ch-fill-0" x="{left}" y="{y + 3:.0f}" width="{width * share:.1f}" '
            'height="16"/>'
        )
        end = width if scale else width * share  # no words on the lines of the scale
        svg.text(left + end + 8, y + 15, words)
    return svg


def pixel_drawing(
    picture: Sequence[float], caption: str, pixel: int, about: str, slopes: Sequence[float] = ()
) -> Svg:
    """Return the drawing of a square picture made of pixels.

    Args:
        picture: a number from 0 (paper) to 1 (ink) for each pixel, row by row from the top; there
            are as many rows as columns.
        caption: what is written above.
        pixel: the side of a pixel of the picture, in pixels of the screen.
        about: a description of the picture.
        slopes: for each pixel how an answer reacts to more ink there. The larger ones are drawn
            over the picture: a disc where the answer rises, a ring where it falls.
    """
    columns = round(len(picture) ** 0.5)
    side = pixel * columns
    svg = Svg(side + 24, side + 42, about)
    svg.text(svg.width / 2, 20, caption, "middle", "ch-title")
    svg.add(f'<rect class="ch-node" x="12" y="30" width="{side}" height="{side}"/>')
    strength = 0.4 if slopes else 1.0  # paler below discs and rings
    for place, ink in enumerate(picture):
        if ink:
            x, y = 12 + pixel * (place % columns), 30 + pixel * (place // columns)
            svg.add(
                f'<rect class="ch-fill-ink" fill-opacity="{strength * min(1.0, ink):.2f}" '
                f'x="{x}" y="{y}" width="{pixel}" height="{pixel}"/>'
            )
    steepest = max(map(abs, slopes), default=0.0)
    for place, slope in enumerate(slopes):
        share = abs(slope) / steepest if steepest else 0.0
        if share >= _FAINT:
            x, y = 12 + pixel * (place % columns + 0.5), 30 + pixel * (place // columns + 0.5)
            look = "ch-dot ch-fill-0" if slope > 0 else "ch-line ch-1"
            radius = 0.42 * pixel * share**0.5
            svg.add(f'<circle class="{look}" cx="{x:g}" cy="{y:g}" r="{radius:.1f}"/>')
    return svg


def attention_drawing(letters: str, looks: Sequence[Sequence[float]]) -> Svg:
    """Return a table of squares: a row for each letter that looks, a column for each letter that it
    may look at, the stronger the colour the larger the weight.

    Args:
        letters: the letters, in order.
        looks: for each letter the weights with which it looks at the letters up to itself.
    """
    side, left, top = 32, 64.0, 60.0
    words = []
    for row, shares in enumerate(looks):
        most = max(range(len(shares)), key=shares.__getitem__)
        words.append(f"{letters[row]} at {letters[most]} with {shares[most]:.0%}")
    about = f"Where each letter of {letters} looks most: {', '.join(words)}."
    width = left + side * max(4, len(looks)) + 16
    svg = Svg(width, top + side * len(looks) + 12, about)
    svg.text(8, 20, "Where each letter looks", "start", "ch-title")
    svg.text(left - 26, top - 10, "letter", "middle", "ch-quiet")
    for row, shares in enumerate(looks):
        y = top + side * row
        svg.text(left + side * (row + 0.5), top - 10, letters[row], "middle")
        svg.text(left - 26, y + side * 0.62, letters[row], "middle")
        for column, share in enumerate(shares):
            x = left + side * column
            svg.add(
                f'<rect class="ch-node" x="{x:g}" y="{y:g}" width="{side}" height="{side}"/>'
                f'<rect class="ch-fill-0" fill-opacity="{0.6 * share:.2f}" x="{x:g}" y="{y:g}" '
                f'width="{side}" height="{side}"/>'
            )
            if share >= 0.1:
                svg.text(x + side / 2, y + side * 0.62, f"{share:.0%}"[:-1], "middle", "ch-small")
    return svg


def steepest_pixels(slopes: Sequence[float]) -> str:
    """Return in words where more ink would raise an answer most, and where it would lower it most;
    "" if no slope differs from 0."""
    if not any(slopes):
        return ""
    columns = round(len(slopes) ** 0.5)
    order = sorted(range(len(slopes)), key=slopes.__getitem__)
    low, high = (
        f"row {at // columns + 1}, column {at % columns + 1}" for at in (order[0], order[-1])
    )
    return f"More ink speaks for it most at {high}, and against it most at {low}."


def spread(low: float, high: float, count: int) -> list[float]:
    """Return `count` evenly spaced numbers from `low` to `high`."""
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def _zeros(cut: list[tuple[Point, float]]) -> list[str]:
    """Return SVG paths of the lines inside a square along which the number is 0.

    Args:
        cut: what `_cut` returns for the square.
    """
    edge = [place for place, side in cut if side == 0]
    return [_path(pair) for pair in zip(edge[::2], edge[1::2], strict=False)]


def _cut(corners: list[tuple[Point, float]]) -> list[tuple[Point, float]]:
    """Return a square's corners in order, and between a corner with a positive number and one with
    a negative number the place at which the number is 0."""
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
    """Return a number between -1e9 and 1e9: a network that was trained with too large a learning
    rate may answer infinity or NaN."""
    return min(max(number, -1e9), 1e9) if number == number else -1e9


def _path(places: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places) if places else ""


def _ticks(low: float, high: float, finest: float = 0.0) -> list[float]:
    """Return about five round numbers between `low` and `high`, at least `finest` apart."""
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
