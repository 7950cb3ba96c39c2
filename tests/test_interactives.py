"""The stepper, the playground and the XOR trainer, without a browser: what they show and say."""

from __future__ import annotations

import linecache
import random
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.course_folder.assignments import find_course, load_assignment
from course.interactives.charts import decision_svg, loss_svg
from course.interactives.model import Control, Model, YourCodeFailed
from course.interactives.playing import Playground
from course.interactives.stepping import Stepper
from course.interactives.training import AT_MOST, GOAL, XorTraining
from networks import classes

BACKWARD = load_assignment(find_course(), "backward")
RIGHT = BACKWARD.namespace()
Value: Any = RIGHT["Value"]
MLP, mse, SGD = classes(Value)


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


def test_every_node_is_drawn_as_far_as_it_is_known() -> None:
    stepper = Stepper(neuron())
    stepper.begin()
    assert "n: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 5)
    assert "n: data 0.8814, grad 0.0, from s plus b [marked: forward]" in stepper.text()
    assert "o: data ?, grad 0.0" in stepper.text()
    stepper.act("step", 8)
    assert "o: data 0.7071, grad 1.0, from tanh of n, root [marked: backward]" in stepper.text()
    assert "n: data 0.8814, grad 0.5" in stepper.text()


def test_a_page_without_controls_tells_all_steps() -> None:
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


def test_the_gradients_are_left_as_they_were() -> None:
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
    wrong = BACKWARD.namespace(**{exercise: known[mistake].source})["Value"]
    assert shown in said(Stepper(named("c", build(wrong(0.5, label="a")))))


def test_a_backward_step_that_was_called_and_not_stored_is_explained() -> None:
    known = {each.id: each for each in BACKWARD.exercises["exp"].mistakes}
    wrong = BACKWARD.namespace(exp=known["exp.called_not_stored"].source)["Value"]
    with pytest.raises(TypeError, match=r"node c has None as `_backward`.+without calling it"):
        Stepper(named("c", wrong(0.5).exp()))


def test_a_gradient_that_lands_elsewhere_is_told() -> None:
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


# The playground.


def sanity(a: Any, b: Any, c: Any) -> Any:
    return (a * b + c) ** 2


def play(**starts: float) -> Playground:
    return Playground(Value, sanity, {"a": 2.0, "b": -3.0, "c": 10.0, **starts})


def test_inputs_move_and_gradients_make_promises() -> None:
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
    bare = load_assignment(find_course(), "value").namespace()["Value"]
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


def test_code_that_raises_is_told_with_the_student_s_own_line_alone() -> None:
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


def test_defaults_are_starts() -> None:
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


# Training on XOR.


def run_until_it_stops(model: XorTraining) -> None:
    model.act("run", None)
    while model.running:
        model.act("tick", None)


def test_training_learns_step_by_step() -> None:
    model = XorTraining(MLP, mse, SGD)
    assert "4 of 4 right" in model.text()  # what a page without controls keeps
    model.begin()
    assert model.epoch == 0 and "has not been trained" in model.text()
    model.act("step", None)
    assert model.epoch == 1 and model.news.startswith("Epoch 1, loss ")
    run_until_it_stops(model)
    assert model.losses[-1] < GOAL and model.epoch < AT_MOST
    assert model.news.startswith("Stopped.") and model.news.endswith("4 of 4 right.")
    assert "0 xor 1 is 1; the network says 0.9" in model.text()


def test_the_same_seed_gives_the_same_network_and_leaves_random_alone() -> None:
    model = XorTraining(MLP, mse, SGD)
    model.begin()
    before = random.getstate()
    first = model.answers
    model.act("seed", 7)
    assert model.answers != first
    model.act("seed", 1)
    assert model.answers == first
    assert random.getstate() == before


def test_a_network_without_a_hidden_layer_does_not_learn_xor() -> None:
    model = XorTraining(MLP, mse, SGD)
    model.act("hidden", 0)
    model.train(300)
    assert "0 hidden units" in model.text()
    assert sum(right for *_, right in model.answers) < 4


def test_a_new_learning_rate_holds_from_now_on() -> None:
    model = XorTraining(MLP, mse, SGD)
    model.begin()
    model.act("step", None)
    model.act("rate", 3.0)
    assert model.epoch == 1
    assert model._optimizer.lr == 3.0
    assert "learning rate 3," in model.text()


def test_pause_and_late_ticks() -> None:
    model = XorTraining(MLP, mse, SGD)
    model.begin()
    model.act("run", None)
    assert control(model, "run").label == "Pause" and not control(model, "step").enabled
    model.act("run", None)
    model.act("tick", None)
    assert model.epoch == 0 and model.news.startswith("Paused.")


def test_classes_that_cannot_be_trained() -> None:
    with pytest.raises(TypeError, match="In place of mse it was given None"):
        XorTraining(MLP, None, SGD)
    with pytest.raises(YourCodeFailed, match="A training step raised NotImplementedError"):
        XorTraining(MLP, unfinished, SGD)
    with pytest.raises(YourCodeFailed, match=r"MLP\(2, \[4, 1\]\) raised TypeError"):
        XorTraining(lambda: None, mse, SGD)
    with pytest.raises(YourCodeFailed, match="A network with one output gives one Value"):
        XorTraining(Listing, mse, SGD)


def unfinished(predictions: Any, targets: Any) -> Any:
    raise NotImplementedError


class Listing(MLP):  # type: ignore[misc, valid-type]
    def __call__(self, x: Any) -> Any:
        return [super().__call__(x)]


def test_a_loss_that_is_no_number_stops_the_training() -> None:
    model = XorTraining(MLP, lambda p, t: mse(p, t) * factor[0], SGD)
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


# Charts, and what importing costs.


def test_charts_are_well_formed_and_speak() -> None:
    for losses in ([], [0.5], [0.0, 0.0], [1 / n for n in range(1, 5000)]):
        svg = ElementTree.fromstring(loss_svg(losses))
        assert svg.get("aria-label", "").startswith("Loss by epoch")
    answers = [("0 xor 0", 0.0, 0.25, True), ("1 xor 1", 0.0, 0.75, False)]
    svg = decision_svg([[0.0, float("nan")], [1.0, 0.75]], answers)
    assert "0 xor 0: 0.25; 1 xor 1: 0.75" in ElementTree.fromstring(svg).get("aria-label", "")
    assert "✓ 0.25" in svg and "✗ 0.75" in svg


def test_the_border_runs_between_the_two_kinds_of_answers() -> None:
    grid = [[0.0, 1.0], [0.0, 1.0]]
    path = ElementTree.fromstring(decision_svg(grid, [])).find("{*}path")
    assert path is not None and path.get("d", "").count("v") == 2 and "h" not in path.get("d", "")


def test_without_a_notebook_the_words_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "from course.interactives import step_through, playground, xor_trainer\n"
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
