"""Small data sets to train on, in pure Python: the same numbers on every machine.

Each function returns `(inputs, targets)`: a list of points, each a list of floats without a unit,
and a list with one float a point.
"""

from __future__ import annotations

import math
import random

Points = list[list[float]]
Targets = list[float]


def xor() -> tuple[Points, Targets]:
    """The truth table of "one or the other, but not both".

    The smallest task that no single neuron can do: no straight line parts the ones from the zeros.

    Returns:
        Four points with two coordinates, each 0 or 1, and targets 0 or 1.
    """
    return [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]


def four_points() -> tuple[Points, Targets]:
    """Four points with three coordinates each, the first example of many micrograd lessons.

    Returns:
        Four points and targets -1 or 1.
    """
    inputs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
    return inputs, [1.0, -1.0, -1.0, 1.0]


def moons(n: int, noise: float = 0.1, seed: int = 0) -> tuple[Points, Targets]:
    """Two half circles that reach into one another, the points shuffled.

    The first moon is the upper half of the unit circle. The second is the lower half of a circle
    of the same size around (1, 0.5).

    Args:
        n: how many points; half of them on each moon, one more on the first if n is odd.
        noise: standard deviation of what is added to each coordinate, in units of the radius.
        seed: the same seed gives the same points.

    Returns:
        Points with two coordinates, and targets: 1 on the first moon, -1 on the second.

    Raises:
        ValueError: n is below 2 or the noise is negative.
    """
    if n < 2 or noise < 0:
        raise ValueError(f"moons needs n of 2 or more and noise of 0 or more, not {n}, {noise}")
    draw = random.Random(seed)
    rows: list[tuple[list[float], float]] = []
    for count, target in ((n - n // 2, 1.0), (n // 2, -1.0)):
        for index in range(count):
            angle = math.pi * index / max(count - 1, 1)
            x, y = math.cos(angle), math.sin(angle)
            if target < 0:
                x, y = 1.0 - x, 0.5 - y
            rows.append(([x + draw.gauss(0.0, noise), y + draw.gauss(0.0, noise)], target))
    draw.shuffle(rows)
    return [point for point, _ in rows], [target for _, target in rows]
