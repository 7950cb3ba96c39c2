"""The training panel trains networks, without a browser."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from panels import control

from autograder.course_folder.course import find_course
from course.interactives import training
from course.interactives.model import YourCodeFailed
from course.interactives.tasks import TASKS, apply_loss
from course.interactives.training import AT_MOST, GOAL, TrainingPanel
from course.interactives.training_charts import gradients_in_words
from namespaces import namespace
from networks import classes

Value: Any = namespace(find_course().assignment("backward"))["Value"]
MLP, mse, SGD = classes(Value)
OWN = namespace(find_course().assignment("mlp"))
LOSSES = [OWN[name] for name in ("mse", "hinge", "bce", "cross_entropy")]


def plain(mse: Any = mse) -> TrainingPanel:
    """Return a training panel on classes with no more than the training panel needs."""
    return TrainingPanel(MLP, SGD, [mse], None, "xor")


def own(data: str = "xor") -> TrainingPanel:
    """Return a training panel on the classes of the course's notebook."""
    return TrainingPanel(OWN["MLP"], OWN["SGD"], LOSSES, OWN["Layer"], data)


def test_the_decision_boundary_is_the_first_picture_below_the_buttons() -> None:
    html = own().html()
    assert html.index(">Border<") < html.index(">Loss by epoch<") < html.index(">Network<")


def run_until_it_stops(model: TrainingPanel) -> None:
    model.act("run", None)
    while model.running:
        model.act("tick", None)


def test_the_training_panel_trains_a_network_to_its_goal_step_by_step() -> None:
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


@pytest.mark.full
@pytest.mark.parametrize("data", TASKS)
def test_a_network_learns_every_data_set_better_than_by_chance(data: str) -> None:
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
def test_every_loss_decreases_with_every_activation(loss: str, activation: str) -> None:
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


def test_each_epoch_uses_every_point_whatever_the_size_of_a_batch() -> None:
    sizes: list[int] = []

    def counting(predictions: Any, targets: Any) -> Any:
        sizes.append(len(predictions))
        return OWN["mse"](predictions, targets)

    model = TrainingPanel(OWN["MLP"], OWN["SGD"], [counting], None, "moons")
    model.act("batch", 16)
    sizes.clear()
    model.act("step", None)
    assert sizes == [16, 16, 16] and "16 points" in model.text()
    model.act("batch", "all")
    model.act("step", None)
    assert sizes[3:] == [48]


def test_vanishing_and_exploding_gradients_are_reported() -> None:
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


def test_the_training_panel_shows_the_size_of_the_engine_s_gradients() -> None:
    model = own()
    grads = [p.grad for layer in model.network.layers[:1] for p in layer.parameters()]
    size = (sum(g * g for g in grads) / len(grads)) ** 0.5
    assert model.gradients[0] == pytest.approx(size) and size > 0


def test_a_new_learning_rate_and_momentum_are_used_from_the_next_step() -> None:
    model = own()
    model.begin()
    model.act("step", None)
    model.act("rate", 3.0)
    model.act("momentum", 0.9)
    assert model.epoch == 1
    assert (model._optimizer.lr, model._optimizer.momentum) == (3.0, 0.9)
    assert "learning rate 3, momentum 0.9" in model.text()


def test_a_timer_tick_after_pause_runs_no_training_step() -> None:
    model = plain()
    model.begin()
    model.act("run", None)
    assert control(model, "run").label == "Pause" and not control(model, "step").enabled
    model.act("run", None)
    model.act("tick", None)
    assert model.epoch == 0 and model.news.startswith("Paused.")


def test_the_training_panel_exceeds_its_time_for_a_step_by_at_most_one_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches: list[int] = []
    now = [0.0]
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def slow(predictions: Any, targets: Any) -> Any:
        batches.append(len(predictions))
        now[0] += 0.03  # the time of a slow engine
        return OWN["mse"](predictions, targets)

    model = TrainingPanel(OWN["MLP"], OWN["SGD"], [slow], None, "moons")
    model.begin()
    model.act("batch", 1)
    batches.clear()
    model.act("run", None)
    model.act("tick", None)
    assert 1 <= len(batches) <= 6 and model.epoch == 0  # far from the 48 of an epoch


def test_the_training_panel_works_for_networks_without_layers_or_neurons() -> None:
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

    model = TrainingPanel(Opaque, SGD, [mse], None, "xor")
    assert "cannot be drawn" in model.text() and model.right[0] == 4
    assert "Gradient in each layer" not in model.html()


def test_the_training_panel_reports_invalid_arguments_and_student_classes_that_fail() -> None:
    with pytest.raises(TypeError, match="In place of a loss it was given None"):
        TrainingPanel(MLP, SGD, [None], None, "xor")
    with pytest.raises(TypeError, match="needs a loss"):
        TrainingPanel(MLP, SGD, [], None, "xor")
    with pytest.raises(ValueError, match="no data set 'suns': choose one of xor, four points"):
        TrainingPanel(MLP, SGD, [mse], None, "suns")
    with pytest.raises(YourCodeFailed, match="A training step raised NotImplementedError"):
        plain(unfinished)
    with pytest.raises(YourCodeFailed, match=r"MLP\(2, \[4, 1\]\) raised TypeError"):
        TrainingPanel(lambda: None, SGD, [mse], None, "xor")
    with pytest.raises(YourCodeFailed, match="A network with one output gives one Value"):
        TrainingPanel(Listing, SGD, [mse], None, "xor")
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
