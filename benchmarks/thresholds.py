"""Measures what the training exercises of `mlp` ask for: how far right solutions are from failing.

The grader picks from twenty public tasks for each exercise (the seeds 0 to 9, targets as they are
or turned round), and a training is decided by its seed. So a solution that passes the twenty
cannot fail by bad luck; this script tries all of them, and many more seeds, to see how much room
the thresholds leave. It trains the course's solutions, and for comparison other settings: those
of the lessons that the exercises come from, and models that must not pass.

    python benchmarks/thresholds.py [--seeds 500]

The networks run on the reference engine, which does the same arithmetic as the students' in less
time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

from autograder.course_folder.assignments import find_course, load_assignment
from autograder.course_folder.modules import course_object
from course.datasets import four_points, moons, xor

PUBLIC = 10
"""How many seeds, from 0, the grader picks from."""

Train = Callable[[list[list[float]], list[float], int], Any]


def xor_margin(train: Train, seed: int, turned: bool) -> float:
    """How far the worst of the four answers is on the right side of 0.5; must be above 0."""
    inputs, targets = xor()
    targets = [1.0 - t for t in targets] if turned else targets
    model = train(inputs, targets, seed)
    signs = [1 if t > 0.5 else -1 for t in targets]
    return min(s * (model(x).data - 0.5) for s, x in zip(signs, inputs, strict=True))


def four_points_margin(train: Train, seed: int, turned: bool) -> float:
    """How far the mean squared error is below 0.01; must be above 0."""
    inputs, targets = four_points()
    targets = [-t for t in targets] if turned else targets
    model, losses = train(inputs, targets, seed)
    errors = [(model(x).data - t) ** 2 for x, t in zip(inputs, targets, strict=True)]
    return 0.01 - sum(errors) / 4 if len(losses) <= 200 else -1.0


def moons_margin(train: Train, seed: int, turned: bool) -> float:
    """How far the lower of both accuracies is above 92 %; must not be below 0."""
    sign = -1 if turned else 1
    inputs, targets = moons(40, 0.1, seed)
    model = train(inputs, [sign * t for t in targets], seed)
    shares = []
    for points, truth in ((inputs, targets), moons(200, 0.1, 1000 + seed)):
        right = sum(
            (model(x).data > 0) == (sign * t > 0) for x, t in zip(points, truth, strict=True)
        )
        shares.append(right / len(points))
    return min(shares) - 0.92


def settings(scope: dict[str, Any], sizes: list[int], loss: str, lr: float, epochs: int,
             linear: bool = False, batch: int | None = None, **more: float) -> Train:  # fmt: skip
    """A training with these settings."""

    def trained(inputs: list[list[float]], targets: list[float], seed: int) -> Any:
        random.seed(seed)
        model = scope["MLP"](len(inputs[0]), sizes, linear)
        optimizer = scope["SGD"](model.parameters(), lr, **more)
        return model, scope["train"](model, inputs, targets, scope[loss], optimizer, epochs, batch)

    return trained


def alone(train: Train) -> Train:
    """The same training, returning the model without its losses."""
    return lambda *task: train(*task)[0]


def report(what: str, margin: Callable[..., float], train: Train, seeds: int) -> None:
    """Try a training on all tasks of so many seeds and print how it went."""
    started = time.process_time()
    margins = {(s, t): margin(train, s, t) for s in range(seeds) for t in (False, True)}
    seconds = (time.process_time() - started) / len(margins)
    public = [m for (seed, _), m in margins.items() if seed < PUBLIC]
    ordered = sorted(margins.values())
    print(f"{what:<44} {sum(m < 0 for m in public):>3}/{len(public)} {min(public):8.4f}"
          f" {sum(m < 0 for m in ordered):>5}/{len(ordered)} {ordered[0]:8.4f}"
          f" {ordered[len(ordered) // 2]:8.4f} {1000 * seconds:6.0f}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=500)
    seeds = parser.parse_args().seeds
    scope = load_assignment(find_course(), "mlp").namespace()
    scope["Value"] = course_object(find_course(), "reference:Value")
    print(f"{'':44} public tasks       all {seeds} seeds                ms each")
    print(f"{'':44} fail    worst     fail     worst   median")
    report("xor: the solution", xor_margin, scope["train_xor"], seeds)
    for what, train in {
        "xor: 8 hidden, bce": settings(scope, [8, 1], "bce", 1.0, 150, True),
        "xor: 100 epochs, as in the lesson": settings(scope, [4, 1], "mse", 0.4, 100),
        "xor: a single neuron": settings(scope, [1], "mse", 0.5, 100),
    }.items():
        report(what, xor_margin, alone(train), seeds)
    report("four points: the solution", four_points_margin, scope["train_four_points"], seeds)
    for what, train in {
        "four points: 200 epochs, as in the lesson": settings(scope, [4, 4, 1], "mse", 0.2, 200),
        "four points: a single neuron": settings(scope, [1], "mse", 0.2, 200),
        "four points: 20 epochs": settings(scope, [4, 4, 1], "mse", 0.2, 20),
    }.items():
        report(what, four_points_margin, train, seeds)
    report("moons: the solution", moons_margin, scope["train_moons"], seeds)
    for what, train in {
        "moons: 12 hidden, hinge, 60 epochs": settings(
            scope, [12, 1], "hinge", 0.3, 60, True, 10, momentum=0.9),
        "moons: a single neuron": settings(
            scope, [1], "hinge", 0.1, 30, True, 10, momentum=0.9),
    }.items():  # fmt: skip
        report(what, moons_margin, alone(train), seeds)


if __name__ == "__main__":
    main()
