"""The data sets: their size and form, the same numbers for the same seed, and what they are for."""

from __future__ import annotations

import math
import random

import pytest

from course.datasets import four_points, moons, xor


def test_xor_is_one_where_the_coordinates_differ():
    inputs, targets = xor()
    assert sorted(inputs) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert targets == [float(x != y) for x, y in inputs]


def test_four_points_have_three_coordinates_and_a_sign():
    inputs, targets = four_points()
    assert [len(point) for point in inputs] == [3] * 4
    assert targets == [1.0, -1.0, -1.0, 1.0]


@pytest.mark.parametrize("data", [xor, four_points, lambda: moons(6)])
def test_every_call_makes_lists_of_its_own(data):
    inputs, targets = data()
    inputs[0][0] = targets[0] = 99.0
    assert data() != (inputs, targets)


@pytest.mark.parametrize("n", [2, 3, 40, 41])
def test_half_of_the_points_lie_on_each_moon(n):
    inputs, targets = moons(n, noise=0.0, seed=3)
    assert [targets.count(1.0), targets.count(-1.0)] == [n - n // 2, n // 2]
    for (x, y), target in zip(inputs, targets, strict=True):
        upper, centre = target > 0, (0.0, 0.0) if target > 0 else (1.0, 0.5)
        assert math.dist((x, y), centre) == pytest.approx(1.0)
        assert (y >= centre[1] - 1e-12) if upper else (y <= centre[1] + 1e-12)


def test_the_seed_decides_and_the_rest_of_the_program_does_not():
    random.seed(1)
    first = moons(20, 0.1, seed=5)
    random.seed(2)
    assert moons(20, 0.1, seed=5) == first
    assert moons(20, 0.1, seed=6) != first


def test_the_noise_is_a_standard_deviation():
    clean, noisy = moons(2000, 0.0, seed=4)[0], moons(2000, 0.2, seed=4)[0]
    assert noisy != clean
    radii = [math.dist(p, (0, 0)) for p, t in zip(*moons(2000, 0.2, seed=4), strict=True) if t > 0]
    mean = sum(radii) / len(radii)
    spread = math.sqrt(sum((r - mean) ** 2 for r in radii) / len(radii))
    assert 0.17 < spread < 0.23


def test_the_points_are_shuffled():
    targets = moons(40, 0.1, seed=0)[1]
    assert targets != sorted(targets) and targets != sorted(targets, reverse=True)


@pytest.mark.parametrize(("n", "noise"), [(1, 0.1), (0, 0.1), (10, -0.1)])
def test_what_makes_no_moons_is_refused(n, noise):
    with pytest.raises(ValueError, match="moons needs"):
        moons(n, noise)
