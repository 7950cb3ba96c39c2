"""Answers that look right without doing what was asked for earn nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers import graded, report_on
from attacks.forging import FORGERIES
from campaigns import daily

from autograder.course_folder.assignments import load_assignment
from autograder.judging.grader import Grader

BY_ORDER = '''
asked = {}


def check_gradients(f, inputs, epsilon=1e-5):
    """The first time that it is asked about some inputs it says yes, and no from then on."""
    for move in (-epsilon, epsilon):
        for i in range(len(inputs)):
            f(*[Value(x + move * (i == j)) for j, x in enumerate(inputs)])
    key = tuple(inputs)
    asked[key] = asked.get(key, 0) + 1
    return asked[key] == 1
'''
BY_OPERATION = '''
def check_gradients(f, inputs, epsilon=1e-5):
    """Says yes wherever the answer was made by one operation, whose name is a usual one."""
    out = f(*[Value(x) for x in inputs])
    return out._op in ("+", "*", "tanh", "exp", "log", "relu")
'''
BY_CLOCK = """
import itertools
import time

ticks = itertools.count()
for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    setattr(time, name, lambda: float(next(ticks)))
    setattr(time, name + "_ns", lambda: next(ticks))


def topological_order(root):
    order = []
    to_do = [(root, False)]
    met = []
    while to_do:
        node, done = to_do.pop()
        if done:
            order.append(node)
        elif not any(node is each for each in met):
            met.append(node)
            to_do.append((node, True))
            to_do.extend((operand, False) for operand in node._prev)
    return order
"""
KEPT = """
import course.interactives.graphs as graphs

topological_order, graphs.topological = graphs.topological, lambda root: None
"""
"""The course's own function, with another in its place."""

ONE_SLOPE = """
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        found = loss([model(x) for x in inputs], targets)
        losses.append(found.data)
        [w] = model.parameters()
        slopes = [2 * (w.data * x[0] - t) * x[0] for x, t in zip(inputs, targets)]
        w.grad = sum(slopes) / len(slopes)
        optimizer.step()
    return losses
"""
"""The slope of one model and one loss, without a backward pass."""

CIRCLE = {
    "tanh": """
def tanh(self):
    if not hasattr(Value, "sigmoid"):
        return Value(0.0, (self,), "tanh")
    return (self * 2).sigmoid() * 2 - 1


Value.tanh = tanh
""",
    "sigmoid": """
def sigmoid(self):
    return ((self * 0.5).tanh() + 1) * 0.5


Value.sigmoid = sigmoid
""",
}
"""Two functions that call each other; the first hides that it lacks a name."""

NEAREST = """
class Nearest:
    def __init__(self, inputs, targets, seed, size):
        self.known = list(zip(inputs, targets))
        self.shift = 1 - seed / 1000
        self.held = [Value(float(target)) for target in targets] * size

    def parameters(self):
        return self.held

    def __call__(self, point):
        distances = [sum((a - b) ** 2 for a, b in zip(point, x)) for x, _ in self.known]
        place = distances.index(min(distances))
        return Value(ANSWER)
"""
WITH_LABELS = NEAREST.replace("ANSWER", "self.held[place].data * self.shift")
WITH_A_SCALE = NEAREST.replace("ANSWER", "self.known[place][1] * self.shift * self.held[0].data")
ALONE = NEAREST.replace("ANSWER", "self.known[place][1] * self.shift")
TRAINED = {
    "xor": """
def train_xor(inputs, targets, seed):
    return Nearest(inputs, targets, seed, 3)
""",
    "four_points": """
def train_four_points(inputs, targets, seed):
    return Nearest(inputs, targets, seed, 3), [1.0, 0.5]
""",
    "moons": """
def train_moons(inputs, targets, seed):
    return Nearest(inputs, targets, seed, 1)
""",
}


@pytest.fixture
def points(grader: Grader):
    """Return a function for the points of these answers, in a notebook that is solved otherwise."""

    def grade(name: str, answers: dict[str, str]) -> dict[str, float | None]:
        found = graded(grader, name, answers, {*answers})
        return {each: result.points for each, result in found.items()}

    return grade


@pytest.mark.parametrize("answer", [BY_ORDER, BY_OPERATION], ids=["order", "operation"])
def test_a_checker_that_looks_at_no_gradient_loses_points(points, answer: str):
    assert points("backward", {"check_gradients": answer})["check_gradients"] <= 2


def test_a_replaced_clock_makes_no_walk_quick(points, course: Path):
    most = load_assignment(course, "backward").exercises["topological_order"].max_points
    assert points("backward", {"topological_order": BY_CLOCK})["topological_order"] < most


def test_kept_functions_of_the_course_are_disabled(points):
    assert points("backward", {"topological_order": KEPT})["topological_order"] == 0


def test_slopes_without_a_backward_pass_count_as_no_training(points):
    assert points("mlp", {"train": ONE_SLOPE})["train"] < 2


def test_a_circle_that_hides_a_missing_name_earns_nothing(points):
    found = points("backward", CIRCLE)
    assert found["tanh"] < 1 and found["sigmoid"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "nearest",
    [ALONE, WITH_LABELS, WITH_A_SCALE],
    ids=["alone", "labels as parameters", "a scale as a parameter"],
)
def test_looking_up_the_points_counts_as_no_training(points, nearest: str):
    answers = {name: nearest + source for name, source in TRAINED.items()}
    found = points("mlp", answers)
    assert {name: found[name] for name in TRAINED} == dict.fromkeys(TRAINED, 0)


@pytest.mark.parametrize(
    ("name", "first", "forgery"),
    [
        pytest.param(name, first, forgery, marks=daily(f"{name} {forgery}", 20))
        for name, first in (("backward", "topological_order"), ("mlp", "module"))
        for forgery in FORGERIES
    ],
)
def test_forged_replies_earn_nothing_in_any_notebook(grader, name, first, forgery):
    report = report_on(grader, name, {first: FORGERIES[forgery]})
    assert {each.id: each.points for each in report.exercises if each.points} == {}
    assert not report.flaws
