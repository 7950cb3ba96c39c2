"""The reference engine agrees with independent computations: closed forms and dual numbers."""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from programs import run_program

from reference import (
    Value,
    check_gradients,
    numerical_derivative,
    push_gradients,
    topological_order,
    trace,
    zero_grad,
)

EXACT = 1e-12
TESTS = Path(__file__).resolve().parent.parent / "grading_tests"


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


# Each function of one operand: its closed form, its derivative, and points inside its domain.
UNARY: dict[str, tuple[Callable, Callable, list[float]]] = {
    "exp": (math.exp, math.exp, [-2.5, 0.0, 1.4]),
    "log": (math.log, lambda x: 1 / x, [1e-6, 0.3, 1.7, 40.0]),
    "sqrt": (math.sqrt, lambda x: 0.5 / math.sqrt(x), [0.01, 2.0, 9.0]),
    "sin": (math.sin, math.cos, [-2.0, 0.0, 0.7]),
    "cos": (math.cos, lambda x: -math.sin(x), [-2.0, 0.0, 0.7]),
    "tanh": (math.tanh, lambda x: 1 - math.tanh(x) ** 2, [-1.3, 0.0, 0.9]),
    "relu": (lambda x: max(0.0, x), lambda x: float(x > 0), [-1.3, 0.0, 2.2]),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x), [-3.0, 0.0, 1.9]),
    "__neg__": (lambda x: -x, lambda x: -1.0, [-1.5, 0.0, 2.0]),
}

# Each operation of two operands: its derivative with respect to the first and to the second.
BINARY: dict[str, tuple[Callable, Callable, Callable]] = {
    "+": (lambda a, b: a + b, lambda a, b: 1.0, lambda a, b: 1.0),
    "-": (lambda a, b: a - b, lambda a, b: 1.0, lambda a, b: -1.0),
    "*": (lambda a, b: a * b, lambda a, b: b, lambda a, b: a),
    "/": (lambda a, b: a / b, lambda a, b: 1 / b, lambda a, b: -a / b**2),
}

UNARY_POINTS = [(name, x) for name, (_, _, points) in UNARY.items() for x in points]


@pytest.mark.parametrize(("name", "x"), UNARY_POINTS)
def test_a_function_of_one_operand_has_its_value_and_its_gradient(name: str, x: float) -> None:
    function, derivative, _ = UNARY[name]
    leaf = Value(x)
    node = getattr(leaf, name)()
    (2 * leaf - 3 * node + leaf).backward()
    assert node.data == pytest.approx(function(x), rel=EXACT)
    assert leaf.grad == pytest.approx(3 - 3 * derivative(x), rel=EXACT)
    assert node._prev == (leaf,)


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize(("x", "y"), [(2.5, -1.75), (-0.4, 3.0), (7.0, 2.0)])
def test_an_operation_of_two_operands_has_its_value_and_its_gradients(
    symbol: str, x: float, y: float
) -> None:
    apply, by_first, by_second = BINARY[symbol]
    a, b = Value(x), Value(y)
    node = apply(a, b)
    (-2 * node).backward()
    assert node.data == pytest.approx(apply(x, y), rel=EXACT)
    assert a.grad == pytest.approx(-2 * by_first(x, y), rel=EXACT)
    assert b.grad == pytest.approx(-2 * by_second(x, y), rel=EXACT)
    assert (node._op, node._prev) == (symbol, (a, b))


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("number", [3, 0.5, -2, True])
def test_a_plain_number_may_be_either_operand(symbol: str, number: float) -> None:
    apply, by_first, by_second = BINARY[symbol]
    left, right = Value(-1.25), Value(-1.25)
    first, second = apply(left, number), apply(number, right)
    (4 * first).backward()
    (4 * second).backward()
    assert (first.data, second.data) == (apply(-1.25, number), apply(number, -1.25))
    assert left.grad == pytest.approx(4 * by_first(-1.25, number), rel=EXACT)
    assert right.grad == pytest.approx(4 * by_second(number, -1.25), rel=EXACT)
    assert [operand.data for operand in first._prev] == [-1.25, number]


@pytest.mark.parametrize(
    ("x", "exponent"), [(2.0, 3), (-2.0, 3), (1.7, -2), (-1.7, -1), (2.0, 0.5), (3.0, 0), (4.0, 1)]
)
def test_a_power_has_its_value_and_its_gradient(x: float, exponent: float) -> None:
    leaf = Value(x)
    node = leaf**exponent
    (2 * leaf - 3 * node).backward()
    assert node.data == x**exponent
    assert node._op == f"**{exponent}"
    assert leaf.grad == pytest.approx(2 - 3 * exponent * x ** (exponent - 1), rel=EXACT)


@pytest.mark.parametrize(
    ("exponent", "slope"), [(0, 0.0), (0.0, 0.0), (1, 1.0), (2, 0.0), (3.5, 0.0), (0.5, math.inf)]
)
def test_a_power_of_zero_has_its_gradient(exponent: float, slope: float) -> None:
    leaf = Value(0.0)
    (leaf**exponent).backward()
    assert leaf.grad == slope


def test_power_whose_slope_overflows_keeps_its_value() -> None:
    leaf = Value(-1e-150)
    node = leaf**-2
    node.backward()
    assert (node.data, leaf.grad) == (pytest.approx(1e300), math.inf)


@pytest.mark.parametrize("exponent", [Value(2.0), "2", None, 1j])
def test_power_refuses_other_exponents(exponent: object) -> None:
    with pytest.raises(TypeError, match="exponent must be an int or a float"):
        Value(2.0) ** exponent  # type: ignore[operator]


@pytest.mark.parametrize(
    ("compute", "error"),
    [
        (lambda: Value(-2.0) ** 0.5, ValueError),
        (lambda: Value(0.0).log(), ValueError),
        (lambda: Value(-1.0).log(), ValueError),
        (lambda: Value(-1.0).sqrt(), ValueError),
        (lambda: Value(1.0) / 0, ZeroDivisionError),
        (lambda: Value(0.0) ** -1, ZeroDivisionError),
        (lambda: Value(1.0) + "1", TypeError),
        (lambda: None * Value(1.0), TypeError),
    ],
)
def test_operations_without_a_result_raise_an_error(
    compute: Callable, error: type[Exception]
) -> None:
    with pytest.raises(error):
        compute()


@pytest.mark.parametrize(("x", "high"), [(1000.0, True), (-1000.0, False)])
def test_saturating_functions_do_not_overflow(x: float, high: bool) -> None:
    for name, low in (("tanh", -1.0), ("sigmoid", 0.0)):
        leaf = Value(x)
        node = getattr(leaf, name)()
        node.backward()
        assert node.data == (1.0 if high else low)
        assert leaf.grad == 0.0


def test_sigmoid_keeps_its_precision_in_the_tail() -> None:
    leaf = Value(-40.0)
    node = leaf.sigmoid()
    node.backward()
    assert node.data == pytest.approx(math.exp(-40), rel=EXACT)
    assert leaf.grad == pytest.approx(math.exp(-40), rel=EXACT)


def test_a_new_leaf_has_its_number_and_empty_attributes() -> None:
    leaf = Value(3, label="x")
    assert (leaf.data, type(leaf.data), leaf.grad) == (3.0, float, 0.0)
    assert (leaf._prev, leaf._op, leaf.label) == ((), "", "x")
    assert repr(Value(2.0)) == "Value(data=2.0, grad=0.0)"
    assert leaf._backward() is None
    assert not hasattr(leaf, "__dict__")


def test_backward_sets_the_root_and_adds_to_the_rest() -> None:
    x = Value(3.0)
    for expected in (1, 2, 3):
        root = x * x
        root.grad = 99.0
        root.backward()
        assert root.grad == 1.0
        assert x.grad == 6.0 * expected
    zero_grad([x])
    assert x.grad == 0.0


def test_backward_on_a_leaf_sets_its_gradient_to_1() -> None:
    leaf = Value(2.0)
    leaf.backward()
    assert leaf.grad == 1.0


def test_push_gradients_visits_the_nodes_in_the_given_order() -> None:
    a = Value(2.0)
    b = a + a
    c = b * b
    push_gradients(c, [c, b, a])
    assert (c.grad, b.grad, a.grad) == (1.0, 8.0, 16.0)

    a = Value(2.0)
    b = a + a
    c = b * b
    push_gradients(c, [b, c])
    assert (b.grad, a.grad) == (8.0, 0.0)


def test_topological_order_and_trace_list_each_node_once() -> None:
    x, twin = Value(2.0), Value(2.0)
    square = x * x
    root = square + twin * x
    order = topological_order(root)
    place = {node: i for i, node in enumerate(order)}
    nodes, edges = trace(root)
    assert len(order) == len(place) == 5
    assert order[-1] is root
    assert all(place[operand] < place[node] for node in order for operand in node._prev)
    assert nodes == set(order)
    assert edges == {(operand, node) for node in order for operand in node._prev}
    assert (x, square) in edges
    assert len(edges) == 5
    assert trace(x) == ({x}, set())


def test_numerical_derivative_returns_the_slope() -> None:
    assert numerical_derivative(lambda x: x**3, 2.0) == pytest.approx(12.0, rel=1e-9)
    assert numerical_derivative(lambda x: x * x, 3.0, h=0.5) == 6.0


CHECKED: list[tuple[Callable[..., Value], list[float]]] = [
    (lambda a, b, c: (a * b + c) ** 2, [2.0, -3.0, 10.0]),
    (lambda a, b: a / b - b.exp() * a.log(), [1.7, 0.4]),
    (lambda a: (a * 1e-6).tanh() + 1, [0.3]),
    (lambda a: a.sin() * a.cos() + a.sqrt() + a.sigmoid(), [2e4]),
    (lambda a, b: a + a, [1.0, 5.0]),
]


@pytest.mark.parametrize(("f", "inputs"), CHECKED)
def test_check_gradients_accepts_this_engine(f: Callable[..., Value], inputs: list[float]) -> None:
    assert check_gradients(f, inputs) is True


@pytest.mark.parametrize("factor", [0.0, -1.0, 0.99, 2.0, math.nan])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_check_gradients_catches_a_wrong_slope(factor: float, size: float) -> None:
    def broken(a: Value, b: Value) -> Value:
        return Value(size * a.data, (a,), "scaled", "", (factor * size,)) + b

    assert check_gradients(broken, [0.7, 0.5]) is False


@dataclass(frozen=True)
class Dual:
    """A number and its derivative in one fixed direction: forward mode, for comparison only."""

    value: float
    slope: float

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, other: Dual) -> Dual:
        top = self.slope * other.value - self.value * other.slope
        return Dual(self.value / other.value, top / other.value**2)

    def apply(self, name: str) -> Dual:
        function, derivative, _ = UNARY[name]
        return Dual(function(self.value), derivative(self.value) * self.slope)


# A step of a random program: an operation and the places of its operands among earlier results.
STEPS = st.lists(
    st.tuples(st.sampled_from([*BINARY, *UNARY]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=25,
)
LEAVES = st.lists(st.floats(-3, 3).map(lambda x: round(x, 3)), min_size=1, max_size=4)


def number_in(result: Value | Dual) -> float:
    return result.data if isinstance(result, Value) else result.value


def computed(steps: list[tuple[str, int, int]], leaves: list) -> list:
    """Return all results; a step whose result would be undefined or huge is left out."""
    results = list(leaves)
    for name, i, j in steps:
        a, b = results[i % len(results)], results[j % len(results)]
        size, divisor = number_in(a), number_in(b)
        if name == "/" and abs(divisor) < 0.1:
            continue
        if name in ("log", "sqrt") and size < 0.1:
            continue
        if name == "exp" and size > 5:
            continue
        if name in BINARY:
            made = BINARY[name][0](a, b)
        else:
            made = getattr(a, name)() if isinstance(a, Value) else a.apply(name)
        if abs(number_in(made)) < 1e6:
            results.append(made)
    return results


@settings(
    derandomize=True,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(STEPS, LEAVES)
def test_gradients_of_random_graphs_are_those_of_forward_mode(
    steps: list[tuple[str, int, int]], numbers: list[float]
) -> None:
    leaves = [Value(x) for x in numbers]
    results = computed(steps, leaves)
    results[-1].backward()
    for k, leaf in enumerate(leaves):
        duals = [Dual(x, float(i == k)) for i, x in enumerate(numbers)]
        expected = computed(steps, duals)
        assume(len(expected) == len(results))
        # Terms that cancel leave rounding behind, in proportion to the largest of them.
        size = max(abs(dual.slope) for dual in expected)
        assert results[-1].data == pytest.approx(expected[-1].value, rel=1e-9, abs=1e-9)
        assert leaf.grad == pytest.approx(expected[-1].slope, rel=1e-9, abs=1e-9 * max(1, size))


def test_sixty_doublings_take_linear_time() -> None:
    x = Value(1.0)
    node = x
    for _ in range(60):
        node = node + node
    assert len(topological_order(node)) == 61
    node.backward()
    assert x.grad == 2.0**60


@pytest.mark.subprocess
def test_a_chain_of_a_million_nodes_needs_no_recursion() -> None:
    """Run in a process of its own with a small stack: a recursive step anywhere would crash it."""
    program = """
import sys, threading
from reference import Value, topological_order
def work():
    x = Value(1.0)
    node = x
    for _ in range(1_000_000):
        node = -node
    assert len(topological_order(node)) == 1_000_001
    node.backward()
    assert x.grad == 1.0
    del node
    print("freed")
# From 3.13 on, Python itself goes some thousand objects deep before it frees the rest in a loop.
threading.stack_size(256 * 1024 if sys.version_info < (3, 13) else 4 << 20)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    assert run_program([sys.executable, "-c", program], env=environment).stdout == "freed\n"


@contextmanager
def without_cycle_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_a_graph_without_references_is_freed_at_once() -> None:
    alive = 0

    class Counted(Value):
        def __init__(self, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
            nonlocal alive
            alive += 1
            super().__init__(*args, **kwargs)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def build_and_drop() -> None:
        x, y = Counted(0.7), Counted(1.9)
        z = (x * y + 3).tanh() / y - (2 - x).exp() ** 2 + (x.relu() + y.sigmoid()).log().sqrt()
        (z.sin() * -z.cos() + 1 / y).backward()
        assert alive >= 18

    with without_cycle_collector():
        build_and_drop()
        assert alive == 0
        assert gc.collect() == 0
