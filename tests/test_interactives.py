"""The stepper, the playground and the sandbox, without a browser: their pictures and words."""

from __future__ import annotations

import linecache
import math
import random
import re
import subprocess
import sys
import time
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.course_folder.assignments import find_course, load_assignment
from course.drawing.graph import short
from course.drawing.network import network_drawing, network_in_words
from course.interactives.charts import gradient_chart, gradients_in_words, loss_chart, plane_chart
from course.interactives.model import Control, Model, YourCodeFailed
from course.interactives.playing import Playground
from course.interactives.sandbox import AT_MOST, GOAL, Sandbox
from course.interactives.stepping import Stepper
from course.interactives.tasks import TASKS, apply_loss
from namespaces import namespace
from networks import classes

BACKWARD = load_assignment(find_course(), "backward")
RIGHT = namespace(BACKWARD)
Value: Any = RIGHT["Value"]
MLP, mse, SGD = classes(Value)
OWN = namespace(load_assignment(find_course(), "mlp"))
LOSSES = [OWN[name] for name in ("mse", "hinge", "bce", "cross_entropy")]


def named(label: str, value: Any) -> Any:
    value.label = label
    return value


def neuron(Value: Any = Value) -> Any:
    x1, w1 = Value(2.0, label="x1"), Value(-3.0, label="w1")
    x2, w2 = Value(0.0, label="x2"), Value(1.0, label="w2")
    weighted = named("s", named("p", x1 * w1) + named("q", x2 * w2))
    n = named("n", weighted + Value(6.8813735870195432, label="b"))
    return named("o", n.tanh())


def control(model: Model, name: str) -> Control:
    return next(each for each in model.controls() if each.name == name)


def said(stepper: Stepper) -> str:
    return "\n".join(map(str, stepper.steps))


# The stepper.


def test_the_neuron_is_stepped_forward_and_then_backward() -> None:
    stepper = Stepper(neuron())
    assert [step.phase for step in stepper.steps] == ["forward"] * 6 + ["backward"] * 6
    text = said(stepper)
    assert "n is s + b: -6.0 + 6.881 gives 0.8814." in text
    assert "∂o/∂n += o.grad · (1 - o²), that is 1.0 · (1 - 0.7071²)" in text
    assert "∂o/∂x1 += p.grad · w1, that is 0.5 · (-3.0): x1.grad goes from 0.0 to -1.5" in text
    assert "w2.grad stays 0.0" in text


def test_every_node_is_drawn_with_its_known_numbers() -> None:
    stepper = Stepper(neuron())
    stepper.begin()
    assert "n: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 5)
    assert "n: data 0.8814, grad 0.0, from s plus b [marked: forward]" in stepper.text()
    assert "o: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 8)
    assert "o: data 0.7071, grad 1.0, from tanh of n, root [marked: backward]" in stepper.text()
    assert "n: data 0.8814, grad 0.5" in stepper.text()


def test_a_page_without_controls_describes_all_steps() -> None:
    stepper = Stepper(neuron())
    assert stepper.text().count("\n") == len(stepper.steps) - 1
    assert "<details open>" in stepper.html()
    assert "x1: data 2.0, grad -1.5" in stepper.html()
    stepper.begin()
    assert stepper.position == 0
    assert "<details open>" not in stepper.html()


def test_buttons_stop_at_both_ends() -> None:
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


def test_the_gradients_stay_unchanged() -> None:
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
def test_a_wrong_engine_shows_its_wrong_numbers(
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


def test_a_gradient_that_lands_elsewhere_is_reported() -> None:
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


def test_an_unknown_operation_has_a_rule_in_words() -> None:
    x = Value(0.5, label="x")
    y = Value(0.25, (x,), "cube", label="y")
    assert "∂y/∂x += y.grad · the local derivative ∂y/∂x: x.grad stays 0.0" in said(Stepper(y))


def test_a_leaf_alone_and_a_deep_graph() -> None:
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
def test_roots_that_cannot_be_stepped_through(root: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Stepper(root)


def test_a_missing_backward_and_operands_of_a_wrong_kind() -> None:
    bare = type("Bare", (), {"data": 1.0, "grad": 0.0, "_op": "+", "label": "y"})()
    bare._prev = [Value(1.0)]
    with pytest.raises(TypeError, match="node y has no `_backward`"):
        Stepper(bare)
    bare._prev = "x"
    with pytest.raises(TypeError, match="set, tuple or list, not as str"):
        Stepper(bare)


def test_leaves_move_and_the_steps_follow() -> None:
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
def test_a_rebuilt_graph_gives_the_same_numbers(build: Any) -> None:
    stepper = Stepper(named("y", build(Value(2.0, label="x"))))
    [slider] = [each for each in stepper.controls() if each.name.startswith("leaf ")]
    stepper.act(slider.name, 3.0)
    assert f"y: data {short(float(build(Value(3.0)).data))}" in stepper.html()


def test_graphs_that_cannot_be_computed_again_have_no_sliders() -> None:
    x = Value(0.5, label="x")
    for root in (Value(0.25, (x,), "cube"), Value(9.0, (x, x), "+")):
        assert len(Stepper(named("y", root)).controls()) == 5
    lost = named("y", x - 1.0)
    lost._prev = set(lost._prev)
    assert len(Stepper(lost).controls()) == 5


# The playground.


def sanity(a: Any, b: Any, c: Any) -> Any:
    return (a * b + c) ** 2


def play(**starts: float) -> Playground:
    return Playground(Value, sanity, {"a": 2.0, "b": -3.0, "c": 10.0, **starts})


def test_a_moved_input_is_compared_with_its_gradient_s_prediction() -> None:
    model = play()
    assert "a: data 2.0, grad -24.0, leaf" in model.text()
    model.act("input a", 2.1000000000000005)
    assert model.numbers["a"] == 2.1
    assert str(model.shown) == "a = 2.1, b = -3.0, c = 10.0 give result = 13.69."
    assert model.news == (
        "result went from 16.0 to 13.69, by -2.31. "
        "The gradient of a had promised about -24.0 · 0.1 = -2.4."
    )
    model.act("reset", None)
    assert control(model, "input a").value == 2.0


def test_gradients_can_be_left_out() -> None:
    model = play()
    model.act("gradients", False)
    assert model.news == "The gradients are left out."
    assert "a: data 2.0, grad 0.0, leaf" in model.text()
    model.act("input b", -2.0)
    assert "promised" not in model.news
    model.act("gradients", True)
    assert "a: data 2.0, grad -24.0" in model.text()


def test_a_value_without_backward_draws_its_numbers() -> None:
    bare = namespace(load_assignment(find_course(), "value"))["Value"]
    model = Playground(bare, sanity, {"a": 2.0, "b": -3.0, "c": 10.0})
    assert not control(model, "gradients").enabled
    assert "has no backward yet" in control(model, "gradients").label
    model.act("input c", 6.0)
    assert "give result = 0.0." in model.text()


def test_an_expression_that_fails_keeps_the_last_picture() -> None:
    model = Playground(Value, lambda x: x.log(), {"x": 1.0})
    with pytest.raises(YourCodeFailed, match=r"At x = -1\.0 the expression raised ValueError"):
        model.act("input x", -1.0)
    assert "x = 1.0 give result = 0.0." in model.text()
    assert control(model, "input x").value == -1.0


def test_an_error_of_the_student_s_code_is_shown_with_its_own_line_alone() -> None:
    cell = (
        "def formula(x):\n    return x + later()\ndef later():\n    raise NotImplementedError()\n"
    )
    scope: dict[str, Any] = {}
    linecache.cache["<a cell>"] = (len(cell), None, cell.splitlines(keepends=True), "<a cell>")
    exec(compile(cell, "<a cell>", "exec"), scope)
    with pytest.raises(YourCodeFailed) as caught:
        Playground(Value, scope["formula"], {"x": 1.0})
    assert caught.value._render_traceback_() == [
        "At x = 1.0 the expression raised NotImplementedError",
        "It was in later, line 4 of its cell:",
        "    raise NotImplementedError()",
    ]


def test_default_arguments_are_starting_numbers() -> None:
    model = Playground(Value, lambda a, b=4: a * b, {"a": 3})
    assert model.numbers == {"a": 3.0, "b": 4.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((sanity, sanity, {"a": 1.0}), "Value class first"),
        ((Value, 3.0, {}), "must be a function of Values"),
        ((Value, sanity, {"a": 1.0, "b": 1.0}), "missing a required argument: 'c'"),
        ((Value, sanity, {"a": 1, "b": 1, "c": 1, "d": 1}), "unexpected keyword argument 'd'"),
        ((Value, sanity, {"a": "2", "b": 1, "c": 1}), "a must start at a number, not at '2'"),
        ((Value, lambda: Value(1.0), {}), "no input to move"),
    ],
)
def test_playgrounds_that_cannot_be(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Playground(*arguments)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (lambda a: None, "gave None, which is not a Value"),
        (lambda a: a.data, "gave 1.0, which is not a Value"),
        (lambda a: a + missing, "raised NameError"),  # type: ignore[name-defined] # noqa: F821
    ],
)
def test_expressions_that_give_no_value(expression: Any, message: str) -> None:
    with pytest.raises(YourCodeFailed, match=message):
        Playground(Value, expression, {"a": 1.0})


# The sandbox.


def plain(mse: Any = mse) -> Sandbox:
    """Return a sandbox on classes with no more than the sandbox needs."""
    return Sandbox(MLP, SGD, [mse], None, "xor")


def own(data: str = "xor") -> Sandbox:
    """Return a sandbox on the classes of the course's notebook."""
    return Sandbox(OWN["MLP"], OWN["SGD"], LOSSES, OWN["Layer"], data)


def test_the_border_comes_first_below_the_buttons() -> None:
    html = own().html()
    assert html.index(">Border<") < html.index(">Loss by epoch<") < html.index(">Network<")


def run_until_it_stops(model: Sandbox) -> None:
    model.act("run", None)
    while model.running:
        model.act("tick", None)


def test_training_learns_step_by_step() -> None:
    model = plain()
    assert "4 of 4 right" in model.text()  # the picture that a page without controls keeps
    model.begin()
    assert model.epoch == 0 and "has not been trained" in model.text()
    model.act("step", None)
    assert model.epoch == 1 and model.news.startswith("Epoch 1, loss ")
    run_until_it_stops(model)
    assert model.losses[-1] < GOAL and model.epoch < AT_MOST
    assert model.news.startswith("Stopped.") and model.news.endswith("4 of 4 right.")
    assert "(0, 1), class 1, score 0.9" in model.text()


def test_the_same_seed_gives_the_same_network_and_leaves_random_alone() -> None:
    model = plain()
    model.begin()
    before = random.getstate()
    first = model.answers
    model.act("seed", 7)
    assert model.answers != first
    model.act("seed", 1)
    assert model.answers == first
    assert random.getstate() == before


def test_a_network_without_a_hidden_layer_does_not_learn_xor() -> None:
    model = plain()
    model.act("layers", "none")
    model.train(300)
    assert "no hidden layer" in model.text()
    assert model.right[0] < 4


@pytest.mark.parametrize("data", TASKS)
def test_every_data_set_is_learnt_better_than_by_chance(data: str) -> None:
    model = own(data)
    task = model.task
    model.act("layers", "8")
    model.act("momentum", 0.9)
    model.train(10)
    assert model.right[0] > len(task.samples) / task.classes
    if task.held_out:
        assert not {tuple(x) for x, _ in task.samples} & {tuple(x) for x, _ in task.held_out}
        assert f"held-out points {model.right[1]} of {len(task.held_out)}" in model.summary()
    else:
        assert "held-out" not in model.summary()
    for svg in re.findall("<svg.*?</svg>", model.html(), re.DOTALL):
        assert len(ElementTree.fromstring(svg).get("aria-label", "")) > 20


@pytest.mark.parametrize("loss", ["mse", "hinge", "bce", "cross_entropy"])
@pytest.mark.parametrize("activation", ["relu", "sigmoid", "linear"])
def test_every_loss_falls_with_every_activation(loss: str, activation: str) -> None:
    model = own()
    model.act("data", "three clouds" if activation == "relu" else "xor")
    model.act("loss", loss)
    model.act("activation", activation)
    assert model.network.layers[0].neurons[0].activation == activation
    assert model.network.layers[-1].neurons[0].activation == "linear"
    model.train(6)
    assert model.losses[-1] < model.losses[0]


def test_a_loss_gets_the_arguments_of_its_exercise() -> None:
    heard: list[Any] = []

    def hear(predictions: Any, targets: Any) -> Any:
        heard.append((predictions, targets))
        return Value(1.0)

    apply_loss("hinge", hear, [["p"], ["q"]], [1, 0])
    apply_loss("bce", hear, [["p"], ["q"]], [1, 0])
    apply_loss("mse", hear, [["a", "b", "c"]], [2])
    total = apply_loss("cross_entropy", hear, [["a", "b"], ["c", "d"]], [0, 1])
    assert heard == [
        (["p", "q"], [1.0, -1.0]),
        (["p", "q"], [1.0, 0.0]),
        (["a", "b", "c"], [-1.0, -1.0, 1.0]),
        (["a", "b"], 0),
        (["c", "d"], 1),
    ]
    assert total.data == 1.0


def test_every_point_is_seen_in_each_epoch_whatever_the_batch() -> None:
    sizes: list[int] = []

    def counting(predictions: Any, targets: Any) -> Any:
        sizes.append(len(predictions))
        return OWN["mse"](predictions, targets)

    model = Sandbox(OWN["MLP"], OWN["SGD"], [counting], None, "moons")
    model.act("batch", 16)
    sizes.clear()
    model.act("step", None)
    assert sizes == [16, 16, 16] and "16 points" in model.text()
    model.act("batch", "all")
    model.act("step", None)
    assert sizes[3:] == [48]


def test_gradients_that_vanish_and_explode_are_reported() -> None:
    model = own("moons")
    model.act("layers", "4, 4, 4, 4, 4")
    model.act("activation", "sigmoid")
    assert len(model.gradients) == 6
    assert "They vanish: the first layer's is" in model.text()
    model.act("activation", "relu")
    assert "vanish" not in model.text()
    model.act("scale", 5.0)
    assert max(model.gradients) > 1000
    assert "They explode" in gradients_in_words([500.0, 1.0])
    assert "no number any more" in gradients_in_words([float("nan"), 1.0])


def test_the_gradients_shown_are_those_of_the_engine() -> None:
    model = own()
    grads = [p.grad for layer in model.network.layers[:1] for p in layer.parameters()]
    size = (sum(g * g for g in grads) / len(grads)) ** 0.5
    assert model.gradients[0] == pytest.approx(size) and size > 0


def test_a_new_learning_rate_and_momentum_hold_from_now_on() -> None:
    model = own()
    model.begin()
    model.act("step", None)
    model.act("rate", 3.0)
    model.act("momentum", 0.9)
    assert model.epoch == 1
    assert (model._optimizer.lr, model._optimizer.momentum) == (3.0, 0.9)
    assert "learning rate 3, momentum 0.9" in model.text()


def test_pause_and_late_ticks() -> None:
    model = plain()
    model.begin()
    model.act("run", None)
    assert control(model, "run").label == "Pause" and not control(model, "step").enabled
    model.act("run", None)
    model.act("tick", None)
    assert model.epoch == 0 and model.news.startswith("Paused.")


def test_a_slice_of_training_ends_within_a_batch_of_its_time() -> None:
    batches: list[int] = []

    def slow(predictions: Any, targets: Any) -> Any:
        batches.append(len(predictions))
        time.sleep(0.03)  # the time of a slow engine
        return OWN["mse"](predictions, targets)

    model = Sandbox(OWN["MLP"], OWN["SGD"], [slow], None, "moons")
    model.begin()
    model.act("batch", 1)
    batches.clear()
    model.act("run", None)
    model.act("tick", None)
    assert 1 <= len(batches) <= 6 and model.epoch == 0  # far from the 48 of an epoch


def test_without_layer_there_is_one_activation_and_without_neurons_no_drawing() -> None:
    assert control(plain(), "activation").options == ["tanh"]

    class Opaque(MLP):  # type: ignore[misc, valid-type]
        def __init__(self, *sizes: Any, **more: Any) -> None:
            super().__init__(*sizes, **more)
            self.hidden, self.layers = self.layers, property()

        def __call__(self, x: Any) -> Any:
            for layer in self.hidden:
                x = [neuron(x) for neuron in layer]
            return x[0]

        def parameters(self) -> list[Any]:
            return [p for layer in self.hidden for n in layer for p in [*n.w, n.b]]

    model = Sandbox(Opaque, SGD, [mse], None, "xor")
    assert "cannot be drawn" in model.text() and model.right[0] == 4
    assert "Gradient in each layer" not in model.html()


def test_classes_that_cannot_be_trained() -> None:
    with pytest.raises(TypeError, match="In place of a loss it was given None"):
        Sandbox(MLP, SGD, [None], None, "xor")
    with pytest.raises(TypeError, match="needs a loss"):
        Sandbox(MLP, SGD, [], None, "xor")
    with pytest.raises(ValueError, match="no data set 'suns': choose one of xor, four points"):
        Sandbox(MLP, SGD, [mse], None, "suns")
    with pytest.raises(YourCodeFailed, match="A training step raised NotImplementedError"):
        plain(unfinished)
    with pytest.raises(YourCodeFailed, match=r"MLP\(2, \[4, 1\]\) raised TypeError"):
        Sandbox(lambda: None, SGD, [mse], None, "xor")
    with pytest.raises(YourCodeFailed, match="A network with one output gives one Value"):
        Sandbox(Listing, SGD, [mse], None, "xor")
    model = plain()
    with pytest.raises(YourCodeFailed, match="momentum"):
        model._SGD = lambda parameters, lr: SGD(parameters, lr)
        model.act("momentum", 0.9)


def unfinished(predictions: Any, targets: Any) -> Any:
    raise NotImplementedError


class Listing(MLP):  # type: ignore[misc, valid-type]
    def __call__(self, x: Any) -> Any:
        return [super().__call__(x)]


def test_a_loss_that_is_no_number_stops_the_training() -> None:
    model = plain(lambda p, t: mse(p, t) * factor[0])
    model.begin()
    model.act("run", None)
    factor[0] = float("nan")
    with pytest.raises(YourCodeFailed, match="The loss is nan in epoch 1"):
        model.act("tick", None)
    factor[0] = 1.0
    assert not model.running
    assert "has not been trained" in model.text()


factor = [1.0]


def test_an_object_that_cannot_be_shown_is_still_named() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise NotImplementedError

    with pytest.raises(YourCodeFailed, match="gave an object of type Shy, which is not a Value"):
        Playground(Value, lambda a: Shy(), {"a": 1.0})


# Charts, and the time of imports.


def test_charts_are_well_formed_and_have_descriptions() -> None:
    for losses in ([], [0.5], [0.0, 0.0], [1 / n for n in range(1, 5000)]):
        svg = ElementTree.fromstring(str(loss_chart(losses)))
        assert svg.get("aria-label", "").startswith("Loss by epoch")
    for sizes in ([], [0.0, 1e9, float("inf"), float("nan")]):
        ElementTree.fromstring(str(gradient_chart(sizes)))


def test_the_border_runs_where_the_decision_changes() -> None:
    side = [0.0, 1.0, 2.0]
    grid = [[[x - 0.5] for x in side] for _ in side]
    chart = plane_chart((side, side), grid, [([0.0, 0.0], 0), ([2.0, 1.0], 1)])
    assert "class 0 on 33 %, class 1 on 67 %" in chart.about
    left = chart.place(0.5, 0.0)[0]
    border = next(part for part in chart.parts if "ch-ink" in part)
    assert {x for x, _ in re.findall(r"([0-9.]+),([0-9.]+)", border)} == {f"{left:.1f}"}
    three = [[[0.5, x, 1.5] for x in side] for _ in side]
    assert "class 0 on 0 %, class 1 on 33 %, class 2 on 67 %" in (
        plane_chart((side, side), three, []).about
    )


def test_a_network_s_weights_show_by_thickness_and_by_dashes() -> None:
    weights = [[[2.0, -1.0, 0.5]]]
    drawn = str(network_drawing(weights, ["a", "b"]))
    assert drawn.count("stroke-dasharray") == 1
    assert 'class="ch-0" stroke-width="6.00"' in drawn
    assert 'class="ch-1" stroke-dasharray="6 4" stroke-width="3.00"' in drawn
    assert "A network 2 to 1, 3 weights and biases. Layer 1 has the weights 2.00, -1.00." in drawn
    wide = network_in_words([[[1.0, -2.0, 0.0]] * 4])
    assert "8 weights from -2.00 to 1.00, 4 of them negative" in wide
    ElementTree.fromstring(str(network_drawing([[[float("nan"), 0.0]]])))


def test_without_a_notebook_the_words_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "from course.interactives import step_through, playground, sandbox\n"
        "class V:\n"
        "    def __init__(self, data): self.data, self.grad, self._prev = data, 0.0, ()\n"
        "playground(V, lambda a: a, a=2.0); step_through(V(3.0))\n"
        "import sys; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "a = 2.0 give a = 2.0." in done.stdout
    assert "The leaves are given: v1 = 3.0." in done.stdout
    heavy = {"autograder", "IPython", "ipywidgets", "anywidget", "matplotlib", "numpy"}
    assert not heavy & set(done.stdout.split())
