"""Expression graphs of a student's nodes, or of the reference's: leaves, operands, gradients."""

import random
from itertools import cycle

from autograder.testing import Student, close
from inside import graphs

SIZES = ((2e-7, 8e-7), (2e-4, 8e-4), (0.02, 0.08), (0.3, 0.8), (1.0, 1.0), (1.2, 3.0), (5.5, 11.0),
         (25.0, 80.0), (200.0, 500.0), (2e6, 8e6))  # fmt: skip
"""The sizes of the numbers that an operation is tried with: one is drawn from each range."""


def helpers(engine):
    """The graph functions, where the engine's nodes live."""
    return engine.inside.graphs if isinstance(engine, Student) else graphs


def alone(student, name):
    """The student's function of this name, without the help of functions that walk a graph."""
    walks = student.inside.graphs
    return student.inside.given.alone(
        student[name], walks.nodes_behind, walks.reverse_topological, walks.differentiate
    )


def leaf(engine, data, grad=0.0):
    """A node without operands, its gradient set to `grad`."""
    node = engine.Value(data)
    node.grad = grad
    return node


def push(result, upstream):
    """Give a result the gradient `upstream` and let it pass it on, as a backward pass would."""
    result.grad = upstream
    result._backward()


def operands(node):
    """What a node was computed from, whatever kind of collection `_prev` is."""
    return list(node._prev)


def behind(student, root):
    """The nodes that `root` was computed from, without itself."""
    return list(student.inside.graphs.reverse_topological(root))[1:]


def gradients(engine, build, inputs, upstream=1.0):
    """Build an expression and run the backward pass by hand.

    Args:
        engine: the student's names or the reference, whose `Value` to use.
        build: takes one node an input and returns the root.
        inputs: the leaves' numbers.
        upstream: the gradient that the root is given.

    Returns:
        The root's data, and `upstream` times the root's derivative by each input.
    """
    leaves = [leaf(engine, number) for number in inputs]
    return helpers(engine).differentiate(build(*leaves), leaves, upstream)


def kinds(rng: random.Random, smallest: float = 0.0, largest: float = 1e9) -> list[float]:
    """A number of every kind: of each of the `SIZES` between two bounds, with either sign; 0 and
    whole numbers."""
    found: list[float] = [0.0, 2, -3, 10]
    for low, high in SIZES:
        if smallest <= low and high <= largest:
            found += [rng.uniform(low, high), -rng.uniform(low, high)]
    return found


def cases(rng: random.Random, operands: list[list[float]], plain: str = "") -> list[list[object]]:
    """Cases for `assert_right`: each with an upstream gradient and held ones of another kind.

    Args:
        rng: draws the gradients.
        operands: the operands' numbers, case by case.
        plain: "left" or "right", if this operand is a plain number; else all are leaves.
    """
    small, medium, large = rng.uniform(2e-4, 8e-4), rng.uniform(1.2, 3.0), rng.uniform(60, 90)
    upstreams = cycle([1.0, -medium, small, 0.4, -large, medium, 0.0, -1.0, large, -small, -0.6])
    holds = cycle([0.0, rng.uniform(1.2, 3.0), -rng.uniform(1.2, 3.0)])
    there = {"left": 0, "right": 1}.get(plain)
    # The last ones come once more: a result must not be kept for others with its numbers.
    tried = [(numbers, next(upstreams)) for numbers in [*operands, *operands[-3:]]]
    # However large a gradient is, all of it is passed on.
    tried += [(numbers, 1e3 * large) for numbers in operands[1:3]]
    return [
        [[n if i == there else [n, next(holds)] for i, n in enumerate(numbers)], upstream]
        for numbers, upstream in tried
    ]


def pairs(left: list[float], right: list[float]) -> list[list[float]]:
    """Pairs of numbers: each kind on either side, equal ones, opposite ones, 0 beside 0."""
    shifted = right[7:] + right[:7]
    found = [[a, b] for a, b in zip(left, shifted, strict=True)]
    some = left[-9:-5]
    return [*found, [0.0, 0.0], [1.0, 1.0], *[[a, a] for a in some], *[[a, -a] for a in some]]


def assert_right(student, reference, name: str, tried: list[list[object]]) -> None:
    """That an operation of the student's nodes gives in all `cases` what the reference's gives.

    Args:
        name: a function of Python's module `operator`, or a method of the nodes.
    """
    found = student.inside.graphs.rows(student.Value, name, tried)
    assert found == close(graphs.rows(reference.Value, name, tried))
