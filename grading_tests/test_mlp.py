"""The hidden tests of `mlp`.

Each test's docstring is what a student reads when it fails. Weights are set by hand through
`parameters()`, so it does not matter how a network starts out. Training is tried on some of the
tasks that students are told of, so that luck plays no part.
"""

from __future__ import annotations

import math

import pytest

from autograder.networks import (
    TrainingGround,
    answers,
    borders,
    filled,
    network_answer,
    neuron_answer,
    parameter_count,
    parameters,
)
from autograder.testing import close, exercise, is_node, leaf
from course.datasets import four_points, moons, xor

SEEDS = range(10)
"""What students are told that their training must work for; see benchmarks/thresholds.py."""


@pytest.fixture
def number(rng):
    """Draws numbers of either sign, away from 0 and small enough for tanh not to saturate."""
    return lambda: rng.choice([-1, 1]) * rng.uniform(0.3, 1.2)


@pytest.fixture
def numbers(number):
    return lambda count: [number() for _ in range(count)]


def data_of(student, answer):
    """The numbers in a model's answer, be it a Value or several."""
    values = student.items(answer) if isinstance(answer, (list, tuple)) else [answer]
    return student.attributes(values, "data")


def distinct(nodes):
    return len(set(nodes)) == len(nodes)


def with_opposite(values):
    """The values and their opposites: whatever sum they are the weights of, relu bends one."""
    return values, [-value for value in values]


@exercise("module")
class TestModule:
    def module(self, student, nodes):
        """A module of our own, with the student's as its base, that has these parameters."""
        methods = {"__init__": lambda self: None, "parameters": lambda self: nodes}
        return student.define_class("Ours", methods, [student.Module])()

    def test_has_no_parameters_of_its_own(self, student):
        """A Module on its own has no parameters, and zeroing none is no error."""
        module = student.Module()
        assert student.items(module.parameters()) == []
        module.zero_grad()
        assert student.items(module.parameters()) == []

    def test_zero_grad(self, student, numbers):
        """`zero_grad()` sets the gradient of every parameter to 0.0, and leaves the numbers."""
        data = numbers(4)
        nodes = [leaf(student, a, -2 * a) for a in data]
        self.module(student, nodes).zero_grad()
        numbers_after, grads = (student.attributes(nodes, name) for name in ("data", "grad"))
        assert numbers_after == data and grads == [0.0] * 4

    def test_asks_each_time(self, student, numbers):
        """`zero_grad()` asks `parameters()` each time: two modules do not get mixed up."""
        first, second = ([leaf(student, a, a) for a in numbers(2)] for _ in range(2))
        ours, other = self.module(student, first), self.module(student, second)
        ours.zero_grad()
        assert 0.0 not in student.attributes(second, "grad")
        other.zero_grad()
        assert student.attributes([*first, *second], "grad") == [0.0] * 4


@exercise("neuron")
class TestNeuron:
    def test_parameters(self, student, rng):
        """There are n + 1 parameters, all different Values: the n weights, then the bias."""
        n = rng.randint(2, 5)
        neuron = student.Neuron(n)
        found = parameters(student, neuron)
        assert len(found) == n + 1 and distinct(found)
        assert found == [*student.items(neuron.w), neuron.b]
        assert parameters(student, neuron) == found

    @pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid", "linear"])
    def test_answer(self, student, numbers, activation):
        """The answer is the weighted sum plus the bias, bent by the chosen activation."""
        for _ in range(2):
            x = numbers(3)
            for values in with_opposite(numbers(4)):
                neuron = filled(student, student.Neuron(3, activation), values)
                assert neuron(x).data == close(neuron_answer(values, x, activation))

    def test_tanh_unless_told_otherwise(self, student, numbers):
        """Without a second argument the activation is tanh; it may be given by its name, too."""
        values, x = numbers(3), numbers(2)
        assert filled(student, student.Neuron(2), values)(x).data == close(neuron_answer(values, x))
        named = filled(student, student.Neuron(2, activation="linear"), values)
        assert named(x).data == close(neuron_answer(values, x, "linear"))

    def test_gradients(self, student, reference, numbers):
        """After backward, every weight and the bias hold their gradient."""
        for activation in ("tanh", "relu", "sigmoid", "linear"):
            x = numbers(3)
            for values in with_opposite(numbers(4)):
                neuron = filled(student, student.Neuron(3, activation), values)
                neuron(x).backward()
                nodes = [reference.Value(value) for value in values]
                neuron_answer(nodes, x, activation).backward()
                expected = reference.attributes(nodes, "grad")
                assert student.attributes(parameters(student, neuron), "grad") == close(expected)

    def test_answers_anew(self, student, numbers):
        """A neuron answers anew each time: at another point, and when its weights have moved."""
        neuron, points = student.Neuron(2), [numbers(2), numbers(2)]
        for values in (numbers(3), numbers(3)):
            filled(student, neuron, values)
            found = [neuron(x).data for x in points]
            assert found == close([neuron_answer(values, x) for x in points])

    def test_inputs_may_be_values(self, student, reference, numbers):
        """The inputs may be Values, and then they get their gradients as well."""
        values, x = numbers(3), numbers(2)
        neuron = filled(student, student.Neuron(2), values)
        inputs = [leaf(student, a) for a in x]
        neuron(inputs).backward()
        nodes = [reference.Value(a) for a in x]
        neuron_answer(values, nodes).backward()
        assert student.attributes(inputs, "grad") == close(reference.attributes(nodes, "grad"))

    def test_starts_at_random(self, student):
        """The weights start out different from one another and from those of other neurons."""
        first, second = (
            student.attributes(student.items(student.Neuron(20).w), "data") for _ in range(2)
        )
        assert len(set(first)) > 1 and first != second


@exercise("layer")
class TestLayer:
    def test_neurons(self, student, rng):
        """`neurons` holds as many neurons as there are outputs, all different."""
        n = rng.randint(3, 6)
        layer = student.Layer(2, n)
        neurons = student.items(layer.neurons)
        assert len(neurons) == n and distinct(neurons)
        assert distinct([neuron.b for neuron in neurons])

    def test_parameters(self, student):
        """`parameters()` is one flat list, neuron by neuron: (inputs + 1) times outputs."""
        layer = student.Layer(3, 4)
        found = parameters(student, layer)
        assert found == [p for n in student.items(layer.neurons) for p in parameters(student, n)]
        assert len(found) == 16 and distinct(found)

    @pytest.mark.parametrize("activation", ["tanh", "relu", "linear"])
    def test_several_outputs(self, student, numbers, activation):
        """Several neurons give a list of their answers, each bent by the layer's activation."""
        x = numbers(2)
        named = [] if activation == "tanh" else [activation]
        for values in with_opposite(numbers(9)):
            layer = filled(student, student.Layer(2, 3, *named), values)
            expected = network_answer(values, x, [2, 3], [activation])
            assert student.attributes(student.items(layer(x)), "data") == close(expected)

    def test_one_output(self, student, numbers):
        """A layer with a single neuron gives its Value, not a list."""
        values, x = numbers(4), numbers(3)
        layer = filled(student, student.Layer(3, 1), values)
        answer = layer(x)
        assert is_node(answer) and answer.data == close(neuron_answer(values, x))


@exercise("mlp")
class TestMlp:
    def test_counts(self, student):
        """`MLP(3, [4, 4, 1])` has three layers and 41 parameters, all different."""
        network = student.MLP(3, [4, 4, 1])
        found = parameters(student, network)
        assert len(found) == 41 and distinct(found)
        layers = student.items(network.layers)
        assert len(layers) == 3
        assert found == [p for layer in layers for p in parameters(student, layer)]

    @pytest.mark.parametrize("sizes", [[3, 1], [4, 2, 1], [2, 3], [3]], ids=str)
    def test_answer(self, student, rng, numbers, sizes):
        """Each layer is fed with the answers of the one before; all activations are tanh."""
        n = rng.choice([n for n in (2, 3, 4, 5) if n not in sizes])
        shape = [n, *sizes]
        values, x = numbers(parameter_count(shape)), numbers(n)
        answer = filled(student, student.MLP(n, sizes), values)(x)
        expected = network_answer(values, x, shape, ["tanh"] * len(sizes))
        assert data_of(student, answer) == close(expected)

    def test_linear_output(self, student, numbers):
        """With `linear_output=True` the last layer does not bend, and all others do."""
        for sizes in ([3, 1], [2, 2, 2], [2]):
            shape = [2, *sizes]
            values, x = [4 * value for value in numbers(parameter_count(shape))], numbers(2)
            answer = filled(student, student.MLP(2, sizes, linear_output=True), values)(x)
            activations = ["tanh"] * (len(sizes) - 1) + ["linear"]
            assert data_of(student, answer) == close(network_answer(values, x, shape, activations))

    def test_gradients(self, student, reference, numbers):
        """After backward, the parameters of all layers hold their gradients."""
        values, x = numbers(17), numbers(2)
        network = filled(student, student.MLP(2, [4, 1]), values)
        network(x).backward()
        nodes = [reference.Value(value) for value in values]
        network_answer(nodes, x, [2, 4, 1], ["tanh", "tanh"])[0].backward()
        found = student.attributes(parameters(student, network), "grad")
        assert found == close(reference.attributes(nodes, "grad"))

    def test_leaves_the_sizes_alone(self, student):
        """The list of sizes may be used again: it stays as it was."""
        sizes = student.repeated(2, 3)
        counts = [len(parameters(student, student.call(student.MLP, 4, sizes))) for _ in range(2)]
        assert counts == [22, 22] and student.items(sizes) == [2, 2, 2]


@exercise("linear_sequential")
class TestLinearSequential:
    def test_linear_parameters(self, student, rng):
        """A `Linear` has (inputs + 1) times outputs different parameters, which start at random."""
        n, m = rng.randint(10, 12), rng.randint(2, 4)
        found, others = (parameters(student, student.Linear(n, m)) for _ in range(2))
        assert len(found) == (n + 1) * m and distinct(found)
        start = student.attributes(found, "data")
        assert len(set(start[:n])) > 1 and start[:n] != start[n + 1 : 2 * n + 1]
        assert start != student.attributes(others, "data")

    def test_linear_answers(self, student, numbers):
        """A `Linear` gives weighted sums plus biases, without a bend, output by output."""
        for outputs in (1, 3):
            values, x = numbers(3 * outputs), numbers(2)
            answer = filled(student, student.Linear(2, outputs), values)(x)
            assert is_node(answer) == (outputs == 1)
            expected = network_answer(values, x, [2, outputs], ["linear"])
            assert data_of(student, answer) == close(expected)

    def test_sequential_feeds_one_part_with_the_next(self, student, numbers):
        """`Sequential` feeds its parts one after another, in the order in which they are given."""
        a, b, c = numbers(3)
        parts = [student.define_class("Part", {
            "__call__": lambda self, x, f=f: f(x), "parameters": lambda self: []
        })() for f in (lambda x: x * a, lambda x: x + b, lambda x: x * x)]  # fmt: skip
        answer = student.Sequential(*parts)(leaf(student, c))
        assert answer.data == close((c * a + b) ** 2)

    def test_sequential_parameters(self, student):
        """The parameters of a `Sequential` are those of its parts, whatever parts, in one list."""
        inner = student.Sequential(student.Linear(2, 3), student.Tanh())
        parts = [inner, student.Linear(3, 2)]
        found = parameters(student, student.Sequential(*parts))
        assert found == [p for part in parts for p in parameters(student, part)]
        assert len(found) == 17

    def test_same_network_both_ways(self, student, reference, numbers):
        """With the same parameters it is the same network as an MLP: answers and gradients."""
        values, x = numbers(17), numbers(2)
        network = student.Sequential(student.Linear(2, 4), student.Tanh(), student.Linear(4, 1))
        answer = filled(student, network, values)(x)
        nodes = [reference.Value(value) for value in values]
        [expected] = network_answer(nodes, x, [2, 4, 1], ["tanh", "linear"])
        assert answer.data == close(expected.data)
        answer.backward()
        expected.backward()
        found = student.attributes(parameters(student, network), "grad")
        assert found == close(reference.attributes(nodes, "grad"))


class Loss:
    """What must hold for a loss of predictions and targets.

    `loss` calls the student's function; `formula` gives the right loss of one pair of numbers,
    and `slope` its derivative by the prediction; `pairs` draws predictions and targets.
    """

    def test_value(self, student, rng):
        """The number is right, for one sample and for several: the mean, not the sum."""
        for count in (1, 3, 4):
            predictions, targets = self.pairs(rng, count)
            found = self.loss(student, [student.Value(p) for p in predictions], targets)
            assert found.data == close(sum(map(self.formula, predictions, targets)) / count)

    def test_gradients(self, student, rng):
        """Every prediction can be reached from the loss and gets its gradient."""
        predictions, targets = self.pairs(rng, 5)
        nodes = [student.Value(p) for p in predictions]
        self.loss(student, nodes, targets).backward()
        slopes = [self.slope(p, t) / 5 for p, t in zip(predictions, targets, strict=True)]
        assert student.attributes(nodes, "grad") == close(slopes)


@exercise("mse")
class TestMse(Loss):
    def loss(self, student, nodes, targets):
        return student.mse(nodes, targets)

    def pairs(self, rng, count):
        return [[rng.uniform(-3, 3) for _ in range(count)] for _ in range(2)]

    def formula(self, p, t):
        return (p - t) ** 2

    def slope(self, p, t):
        return 2 * (p - t)

    def test_targets_may_be_values(self, student, rng):
        """The targets may be Values as well."""
        predictions, targets = self.pairs(rng, 3)
        nodes, wanted = ([student.Value(a) for a in each] for each in (predictions, targets))
        expected = sum(map(self.formula, predictions, targets)) / 3
        assert student.mse(nodes, wanted).data == close(expected)


@exercise("bce")
class TestBce(Loss):
    def loss(self, student, nodes, targets):
        return student.bce(nodes, targets)

    def pairs(self, rng, count):
        logits = [rng.choice([-1, 1]) * rng.uniform(0.2, 4) for _ in range(count)]
        return logits, [float(i % 2) for i in range(count)]

    def formula(self, z, t):
        return math.log(1 + math.exp(z)) - t * z

    def slope(self, z, t):
        return 1 / (1 + math.exp(-z)) - t

    def test_in_the_middle(self, student):
        """At exactly 0 the loss is the logarithm of 2, its gradient one half minus the target."""
        for target in (0.0, 1.0):
            z = student.Value(0.0)
            loss = student.bce([z], [target])
            assert loss.data == close(math.log(2))
            loss.backward()
            assert z.grad == close(0.5 - target)

    @pytest.mark.parametrize("target", [0.0, 1.0])
    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign, target):
        """Far out, as at 1000 and at -1000, the loss and its gradient are right."""
        a = rng.uniform(900, 1000)
        z = student.Value(sign * a)
        loss = student.bce([z], [target])
        wrong = (sign > 0) != (target > 0)
        assert loss.data == close(a if wrong else 0.0)
        loss.backward()
        assert z.grad == close(sign if wrong else 0.0)


@exercise("hinge")
class TestHinge(Loss):
    def loss(self, student, nodes, targets):
        return student.hinge(nodes, targets)

    def pairs(self, rng, count):
        targets = [float(rng.choice([-1, 1])) for _ in range(count)]
        # In turn close to the border, on the wrong side and clear of it.
        ranges = [(0.2, 0.8), (-2.0, -0.2), (1.2, 3.0)]
        return [t * rng.uniform(*ranges[i % 3]) for i, t in enumerate(targets)], targets

    def formula(self, s, t):
        return max(0.0, 1 - t * s)

    def slope(self, s, t):
        return -t if t * s < 1 else 0.0


@exercise("cross_entropy")
class TestCrossEntropy:
    def expected(self, logits, target):
        """The loss and its derivatives by the logits: probability minus target."""
        powers = [math.exp(z) for z in logits]
        probabilities = [power / sum(powers) for power in powers]
        slopes = [p - (i == target) for i, p in enumerate(probabilities)]
        return -math.log(probabilities[target]), slopes

    def test_value(self, student, rng):
        """The loss is minus the logarithm of the right class's probability."""
        for count in (2, 3, 5):
            logits = [rng.uniform(-3, 3) for _ in range(count)]
            for target in range(count):
                found = student.cross_entropy([student.Value(z) for z in logits], target)
                assert found.data == close(self.expected(logits, target)[0])

    def test_equal_logits(self, student, rng):
        """Where several logits are the largest, each of them counts."""
        a = rng.uniform(-3, 3)
        logits = [a, a - rng.uniform(0.5, 2), a]
        for target in range(3):
            nodes = [student.Value(z) for z in logits]
            loss = student.cross_entropy(nodes, target)
            expected, slopes = self.expected(logits, target)
            assert loss.data == close(expected)
            loss.backward()
            assert student.attributes(nodes, "grad") == close(slopes)

    def test_gradients(self, student, rng):
        """Every logit gets its gradient: its probability, minus 1 for the right class."""
        logits, target = [rng.uniform(-3, 3) for _ in range(4)], rng.randrange(4)
        nodes = [student.Value(z) for z in logits]
        (student.cross_entropy(nodes, target) * 3).backward()
        slopes = [3 * slope for slope in self.expected(logits, target)[1]]
        assert student.attributes(nodes, "grad") == close(slopes)

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign):
        """Far out, as with logits of 1000 or of -1000, the loss and its gradients are right."""
        far, near = sign * 1000.0, sign * 1000.0 - rng.uniform(0.5, 2)
        nodes = [student.Value(z) for z in (near, far, -far)]
        for target, logit in enumerate((near, far, -far)):
            top = max(far, -far)
            rest = sum(math.exp(z - top) for z in (near, far, -far))
            found = student.cross_entropy(nodes, target)
            assert found.data == close(top + math.log(rest) - logit)
        found.backward()
        slopes = [math.exp(z - top) / rest for z in (near, far, -far)]
        slopes[2] -= 1
        assert student.attributes(nodes, "grad") == close(slopes)


@exercise("sgd")
class TestSgd:
    def stepped(self, student, start, gradients, **settings):
        """The parameters after one step for each row of gradients, and what they should be."""
        nodes = [student.Value(a) for a in start]
        lr = settings.pop("lr", 0.1)
        optimizer = student.SGD(nodes, lr, **settings)
        momentum, decay = settings.get("momentum", 0.0), settings.get("weight_decay", 0.0)
        expected, velocities = list(start), [0.0] * len(start)
        for row in gradients:
            for node, gradient in zip(nodes, row, strict=True):
                node.grad = gradient
            optimizer.step()
            for i, gradient in enumerate(row):
                velocities[i] = momentum * velocities[i] + gradient + decay * expected[i]
                expected[i] -= lr * velocities[i]
        return student.attributes(nodes, "data"), expected

    @pytest.mark.parametrize(
        "settings",
        [{}, {"momentum": 0.9}, {"weight_decay": 0.3}, {"momentum": 0.5, "weight_decay": 0.2}],
        ids=lambda settings: "-".join(settings) or "plain",
    )
    def test_steps(self, student, rng, numbers, settings):
        """Several steps, each with its own gradients, lead where the formula says."""
        lr = rng.uniform(0.05, 0.3)
        gradients = [numbers(3) for _ in range(4)]
        found, expected = self.stepped(student, numbers(3), gradients, lr=lr, **settings)
        assert found == close(expected)

    def test_learning_rate_may_change(self, student, numbers):
        """`lr` is an attribute, and a step uses what it holds at that time."""
        a, g = numbers(2)
        p = leaf(student, a, g)
        optimizer = student.SGD([p], lr=0.1)
        optimizer.lr = 0.5
        optimizer.step()
        assert p.data == close(a - 0.5 * g)

    def test_zero_grad(self, student, numbers):
        """`zero_grad()` zeroes the gradients, and leaves numbers and velocities as they are."""
        a, g = numbers(2)
        nodes = [leaf(student, a, g), leaf(student, a, g)]
        optimizer = student.SGD(nodes, lr=0.1, momentum=0.5)
        optimizer.step()
        optimizer.zero_grad()
        assert student.attributes(nodes, "grad") == [0.0, 0.0]
        assert student.attributes(nodes, "data") == close([a - 0.1 * g] * 2)
        optimizer.step()
        student.set_all(nodes, "grad", [g, g])
        optimizer.step()
        # The velocity was g, then half of it, then half of that and another g.
        assert student.attributes(nodes, "data") == close([a - 0.1 * (1 + 0.5 + 1.25) * g] * 2)

    def test_leaves_the_gradients(self, student, numbers):
        """A step moves the numbers and leaves the gradients: `zero_grad()` alone zeroes them."""
        gradients = numbers(3)
        nodes = [leaf(student, a, g) for a, g in zip(numbers(3), gradients, strict=True)]
        student.SGD(nodes, lr=0.1).step()
        assert student.attributes(nodes, "grad") == gradients

    def test_two_optimizers(self, student, numbers):
        """Two optimizers know nothing of each other's velocities: a new one starts from 0."""
        a, b, g, h = numbers(4)
        p, q = leaf(student, a, g), leaf(student, b, h)
        for node in (p, q, p):
            student.SGD([node], lr=0.1, momentum=0.9).step()
        assert [p.data, q.data] == close([a - 0.2 * g, b - 0.1 * h])


@exercise("schedule")
class TestSchedule:
    def test_formula(self, student, rng):
        """The rate is lr / (1 + decay · step)."""
        for _ in range(4):
            lr, step, decay = rng.uniform(0.1, 2), rng.randint(2, 300), rng.uniform(0.002, 0.5)
            assert student.decayed(lr, step, decay) == close(lr / (1 + decay * step))

    def test_beginning_and_default(self, student, rng):
        """At step 0 it is the full rate; unless told otherwise, decay is 0.01."""
        lr, step = rng.uniform(0.1, 2), rng.randint(20, 300)
        assert student.decayed(lr, 0, 0.5) == close(lr)
        assert student.decayed(lr, step) == close(lr / (1 + 0.01 * step))


@exercise("train")
class TestTrain:
    @pytest.fixture
    def ground(self, student, rng):
        """Makes a training ground with so many samples."""
        return lambda count, **more: TrainingGround(student, rng.uniform(0.2, 0.8), count, **more)

    def test_one_loss_an_epoch(self, ground, rng):
        """There is one plain number an epoch: the loss as it was before the step."""
        here, epochs = ground(3), rng.randint(3, 5)
        assert here.run(epochs) == close(here.losses) and len(here.losses) == epochs

    def test_gradients(self, ground):
        """When the optimizer makes its step, the gradients are those of this batch alone."""
        here = ground(4)
        here.run(4)
        assert here.right == [True] * 4

    def test_leftovers(self, ground, number):
        """Gradients that were left over from before make no difference."""
        here = ground(3, leftover=number())
        here.run(2)
        assert here.right == [True] * 2

    def test_all_at_once(self, ground):
        """Without a batch size, a batch holds every sample, each with its own target."""
        here = ground(5)
        here.run(2)
        assert len(here.batches) == 2 and all(here.saw_every_sample([b]) for b in here.batches)

    @pytest.mark.parametrize(("count", "size"), [(12, 4), (6, 1)], ids=["four", "one"])
    def test_batches(self, ground, count, size):
        """With a batch size, each epoch makes a step a batch, and sees every sample once."""
        here, steps = ground(count), count // size
        here.run(2, size)
        assert list(map(len, here.batches)) == [size] * 2 * steps
        for epoch in (here.batches[:steps], here.batches[steps:]):
            assert here.saw_every_sample(epoch)
        assert here.right == [True] * 2 * steps

    def test_mean_of_the_batches(self, ground):
        """An epoch's number is the mean of its batches' losses."""
        here = ground(8)
        first, second = here.run(2, 2)
        assert first == close(sum(here.losses[:4]) / 4)
        assert second == close(sum(here.losses[4:]) / 4)

    def test_the_tail(self, ground):
        """Where the samples do not divide evenly, the last ones make a smaller batch, whose loss
        counts as the others do in the epoch's mean."""
        here = ground(9)
        first, second = here.run(2, 4)
        assert sorted(map(len, here.batches[:3])) == sorted(map(len, here.batches[3:])) == [1, 4, 4]
        assert here.saw_every_sample(here.batches[:3]) and here.saw_every_sample(here.batches[3:])
        assert here.right == [True] * 6
        assert [first, second] == close([sum(here.losses[:3]) / 3, sum(here.losses[3:]) / 3])

    def test_a_batch_size_beyond_the_data(self, ground):
        """A batch size that is larger than the data means all samples at once."""
        here = ground(3)
        assert here.run(1, 50) == close(here.losses)
        assert len(here.batches) == 1 and here.saw_every_sample(here.batches)


def assert_the_seed_decides(student, train, seeds, data, points):
    """Networks trained from one seed answer the same at the points, and from another seed not.

    Where answers are rounded they may be the same there: then the networks differ in where the
    border between the classes lies.
    """
    first, second = seeds
    one, other, again = (train(*data, seed) for seed in (first, second, first))
    assert answers(student, again, points) == close(answers(student, one, points))
    if answers(student, other, points) == close(answers(student, one, points), relative=1e-6):
        assert borders(student, other, *data) != borders(student, one, *data)


@exercise("xor")
class TestXor:
    def right(self, student, seed, turned=False):
        """At how many of the four points a network trained from this seed is right."""
        inputs, targets = xor()
        targets = [1.0 - t for t in targets] if turned else targets
        model = student.train_xor(inputs, targets, seed)
        found = answers(student, model, inputs)
        return sum((a > 0.5) == (t > 0.5) for a, t in zip(found, targets, strict=True))

    # Always the same seeds: where a training is too short, these are the last to be learnt from.
    @pytest.mark.parametrize("seed", [0, 4])
    def test_learns(self, student, seed):
        """From each of the seeds 0 to 9 the network learns XOR: all four points are right."""
        assert self.right(student, seed) == 4

    def test_learns_the_opposite(self, student):
        """From each of the seeds 0 to 9 the network learns the opposite of XOR as well."""
        assert self.right(student, 0, turned=True) == 4

    def test_the_seed_decides(self, student, rng):
        """The same seed gives the same network, and another seed gives another one."""

        # Between the four points: on them, whoever has trained for long answers just the targets.
        points = [[rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)] for _ in range(4)]
        seeds = rng.sample(SEEDS, 2)
        assert_the_seed_decides(student, student.train_xor, seeds, xor(), points)


@exercise("four_points")
class TestFourPoints:
    def trained(self, student, seed, sign=1):
        """The mean squared error of a network trained from this seed, and its losses."""
        inputs, targets = four_points()
        targets = [sign * t for t in targets]
        model, losses = student.items(student.train_four_points(inputs, targets, seed))
        found = answers(student, model, inputs)
        error = sum((a - t) ** 2 for a, t in zip(found, targets, strict=True)) / 4
        return error, student.items(losses)

    @pytest.mark.parametrize("sign", [1, -1], ids=["straight", "turned"])
    def test_learns(self, student, rng, sign):
        """From each of the seeds 0 to 9, targets turned round or not, the error is below 0.01."""
        assert self.trained(student, rng.choice(SEEDS), sign)[0] < 0.01

    def test_the_seed_decides(self, student, rng):
        """The same seed gives the same network, and another seed gives another one."""

        def train(*given):
            return student.items(student.train_four_points(*given))[0]

        data = four_points()
        seeds = rng.sample(SEEDS, 2)
        assert_the_seed_decides(student, train, seeds, data, data[0])

    def test_losses(self, student, rng):
        """The second result is the list of losses, at most 200, which have fallen."""
        losses = self.trained(student, rng.choice(SEEDS))[1]
        assert all(type(loss) in (int, float) for loss in losses)
        assert 2 <= len(losses) <= 200 and losses[-1] < losses[0]


@exercise("moons")
class TestMoons:
    @pytest.mark.parametrize("sign", [1, -1], ids=["straight", "turned"])
    def test_learns(self, student, rng, sign):
        """For each of the seeds 0 to 9, also with targets turned round, 92 % are right, of the
        points that were given and of fresh ones."""
        seed = rng.choice(SEEDS)
        inputs, targets = moons(40, 0.1, seed)
        model = student.train_moons(inputs, [sign * t for t in targets], seed)
        for points, truth in ((inputs, targets), moons(200, 0.1, 1000 + seed)):
            found = answers(student, model, points)
            right = sum((a > 0) == (sign * t > 0) for a, t in zip(found, truth, strict=True))
            assert right >= 0.92 * len(points)

    def test_the_seed_decides(self, student):
        """The same seed gives the same network, and another seed gives another one."""
        # Always the same moons and seeds: with these the border takes the least time to bend.
        data = moons(40, 0.1, 5)
        assert_the_seed_decides(student, student.train_moons, (3, 4), data, data[0][:8])
