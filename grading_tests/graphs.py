"""Builds graphs of the student's nodes, or of the reference's, and compares their gradients."""

import random
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from typing import Any

from autograder.testing import Student, close
from remote import graphs

SIZES = ((2e-7, 8e-7), (2e-4, 8e-4), (0.02, 0.08), (0.3, 0.8), (1.0, 1.0), (1.2, 3.0), (5.5, 11.0),
         (25.0, 80.0), (200.0, 500.0), (2e6, 8e6))  # fmt: skip
"""Ranges of absolute values. An operation is tried with a number drawn from each range."""


def helpers(engine):
    """Return the module `remote/graphs.py` in the engine's process."""
    return engine.remote.graphs if isinstance(engine, Student) else graphs


def alone(student, name):
    """Return the student's function NAME; while it runs, functions that walk a graph are
    disabled."""
    walks = student.remote.graphs
    return student.remote.given.alone(
        student[name], walks.nodes_behind, walks.reverse_topological, walks.differentiate
    )


def leaf(engine, data, grad=0.0):
    """Return a node without operands, with this number and this gradient."""
    node = engine.Value(data)
    node.grad = grad
    return node


def operands(node):
    """Return a node's operands as a list, for any kind of collection in `_prev`."""
    return list(node._prev)


def behind(student, root):
    """Return the nodes from which `root` was computed, without `root`."""
    return list(student.remote.graphs.reverse_topological(root))[1:]


def gradients(engine, build, inputs, upstream=1.0):
    """Build an expression, and run the backward pass with the hidden tests' own code.

    Args:
        engine: the student's names or the reference, whose `Value` is used.
        build: takes a node for each input, and returns the root.
        inputs: the numbers of the leaves.
        upstream: the gradient of the root.

    Returns:
        The root's number, and the gradients of the leaves.
    """
    leaves = [leaf(engine, number) for number in inputs]
    return helpers(engine).differentiate(build(*leaves), leaves, upstream)


def random_graphs():
    """Return eight graphs, each as a list that has for each node the indexes of its operands.

    In each graph the first two nodes are leaves, and the last is the root. The graphs are the same
    at each call.
    """
    draw, found = random.Random(1), []
    for _ in range(8):
        operands: list[list[int]] = [[], []]
        for n in range(2, 9):
            operands.append([draw.randrange(max(0, n - 4), n) for _ in range(draw.randint(1, 3))])
        used = {place for places in operands for place in places}
        found.append([*operands, [n for n in range(9) if n not in used]])
    return found


def ran_in_order(calls, operands):
    """Return whether the step of each node ran once, after the steps of all nodes that use the
    node.

    Args:
        calls: the indexes of the nodes whose steps ran, in order; the two leaves are not counted.
        operands: the graph, as `random_graphs` returns it.
    """
    steps = range(len(operands) - 2)
    is_list = isinstance(calls, list) and len(calls) == len(steps)
    if not is_list or any(n not in calls for n in steps):
        return False
    pairs = [(n, place - 2) for n in steps for place in operands[n + 2] if place >= 2]
    return all(calls.index(n) < calls.index(place) for n, place in pairs)


def kinds(rng: random.Random, smallest: float = 0.0, largest: float = 1e9) -> list[float]:
    """Return 0, a few whole numbers, and two numbers, one of each sign, from each range of `SIZES`
    between two bounds."""
    found: list[float] = [0.0, 2, -3, 10]
    for low, high in SIZES:
        if smallest <= low and high <= largest:
            found += [rng.uniform(low, high), -rng.uniform(low, high)]
    return found


def pairs(rng: random.Random, operation: Callable[..., Any]) -> list[tuple[float, float]]:
    """Return pairs of numbers for which an operation has a result: numbers of different sizes,
    equal numbers, opposite numbers, and pairs with 0."""
    left, right = kinds(rng), kinds(rng)
    some = left[-9:-5]
    special = [(0.0, 0.0), (1.0, 1.0), *[(a, a) for a in some], *[(a, -a) for a in some]]
    special += [(2e-19, 5e-20), (1.5, -3e-17), (3.0, 6), (2.0, -8)]
    found = []
    for pair in [*zip(left, right[7:] + right[:7], strict=True), *special]:
        with suppress(ZeroDivisionError):
            operation(*pair)
            found.append(pair)
    return found


def powers(rng: random.Random) -> list[tuple[float, float]]:
    """Return pairs of a base and an exponent whose power is real: positive, negative, whole and
    fractional exponents, and special cases."""
    bases = kinds(rng, smallest=0.01, largest=500)
    whole = zip(bases * 2, cycle([2, -1, 3, 1, 4, -2, 5, 1, -3]))
    fractions = [0.5, -0.5, 1.5, 0.25, 2.0, -1.0, 2.5, rng.uniform(0.02, 0.9), -2.7, 0.0]
    broken = zip([a for a in bases if a > 0] * 2, cycle(fractions))
    special = [(1.2, 30), (2, 2), (1.0, 1), (-1.0, -1), (2.0, -2), (5e-5, 2), (-8e-5, 2), (1.0, 7),
               (1.0, -3.5), (-5e-4, 1), (5e-4, 0.5), (1.5, 1e-5), (1.5, -1e-5), (40.0, 1e-5),
               (-3.0, 2.0), (-2.5, -1.0), (0.0, 2.5)]  # fmt: skip
    return [*((a, n) for a, n in whole if a or n > 0), *broken, *special]


def assert_gradients(student, reference, build, inputs, upstream=1.0):
    """Assert that an expression of the student's nodes has the same number as with the reference,
    and the same gradients after a backward pass by the hidden tests' own code."""
    expected = gradients(reference, build, inputs, upstream)
    assert gradients(student, build, inputs, upstream) == close(expected)


def assert_right(student, reference, rng, tried, relative=1e-9):
    """Assert that expressions of the student's nodes have the reference's numbers and gradients.

    The roots get upstream gradients of different sizes and signs, and some leaves already have a
    gradient.

    Args:
        tried: pairs of a function that builds an expression, from one node for each number, and
            these numbers.
        relative: the relative tolerance.
    """
    small, medium, large = rng.uniform(2e-4, 8e-4), rng.uniform(1.2, 3.0), rng.uniform(60, 90)
    upstreams = cycle([-medium, small, 0.4, -large, medium, 0.0, -1.0, large, -small, -0.6, 1.0])
    holds = cycle([rng.uniform(1.2, 3.0), -rng.uniform(1.2, 3.0), 0.0])
    # The last expressions are repeated: results must not be cached by their numbers.
    given = [(*each, next(upstreams)) for each in [*tried, *tried[-3:]]]
    # A very large gradient must be passed on as a whole.
    given += [(*each, 1e3 * large) for each in tried[1:3]]
    data = [number for _, numbers, _ in given for number in numbers]
    held = [next(holds) for _ in data]

    def outcomes(engine):
        # All nodes are made first: each result must keep its own operands.
        nodes = list(helpers(engine).leaves(engine.Value, data, held))
        leaves = [[nodes.pop(0) for _ in numbers] for _, numbers, _ in given]
        roots = [build(*each) for (build, *_), each in zip(given, leaves, strict=True)]
        return helpers(engine).two_passes(roots, leaves, [upstream for *_, upstream in given])

    assert outcomes(student) == close(outcomes(reference), relative)
