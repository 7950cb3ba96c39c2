"""The stepper's pictures and texts, without a browser."""

from __future__ import annotations

import math
from typing import Any

import pytest
from panels import control

from autograder.course_folder.course import find_course
from course.drawing.graph import short
from course.interactives.model import YourCodeFailed
from course.interactives.stepping import Stepper
from namespaces import namespace

BACKWARD = find_course().assignment("backward")
RIGHT = namespace(BACKWARD)
Value: Any = RIGHT["Value"]


def named(label: str, value: Any) -> Any:
    value.label = label
    return value


def neuron(Value: Any = Value) -> Any:
    x1, w1 = Value(2.0, label="x1"), Value(-3.0, label="w1")
    x2, w2 = Value(0.0, label="x2"), Value(1.0, label="w2")
    weighted = named("s", named("p", x1 * w1) + named("q", x2 * w2))
    n = named("n", weighted + Value(6.8813735870195432, label="b"))
    return named("o", n.tanh())


def said(stepper: Stepper) -> str:
    return "\n".join(map(str, stepper.steps))


def test_the_stepper_steps_through_a_neuron_forward_and_then_backward() -> None:
    stepper = Stepper(neuron())
    assert [step.phase for step in stepper.steps] == ["forward"] * 6 + ["backward"] * 6
    text = said(stepper)
    assert "n is s + b: -6.0 + 6.881 gives 0.8814." in text
    assert "∂o/∂n += o.grad · (1 - o²), that is 1.0 · (1 - 0.7071²)" in text
    assert "∂o/∂x1 += p.grad · w1, that is 0.5 · (-3.0): x1.grad goes from 0.0 to -1.5" in text
    assert "w2.grad stays 0.0" in text


def test_each_step_draws_the_numbers_that_are_known_at_that_step() -> None:
    stepper = Stepper(neuron())
    stepper.begin()
    assert "n: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 5)
    assert (
        "n: data 0.8814, grad 0.0, from s plus b (local derivatives 1.0, 1.0) [marked: forward]"
        in stepper.text()
    )
    assert "o: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 8)
    assert "o: data 0.7071, grad 1.0, from tanh of n (local derivative 0.5), root" in stepper.text()
    assert "n: data 0.8814, grad 0.5" in stepper.text()


def test_a_page_without_controls_describes_all_steps() -> None:
    stepper = Stepper(neuron())
    assert stepper.text().count("\n") == len(stepper.steps) - 1
    assert "<details open>" in stepper.html()
    assert "x1: data 2.0, grad -1.5" in stepper.html()
    stepper.begin()
    assert stepper.position == 0
    assert "<details open>" not in stepper.html()


def test_the_stepper_s_buttons_stop_at_the_first_and_the_last_step() -> None:
    stepper = Stepper(neuron())
    stepper.begin()
    assert not control(stepper, "back").enabled and control(stepper, "next").enabled
    stepper.act("back", None)
    assert stepper.position == 0
    stepper.act("last", None)
    stepper.act("next", None)
    assert stepper.position == len(stepper.steps) - 1
    assert control(stepper, "back").enabled and not control(stepper, "next").enabled
    assert stepper.news.startswith("Step 12 of 12, backward. p passes its gradient")
    stepper.act("first", None)
    assert control(stepper, "step").value == 1


def test_a_stepper_leaves_the_gradients_of_its_graph_unchanged() -> None:
    o = neuron()
    o.backward()
    before = [node.grad for node in RIGHT["trace"](o)[0]]
    Stepper(o)
    assert [node.grad for node in RIGHT["trace"](o)[0]] == before


@pytest.mark.parametrize("collection", [tuple, list, set])
def test_operands_may_be_a_tuple_a_list_or_a_set(collection: type) -> None:
    x = Value(3.0, label="x")
    root = named("y", x * x)
    root._prev = collection(root._prev)
    text = said(Stepper(root))
    assert "∂y/∂x += y.grad · x, twice, that is 1.0 · 3.0, twice" in text
    assert "x.grad goes from 0.0 to 6.0" in text


@pytest.mark.parametrize(
    ("exercise", "mistake", "build", "shown"),
    [
        (
            "tanh",
            "tanh.overwrites",
            lambda a: a.tanh() + 2 * a,
            "a.grad goes from 2.0 to 0.7864",
        ),
        (
            "exp",
            "exp.slope_is_input",
            lambda a: a.exp(),
            "∂c/∂a += c.grad · c, that is 1.0 · 1.649: a.grad goes from 0.0 to 0.5",
        ),
    ],
)
def test_the_stepper_shows_the_wrong_numbers_of_a_wrong_engine(
    exercise: str, mistake: str, build: Any, shown: str
) -> None:
    known = {each.id: each for each in BACKWARD.exercises[exercise].mistakes}
    wrong = namespace(BACKWARD, **{exercise: known[mistake].source})["Value"]
    assert shown in said(Stepper(named("c", build(wrong(0.5, label="a")))))


def test_a_backward_step_that_was_called_and_not_stored_is_explained() -> None:
    known = {each.id: each for each in BACKWARD.exercises["exp"].mistakes}
    wrong = namespace(BACKWARD, exp=known["exp.called_not_stored"].source)["Value"]
    with pytest.raises(TypeError, match=r"node c has None as `_backward`.+without calling it"):
        Stepper(named("c", wrong(0.5).exp()))


def test_a_backward_step_that_changes_the_gradient_of_another_node_is_reported() -> None:
    a, stray = Value(1.0, label="a"), Value(2.0, label="stray")
    b = named("b", a + stray)
    c = named("c", b * b)

    def lost() -> None:
        stray.grad += 7.0

    c._backward = lost
    assert "stray.grad goes from 0.0 to 7.0, though it is no operand" in said(Stepper(c))


def test_a_backward_step_that_raises_ends_the_pass() -> None:
    o = neuron()
    before = o.grad

    def broken() -> None:
        raise ZeroDivisionError("float division by zero")

    o._backward = broken
    stepper = Stepper(o)
    assert "`_backward` raised ZeroDivisionError: float division by zero" in str(stepper.steps[-1])
    assert len(stepper.steps) == 8
    assert o.grad == before


def test_the_stepper_describes_the_rule_of_an_unknown_operation_in_words() -> None:
    x = Value(0.5, label="x")
    y = Value(0.25, (x,), "cube", label="y")
    assert "∂y/∂x += y.grad · the local derivative ∂y/∂x: x.grad stays 0.0" in said(Stepper(y))


def test_the_stepper_steps_through_a_leaf_and_through_a_graph_of_limited_depth() -> None:
    assert len(Stepper(Value(1.0)).steps) == 2
    node = Value(0.0)
    for _ in range(400):
        node = node + 1
    stepper = Stepper(node)
    assert len(stepper.steps) == 802
    assert "742 more." in stepper.html()
    with pytest.raises(ValueError, match="1,001 nodes"):
        for _ in range(100):
            node = node + 1
        Stepper(node)


def backwardless(found: Any) -> Any:
    root = named("c", Value(1.0) + Value(2.0))
    root._backward = found
    return root


def of_itself() -> Any:
    root = Value(1.0)
    root._prev = (root + 1,)
    return root


@pytest.mark.parametrize(
    ("root", "error", "message"),
    [
        (None, TypeError, "step_through takes one Value, but it was given None"),
        (2.0, TypeError, "Pass the Value itself, not its `.data`"),
        (Value, TypeError, "the class Value"),
        (backwardless(None), TypeError, r"node c has None as `_backward`.+without calling it"),
        (Value(1.0, (Value(2.0), 3.0), "+"), TypeError, r"not a Value but 3\.0"),
        (of_itself(), ValueError, "computed from itself"),
    ],
)
def test_the_stepper_refuses_roots_that_are_no_graph(root: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Stepper(root)


def test_the_stepper_refuses_nodes_without_a_backward_step_or_with_invalid_operands() -> None:
    bare = type("Bare", (), {"data": 1.0, "grad": 0.0, "_op": "+", "label": "y"})()
    bare._prev = [Value(1.0)]
    with pytest.raises(TypeError, match="node y has no `_backward`"):
        Stepper(bare)
    bare._prev = "x"
    with pytest.raises(TypeError, match="set, tuple or list, not as str"):
        Stepper(bare)


def test_moving_a_leaf_s_slider_computes_the_steps_again() -> None:
    o = neuron()
    stepper = Stepper(o)
    stepper.begin()
    sliders = [each for each in stepper.controls() if each.name.startswith("leaf ")]
    assert [each.label for each in sliders] == ["x1", "w1", "x2", "w2", "b"]
    assert (sliders[0].value, sliders[0].low, sliders[0].high) == (2.0, -8.0, 12.0)
    stepper.act("step", 8)
    stepper.act(sliders[0].name, 1.0)
    assert stepper.position == 7 and stepper.news.startswith("x1 is 1.0. Step 8 of 12")
    fresh = neuron()
    for node in RIGHT["trace"](fresh)[0]:
        node.grad = 0.0
    x1 = next(node for node in RIGHT["trace"](fresh)[0] if node.label == "x1")
    assert x1.data == 2.0 and o.data == pytest.approx(0.7071, abs=1e-4)  # the graph is left alone
    stepper.act("last", None)
    grad = 1 - math.tanh(-3.0 + 6.8813735870195432) ** 2
    assert f"x1: data 1.0, grad {short(-3.0 * grad)}" in stepper.text()


def test_a_leaf_at_which_the_graph_cannot_be_computed_keeps_the_last_steps() -> None:
    stepper = Stepper(named("y", Value(1.0, label="x").log()))
    [slider] = [each for each in stepper.controls() if each.name.startswith("leaf ")]
    with pytest.raises(YourCodeFailed, match=r"With x = -1\.0 the graph raised ValueError"):
        stepper.act(slider.name, -1.0)
    assert "x: data 1.0, grad 1.0" in stepper.html()
    stepper.act(slider.name, 2.0)
    assert "x: data 2.0, grad 0.5" in stepper.html()


@pytest.mark.parametrize("build", [lambda x: x * x - 3 / x, lambda x: (-x) ** 2 + x**-1.5])
def test_a_graph_that_the_stepper_computes_again_has_the_same_numbers(build: Any) -> None:
    stepper = Stepper(named("y", build(Value(2.0, label="x"))))
    [slider] = [each for each in stepper.controls() if each.name.startswith("leaf ")]
    stepper.act(slider.name, 3.0)
    assert f"y: data {short(float(build(Value(3.0)).data))}" in stepper.html()


def test_graphs_that_cannot_be_computed_again_have_no_sliders() -> None:
    x = Value(0.5, label="x")
    for root in (Value(0.25, (x,), "cube"), Value(9.0, (x, x), "+")):
        assert len(Stepper(named("y", root)).controls()) == 5
    difference = named("y", Value(-0.5, (x, Value(1.0)), "-"))
    difference._prev = set(difference._prev)  # a set does not say which is taken off
    assert len(Stepper(difference).controls()) == 5


def test_a_sum_whose_operands_are_a_set_has_a_slider() -> None:
    total = named("y", Value(0.5, label="x") + 1.0)
    total._prev = set(total._prev)
    assert len(Stepper(total).controls()) == 6
