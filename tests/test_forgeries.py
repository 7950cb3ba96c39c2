"""Answers that only pretend to solve an exercise earn no points."""

from __future__ import annotations

import resource

import pytest
from answers import graded, report_on, report_on_right_but
from attacks.forging import FORGERIES
from campaigns import drawn
from schools import solutions

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


NODES_THAT_ARE_VALUES = {
    "numbers": "class Value(float):\n    grad, _prev = 0.0, ()\n",
    "texts": """
class Value(str):
    grad, _prev, data = 0.0, (), 1.0
    def __new__(cls, *a): return str.__new__(cls, "y" * 300)
    def __add__(self, other): return "s"
    __radd__ = __mul__ = __rmul__ = __add__
""",
    "lists": """
class Value(list):
    grad, _prev, data = 0.0, (), 1.0
    def __init__(self, *a): super().__init__([0.0] * 300)
    def __add__(self, other): return [1.0]
    __radd__ = __mul__ = __rmul__ = __add__
""",
    "negative numbers": """
class Value(float):
    grad, _prev, _op, data, label = 0.0, (), "", -2.0, ""
    def __new__(cls, *a): return float.__new__(cls, -8.0)
    def __init__(self, *a): pass
    def _backward(self): pass
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
def test_a_gradient_checker_that_reads_no_gradient_loses_points(points, answer: str):
    assert points("backward", {"check_gradients": answer})["check_gradients"] <= 2


def test_functions_of_the_course_that_a_cell_has_stored_cannot_solve_an_exercise(points):
    assert points("backward", {"topological_order": KEPT})["topological_order"] == 0


def test_a_training_with_numerical_derivatives_in_place_of_backward_loses_points(points):
    assert points("mlp", {"train": ONE_SLOPE})["train"] < 2


def test_answers_that_call_each_other_and_hide_a_missing_name_earn_nothing(points):
    found = points("backward", CIRCLE)
    assert found["tanh"] < 1 and found["sigmoid"] == 0


@pytest.mark.full
@pytest.mark.parametrize(
    "nearest",
    [ALONE, WITH_LABELS, WITH_A_SCALE],
    ids=["alone", "labels as parameters", "a scale as a parameter"],
)
def test_an_answer_that_looks_points_up_and_does_not_train_earns_nothing(points, nearest: str):
    answers = {name: nearest + source for name, source in TRAINED.items()}
    found = points("mlp", answers)
    assert {name: found[name] for name in TRAINED} == dict.fromkeys(TRAINED, 0)


@pytest.mark.parametrize(
    ("name", "first", "forgery"),
    [
        pytest.param(name, first, forgery, marks=drawn(f"{name} {forgery}", 60, 20))
        for name, first in (("value", "node"), ("backward", "topological_order"), ("mlp", "module"))
        for forgery in FORGERIES
    ],
)
def test_forged_replies_earn_nothing_in_any_notebook(grader, name, first, forgery):
    report = report_on(grader, name, {first: FORGERIES[forgery]})
    assert {each.id: each.points for each in report.exercises if each.points} == {}
    assert not report.defects


@pytest.mark.full
@pytest.mark.parametrize("kind", NODES_THAT_ARE_VALUES)
@pytest.mark.parametrize(("name", "last"), [("backward", "deep"), ("value", "numerical")])
def test_forged_nodes_sent_as_plain_values_cause_no_test_defect_and_use_little_memory(
    grader, kind, name, last
):
    """A thousand steps later, the value of a sum of them is known, or is an error."""
    answer = solutions(name)[last] + NODES_THAT_ARE_VALUES[kind]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    report = report_on_right_but(grader, name, {last: answer})

    assert not report.defects
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100 << 10
