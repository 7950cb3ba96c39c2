"""The data sets: their size and form, the same numbers for the same seed, and their purpose."""

from __future__ import annotations

import math
import random
from functools import partial

import pytest

from course.datasets import circle, clouds, four_points, moons, spiral, xor


def test_xor_is_one_where_the_coordinates_differ():
    inputs, targets = xor()
    assert sorted(inputs) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert targets == [float(x != y) for x, y in inputs]


def test_four_points_have_three_coordinates_and_a_sign():
    inputs, targets = four_points()
    assert [len(point) for point in inputs] == [3] * 4
    assert targets == [1.0, -1.0, -1.0, 1.0]


MADE = [moons, circle, spiral, clouds]


@pytest.mark.parametrize("data", [xor, four_points, *(partial(make, 6) for make in MADE)])
def test_each_call_returns_new_lists(data):
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


@pytest.mark.parametrize("make", MADE)
def test_points_depend_on_the_seed_and_not_on_the_global_random_state(make):
    random.seed(1)
    first = make(20, 0.1, seed=5)
    random.seed(2)
    assert make(20, 0.1, seed=5) == first
    assert make(20, 0.1, seed=6) != first


def test_moons_with_a_seed_have_the_recorded_points():
    inputs, targets = moons(5, 0.1, seed=3)
    assert targets == [1.0, 1.0, 1.0, -1.0, -1.0]
    assert inputs[0] == pytest.approx([-1.0259154537693433, -0.026151098398117276])


def test_the_argument_noise_is_the_standard_deviation_of_the_points():
    clean, noisy = moons(2000, 0.0, seed=4)[0], moons(2000, 0.2, seed=4)[0]
    assert noisy != clean
    radii = [math.dist(p, (0, 0)) for p, t in zip(*moons(2000, 0.2, seed=4), strict=True) if t > 0]
    mean = sum(radii) / len(radii)
    spread = math.sqrt(sum((r - mean) ** 2 for r in radii) / len(radii))
    assert 0.17 < spread < 0.23


@pytest.mark.parametrize("make", MADE)
def test_the_points_of_a_data_set_are_shuffled(make):
    targets = make(40, 0.1, seed=0)[1]
    assert targets != sorted(targets) and targets != sorted(targets, reverse=True)


@pytest.mark.parametrize("n", [2, 41])
def test_a_disc_lies_inside_a_ring(n):
    inputs, targets = circle(n, noise=0.0, seed=2)
    assert [targets.count(1.0), targets.count(-1.0)] == [n - n // 2, n // 2]
    for point, target in zip(inputs, targets, strict=True):
        distance = math.dist(point, (0, 0))
        assert distance <= 0.5 if target > 0 else distance == pytest.approx(1.0)


def test_one_arm_of_the_spiral_is_the_other_turned_by_half_a_turn():
    inputs, targets = spiral(40, noise=0.0, seed=2)
    rows = list(zip(inputs, targets, strict=True))
    arms = [
        sorted((round(x * t, 9), round(y * t, 9)) for (x, y), t in rows if t == sign)
        for sign in (1.0, -1.0)
    ]
    assert arms[0] == arms[1]
    radii = sorted(math.hypot(x, y) for x, y in arms[0])
    assert radii[0] == pytest.approx(0.1) and radii[-1] == pytest.approx(1.0)


def test_clouds_without_noise_are_the_corners_of_a_triangle():
    inputs, targets = clouds(31, noise=0.0, seed=2)
    assert [targets.count(float(k)) for k in range(3)] == [11, 10, 10]
    corners = {target: point for point, target in zip(inputs, targets, strict=True)}
    assert corners[0.0] == pytest.approx([0.0, 1.0])
    assert math.dist(corners[1.0], corners[2.0]) == pytest.approx(math.sqrt(3))
    assert all(point == corners[target] for point, target in zip(inputs, targets, strict=True))


@pytest.mark.parametrize(("n", "noise"), [(1, 0.1), (0, 0.1), (10, -0.1)])
@pytest.mark.parametrize("make", MADE)
def test_invalid_sizes_and_noise_are_refused(make, n, noise):
    with pytest.raises(ValueError, match=f"{make.__name__} needs"):
        make(n, noise)
