"""The hidden tests of `mlp`.

Each test's docstring is what a student reads when it fails. Weights are set by hand through
`parameters()`, so it does not matter how a network starts out. Training is tried on some of the
tasks that students are told of, so that luck plays no part.
"""

from __future__ import annotations

import math
import statistics
from itertools import combinations, cycle, pairwise, product

import pytest

from autograder.testing import broad, close, exercise, extra, is_object, plain
from course.datasets import four_points, moons, xor
from graphs import behind, leaf
from networks import (
    TrainingGround,
    answers,
    assert_one_network_for_all_points,
    assert_the_seed_decides,
    network_answer,
    network_answers,
    neuron_answer,
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


def values_of(answer):
    """A model's answer as a list, be it a Value or several."""
    return list(answer) if isinstance(answer, (list, tuple)) else [answer]


def total(answer):
    """A sum in which each of a model's answers has a weight of its own."""
    first, *others = values_of(answer)
    return sum((weight * value for weight, value in enumerate(others, 2)), first)


def with_opposite(weights):
    """The weights and their opposites: whatever sum they make, relu bends one of both."""
    return weights, [-weight for weight in weights]


def distinct(nodes):
    return len(set(nodes)) == len(nodes)


def assert_answers(modules, model, shape, bends, tried):
    """That a network with these parameters answers at these points as its formula does."""
    found = [
        [value.data for value in values_of(modules.filled(model, values)(x))] for values, x in tried
    ]
    assert found == close([network_answer(values, x, shape, bends) for values, x in tried])


@exercise("module")
class TestModule:
    def test_has_no_parameters_of_its_own(self, student):
        """A Module on its own has no parameters, and zeroing none is no error."""
        module = student.Module()
        assert parameters(module) == []
        module.zero_grad()
        assert parameters(module) == []

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` sets the gradient of every parameter to 0.0, and nothing else: numbers,
        labels and operands stay."""
        a, b = numbers(2)
        w = student.Value(a, label="w")
        nodes = [w, student.Value(b, (w,), "relu", "r")]
        w.grad, nodes[1].grad = numbers(2)
        modules.with_parameters(student.Module, nodes).zero_grad()
        found = plain(student.remote.graphs.untouched(nodes))
        assert found == [[a, 0.0, "w", "", []], [b, 0.0, "r", "relu", [0]]]

    def test_asks_each_time(self, student, modules, numbers):
        """`zero_grad()` asks `parameters()` each time: two modules do not get mixed up, and what
        one is given later belongs to it."""
        data = numbers(5)
        nodes = [leaf(student, a, a) for a in data]
        held = student.remote.builtins.list(nodes[:2])
        ours, other = (modules.with_parameters(student.Module, part) for part in (held, nodes[2:4]))
        ours.zero_grad()
        assert [node.grad for node in nodes] == close([0.0, 0.0, *data[2:]])
        other.zero_grad()
        held.append(nodes[4])
        ours.zero_grad()
        assert [node.grad for node in nodes] == close([0.0] * 5)

    @broad()
    def test_any_gradients(self, student, modules, number):
        """Gradients of any size are set to 0.0, of many parameters and of equal ones."""
        grads = [0.0, 1e-9, -1e-5, 0.3, -0.3, 500.0, -500.0, 1e9, -1e9]
        for a in (number(), 0.0):
            nodes = [leaf(student, a, grad) for grad in grads]
            modules.with_parameters(student.Module, nodes).zero_grad()
            assert [node.grad for node in nodes] == [0.0] * 9


class Model:
    """What must hold for neurons, layers and networks.

    `models` gives some: each with its shape, the number of inputs and of neurons in each layer, and
    the activation of each layer. `make` makes one in which all neurons have so many inputs.
    """

    wide = 20

    @broad()
    def test_side_by_side(self, student, modules, numbers):
        """Made side by side, each lists its own parameters, answers by them, and bends as it was
        asked to."""
        made = [(*each, numbers(parameter_count(each[1]))) for each in self.models(student)]
        for model, _, _, weights in made:
            modules.filled(model, weights)
        listed = modules.numbers_of([model for model, *_ in made])
        assert listed == [weights for *_, weights in made]
        for model, shape, bends, weights in made:
            x = numbers(shape[0])
            found = [value.data for value in values_of(model(x))]
            assert found == close(network_answer(weights, x, shape, bends))

    @broad()
    def test_answers_twice(self, student, modules, numbers):
        """Asked twice with one list it answers the same, and with other parameters anew: the list
        and earlier answers stay as they are, and nothing is kept from one answer to the next."""
        for model, shape, bends in self.models(student):
            x, y = numbers(shape[0]), numbers(shape[0])
            given = student.remote.builtins.list(x)
            for weights in with_opposite(numbers(parameter_count(shape))):
                modules.filled(model, weights)
                found = modules.answers_at(model, [given, given, y])
                at_x, at_y = (network_answer(weights, point, shape, bends) for point in (x, y))
                assert found == close([at_x, at_x, at_y])
                assert list(given) == x

    @broad()
    def test_any_numbers(self, student, modules, numbers):
        """It answers anew at each point and after each change, be they 0, whole, large or equal."""
        for model, shape, bends in self.models(student):
            n, count = shape[0], parameter_count(shape)
            points = [[0.0] * n, [2] * n, [*[-7.5] * (n - 1), 60.0]]
            weights = [*with_opposite(numbers(count)), [0.5] * count]
            assert_answers(modules, model, shape, bends, [(w, x) for w in weights for x in points])

    @broad()
    def test_gradients(self, student, reference, modules, numbers):
        """After backward every parameter holds its gradient: two answers at a point are two, and
        each counts once."""
        for model, shape, bends in self.models(student):
            count = parameter_count(shape)
            x = numbers(shape[0])
            for weights in (*with_opposite(numbers(count)), [0.0] * count):
                nodes = [reference.Value(weight) for weight in weights]
                modules.filled(model, weights)
                for root in [total(model(x)) for _ in range(2)]:
                    root.backward()
                for root in [total(network_answer(nodes, x, shape, bends)) for _ in range(2)]:
                    root.backward()
                assert modules.gradients(model) == close([node.grad for node in nodes])

    def test_inputs_may_be_values(self, student, reference, modules, numbers):
        """The inputs may be Values, of 0 as well, and then they get their gradients."""
        for model, shape, bends in self.models(student):
            weights = numbers(parameter_count(shape))
            for x in (numbers(shape[0]), [0.0] * shape[0]):
                inputs, nodes = [leaf(student, a) for a in x], [reference.Value(a) for a in x]
                total(modules.filled(model, weights)(inputs)).backward()
                total(network_answer(weights, nodes, shape, bends)).backward()
                assert [node.grad for node in inputs] == close([node.grad for node in nodes])

    @broad()
    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` zeroes the gradients of all its parameters, and leaves the numbers."""
        for model, shape, _ in self.models(student):
            weights = numbers(parameter_count(shape))
            assert modules.after_zero_grad(model, weights) == close([[a, 0.0] for a in weights])

    def test_starts_at_random(self, student, modules):
        """The weights of a neuron start out different, and as no other neuron's: neither in the
        same model nor in the next one."""
        n = self.wide
        start = [float(a) for _ in range(2) for a in modules.numbers(self.make(student, n))]
        rows = [start[i : i + n] for i in range(0, len(start), n + 1)]
        assert all(max(map(row.count, row)) < 0.9 * n for row in rows)
        for one, other in combinations(rows, 2):
            assert any(abs(a - b) > 1e-6 for a, b in zip(one, other, strict=True))


@exercise("neuron")
class TestNeuron(Model):
    def make(self, student, n):
        return student.Neuron(n)

    def models(self, student):
        pairs = zip((2, 1, 9, 3), BENDS, strict=True)
        return [(student.Neuron(n, bend), [n, 1], [bend]) for n, bend in pairs]

    def test_parameters(self, student, rng):
        """There are n + 1 parameters, all different Values, at each call: the n weights, then the
        bias."""
        n = rng.randint(2, 5)
        neuron = student.Neuron(n)
        found = parameters(neuron)
        assert len(found) == n + 1 and distinct(found)
        assert found == [*neuron.w, neuron.b]
        assert parameters(neuron) == found

    @pytest.mark.parametrize("bend", BENDS)
    def test_answer(self, student, modules, numbers, bend):
        """With "{bend}" the answer is the weighted sum plus the bias, bent so."""
        x = numbers(3)
        for weights in with_opposite(numbers(4)):
            assert_answers(modules, student.Neuron(3, bend), [3, 1], [bend], [(weights, x)])

    def test_tanh_without_a_name(self, student, modules, numbers):
        """Without a second argument the activation is tanh; it may be given by its name, too."""
        tried = [(numbers(3), numbers(2))]
        assert_answers(modules, student.Neuron(2), [2, 1], ["tanh"], tried)
        named = student.Neuron(2, activation="linear")
        assert_answers(modules, named, [2, 1], ["linear"], tried)


@exercise("layer")
class TestLayer(Model):
    def make(self, student, n):
        return student.Layer(n, 3)

    def models(self, student):
        sizes = [(2, 2, "relu"), (2, 10, "linear"), (3, 1, "linear")]
        return [(student.Layer(n, m, bend), [n, m], [bend]) for n, m, bend in sizes]

    def test_neurons(self, student, rng):
        """`neurons` holds as many neurons as there are outputs, all different."""
        n = rng.randint(3, 6)
        neurons = list(student.Layer(2, n).neurons)
        assert len(neurons) == n and distinct(neurons)
        assert distinct([neuron.b for neuron in neurons])

    def test_parameters(self, student):
        """`parameters()` is one flat list, neuron by neuron: (inputs + 1) times outputs."""
        layer = student.Layer(3, 4)
        found = parameters(layer)
        assert found == [node for neuron in layer.neurons for node in parameters(neuron)]
        assert len(found) == 16 and distinct(found)

    @pytest.mark.parametrize("bend", BENDS)
    def test_several_outputs(self, student, modules, numbers, bend):
        """Several neurons give a list of their answers, each bent by the layer's activation."""
        x = numbers(2)
        for weights in with_opposite(numbers(9)):
            layer = student.Layer(2, 3, *[bend] * (bend != "tanh"))
            assert_answers(modules, layer, [2, 3], [bend], [(weights, x)])

    def test_one_output(self, student, modules, numbers):
        """A layer with a single neuron gives its Value, not a list."""
        values, x = numbers(4), numbers(3)
        answer = modules.filled(student.Layer(3, 1), values)(x)
        assert is_object(answer) and answer.data == close(neuron_answer(values, x))


@exercise("mlp")
class TestMlp(Model):
    wide = 4

    def make(self, student, n):
        return student.MLP(n, [n, n, n])

    def models(self, student):
        network = student.MLP(2, [3, 2, 2, 1], linear_output=True)
        return [
            (student.MLP(2, [4, 1]), [2, 4, 1], ["tanh"] * 2),
            (network, [2, 3, 2, 2, 1], [*["tanh"] * 3, "linear"]),
        ]

    def test_counts(self, student):
        """`MLP(3, [4, 4, 1])` has three layers and 41 parameters, all different."""
        network = student.MLP(3, [4, 4, 1])
        found, layers = parameters(network), list(network.layers)
        assert len(found) == 41 and distinct(found) and len(layers) == 3
        assert found == [node for layer in layers for node in parameters(layer)]

    @pytest.mark.parametrize("sizes", [[3, 1], [4, 2, 1], [2, 3], [3], [9, 2, 2, 2, 3]], ids=str)
    def test_answer(self, student, modules, rng, numbers, sizes):
        """Each layer is fed with the answers of the one before; all activations are tanh."""
        n = rng.choice([n for n in (2, 3, 4, 5) if n not in sizes])
        tried = [(numbers(parameter_count([n, *sizes])), numbers(n))]
        assert_answers(modules, student.MLP(n, sizes), [n, *sizes], ["tanh"] * len(sizes), tried)

    def test_linear_output(self, student, modules, numbers):
        """With `linear_output=True` the last layer does not bend, and all others do."""
        for sizes in ([3, 1], [2, 2, 2], [2]):
            weights = [4 * value for value in numbers(parameter_count([2, *sizes]))]
            network = student.MLP(2, sizes, linear_output=True)
            bends = [*["tanh"] * (len(sizes) - 1), "linear"]
            assert_answers(modules, network, [2, *sizes], bends, [(weights, numbers(2))])

    def test_leaves_the_sizes_alone(self, student):
        """The list of sizes may be used again: it stays as it was."""
        sizes = student.remote.builtins.list([2, 2, 2])
        counts = [len(parameters(student.MLP(4, sizes))) for _ in range(2)]
        assert counts == [22, 22] and list(sizes) == [2, 2, 2]


@exercise("linear_sequential")
class TestLinearSequential(Model):
    def make(self, student, n):
        return student.Linear(n, 3)

    def models(self, student):
        network = student.Sequential(student.Linear(2, 4), student.Tanh(), student.Linear(4, 1))
        return [
            (student.Linear(2, 2), [2, 2], ["linear"]),
            (network, [2, 4, 1], ["tanh", "linear"]),
        ]

    def test_linear_parameters(self, student, rng):
        """A `Linear` has (inputs + 1) times outputs different parameters."""
        n, m = rng.randint(10, 12), rng.randint(2, 4)
        found = parameters(student.Linear(n, m))
        assert len(found) == (n + 1) * m and distinct(found)

    def test_linear_answers(self, student, modules, numbers):
        """A `Linear` gives weighted sums plus biases, without a bend, output by output."""
        for outputs in (1, 3):
            values, x = numbers(3 * outputs), numbers(2)
            answer = modules.filled(student.Linear(2, outputs), values)(x)
            assert is_object(answer) == (outputs == 1)
            expected = network_answer(values, x, [2, outputs], ["linear"])
            assert [value.data for value in values_of(answer)] == close(expected)

    def test_sequential_feeds_one_part_with_the_next(self, student, modules, numbers):
        """`Sequential` feeds its parts one after another, in the order in which they are given."""
        a, b, c = numbers(3)
        network = student.Sequential(modules.Times(a), modules.Plus(b), modules.Square())
        assert network(leaf(student, c)).data == close((c * a + b) ** 2)

    def test_sequential_parameters(self, student, modules, number):
        """The parameters of a `Sequential` are those of its parts, whatever parts, in one list."""
        inner = student.Sequential(student.Linear(2, 3), student.Tanh())
        parts = [modules.Weighting(student.Value(number())), inner, student.Linear(3, 2)]
        found = parameters(student.Sequential(*parts))
        assert found == [node for part in parts for node in parameters(part)]
        assert len(found) == 18

    def test_any_parts(self, student, modules, numbers):
        """A `Sequential` may have no part, one or many, and one part in several places."""
        a, b = numbers(2)
        square, times = modules.Square(), modules.Times(a)
        for parts, expected in (
            ([], b),
            ([square], b * b),
            ([square, square], b**4),
            ([times, square, times, times, square], (a * (a * (a * b) ** 2)) ** 2),
        ):
            assert student.Sequential(*parts)(leaf(student, b)).data == close(expected)


class Loss:
    """What must hold for a loss of predictions and targets.

    `formula` gives the right loss of one pair of numbers, and `slope` its derivative by the
    prediction; `pairs` draws predictions and targets; `edges` are pairs of every kind.
    """

    name = ""

    def loss(self, student, nodes, target):
        return student[self.name](nodes, target)

    def samples(self, rng):
        """Some predictions, each time with their targets."""
        return [self.pairs(rng, count) for count in (1, 3, 6)]

    def kinds(self, rng):
        """Predictions and targets of every kind: one pair, many, equal ones."""
        edges = self.edges(rng)
        many = [list(each) for each in zip(*edges[:12], strict=True)]
        alike = [[many[0][3]] * 9, [many[1][3]] * 8 + [many[1][2]]]
        return [*([[p], [t]] for p, t in edges), many, [many[0], many[1][::-1]], alike]

    def expected(self, predictions, targets):
        """The loss, and its derivatives by the predictions."""
        pairs = list(zip(predictions, targets, strict=True))
        slopes = [self.slope(p, t) / len(pairs) for p, t in pairs]
        return [statistics.fmean(self.formula(p, t) for p, t in pairs), slopes]

    def outcome(self, student, predictions, target, upstream=1.0):
        """The loss, and what the predictions get from it with this upstream gradient."""
        nodes = [student.Value(p) for p in predictions]
        loss = self.loss(student, nodes, target)
        (loss * upstream).backward()
        return [loss.data, [node.grad for node in nodes]]

    def test_value(self, student, rng):
        """The loss is {holds}."""
        tried = self.samples(rng)
        found = [self.loss(student, [*map(student.Value, ps)], ts).data for ps, ts in tried]
        assert found == close([self.expected(*each)[0] for each in tried])

    def test_gradients(self, student, rng):
        """Every prediction can be reached from the loss and gets its gradient."""
        tried = self.samples(rng)
        found = [self.outcome(student, *each)[1] for each in tried]
        assert found == close([self.expected(*each)[1] for each in tried])
        predictions, target = tried[-1]
        nodes = [student.Value(p) for p in predictions]
        assert set(nodes) <= set(behind(student, self.loss(student, nodes, target)))

    def test_leaves_its_lists_alone(self, student, rng):
        """The lists and the predictions stay as they are, and a second call gives the same."""
        predictions, targets = self.samples(rng)[-1]
        nodes = [student.Value(p) for p in predictions]
        given = student.remote.builtins.list(nodes)
        wanted = student.remote.builtins.list(targets) if type(targets) is list else targets
        first, second = (self.loss(student, given, wanted).data for _ in range(2))
        assert second == close(first)
        assert [list(given), plain(wanted)] == [nodes, targets]
        assert [node.data for node in nodes] == predictions

    @broad()
    def test_any_numbers(self, student, rng):
        """It is right for any predictions, one or many, equal ones too, in a larger expression."""
        tried = list(zip(self.kinds(rng), cycle([1.0, -3.0, 0.5]), strict=False))
        found = [self.outcome(student, *each, upstream) for each, upstream in tried]
        right = [(*self.expected(*each), upstream) for each, upstream in tried]
        assert found == close([[loss, [up * s for s in slopes]] for loss, slopes, up in right])

    def test_a_node_that_is_listed_twice(self, student, rng):
        """A prediction that is listed twice counts twice."""
        predictions, targets = self.pairs(rng, 6)
        nodes = [student.Value(p) for p in predictions[:3]]
        loss = self.loss(student, nodes * 2, targets)
        loss.backward()
        value, slopes = self.expected(predictions[:3] * 2, targets)
        both = [a + b for a, b in zip(slopes[:3], slopes[3:], strict=True)]
        assert [loss.data, [node.grad for node in nodes]] == close([value, both])


@exercise("mse")
class TestMse(Loss):
    name = "mse"
    holds = "the mean of the squared differences between predictions and targets"

    def edges(self, rng):
        gaps = [0.0, 0.01, -0.05, 0.6, -1.0, 7.0, -40.0, 300.0, -3.0, 5e3, 0.0, 2.0, 1.0]
        targets = [2, 0.0, -9.5, 0, 1.0, -3, *[rng.uniform(-3, 3) for _ in range(7)]]
        return [[t + gap, t] for t, gap in zip(targets, gaps, strict=True)]

    def pairs(self, rng, count):
        targets = [rng.uniform(-3, 3) for _ in range(count)]
        # In turn above the target and below it.
        return [t + (-1) ** i * rng.uniform(0.2, 3) for i, t in enumerate(targets)], targets

    def formula(self, p, t):
        return (p - t) ** 2

    def slope(self, p, t):
        return 2 * (p - t)

    def test_targets_may_be_values(self, student, rng):
        """The targets may be Values as well."""
        predictions, targets = self.pairs(rng, 3)
        nodes, wanted = ([student.Value(a) for a in each] for each in (predictions, targets))
        assert student.mse(nodes, wanted).data == close(self.expected(predictions, targets)[0])


@exercise("bce")
class TestBce(Loss):
    name = "bce"
    holds = "the mean of minus the logarithms of the right answers' probabilities"

    def edges(self, rng):
        sizes = [0.0, 1e-4, 0.05, rng.uniform(0.3, 3), 8.0, 20.0, rng.uniform(35, 90), 250.0, 650.0]
        return [[z, t] for a in sizes for z, ts in ((a, (1, 0.0)), (-a, (0, 1.0))) for t in ts]

    def pairs(self, rng, count):
        # Either target with logits of either sign.
        logits = [(-1) ** (i // 2) * rng.uniform(0.2, 4) for i in range(count)]
        return logits, [float(i % 2) for i in range(count)]

    def formula(self, z, t):
        return max(z, 0.0) - t * z + math.log1p(math.exp(-abs(z)))

    def slope(self, z, t):
        return 1 / (1 + math.exp(-z)) - t

    def test_in_the_middle(self, student):
        """At exactly 0 the loss is the logarithm of 2, its gradient one half minus the target."""
        found = [self.outcome(student, [0.0], [t]) for t in (0.0, 1.0)]
        assert found == close([[math.log(2), [0.5]], [math.log(2), [-0.5]]])

    @pytest.mark.parametrize("target", [0.0, 1.0])
    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign, target):
        """Far out, as at 1000 and at -1000, the loss and its gradient are right."""
        a = rng.uniform(900, 1000)
        right = (sign > 0) == (target > 0)
        expected = [0.0, [0.0]] if right else [a, [sign]]
        assert self.outcome(student, [sign * a], [target]) == close(expected)


@exercise("hinge")
class TestHinge(Loss):
    name = "hinge"
    holds = "the mean, over the samples, of 1 minus target times score, or 0 where this is negative"

    def edges(self, rng):
        sizes = [0.0, 1e-4, 0.05, rng.uniform(0.3, 0.8), 0.97, 1.03, 2, 4.5, rng.uniform(7, 90)]
        sizes += [500.0]
        return [[s, t] for a in sizes for s, ts in ((a, (1, -1.0)), (-a, (-1, 1.0))) for t in ts]

    def pairs(self, rng, count):
        # In turn close to the border, on the wrong side and clear of it, with either target.
        ranges = [(0.2, 0.8), (-2.0, -0.2), (1.2, 1.8)]
        targets = [(-1.0) ** i for i in range(count)]
        return [t * rng.uniform(*ranges[i % 3]) for i, t in enumerate(targets)], targets

    def formula(self, s, t):
        return max(0.0, 1 - t * s)

    def slope(self, s, t):
        return -t if t * s < 1 else 0.0

    def test_at_the_margin(self, student):
        """A score of exactly 1 or -1 on the right side costs nothing, and can be learnt from."""
        for t in (1.0, -1.0):
            loss, [slope] = self.outcome(student, [t], [t])
            # The slope jumps there, from one for each unit to none: any in between will do.
            assert loss == close(0.0) and -1.0 <= float(slope * t) <= 0.0


@exercise("cross_entropy")
class TestCrossEntropy(Loss):
    name = "cross_entropy"
    holds = "minus the logarithm of the right class's probability"

    def pairs(self, rng, count):
        # Neither in order nor in the reverse, and the right class is not the likeliest.
        logits = [(-1) ** i * rng.uniform(0.2, 3) for i in range(count)]
        return logits, 1

    def samples(self, rng):
        rows = [self.pairs(rng, count)[0] for count in (2, 3, 4)]
        return [(row, target) for row in rows for target in range(len(row))]

    def kinds(self, rng):
        a = rng.uniform(1.2, 3)
        rows = [[a], [0.0, 0.0], [a] * 9, [a, a + 0.01, a - 0.02], [3, -2, 5, 0], [0.0, 9.0, -9.0],
                [30 * a, 29 * a, -30 * a], [-200.0, -201.5], [-1000.0] * 3, [-500.0, -900.0],
                self.pairs(rng, 10)[0]]  # fmt: skip
        return [(row, place) for row in rows for place in {len(row) // 2, len(row) - 1}]

    def expected(self, logits, target):
        """The loss, and its derivatives by the logits: probability minus target."""
        powers = [math.exp(z - max(logits)) for z in logits]
        slopes = [power / sum(powers) - (i == target) for i, power in enumerate(powers)]
        return [math.log(sum(powers)) - (logits[target] - max(logits)), slopes]

    def test_equal_logits(self, student, rng):
        """Where several logits are the largest, each of them counts."""
        a = rng.uniform(-3, 3)
        logits = [a, a - rng.uniform(0.5, 2), a]
        found = [self.outcome(student, logits, target) for target in range(3)]
        assert found == close([self.expected(logits, target) for target in range(3)])

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign):
        """Far out, as with logits of 1000 or of -1000, the loss and its gradients are right, and
        every logit can be reached."""
        far = sign * 1000.0
        logits = [far - rng.uniform(0.5, 2), far, 0.1 * far]
        found = [self.outcome(student, logits, target) for target in range(3)]
        assert found == close([self.expected(logits, target) for target in range(3)])
        nodes = [student.Value(a) for a in logits]
        assert set(nodes) <= set(behind(student, student.cross_entropy(nodes, 0)))


@exercise("sgd")
class TestSgd:
    every_setting = pytest.mark.parametrize(
        ("settings", "set_to"),
        [
            ({}, "Without momentum and weight decay"),
            pytest.param({"momentum": 1.0}, "With momentum", marks=extra()),
            pytest.param({"weight_decay": 0.3}, "With weight decay", marks=extra()),
            pytest.param(
                {"momentum": 0.5, "weight_decay": 0.2},
                "With momentum and weight decay",
                marks=extra(),
            ),
        ],
        ids=["plain", "momentum", "weight_decay", "momentum-weight_decay"],
    )

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

    @pytest.fixture
    def pair(self, student, numbers):
        """Two parameters, and their numbers and gradients."""
        a, b, g, h = numbers(4)
        return leaf(student, a, g), leaf(student, b, h), a, b, g, h

    @every_setting
    def test_steps(self, student, rng, numbers, settings, set_to):
        """{set_to}, several steps, each with its own gradients, lead where the formula says."""
        gradients = [numbers(3) for _ in range(4)]
        self.assert_steps(student, numbers(3), gradients, rng.uniform(0.05, 0.3), settings)

    @every_setting
    @broad()
    def test_any_numbers(self, student, rng, settings, set_to):
        """{set_to}, many steps do so for parameters, gradients and rates of any size."""
        a = rng.uniform(1.2, 3.0)
        start = [a, a, -a, 0.0, 1e-5, 50.0, -50.0, 0.3, 1, 0.02]
        gradients = [0.0, 1e-6, -1e-4, 0.3, a, -9.0, 80.0, -3e3, 1e6, -0.2]
        rows = [gradients[i:] + gradients[:i] for i in range(8)]
        rows = [[0.0] * 10, [0.0] * 10, [0.3] * 10, *rows]
        for lr in (1e-4, 0.7, 5.0):
            self.assert_steps(student, start, rows, lr, settings)

    @pytest.mark.parametrize(
        "settings", [{}, pytest.param({"momentum": 0.5}, marks=extra())], ids=["plain", "momentum"]
    )
    def test_learning_rate_may_change(self, student, numbers, settings):
        """`lr` is an attribute, and all of a step uses what it holds at that time."""
        a, g = numbers(2)
        p = leaf(student, a, g)
        optimizer = student.SGD([p], lr=0.1, **settings)
        optimizer.step()
        optimizer.lr = 0.5
        optimizer.step()
        velocity = (1 + settings.get("momentum", 0.0)) * g
        assert p.data == close(a - 0.1 * g - 0.5 * velocity)

    def test_zero_grad(self, student, pair):
        """`zero_grad()` zeroes the gradients, and leaves numbers and labels as they are."""
        p, q, a, b, g, h = pair
        p.label = "p"
        optimizer = student.SGD([p, q], lr=0.1)
        optimizer.step()
        optimizer.zero_grad()
        assert [p.grad, q.grad, p.data, q.data] == close([0.0, 0.0, a - 0.1 * g, b - 0.1 * h])
        assert p.label == "p"

    def test_zeroes_any_gradient(self, student, number):
        """`zero_grad()` sets gradients of any size to 0.0, at each call."""
        data, grads = (0.0, number()), (0.0, 1e-9, -0.3, 500.0, -1e9)
        nodes = [leaf(student, a, grad) for a, grad in product(data, grads)]
        optimizer = student.SGD(nodes, lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            assert [node.grad for node in nodes] == [0.0] * 10
            nodes[0].grad = number()

    @extra()
    def test_zero_grad_leaves_velocities(self, student, pair):
        """The step after `zero_grad()` goes on with the velocities, also where a gradient is 0."""
        p, q, a, b, g, h = pair
        optimizer = student.SGD([p, q], lr=0.1, momentum=0.5)
        optimizer.step()
        optimizer.zero_grad()
        optimizer.step()
        p.grad, q.grad = g, h
        optimizer.step()
        # The velocity was g, then half of it, then half of that and another g.
        steps = 0.1 * (1 + 0.5 + 1.25)
        assert [p.data, q.data] == close([a - steps * g, b - steps * h])

    @pytest.mark.parametrize("decay", [0.0, pytest.param(0.3, marks=extra())])
    def test_leaves_the_gradients(self, student, pair, decay):
        """A step moves the numbers and leaves the gradients: `zero_grad()` alone zeroes them."""
        p, q, a, b, g, h = pair
        student.SGD([p, q], lr=0.1, weight_decay=decay).step()
        assert [p.grad, q.grad] == close([g, h])
        assert p.data != a and q.data != b

    @extra()
    def test_two_optimizers(self, student, pair):
        """Two optimizers know nothing of each other's velocities: a new one starts from 0."""
        p, q, a, b, g, h = pair
        for node in (p, q, p):
            student.SGD([node], lr=0.1, momentum=0.9).step()
        assert [p.data, q.data] == close([a - 0.2 * g, b - 0.1 * h])


@exercise("schedule")
class TestSchedule:
    def assert_decays(self, student, *cases):
        expected = [lr / (1 + decay * step) for lr, step, decay in cases]
        assert [student.decayed(*case) for case in cases] == close(expected)

    def test_formula(self, student, rng):
        """The rate is lr / (1 + decay · step)."""
        for _ in range(4):
            lr, step, decay = rng.uniform(0.1, 2), rng.randint(2, 300), rng.uniform(0.002, 0.5)
            self.assert_decays(student, (lr, step, decay))

    def test_beginning_and_default(self, student, rng):
        """At step 0 it is the full rate; unless told otherwise, decay is 0.01."""
        lr, step = rng.uniform(0.1, 2), rng.randint(20, 300)
        found = [student.decayed(lr, 0, 0.5), student.decayed(lr, step)]
        assert found == close([lr, lr / (1 + 0.01 * step)])

    @broad()
    def test_any_numbers(self, student, rng):
        """It is so for any step, late ones and the first, any rate and any decay, none too."""
        a = rng.uniform(1.2, 3.0)
        self.assert_decays(
            student, (a, 1, 0.3), (a, 5000, 0.3), (a, 1, 4.0), (a, 7, 0.0), (1e-5, 30, 0.1),
            (40.0, 3, 0.1), (a, 900, 2e-6), (a, 25, 0.2), (a, 3, 0.3), (2 * a, 3, 0.3),
            (1e-9, 50, 0.5),
        )  # fmt: skip


def parts(items, count):
    """The items in order, so many at a time."""
    return [items[i : i + count] for i in range(0, len(items), count)]


@exercise("train")
class TestTrain:
    @pytest.fixture
    def ground(self, student, rng):
        """Makes a training ground with so many samples."""
        return lambda count, **more: TrainingGround(
            student, rng.uniform(0.2, 0.8), count, **{"scale": rng.uniform(0.9, 1.1), **more}
        )

    def assert_steps(self, here, epochs, steps=1):
        """That each epoch makes so many steps, each with the gradients of its batch, and sees
        every sample once."""
        assert here.gradients == close(here.slopes) and len(here.gradients) == epochs * steps
        assert len(here.batches) == epochs * steps
        assert all(map(here.saw_every_sample, parts(here.batches, steps)))

    def test_one_loss_an_epoch(self, ground, rng):
        """There is one plain number an epoch: the loss of all samples, as it was before the
        step."""
        for scale in (rng.uniform(0.9, 1.1), 0.0):
            here, epochs = ground(3, scale=scale), rng.randint(3, 5)
            assert here.run(epochs) == close(here.losses) and len(here.losses) == epochs

    def test_all_at_once(self, ground):
        """Without a batch size, a batch holds every sample, each with its own target."""
        here = ground(5)
        here.run(2)
        assert len(here.batches) == 2 and all(here.saw_every_sample([b]) for b in here.batches)

    def test_gradients(self, ground):
        """Each epoch makes one step, with every sample and its own target, and the gradients are
        then those of this loss alone, be it 0."""
        for here in (ground(4), ground(4, scale=0.0)):
            here.run(4)
            self.assert_steps(here, 4)

    def test_leftovers(self, ground, number):
        """Gradients that were left over from before make no difference."""
        here = ground(3, leftover=number())
        here.run(2)
        self.assert_steps(here, 2)

    def test_any_model(self, ground):
        """Of the model nothing is asked but answers, which may be lists, and the optimizer zeroes
        the gradients."""
        here = ground(3, bare=True)
        here.run(2)
        self.assert_steps(here, 2)

    @extra()
    @pytest.mark.parametrize(("count", "size"), [(12, 4), (6, 1)], ids=["four", "one"])
    def test_batches(self, ground, count, size):
        """With a batch size, each batch is a step, with the gradients of its own loss alone, and
        each epoch sees every sample once."""
        here, steps = ground(count), count // size
        here.run(2, size)
        assert list(map(len, here.batches)) == [size] * 2 * steps
        self.assert_steps(here, 2, steps)

    @extra()
    def test_mean_of_the_batches(self, ground):
        """An epoch's number is the mean of its batches' losses; the given lists stay in order."""
        here = ground(8)
        found = here.run(2, 2)
        assert len(here.losses) == 8 and here.unchanged
        assert found == close([*map(statistics.fmean, parts(here.losses, 4))])

    @extra()
    def test_the_tail(self, ground):
        """Where the samples do not divide evenly, the last ones make a smaller batch, whose loss
        counts as the others do in the epoch's mean."""
        here = ground(9)
        found = here.run(2, 4)
        assert all(sorted(map(len, epoch)) == [1, 4, 4] for epoch in parts(here.batches, 3))
        self.assert_steps(here, 2, 3)
        assert found == close([*map(statistics.fmean, parts(here.losses, 3))])

    def test_a_batch_size_beyond_the_data(self, ground):
        """A batch size that is larger than the data means all samples at once."""
        here = ground(3)
        assert here.run(1, 50) == close(here.losses)
        assert len(here.batches) == 1 and here.saw_every_sample(here.batches)

    @pytest.mark.parametrize(
        ("count", "epochs", "size"),
        [
            (1, 110, None),
            (1, 1, 1),
            (3, 0, None),
            (30, 10, None),
            pytest.param(24, 1, 7, marks=extra()),
            pytest.param(7, 2, 3, marks=extra()),
        ],
        ids=["one sample", "one epoch", "none", "wild", "sevens", "threes"],
    )
    @broad()
    def test_any_size(self, ground, count, epochs, size):
        """Each epoch has its steps and its number, whether the loss falls to 0 or grows: with one
        sample or many, one epoch, many or none."""
        here, steps = ground(count), math.ceil(count / (size or count))
        found = here.run(epochs, *[size] * (size is not None))
        self.assert_steps(here, epochs, steps)
        assert found == close([sum(each) / steps for each in parts(here.losses, steps)])

    def test_equal_samples(self, ground):
        """Samples that are alike count each, and the lists stay as they are."""
        here = ground(6, alike=True)
        found = here.run(2)
        assert all(here.saw_every_sample([batch]) for batch in here.batches)
        assert found == close(here.losses) and here.unchanged


def flipped(targets, sign):
    """The targets as they are, or -1 and 1 exchanged."""
    return [sign * t for t in targets]


@exercise("xor")
class TestXor:
    def right(self, student, seed, turned=False):
        """At how many of the four points a network trained from this seed is right."""
        inputs, targets = xor()
        targets = [1.0 - t for t in targets] if turned else targets
        training = trained(student, "train_xor", inputs, targets, seed)
        found = network_answers(student, training.result, training, inputs, targets)
        return sum((a > 0.5) == (t > 0.5) for a, t in zip(found, targets, strict=True))

    # Always the same seeds, here and below: whether a training is good enough must not depend on
    # the draw. Where it is too short, these are the last to be learnt from.
    @pytest.mark.parametrize("seed", [0, 4])
    def test_learns(self, student, seed):
        """From each of the seeds 0 to 9 the network learns XOR: all four points are right."""
        assert self.right(student, seed) == 4

    def test_learns_the_opposite(self, student):
        """From each of the seeds 0 to 9 the network learns the opposite of XOR as well."""
        assert self.right(student, 0, turned=True) == 4

    def test_the_seed_decides(self, student):
        """The same seed gives the same network, and another seed gives another one."""
        self.right(student, 0)
        assert_the_seed_decides(student, "train_xor", xor(), 0, 4)

    def test_one_network_for_all_points(self, student):
        """The points are what the network learns from: more of them need no more parameters, and
        each of them changes the whole network."""
        self.right(student, 0)
        sizes = xor(), with_points_beside(*xor())
        assert_one_network_for_all_points(student, "train_xor", 0, sizes)


def with_points_beside(inputs, targets):
    """The points and, beside each of them, another one with the same target."""
    return [*inputs, *([a + 0.125 for a in x] for x in inputs)], [*targets, *targets]


@exercise("four_points")
class TestFourPoints:
    def trained(self, student, seed, sign=1):
        """The mean squared error of a network trained from this seed, and its losses."""
        inputs, targets = four_points()
        targets = flipped(targets, sign)
        training = trained(student, "train_four_points", inputs, targets, seed)
        pair = list(training.result)
        assert len(pair) == 2
        model, losses = pair
        found = network_answers(student, model, training, inputs, targets)
        error = sum((a - t) ** 2 for a, t in zip(found, targets, strict=True)) / 4
        return error, [loss for loss in losses], [float(loss) for loss in training.losses]

    # A training that is too short fails at one of these, whichever network it trains.
    @pytest.mark.parametrize(("seed", "sign"), [(0, 1), (5, 1), (1, -1)])
    def test_learns(self, student, seed, sign):
        """From each of the seeds 0 to 9, targets flipped or not, the error is below 0.01."""
        assert self.trained(student, seed, sign)[0] < 0.01

    def test_the_seed_decides(self, student):
        """The same seed gives the same network, and another seed gives another one."""
        self.trained(student, 0)
        assert_the_seed_decides(student, "train_four_points", four_points(), 0, 4)

    def test_one_network_for_all_points(self, student):
        """The points are what the network learns from: more of them need no more parameters, and
        each of them changes the whole network."""
        self.trained(student, 0)
        sizes = four_points(), with_points_beside(*four_points())
        assert_one_network_for_all_points(student, "train_four_points", 0, sizes)

    def test_losses(self, student):
        """The second result is the list of losses, at most 200, which have fallen: they are those
        of the training that made the model."""
        _, losses, seen = self.trained(student, 0)
        assert all(isinstance(loss, (int, float)) for loss in losses)
        assert 2 <= len(losses) <= min(200, len(seen) + 1) and losses[-1] < losses[0] / 2
        # Sums or means, before the steps or after them, of an epoch or of each of its batches: they
        # fall as those that were seen do.
        ends = [round(i * len(seen) / len(losses)) for i in range(len(losses) + 1)]
        means = [statistics.fmean(seen[a : max(b, a + 1)] or seen[-1:]) for a, b in pairwise(ends)]
        reported, known = (
            [math.log10(max(abs(loss), 1e-12)) for loss in each] for each in (losses, means)
        )
        ways = [abs(a - reported[0] - b + known[0]) for a, b in zip(reported, known, strict=True)]
        assert sum(ways) / len(ways) < 0.7


@exercise("moons")
class TestMoons:
    def answers(self, student, seed, sign, *more):
        """The answers of a network trained on these moons from this seed: at their points, and at
        others."""
        inputs, targets = moons(40, 0.1, seed)
        targets = flipped(targets, sign)
        training = trained(student, "train_moons", inputs, targets, seed)
        found = network_answers(student, training.result, training, inputs, targets)
        return [found, *(answers(student, training.result, points) for points in more)]

    # Always the same moons: from those of seed 0, what squeezes its answers learns too little.
    @pytest.mark.parametrize(("seed", "sign"), [(8, -1), (0, 1)], ids=["turned", "straight"])
    def test_learns(self, student, seed, sign):
        """For each of the seeds 0 to 9, also with targets flipped, 92 % are right, of the
        points that were given and of fresh ones."""
        given, fresh = moons(40, 0.1, seed), moons(200, 0.1, 1000 + seed)
        found = self.answers(student, seed, sign, fresh[0])
        for points, (_, targets) in zip(found, (given, fresh), strict=True):
            right = sum((a > 0) == (sign * t > 0) for a, t in zip(points, targets, strict=True))
            assert right >= 0.92 * len(points)

    def test_the_seed_decides(self, student):
        """The same seed gives the same network, and another seed gives another one."""
        self.answers(student, 0, 1)
        assert_the_seed_decides(student, "train_moons", moons(40, 0.1, 8), 3, 4)

    def test_one_network_for_all_points(self, student):
        """The points are what the network learns from: more of them need no more parameters, and
        each of them changes the whole network."""
        self.answers(student, 8, -1)
        sizes = [(moons(n, 0.1, 0), moons(2 * n, 0.1, 0)) for n in (10, 40)]
        assert_one_network_for_all_points(student, "train_moons", 0, *sizes)
