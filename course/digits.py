"""Handwritten digits of 8 by 8 pixels, in pure Python: drawn by strokes, no two alike.

A digit is a few strokes of a pen. `digits` bends, leans and stretches the strokes by chance, and
`pixels` computes how much ink falls on each pixel. What somebody draws with a mouse is made of
strokes too, so `pixels` is used for it as well.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Stroke = Sequence[Sequence[float]]
"""The points of a line, each (x, y): x goes to the right and y goes down, in any unit of length."""

SIDE = 8
"""Number of pixels along each side of a picture."""

_PEN = 0.62  # how far from the middle of the line there is ink, in pixels
_MARGIN = 0.9  # pixels around the digit


def _arc(x: float, y: float, across: float, up: float, start: float, end: float) -> Stroke:
    """Return a part of an ellipse as a stroke.

    Args:
        x, y: the centre.
        across, up: half of the ellipse's width, and half of its height.
        start, end: the angles between which the part lies, in degrees; 0 is to the right, 90 down.
    """
    angles = [math.radians(start + (end - start) * i / 12) for i in range(13)]
    return [(x + across * math.cos(a), y + up * math.sin(a)) for a in angles]


_WAYS: list[list[list[Stroke]]] = [
    [[_arc(0.5, 0.5, 0.3, 0.45, -90, 270)]],
    [[[(0.3, 0.25), (0.55, 0.05), (0.55, 0.95)]], [[(0.5, 0.05), (0.5, 0.95)]]],
    [[[*_arc(0.5, 0.3, 0.28, 0.25, -170, 30), (0.22, 0.95), (0.8, 0.95)]]],
    [[[*_arc(0.48, 0.28, 0.26, 0.23, -160, 90), *_arc(0.48, 0.73, 0.29, 0.23, -90, 160)]]],
    [
        [[(0.6, 0.05), (0.2, 0.62), (0.85, 0.62)], [(0.62, 0.35), (0.62, 0.95)]],
        [[(0.25, 0.05), (0.25, 0.5), (0.75, 0.5)], [(0.75, 0.05), (0.75, 0.95)]],
    ],
    [[[(0.75, 0.06), (0.3, 0.06), (0.26, 0.45), *_arc(0.48, 0.67, 0.28, 0.27, -110, 150)]]],
    [[[(0.65, 0.05), (0.35, 0.4), *_arc(0.5, 0.7, 0.25, 0.25, -170, 190)]]],
    [
        [[(0.2, 0.07), (0.8, 0.07), (0.42, 0.95)]],
        [[(0.2, 0.07), (0.8, 0.07), (0.42, 0.95)], [(0.35, 0.5), (0.75, 0.5)]],
    ],
    [[_arc(0.5, 0.28, 0.22, 0.22, 90, 450), _arc(0.5, 0.73, 0.27, 0.23, -90, 270)]],
    [[[*_arc(0.5, 0.3, 0.25, 0.25, 20, 380), (0.72, 0.5), (0.6, 0.95)]]],
]
"""For each digit from 0 to 9 the ways to write it: each way is a list of strokes in a square with
sides of 1."""


def digits(n: int, seed: int = 0) -> tuple[list[list[float]], list[int]]:
    """Make pictures of digits, in random order; each digit occurs equally often, as nearly as
    possible.

    Args:
        n: how many pictures.
        seed: the same seed gives the same pictures.

    Returns:
        The pictures, each 64 numbers from 0 (paper) to 1 (ink), row by row from the top; and the
        digit that each picture shows, a whole number from 0 to 9.

    Raises:
        ValueError: n is below 1.
    """
    if n < 1:
        raise ValueError(f"digits() makes at least one picture, not {n}")
    draw = random.Random(seed)
    rows = [(_drawn(i % 10, draw), i % 10) for i in range(n)]
    draw.shuffle(rows)
    return [row[0] for row in rows], [row[1] for row in rows]


def pixels(strokes: Sequence[Stroke]) -> list[float]:
    """Return how much ink is on each pixel of a picture of these strokes.

    The strokes are scaled so that they fill the picture up to a margin, and stand in its middle.

    Returns:
        64 numbers from 0 to 1, row by row from the top.
    """
    points = [point for stroke in strokes for point in stroke]
    if not points:
        return [0.0] * SIDE**2
    (left, right), (top, bottom) = ((min(c), max(c)) for c in zip(*points, strict=True))
    room = SIDE - 2 * _MARGIN
    scale = room / (max(right - left, bottom - top) or room)
    middle = (left + right) / 2, (top + bottom) / 2

    def placed(point: Sequence[float]) -> tuple[float, float]:
        x, y = ((a - b) * scale + SIDE / 2 for a, b in zip(point, middle, strict=True))
        return x, y

    lines = [
        (placed(a), placed(b))
        for stroke in strokes
        for a, b in zip(stroke, [*stroke[1:], stroke[-1]], strict=True)
    ]
    found = []
    for row in range(SIDE):
        for column in range(SIDE):
            near = min(_distance(column + 0.5, row + 0.5, *line) for line in lines)
            found.append(round(min(1.0, max(0.0, 1.0 - (near - _PEN / 2) / _PEN)), 3))
    return found


def _drawn(digit: int, draw: random.Random) -> list[float]:
    """Return one picture of a digit: by chance it leans, is turned and stretched, and has shaky
    lines."""
    lean, turn = draw.gauss(0.0, 0.18), draw.gauss(0.0, 0.1)
    across, up = draw.uniform(0.75, 1.15), draw.uniform(0.85, 1.15)
    bends = [(draw.gauss(0.0, 0.03), draw.uniform(2, 5), draw.uniform(0, 6)) for _ in range(2)]

    def moved(x: float, y: float) -> tuple[float, float]:
        (dx, fast_x, from_x), (dy, fast_y, from_y) = bends
        x, y = x + dx * math.sin(fast_x * y + from_x), y + dy * math.sin(fast_y * x + from_y)
        x, y = (x - 0.5) * across - lean * (y - 0.5), (y - 0.5) * up
        return (
            x * math.cos(turn) - y * math.sin(turn) + draw.gauss(0.0, 0.012),
            x * math.sin(turn) + y * math.cos(turn) + draw.gauss(0.0, 0.012),
        )

    way = draw.choice(_WAYS[digit])
    return pixels([[moved(x, y) for x, y in stroke] for stroke in way])


def _distance(x: float, y: float, start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the distance from the point (x, y) to the line between the points `start` and
    `end`."""
    across, up = end[0] - start[0], end[1] - start[1]
    length = across * across + up * up
    along = ((x - start[0]) * across + (y - start[1]) * up) / length if length else 0.0
    along = min(1.0, max(0.0, along))
    return math.hypot(x - start[0] - along * across, y - start[1] - along * up)
