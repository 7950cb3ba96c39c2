"""Small data sets to train on, in pure Python: the same numbers on every machine.

Each function returns `(inputs, targets)`: a list of points, each a list of floats without a unit,
and a list with one float for each point.
"""

from __future__ import annotations

import math
import random

Points = list[list[float]]
Targets = list[float]


def xor() -> tuple[Points, Targets]:
    """The truth table of "one or the other, but not both".

    It is the smallest task that no single neuron can learn: no straight line separates the points
    with target 1 from those with target 0.

    Returns:
        Four points with two coordinates, each 0 or 1, and targets 0 or 1.
    """
    return [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]


def four_points() -> tuple[Points, Targets]:
    """Four points with three coordinates each: the first example in many lessons on micrograd.

    Returns:
        Four points and targets -1 or 1.
    """
    inputs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
    return inputs, [1.0, -1.0, -1.0, 1.0]


def moons(n: int, noise: float = 0.1, seed: int = 0) -> tuple[Points, Targets]:
    """Points on two half circles that reach into one another, in random order.

    The first moon is the upper half of the unit circle. The second is the lower half of a circle
    of the same size around (1, 0.5).

    Args:
        n: how many points; half of them on each moon, one more on the first if n is odd.
        noise: how far the points stray: the standard deviation of the random number that is added
            to each coordinate, in units of the radius.
        seed: the same seed gives the same points.

    Returns:
        Points with two coordinates, and targets: 1 on the first moon, -1 on the second.

    Raises:
        ValueError: n is below 2 or the noise is negative.
    """
    _require("moons", n, 2, noise)
    draw = random.Random(seed)
    rows: list[Row] = []
    for count, target in ((n - n // 2, 1.0), (n // 2, -1.0)):
        for index in range(count):
            angle = math.pi * index / max(count - 1, 1)
            x, y = math.cos(angle), math.sin(angle)
            if target < 0:
                x, y = 1.0 - x, 0.5 - y
            rows.append((_near(x, y, noise, draw), target))
    return _shuffled(rows, draw)


def circle(n: int, noise: float = 0.1, seed: int = 0) -> tuple[Points, Targets]:
    """Points in a disc and on a ring around the disc, in random order.

    The disc has the radius 0.5, the ring the radius 1, both around (0, 0).

    Args:
        n: how many points; half of them in the disc, one more there if n is odd.
        noise: how far the points stray: the standard deviation of the random number that is added
            to each coordinate, in units of the ring's radius.
        seed: the same seed gives the same points.

    Returns:
        Points with two coordinates, and targets: 1 in the disc, -1 on the ring.

    Raises:
        ValueError: n is below 2 or the noise is negative.
    """
    _require("circle", n, 2, noise)
    draw = random.Random(seed)
    rows: list[Row] = []
    for index in range(n):
        target = 1.0 if index < n - n // 2 else -1.0
        # The square root spreads the points evenly over the area of the disc.
        radius = 0.5 * math.sqrt(draw.random()) if target > 0 else 1.0
        angle = draw.uniform(0.0, 2 * math.pi)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        rows.append((_near(x, y, noise, draw), target))
    return _shuffled(rows, draw)


def spiral(n: int, noise: float = 0.03, seed: int = 0) -> tuple[Points, Targets]:
    """Points on two arms that wind around each other by three quarters of a turn, in random order.

    An arm's distance from the centre grows evenly with its angle, from 0.1 to 1. The second arm is
    the first one, turned by half a turn.

    Args:
        n: how many points; half of them on each arm, one more on the first if n is odd.
        noise: how far the points stray: the standard deviation of the random number that is added
            to each coordinate, where 1 is the length from the centre to the end of an arm.
        seed: the same seed gives the same points.

    Returns:
        Points with two coordinates, and targets: 1 on the first arm, -1 on the second.

    Raises:
        ValueError: n is below 2 or the noise is negative.
    """
    _require("spiral", n, 2, noise)
    draw = random.Random(seed)
    rows: list[Row] = []
    for count, target in ((n - n // 2, 1.0), (n // 2, -1.0)):
        for index in range(count):
            along = index / max(count - 1, 1)
            radius, angle = 0.1 + 0.9 * along, 1.5 * math.pi * along
            x, y = target * radius * math.cos(angle), target * radius * math.sin(angle)
            rows.append((_near(x, y, noise, draw), target))
    return _shuffled(rows, draw)


def clouds(n: int, noise: float = 0.25, seed: int = 0) -> tuple[Points, Targets]:
    """Three clouds of points around the corners of a triangle, in random order.

    The corners lie on the unit circle.

    Args:
        n: how many points; a third of them in each cloud, as nearly as possible.
        noise: how far the points stray: the standard deviation of each coordinate around the
            cloud's corner.
        seed: the same seed gives the same points.

    Returns:
        Points with two coordinates, and targets: the index of the cloud, 0, 1 or 2.

    Raises:
        ValueError: n is below 3 or the noise is negative.
    """
    _require("clouds", n, 3, noise)
    draw = random.Random(seed)
    rows: list[Row] = []
    for index in range(n):
        angle = math.pi / 2 + 2 * math.pi * (index % 3) / 3
        rows.append((_near(math.cos(angle), math.sin(angle), noise, draw), float(index % 3)))
    return _shuffled(rows, draw)


Row = tuple[list[float], float]


def _require(name: str, n: int, least: int, noise: float) -> None:
    if n < least or noise < 0:
        raise ValueError(
            f"{name} needs n of {least} or more and noise of 0 or more, not {n}, {noise}"
        )


def _near(x: float, y: float, noise: float, draw: random.Random) -> list[float]:
    return [x + draw.gauss(0.0, noise), y + draw.gauss(0.0, noise)]


def _shuffled(rows: list[Row], draw: random.Random) -> tuple[Points, Targets]:
    draw.shuffle(rows)
    return [point for point, _ in rows], [target for _, target in rows]
