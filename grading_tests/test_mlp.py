"""The hidden tests of `mlp`.

Each test's docstring is what a student reads when it fails. Weights are set by hand through
`parameters()`, so it does not matter how a network starts out. Trainings are tried on some of the
twenty tasks that students are told of.
"""

from __future__ import annotations

import math
import statistics
from itertools import combinations, cycle

import pytest

from autograder.testing import broad, close, exercise, extra, is_object
from course.datasets import four_points, moons, xor
from graphs import leaf
from networks import (
    TrainingGround,
    answers,
    assert_one_network_for_all_points,
    assert_the_seed_decides,
    network_answer,
    network_answers,
    parameter_count,
    parameters,
    trained,
)

BENDS = ("tanh", "relu", "sigmoid", "linear")


@pytest.fixture
def number(rng):
    """Draws numbers of either sign, away from 0 and small enough for tanh not to saturate."""
    return lambda: rng.choice([-1, 1]) * rng.uniform(0.3, 1.2)


@pytest.fixture
def modules(student):
    """The helpers of remote/modules.py."""
    return student.remote.modules


def total(answer):
    """A sum in which each of a model's answers, one or several, has a weight of its own."""
    first, *others = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    return sum((weight * value for weight, value in enumerate(others, 2)), first)


def with_opposite(weights):
    """The weights and their opposites: whatever sum they make, relu bends one of both."""
    return weights, [-weight for weight in weights]


def assert_answer(modules, model, shape, bends, weights, x):
    """That a network with these parameters answers at x as its formula does."""
    found = modules.answers_at(modules.filled(model, weights), [x])
    assert found == close([network_answer(weights, x, shape, bends)])


@exercise("module")
class TestModule:
    def test_has_no_parameters_of_its_own(self, student):
        """A Module on its own has no parameters, and zeroing none is no error."""
        module = student.Module()
        assert parameters(module) == []
        module.zero_grad()

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` sets the gradient of every parameter to 0.0, and leaves the numbers."""
        data, grads = numbers(3) * 2, [0.0, 1e-9, -0.3, 500.0, -1e9, 0.3]
        nodes = [leaf(student, a, grad) for a, grad in zip(data, grads, strict=True)]
        modules.with_parameters(student.Module, nodes).zero_grad()
        assert [[node.data, node.grad] for node in nodes] == [[a, 0.0] for a in data]

    def test_asks_each_time(self, student, modules, numbers):
        """`zero_grad()` asks `parameters()` each time: what a module gets later belongs to it."""
        data = numbers(3)
        nodes = [leaf(student, a, a) for a in data]
        held = student.remote.builtins.list(nodes[:1])
        module = modules.with_parameters(student.Module, held)
        module.zero_grad()
        assert [node.grad for node in nodes] == [0.0, *data[1:]]
        held.append(nodes[1])
        module.zero_grad()
        assert [node.grad for node in nodes] == [0.0, 0.0, data[2]]


class Model:
    """What must hold for neurons, layers and networks.

    `models` gives some: each with its shape, the number of inputs and of neurons in each layer, and
    the activation of each layer. `make` makes one in which all neurons have `wide` inputs.
    """

    wide = 20

    def test_parameters(self, student):
        """`parameters()` is one flat list of Values, all different, the same at each call; and
        each model has its own."""
        models, shapes, _ = zip(*self.models(student), strict=True)
        found = [parameters(model) for model in models]
        assert [len(each) for each in found] == [parameter_count(shape) for shape in shapes]
        assert len({node for each in found for node in each}) == sum(map(len, found))
        assert found == [parameters(model) for model in models]

    @broad()
    def test_any_numbers(self, student, modules, numbers):
        """It answers anew at each point and after each change of its parameters, be they 0, whole,
        large or equal. The given list and earlier answers stay as they are."""
        for model, shape, bends in self.models(student):
            n, count = shape[0], parameter_count(shape)
            x, others = numbers(n), [[0.0] * n, [2] * n, [*[-7.5] * (n - 1), 60.0]]
            given = student.remote.builtins.list(x)
            for weights in (*with_opposite(numbers(count)), [0.5] * count):
                modules.filled(model, weights)
                found = modules.answers_at(model, [given, given, *others])
                points = [x, x, *others]
                assert found == close([network_answer(weights, p, shape, bends) for p in points])
            assert list(given) == x

    @broad()
    def test_gradients(self, student, reference, modules, numbers):
        """After backward every parameter holds its gradient."""
        for model, shape, bends in self.models(student):
            x, count = numbers(shape[0]), parameter_count(shape)
            for weights in (*with_opposite(numbers(count)), [0.0] * count):
                nodes = [reference.Value(weight) for weight in weights]
                total(modules.filled(model, weights)(x)).backward()
                total(network_answer(nodes, x, shape, bends)).backward()
                assert modules.gradients(model) == close([node.grad for node in nodes])

    def test_inputs_may_be_values(self, student, reference, modules, numbers):
        """The inputs may be Values, of 0 as well, and then they get their gradients."""
        for model, shape, bends in self.models(student):
            weights, x = numbers(parameter_count(shape)), [0.0, *numbers(shape[0] - 1)]
            inputs, nodes = [leaf(student, a) for a in x], [reference.Value(a) for a in x]
            total(modules.filled(model, weights)(inputs)).backward()
            total(network_answer(weights, nodes, shape, bends)).backward()
            assert [node.grad for node in inputs] == close([node.grad for node in nodes])

    def test_one_answer_or_several(self, student, numbers):
        """A single answer is a Value, and several are a list."""
        for model, shape, _ in self.models(student):
            assert is_object(model(numbers(shape[0]))) == (shape[-1] == 1)

    def test_starts_at_random(self, student, modules):
        """The weights of a neuron start out different, and as no other neuron's: neither in the
        same model nor in the next one."""
        n = self.wide
        start = [round(float(a), 6) for _ in range(2) for a in modules.numbers(self.make(student))]
        rows = [start[i : i + n] for i in range(0, len(start), n + 1)]
        assert all(max(map(row.count, row)) < 0.9 * n for row in rows)
        assert all(one != other for one, other in combinations(rows, 2))


@exercise("neuron")
class TestNeuron(Model):
    def make(self, student):
        return student.Neuron(self.wide)

    def models(self, student):
        pairs = zip((2, 1, 9, 3), BENDS, strict=True)
        return [(student.Neuron(n, bend), [n, 1], [bend]) for n, bend in pairs]

    def test_weights_and_bias(self, student):
        """`w` holds the weights, `b` the bias, and `parameters()` both: the bias comes last."""
        neuron = student.Neuron(5)
        assert parameters(neuron) == [*neuron.w, neuron.b] and len(list(neuron.w)) == 5

    @pytest.mark.parametrize("bend", BENDS)
    def test_answer(self, student, modules, numbers, bend):
        """With "{bend}" the answer is the weighted sum plus the bias, bent so; without a name, with
        tanh."""
        x = numbers(3)
        for weights in with_opposite(numbers(4)):
            neuron = student.Neuron(3, *[bend] * (bend != "tanh"))
            assert_answer(modules, neuron, [3, 1], [bend], weights, x)


@exercise("layer")
class TestLayer(Model):
    def make(self, student):
        return student.Layer(self.wide, 3)

    def models(self, student):
        sizes = [(2, 2, "relu"), (2, 10, "linear"), (3, 1, "linear")]
        return [(student.Layer(n, m, bend), [n, m], [bend]) for n, m, bend in sizes]

    def test_neurons(self, student):
        """`neurons` holds as many neurons as there are outputs, and `parameters()` is one flat list
        of theirs, neuron by neuron."""
        layer = student.Layer(2, 4)
        held = [parameters(neuron) for neuron in layer.neurons]
        assert len(held) == 4 and parameters(layer) == [node for each in held for node in each]

    @pytest.mark.parametrize("bend", BENDS)
    def test_several_outputs(self, student, modules, numbers, bend):
        """Several neurons give a list of their answers, each bent by the layer's activation."""
        x = numbers(2)
        for weights in with_opposite(numbers(9)):
            layer = student.Layer(2, 3, *[bend] * (bend != "tanh"))
            assert_answer(modules, layer, [2, 3], [bend], weights, x)


@exercise("mlp")
class TestMlp(Model):
    wide = 4

    def make(self, student):
        return student.MLP(4, [4, 4, 4])

    def models(self, student):
        network = student.MLP(2, [3, 2, 2, 1], linear_output=True)
        return [
            (student.MLP(2, [4, 1]), [2, 4, 1], ["tanh"] * 2),
            (network, [2, 3, 2, 2, 1], [*["tanh"] * 3, "linear"]),
        ]

    def test_layers(self, student):
        """`layers` holds the layers, and `parameters()` is one flat list of theirs, layer by
        layer."""
        network = student.MLP(3, [4, 4, 1])
        held = [parameters(layer) for layer in network.layers]
        assert len(held) == 3 and parameters(network) == [node for each in held for node in each]

    @pytest.mark.parametrize("sizes", [[3, 1], [2, 3], [9, 2, 2, 2, 3]], ids=str)
    def test_answer(self, student, modules, numbers, sizes):
        """Each layer is fed with the answers of the one before; all activations are tanh."""
        shape = [4, *sizes]
        network, weights = student.MLP(4, sizes), numbers(parameter_count(shape))
        assert_answer(modules, network, shape, ["tanh"] * len(sizes), weights, numbers(4))

    def test_linear_output(self, student, modules, numbers):
        """With `linear_output=True` the last layer does not bend, and all others do."""
        for sizes in ([3, 1], [2, 2, 2], [2]):
            weights = [4 * value for value in numbers(parameter_count([2, *sizes]))]
            network = student.MLP(2, sizes, linear_output=True)
            bends = [*["tanh"] * (len(sizes) - 1), "linear"]
            assert_answer(modules, network, [2, *sizes], bends, weights, numbers(2))

    def test_leaves_the_sizes_alone(self, student):
        """The list of sizes may be used again: it stays as it was."""
        sizes = student.remote.builtins.list([2, 2, 2])
        counts = [len(parameters(student.MLP(4, sizes))) for _ in range(2)]
        assert counts == [22, 22] and list(sizes) == [2, 2, 2]


@exercise("linear_sequential")
class TestLinearSequential(Model):
    def make(self, student):
        return student.Linear(self.wide, 3)

    def models(self, student):
        network = student.Sequential(student.Linear(2, 4), student.Tanh(), student.Linear(4, 1))
        return [
            (student.Linear(2, 2), [2, 2], ["linear"]),
            (network, [2, 4, 1], ["tanh", "linear"]),
        ]

    def test_linear_answers(self, student, modules, numbers):
        """A `Linear` gives weighted sums plus biases, without a bend, output by output."""
        assert_answer(modules, student.Linear(2, 3), [2, 3], ["linear"], numbers(9), numbers(2))

    def test_sequential_feeds_one_part_with_the_next(self, student, modules, numbers):
        """`Sequential` feeds its parts one after another, in the order in which they are given. One
        part may stand in several places."""
        a, b, c = numbers(3)
        times, plus, square = modules.Times(a), modules.Plus(b), modules.Square()
        network = student.Sequential(times, plus, square, times, plus)
        assert network(leaf(student, c)).data == close((c * a + b) ** 2 * a + b)

    def test_sequential_parameters(self, student, modules, number):
        """The parameters of a `Sequential` are those of its parts, whatever parts, in one list."""
        inner = student.Sequential(student.Linear(2, 3), student.Tanh())
        parts = [modules.Weighting(student.Value(number())), inner, student.Linear(3, 2)]
        found = parameters(student.Sequential(*parts))
        assert found == [node for part in parts for node in parameters(part)]
        assert len(found) == 18


def columns(pairs):
    """The first parts of pairs, and the second ones."""
    return [list(part) for part in zip(*pairs, strict=True)]


class Loss:
    """What must hold for a loss of predictions and targets.

    `formula` gives the right loss of a prediction and a target, and its derivative by the
    prediction; `pairs` are of every kind, the usual ones first.
    """

    def samples(self, rng):
        """Some predictions, each time with their targets."""
        return [columns(self.pairs(rng)[:count]) for count in (1, 3, 6)]

    def kinds(self, rng):
        """Predictions and targets of every kind: one pair, many, equal ones."""
        pairs = self.pairs(rng)
        alike = [pairs[0]] * 8 + [(pairs[0][0], pairs[1][1])]
        return [columns(each) for each in (*([pair] for pair in pairs), pairs, alike)]

    def expected(self, predictions, targets):
        """The loss, and its derivatives by the predictions."""
        losses, slopes = columns(map(self.formula, predictions, targets))
        return [statistics.fmean(losses), [slope / len(losses) for slope in slopes]]

    def outcome(self, student, predictions, target, upstream=1.0):
        """The loss, and what the predictions get from it with this upstream gradient."""
        nodes = [student.Value(p) for p in predictions]
        loss = student[self.name](nodes, target)
        (loss * upstream).backward()
        return [loss.data, [node.grad for node in nodes]]

    def test_value(self, student, rng):
        """The loss is {holds}, at a second call too: the given lists stay as they are."""
        for predictions, target in self.samples(rng):
            given = student.remote.builtins.list([student.Value(p) for p in predictions])
            found = [student[self.name](given, target).data for _ in range(2)]
            assert found == close([self.expected(predictions, target)[0]] * 2)

    def test_gradients(self, student, rng):
        """Every prediction gets its gradient."""
        tried = self.samples(rng)
        found = [self.outcome(student, *each)[1] for each in tried]
        assert found == close([self.expected(*each)[1] for each in tried])

    @broad()
    def test_any_numbers(self, student, rng):
        """It is right for any predictions, one or many, equal ones too, in a larger expression."""
        tried = list(zip(self.kinds(rng), cycle([1.0, -3.0, 0.5]), strict=False))
        found = [self.outcome(student, *each, upstream) for each, upstream in tried]
        right = [(*self.expected(*each), upstream) for each, upstream in tried]
        assert found == close([[loss, [up * s for s in slopes]] for loss, slopes, up in right])


@exercise("mse")
class TestMse(Loss):
    name = "mse"
    holds = "the mean of the squared differences between predictions and targets"

    def pairs(self, rng):
        gaps = [0.7, -1.6, 2.4, -0.3, 0.2, -2.8, 0.0, 0.01, -0.05, 7.0, -40.0, 300.0, 5e3, -1.0]
        targets = [*(rng.uniform(-3, 3) for _ in range(8)), 2, 0.0, -9.5, 0, -3, 1.0]
        return [(t + gap, t) for gap, t in zip(gaps, targets, strict=True)]

    def formula(self, p, t):
        return (p - t) ** 2, 2 * (p - t)


@exercise("bce")
class TestBce(Loss):
    name = "bce"
    holds = "the mean of minus the logarithms of the right answers' probabilities"

    def pairs(self, rng):
        sizes = [rng.uniform(0.3, 2), rng.uniform(2, 4), 0.0, 1e-4, 0.05, 8.0, 20.0, 60.0, 250.0]
        return [(z, t) for a in sizes for z, t in ((a, 1), (a, 0.0), (-a, 0), (-a, 1.0))]

    def formula(self, z, t):
        power = math.exp(-abs(z))
        loss = max(z, 0.0) - t * z + math.log1p(power)
        return loss, (1.0 if z >= 0 else power) / (1 + power) - t

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, sign):
        """Far out, as at 1000 and at -1000, the loss and its gradient are right."""
        for target in (0.0, 1.0):
            found = self.outcome(student, [sign * 1000.0], [target])
            assert found == close(self.expected([sign * 1000.0], [target]))


@exercise("hinge")
class TestHinge(Loss):
    name = "hinge"
    holds = "the mean, over the samples, of 1 minus target times score, or 0 where this is negative"

    def pairs(self, rng):
        # Close to the border, clear of it, far away and next to the margin, on either side.
        sizes = [rng.uniform(0.2, 0.8), rng.uniform(1.2, 1.8), 0.0, 0.05, 0.97, 1.03, 4.5, 60, 500]
        return [(s, t) for a in sizes for s, t in ((a, 1), (a, -1.0), (-a, -1), (-a, 1.0))]

    def formula(self, s, t):
        return max(0.0, 1 - t * s), (-t if t * s < 1 else 0.0)


@exercise("cross_entropy")
class TestCrossEntropy(Loss):
    name = "cross_entropy"
    holds = "minus the logarithm of the right class's probability"

    def samples(self, rng):
        rows = [[(-1) ** i * rng.uniform(0.2, 3) for i in range(count)] for count in (2, 3, 4)]
        return [(row, target) for row in rows for target in range(len(row))]

    def kinds(self, rng):
        a = rng.uniform(1.2, 3)
        rows = [[a], [0.0, 0.0], [a] * 9, [a, a + 0.01, a - 0.02], [3, -2, 5, 0], [0.0, 9.0, -9.0],
                [30 * a, 29 * a, -30 * a], [-200.0, -201.5], [-1000.0] * 3, [-500.0, -900.0],
                [(-1) ** i * a / (i + 1) for i in range(10)]]  # fmt: skip
        return [(row, place) for row in rows for place in {len(row) // 2, len(row) - 1}]

    def expected(self, logits, target):
        """The loss, and its derivatives by the logits: probability minus target."""
        powers = [math.exp(z - max(logits)) for z in logits]
        slopes = [power / sum(powers) - (i == target) for i, power in enumerate(powers)]
        return [math.log(sum(powers)) - (logits[target] - max(logits)), slopes]

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign):
        """Far out, as with logits of 1000 or of -1000, the loss and its gradients are right."""
        far = sign * 1000.0
        logits = [far - rng.uniform(0.5, 2), far, 0.1 * far]
        found = [self.outcome(student, logits, target) for target in range(3)]
        assert found == close([self.expected(logits, target) for target in range(3)])


SETTINGS = [
    ("Without momentum and weight decay", {}),
    pytest.param("With momentum", {"momentum": 0.9}, marks=extra()),
    pytest.param("With weight decay", {"weight_decay": 0.3}, marks=extra()),
    pytest.param("With both", {"momentum": 0.5, "weight_decay": 0.2}, marks=extra()),
]


@exercise("sgd")
class TestSgd:
    def assert_steps(self, student, start, gradients, lr, settings):
        """That one step for each row of gradients leads from the start where the formula says."""
        nodes = [student.Value(a) for a in start]
        optimizer = student.SGD(nodes, lr, **settings)
        momentum, decay = settings.get("momentum", 0.0), settings.get("weight_decay", 0.0)
        expected, velocities = list(start), [0.0] * len(start)
        for row in gradients:
            for i, gradient in enumerate(row):
                nodes[i].grad = gradient
                velocities[i] = momentum * velocities[i] + gradient + decay * expected[i]
                expected[i] -= lr * velocities[i]
            optimizer.step()
        assert [node.data for node in nodes] == close(expected)

    @pytest.mark.parametrize(("so", "settings"), SETTINGS[:3])
    def test_steps(self, student, rng, numbers, so, settings):
        """{so}, several steps, each with its own gradients, lead where the formula says."""
        gradients = [numbers(3) for _ in range(4)]
        self.assert_steps(student, numbers(3), gradients, rng.uniform(0.05, 0.3), settings)

    @pytest.mark.parametrize(("so", "settings"), SETTINGS[::3])
    @broad()
    def test_any_numbers(self, student, rng, so, settings):
        """{so}, many steps do so for parameters, gradients and rates of any size."""
        a = rng.uniform(1.2, 3.0)
        start = [a, a, -a, 0.0, 1e-5, 50.0, -50.0, 0.3, 1, 0.02]
        gradients = [0.0, 1e-6, -1e-4, 0.3, a, -9.0, 80.0, -3e3, 1e6, -0.2]
        rows = [gradients[i:] + gradients[:i] for i in range(8)]
        for lr in (1e-4, 0.7, 5.0):
            self.assert_steps(student, start, [[0.3] * 10, [0.0] * 10, *rows], lr, settings)

    @pytest.mark.parametrize(("so", "settings"), SETTINGS[:2])
    def test_learning_rate_may_change(self, student, so, settings):
        """{so}, a second step with the same gradient and another `lr` leads where the formula
        says."""
        p = leaf(student, 1.0, 2.0)
        optimizer = student.SGD([p], lr=0.1, **settings)
        optimizer.step()
        optimizer.lr = 0.5
        optimizer.step()
        assert p.data == close(1.0 - 0.1 * 2.0 - 0.5 * (1 + settings.get("momentum", 0.0)) * 2.0)

    def test_zero_grad(self, student, numbers):
        """`zero_grad()` sets gradients of any size to 0.0, at each call, and leaves the numbers."""
        data, grads = numbers(5), [0.0, 1e-9, -0.3, 500.0, -1e9]
        nodes = [leaf(student, a, grad) for a, grad in zip(data, grads, strict=True)]
        optimizer = student.SGD(nodes, lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            assert [[node.data, node.grad] for node in nodes] == [[a, 0.0] for a in data]
            nodes[0].grad = 0.3

    @extra()
    def test_zero_grad_leaves_velocities(self, student):
        """The step after `zero_grad()` goes on with the velocities, also where a gradient is 0."""
        p = leaf(student, 1.0, 2.0)
        optimizer = student.SGD([p], lr=0.1, momentum=0.5)
        for _ in range(2):
            optimizer.step()
            optimizer.zero_grad()
        # The velocity was 2, then half of it.
        assert p.data == close(1.0 - 0.1 * 2.0 - 0.1 * 1.0)


@exercise("schedule")
class TestSchedule:
    def test_formula(self, student, rng):
        """The rate is lr / (1 + decay · step), for any rate, step and decay."""
        a = rng.uniform(1.2, 3.0)
        cases = [
            (a, 1, 0.3), (a, 5000, 0.3), (a, 1, 4.0), (a, 7, 0.0), (1e-5, 30, 0.1), (40.0, 3, 0.1),
            (a, 900, 2e-6), (a, 25, 0.2), (a, 3, 0.3), (2 * a, 3, 0.3), (1e-9, 50, 0.5),
        ]  # fmt: skip
        found = [student.decayed(*case) for case in cases]
        assert found == close([lr / (1 + decay * step) for lr, step, decay in cases])

    def test_beginning_and_default(self, student, rng):
        """At step 0 it is the full rate; unless told otherwise, decay is 0.01."""
        lr = rng.uniform(0.1, 2)
        assert [student.decayed(lr, 0, 0.5), student.decayed(lr, 200)] == close([lr, lr / 3])


def parts(items, count):
    """The items in order, so many at a time."""
    return [items[i : i + count] for i in range(0, len(items), count)]


@exercise("train")
class TestTrain:
    @pytest.fixture
    def ground(self, student, rng):
        """Makes a training ground with so many samples."""
        return lambda count, **more: TrainingGround(
            student, rng.uniform(0.2, 0.8), count, rng.uniform(0.9, 1.1), **more
        )

    def assert_steps(self, here, epochs, *size):
        """That each epoch makes its steps, each with the gradients of its batch, and sees every
        sample once. Returns the epochs' numbers."""
        steps = math.ceil(len(here.samples) / size[0]) if size else 1
        found = here.run(epochs, *size)
        assert here.gradients == close(here.slopes) and len(here.gradients) == epochs * steps
        assert len(here.batches) == epochs * steps
        assert all(map(here.saw_every_sample, parts(here.batches, steps)))
        return found

    def test_one_loss_an_epoch(self, ground):
        """There is one plain number an epoch: the loss of all samples, as it was before the step.
        So it is with one sample or many, and whether the loss falls to 0 or grows."""
        for count, epochs in ((3, 4), (1, 110), (30, 10)):
            here = ground(count)
            assert here.run(epochs) == close(here.losses) and len(here.losses) == epochs

    def test_gradients(self, ground):
        """Each epoch makes one step, with every sample and its own target, and the gradients are
        then those of this loss alone. The given lists stay as they are."""
        here = ground(5)
        self.assert_steps(here, 4)
        assert here.unchanged

    def test_leftovers(self, ground, number):
        """Gradients that were left over from before make no difference: they are zeroed before the
        first backward pass."""
        self.assert_steps(ground(3, leftover=number()), 2)

    def test_any_model(self, ground):
        """Of the model nothing is asked but answers, which may be lists: the optimizer zeroes the
        gradients."""
        self.assert_steps(ground(3, bare=True), 2)

    @extra()
    @pytest.mark.parametrize(("count", "size"), [(20, 4), (6, 1)], ids=["four", "one"])
    def test_batches(self, ground, count, size):
        """With a batch size, each batch is a step, with the gradients of its own loss alone, and
        each epoch sees every sample once."""
        self.assert_steps(here := ground(count), 2, size)
        assert {len(batch) for batch in here.batches} == {size}

    @extra()
    def test_mean_of_the_batches(self, ground):
        """An epoch's number is the mean of its batches' losses. Where the samples do not divide
        evenly, the last ones make a smaller batch. The given lists stay in order."""
        here = ground(9)
        found = self.assert_steps(here, 2, 4)
        assert all(sorted(map(len, epoch)) == [1, 4, 4] for epoch in parts(here.batches, 3))
        assert found == close([*map(statistics.fmean, parts(here.losses, 3))]) and here.unchanged


class Training:
    """What must hold for a function that trains a network.

    `name` is the function's name, `task` one that a right function learns: points, targets and
    seed. `fewer` holds smaller data, which a function may refuse.
    """

    fewer = ()

    def answers(self, student, inputs, targets, seed, *more):
        """The answers of a network trained on this task: at its points, and at others."""
        training = trained(student, self.name, inputs, targets, seed)
        model = self.model(training.result)
        found = network_answers(student, model, training, inputs, targets)
        return [found, *(answers(student, model, points) for points in more)]

    def model(self, result):
        """The network, in what the function returned."""
        assert is_object(result)
        return result

    def test_the_seed_decides(self, student):
        """The same seed gives the same network, and another seed gives another one."""
        self.answers(student, *self.task)
        assert_the_seed_decides(student, self.name, self.task[:2], 3, 4)

    def test_one_network_for_all_points(self, student):
        """The points are what the network learns from: more of them need no more parameters, and
        each of them changes the whole network."""
        self.answers(student, *self.task)
        assert_one_network_for_all_points(student, self.name, 0, *self.fewer, self.task[:2])


@exercise("xor")
class TestXor(Training):
    name = "train_xor"
    task = (*xor(), 0)

    # Always the same seeds, here and below: whether a training is good enough must not depend on
    # the draw. Where it is too short, these are the last to be learnt from.
    @pytest.mark.parametrize(("seed", "what"), [(0, "XOR"), (4, "XOR"), (0, "the opposite of XOR")])
    def test_learns(self, student, seed, what):
        """From each of the seeds 0 to 9 the network learns {what}: all four points are right."""
        inputs, targets = xor()
        targets = targets if what == "XOR" else [1.0 - t for t in targets]
        [found] = self.answers(student, inputs, targets, seed)
        assert [a > 0.5 for a in found] == [t > 0.5 for t in targets]


@exercise("four_points")
class TestFourPoints(Training):
    name = "train_four_points"
    task = (*four_points(), 0)

    def model(self, result):
        model, _ = list(result)
        return model

    # A training that is too short fails at one of these, whichever network it trains.
    @pytest.mark.parametrize(("seed", "sign"), [(0, 1), (5, 1), (1, -1)])
    def test_learns(self, student, seed, sign):
        """From each of the seeds 0 to 9, targets flipped or not, the error is below 0.01."""
        inputs, targets = four_points()
        targets = [sign * t for t in targets]
        [found] = self.answers(student, inputs, targets, seed)
        assert sum((a - t) ** 2 for a, t in zip(found, targets, strict=True)) / 4 < 0.01

    def test_losses(self, student):
        """The second result is the list of losses, at most 200: those of the training that made
        the model, and they have fallen."""
        self.answers(student, *self.task)
        training = trained(student, self.name, *self.task)
        _, losses = list(training.result)
        losses, seen = [loss for loss in losses], [float(loss) for loss in training.losses]
        assert all(isinstance(loss, (int, float)) for loss in losses)
        assert 2 <= len(losses) <= min(200, len(seen) + 1) and losses[-1] < losses[0] / 2
        # Sums or means, before a step or after it: they fall about as far as those that were seen.
        part = max(1, len(seen) // len(losses))
        fall = statistics.fmean(seen[-part:]) / statistics.fmean(seen[:part])
        assert fall / 5 < losses[-1] / losses[0] < fall * 5


@exercise("moons")
class TestMoons(Training):
    name = "train_moons"
    task = (*moons(40, 0.1, 0), 0)
    fewer = (moons(10, 0.1, 0),)

    # Always the same moons: from those of seed 0, what squeezes its answers learns too little.
    @pytest.mark.parametrize(("seed", "sign"), [(8, -1), (0, 1)], ids=["turned", "straight"])
    def test_learns(self, student, seed, sign):
        """For each of the seeds 0 to 9, also with targets flipped, 92 % are right, of the
        points that were given and of fresh ones."""
        (inputs, targets), (others, fresh) = moons(40, 0.1, seed), moons(200, 0.1, 1000 + seed)
        wanted = [sign * t for t in targets], [sign * t for t in fresh]
        found = self.answers(student, inputs, wanted[0], seed, others)
        for answered, part in zip(found, wanted, strict=True):
            right = sum(a * t > 0 for a, t in zip(answered, part, strict=True))
            assert right >= 0.92 * len(part)
