"""The hidden tests of `mlp`.

Each test's docstring is what a student reads when it fails. Weights are set by hand through
`parameters()`, so it does not matter how a network starts out. Training is tried on some of the
tasks that students are told of, so that luck plays no part.
"""

from __future__ import annotations

import math
import statistics
from itertools import pairwise

import pytest

from autograder.testing import close, exercise, extra, is_object, plain
from course.datasets import four_points, moons, xor
from graphs import leaf
from networks import (
    TrainingGround,
    answers,
    borders,
    network_answer,
    network_answers,
    neuron_answer,
    parameter_count,
    parameters,
    trained,
)


@pytest.fixture
def number(rng):
    """Draws numbers of either sign, away from 0 and small enough for tanh not to saturate."""
    return lambda: rng.choice([-1, 1]) * rng.uniform(0.3, 1.2)


@pytest.fixture
def numbers(number):
    return lambda count: [number() for _ in range(count)]


@pytest.fixture
def modules(student):
    """The helpers of inside/modules.py."""
    return student.inside.modules


def data_of(answer):
    """The numbers in a model's answer, be it a Value or several."""
    values = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    return [node.data for node in values]


def assert_zeroes_gradients(modules, model, numbers):
    """That a part zeroes the gradients of its parameters, and leaves their numbers."""
    assert modules.after_zero_grad(model, numbers) == close([[a, 0.0] for a in numbers])


def distinct(nodes):
    return len(set(nodes)) == len(nodes)


def with_opposite(values):
    """The values and their opposites: whatever sum they are the weights of, relu bends one."""
    return values, [-value for value in values]


@exercise("module")
class TestModule:
    def test_has_no_parameters_of_its_own(self, student):
        """A Module on its own has no parameters, and zeroing none is no error."""
        module = student.Module()
        assert parameters(module) == []
        module.zero_grad()
        assert parameters(module) == []

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` sets the gradient of every parameter to 0.0, and leaves the numbers."""
        data = numbers(4)
        nodes = [leaf(student, a, -2 * a) for a in data]
        modules.with_parameters(student.Module, nodes).zero_grad()
        found = [[node.data for node in nodes], [node.grad for node in nodes]]
        assert found == close([data, [0.0] * 4])

    def test_asks_each_time(self, student, modules, numbers):
        """`zero_grad()` asks `parameters()` each time: two modules do not get mixed up, and what
        one is given later belongs to it."""
        data = numbers(5)
        nodes = [leaf(student, a, a) for a in data]
        held = student.inside.builtins.list(nodes[:2])
        ours, other = (modules.with_parameters(student.Module, part) for part in (held, nodes[2:4]))
        ours.zero_grad()
        assert [node.grad for node in nodes] == close([0.0, 0.0, *data[2:]])
        other.zero_grad()
        held.append(nodes[4])
        ours.zero_grad()
        assert [node.grad for node in nodes] == close([0.0] * 5)

    def test_any_gradients(self, student, modules, number):
        """Gradients of any size are set to 0.0, of many parameters and of equal ones."""
        grads = [0.0, 1e-9, -1e-5, 0.3, -0.3, 500.0, -500.0, 1e9, -1e9]
        a = number()
        nodes = [leaf(student, a, grad) for grad in grads]
        modules.with_parameters(student.Module, nodes).zero_grad()
        assert [node.grad for node in nodes] == [0.0] * 9


@exercise("neuron")
class TestNeuron:
    def cases(self, numbers):
        """Two points with three coordinates, each with two neurons' weights and bias."""
        points = [numbers(3), numbers(3)]
        return [(x, values) for x in points for values in with_opposite(numbers(4))]

    def test_parameters(self, student, rng):
        """There are n + 1 parameters, all different Values: the n weights, then the bias."""
        n = rng.randint(2, 5)
        neuron = student.Neuron(n)
        found = parameters(neuron)
        assert len(found) == n + 1 and distinct(found)
        assert found == [*neuron.w, neuron.b]
        assert parameters(neuron) == found

    @pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid", "linear"])
    def test_answer(self, student, modules, numbers, activation):
        """The answer is the weighted sum plus the bias, bent by the chosen activation."""
        cases = self.cases(numbers)
        found = [
            modules.filled(student.Neuron(3, activation), values)(x).data for x, values in cases
        ]
        assert found == close([neuron_answer(values, x, activation) for x, values in cases])

    def test_tanh_unless_told_otherwise(self, student, modules, numbers):
        """Without a second argument the activation is tanh; it may be given by its name, too."""
        values, points = numbers(3), [numbers(2), numbers(2)]
        usual = modules.filled(student.Neuron(2), values)
        assert [usual(x).data for x in points] == close([neuron_answer(values, x) for x in points])
        named = modules.filled(student.Neuron(2, activation="linear"), values)
        expected = [neuron_answer(values, x, "linear") for x in points]
        assert [named(x).data for x in points] == close(expected)

    def test_gradients(self, student, reference, modules, numbers):
        """After backward, every weight and the bias hold their gradient."""
        found, expected = [], []
        for activation in ("tanh", "relu", "sigmoid", "linear"):
            for x, values in self.cases(numbers):
                neuron = modules.filled(student.Neuron(3, activation), values)
                neuron(x).backward()
                found.append(modules.gradients(neuron))
                nodes = [reference.Value(value) for value in values]
                neuron_answer(nodes, x, activation).backward()
                expected.append([node.grad for node in nodes])
        assert found == close(expected)

    def test_answers_anew(self, student, modules, numbers):
        """A neuron answers anew each time: at another point, and when its weights have moved."""
        neuron, points = student.Neuron(2), [numbers(2), numbers(2)]
        found, expected = [], []
        for values in (numbers(3), numbers(3)):
            modules.filled(neuron, values)
            found.append([neuron(x).data for x in points])
            expected.append([neuron_answer(values, x) for x in points])
        assert found == close(expected)

    def test_inputs_may_be_values(self, student, reference, modules, numbers):
        """The inputs may be Values, and then they get their gradients as well."""
        values, x = numbers(3), numbers(2)
        inputs = [leaf(student, a) for a in x]
        modules.filled(student.Neuron(2), values)(inputs).backward()
        nodes = [reference.Value(a) for a in x]
        neuron_answer(values, nodes).backward()
        assert [node.grad for node in inputs] == close([node.grad for node in nodes])

    def test_starts_at_random(self, student):
        """The weights start out different from one another and from those of other neurons."""
        first, second = ([weight.data for weight in student.Neuron(20).w] for _ in range(2))
        assert max(map(first.count, first)) < 18
        assert any(abs(a - b) > 1e-6 for a, b in zip(first, second, strict=True))

    def test_any_inputs(self, student, modules, numbers):
        """One input or many; inputs and weights may be 0, whole, large, equal to one another."""
        found, expected = [], []
        for x in ([2], [0.0], [1, 0, -3], [7.5, -7.5, 0.0], [0.5] * 9, [*numbers(8), 60.0]):
            for values in (numbers(len(x) + 1), [0.5] * (len(x) + 1), [0.0] * (len(x) + 1)):
                for activation in ("tanh", "linear"):
                    neuron = modules.filled(student.Neuron(len(x), activation), values)
                    found.append(neuron(x).data)
                    expected.append(neuron_answer(values, x, activation))
        assert found == close(expected)

    def test_two_passes(self, student, modules, numbers):
        """Two answers at one point are two: a backward pass through each counts once."""
        x = numbers(2)
        neuron = modules.filled(student.Neuron(2, "linear"), [0.5, 0.5, 0.0])
        first, second = neuron(x), neuron(x)
        first.backward()
        second.backward()
        assert modules.gradients(neuron) == close([2 * x[0], 2 * x[1], 2.0])
        idle = modules.filled(student.Neuron(2, "linear"), [0.0, 0.0, 0.0])
        idle(x).backward()
        assert modules.gradients(idle) == close([*x, 1.0])

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` zeroes the gradients of its parameters, and leaves the numbers."""
        assert_zeroes_gradients(modules, student.Neuron(2), numbers(3))


@exercise("layer")
class TestLayer:
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

    @pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid", "linear"])
    def test_several_outputs(self, student, modules, numbers, activation):
        """Several neurons give a list of their answers, each bent by the layer's activation."""
        x = numbers(2)
        named = [] if activation == "tanh" else [activation]
        found, expected = [], []
        for values in with_opposite(numbers(9)):
            layer = modules.filled(student.Layer(2, 3, *named), values)
            found.append([node.data for node in layer(x)])
            expected.append(network_answer(values, x, [2, 3], [activation]))
        assert found == close(expected)

    def test_one_output(self, student, modules, numbers):
        """A layer with a single neuron gives its Value, not a list: bent as the others', and the
        neuron learns."""
        values, x = numbers(4), numbers(3)
        answer = modules.filled(student.Layer(3, 1), values)(x)
        assert is_object(answer) and answer.data == close(neuron_answer(values, x))
        layer = modules.filled(student.Layer(3, 1, "linear"), values)
        answer = layer(x)
        answer.backward()
        expected = [neuron_answer(values, x, "linear"), [*x, 1.0]]
        assert [answer.data, modules.gradients(layer)] == close(expected)

    def test_any_size(self, student, modules, numbers):
        """Two neurons or ten, with equal weights or not: each gives an answer of its own, in order,
        and each learns."""
        for count in (2, 10):
            for values in (numbers(3 * count), [0.5] * 3 * count):
                x, layer = numbers(2), modules.filled(student.Layer(2, count, "linear"), values)
                found = list(layer(x))
                for place, answer in enumerate(found):
                    (answer * (place + 1)).backward()
                expected = network_answer(values, x, [2, count], ["linear"])
                grads = [k * a for k in range(1, count + 1) for a in (*x, 1.0)]
                seen = [[answer.data for answer in found], modules.gradients(layer)]
                assert seen == close([expected, grads])

    def test_starts_at_random(self, student):
        """No neuron starts as another one does."""
        starts = [[p.data for p in parameters(each)] for each in student.Layer(6, 3).neurons]
        for one, other in ((0, 1), (1, 2), (0, 2)):
            both = zip(starts[one], starts[other], strict=True)
            assert any(abs(a - b) > 1e-6 for a, b in both)

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` zeroes the gradients of all its neurons, and leaves the numbers."""
        assert_zeroes_gradients(modules, student.Layer(2, 3), numbers(9))


@exercise("mlp")
class TestMlp:
    def test_counts(self, student):
        """`MLP(3, [4, 4, 1])` has three layers and 41 parameters, all different."""
        network = student.MLP(3, [4, 4, 1])
        found = parameters(network)
        assert len(found) == 41 and distinct(found)
        layers = list(network.layers)
        assert len(layers) == 3
        assert found == [node for layer in layers for node in parameters(layer)]

    @pytest.mark.parametrize("sizes", [[3, 1], [4, 2, 1], [2, 3], [3], [9, 2, 2, 2, 3]], ids=str)
    def test_answer(self, student, modules, rng, numbers, sizes):
        """Each layer is fed with the answers of the one before; all activations are tanh."""
        n = rng.choice([n for n in (2, 3, 4, 5) if n not in sizes])
        shape = [n, *sizes]
        values, x = numbers(parameter_count(shape)), numbers(n)
        answer = modules.filled(student.MLP(n, sizes), values)(x)
        expected = network_answer(values, x, shape, ["tanh"] * len(sizes))
        assert data_of(answer) == close(expected)

    def test_linear_output(self, student, modules, numbers):
        """With `linear_output=True` the last layer does not bend, and all others do."""
        found, expected = [], []
        for sizes in ([3, 1], [2, 2, 2], [2]):
            shape = [2, *sizes]
            values, x = [4 * value for value in numbers(parameter_count(shape))], numbers(2)
            network = modules.filled(student.MLP(2, sizes, linear_output=True), values)
            activations = ["tanh"] * (len(sizes) - 1) + ["linear"]
            found.append(data_of(network(x)))
            expected.append(network_answer(values, x, shape, activations))
        assert found == close(expected)

    def test_gradients(self, student, reference, modules, numbers):
        """After backward, the parameters of all layers hold their gradients."""
        values, x = numbers(17), numbers(2)
        network = modules.filled(student.MLP(2, [4, 1]), values)
        network(x).backward()
        nodes = [reference.Value(value) for value in values]
        network_answer(nodes, x, [2, 4, 1], ["tanh", "tanh"])[0].backward()
        assert modules.gradients(network) == close([node.grad for node in nodes])

    def test_leaves_the_sizes_alone(self, student):
        """The list of sizes may be used again: it stays as it was."""
        sizes = student.inside.builtins.list([2, 2, 2])
        counts = [len(parameters(student.MLP(4, sizes))) for _ in range(2)]
        assert counts == [22, 22] and list(sizes) == [2, 2, 2]

    def test_answers_anew(self, student, modules, numbers):
        """It answers anew at each point, be it large or 0, and after each change; each pass
        counts."""
        network, found, expected = student.MLP(2, [3, 2, 2, 1], linear_output=True), [], []
        for values in (numbers(26), numbers(26)):
            modules.filled(network, values)
            for x in ([9.5, -30.0], [0.0, 0.0], numbers(2)):
                found.append(network(x).data)
                bends = ["tanh"] * 3 + ["linear"]
                expected += network_answer(values, x, [2, 3, 2, 2, 1], bends)
        assert found == close(expected)

    def test_starts_at_random(self, student):
        """No layer starts as another one does, and no network as the one before."""
        layers = [*student.MLP(4, [4, 4, 4]).layers, *student.MLP(4, [4]).layers]
        starts = [[p.data for p in parameters(layer)] for layer in layers]
        for one, other in ((0, 1), (1, 2), (0, 2), (0, 3)):
            both = zip(starts[one], starts[other], strict=True)
            assert any(abs(a - b) > 1e-6 for a, b in both)

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` zeroes the gradients of all its layers, and leaves the numbers."""
        assert_zeroes_gradients(modules, student.MLP(2, [3, 2]), numbers(17))


@exercise("linear_sequential")
class TestLinearSequential:
    def test_linear_parameters(self, student, rng):
        """A `Linear` has (inputs + 1) times outputs different parameters, which start at random."""
        n, m = rng.randint(10, 12), rng.randint(2, 4)
        found, others = (parameters(student.Linear(n, m)) for _ in range(2))
        assert len(found) == (n + 1) * m and distinct(found)
        start = [node.data for node in found]
        assert len(set(start[:n])) > 1 and start[:n] != start[n + 1 : 2 * n + 1]
        assert start != [node.data for node in others]
        rows = [start[i : i + n] for i in (0, n + 1)] + [[node.data for node in others[:n]]]
        for one, other in ((0, 1), (0, 2)):
            assert any(abs(a - b) > 1e-6 for a, b in zip(rows[one], rows[other], strict=True))

    def test_linear_answers(self, student, modules, numbers):
        """A `Linear` gives weighted sums plus biases, without a bend, output by output, and leaves
        its inputs as they are."""
        for outputs in (1, 3):
            values, x = numbers(3 * outputs), numbers(2)
            given = student.inside.builtins.list(x)
            answer = modules.filled(student.Linear(2, outputs), values)(given)
            assert list(given) == x
            assert is_object(answer) == (outputs == 1)
            expected = network_answer(values, x, [2, outputs], ["linear"])
            assert data_of(answer) == close(expected)

    def test_sequential_feeds_one_part_with_the_next(self, student, modules, numbers):
        """`Sequential` feeds its parts one after another, in the order in which they are given."""
        a, b, c = numbers(3)
        network = student.Sequential(modules.Times(a), modules.Plus(b), modules.Square())
        assert network(leaf(student, c)).data == close((c * a + b) ** 2)

    def test_sequential_parameters(self, student, modules, number):
        """The parameters of a `Sequential` are those of its parts, whatever parts, in one list."""
        inner = student.Sequential(student.Linear(2, 3), student.Tanh())
        parts = [inner, student.Linear(3, 2), modules.Weighting(student.Value(number()))]
        found = parameters(student.Sequential(*parts))
        assert found == [node for part in parts for node in parameters(part)]
        assert len(found) == 18

    def test_same_network_both_ways(self, student, reference, modules, numbers):
        """With the same parameters it is the same network as an MLP: answers and gradients."""
        values, x = numbers(17), numbers(2)
        network = student.Sequential(student.Linear(2, 4), student.Tanh(), student.Linear(4, 1))
        answer = modules.filled(network, values)(x)
        answer.backward()
        nodes = [reference.Value(value) for value in values]
        [expected] = network_answer(nodes, x, [2, 4, 1], ["tanh", "linear"])
        expected.backward()
        found = [answer.data, modules.gradients(network)]
        assert found == close([expected.data, [node.grad for node in nodes]])

    def test_any_inputs(self, student, modules, numbers):
        """Inputs and parameters may be 0, whole, large, equal; each answer is a new one."""
        found, expected = [], []
        for x in ([2, -3], [0.0, 9.5], [0.5, 0.5]):
            linear = student.Linear(2, 2)
            for values in (numbers(6), [0.5] * 6, [0.0] * 6):
                modules.filled(linear, values)
                found.append([node.data for node in linear(x)])
                expected.append(network_answer(values, x, [2, 2], ["linear"]))
            for answer in linear(x):
                answer.backward()
            found.append(modules.gradients(linear))
            expected.append([*x, 1.0, *x, 1.0])
        assert found == close(expected)

    def test_any_parts(self, student, modules, numbers):
        """None, one or many parts, or one part in several places."""
        a, b = numbers(2)
        square, times = modules.Square(), modules.Times(a)
        for parts, expected in (
            ([], b),
            ([square], b * b),
            ([square, square], b**4),
            ([times, square, times, times, square], (a * (a * (a * b) ** 2)) ** 2),
        ):
            assert student.Sequential(*parts)(leaf(student, b)).data == close(expected)

    def test_zero_grad(self, student, modules, numbers):
        """`zero_grad()` zeroes the gradients of all its parts, and leaves the numbers."""
        network = student.Sequential(student.Linear(2, 2), student.Tanh(), student.Linear(2, 1))
        assert_zeroes_gradients(modules, network, numbers(9))


class Loss:
    """What must hold for a loss of predictions and targets.

    `loss` calls the student's function; `formula` gives the right loss of one pair of numbers,
    and `slope` its derivative by the prediction; `pairs` draws predictions and targets.
    """

    def test_value(self, student, rng):
        """The number is right, for one sample and for several: the mean, not the sum."""
        found, expected = [], []
        for count in (1, 3, 6):
            predictions, targets = self.pairs(rng, count)
            found.append(self.loss(student, [student.Value(p) for p in predictions], targets).data)
            expected.append(sum(map(self.formula, predictions, targets)) / count)
        assert found == close(expected)

    def test_gradients(self, student, rng):
        """Every prediction can be reached from the loss and gets its gradient."""
        predictions, targets = self.pairs(rng, 6)
        nodes = [student.Value(p) for p in predictions]
        self.loss(student, nodes, targets).backward()
        slopes = [self.slope(p, t) / 6 for p, t in zip(predictions, targets, strict=True)]
        assert [node.grad for node in nodes] == close(slopes)

    def test_leaves_its_lists_alone(self, student, rng):
        """The lists and the predictions stay as they are, and a second call gives the same."""
        predictions, targets = self.pairs(rng, 4)
        nodes = [student.Value(p) for p in predictions]
        lists = [student.inside.builtins.list(each) for each in (nodes, targets)]
        first, second = (self.loss(student, *lists).data for _ in range(2))
        assert second == close(first)
        assert [list(each) for each in lists] == [nodes, targets]
        assert [node.data for node in nodes] == predictions

    def test_any_numbers(self, student, rng):
        """It is right for any predictions: one or many, equal ones, a node that is listed twice,
        and within a larger expression."""
        alone = [[[p], [t], rng.choice([-3.0, 0.5]), 1] for p, t in self.kinds(rng)]
        many = [list(each) for each in zip(*self.kinds(rng)[:12], strict=True)]
        twice = [many[0][:3], many[1][:6]]
        cases = [*alone, [*many, 2.0, 1], [many[0], many[1][::-1], 1.0, 1], [*twice, -1.0, 2]]
        cases.append([[many[0][3]] * 9, [many[1][3]] * 8 + [many[1][2]], 1.0, 1])
        expected = []
        for predictions, targets, upstream, times in cases:
            pairs = list(zip(predictions * times, targets, strict=True))
            slopes = [self.slope(p, t) * upstream / len(pairs) for p, t in pairs]
            step = len(predictions)
            sums = [sum(slopes[i::step]) for i in range(step)]
            expected.append([sum(self.formula(p, t) for p, t in pairs) / len(pairs), *sums])
        loss = student.inside.functions.losses(student.Value, student[self.name], cases)
        assert loss == close(expected)


@exercise("mse")
class TestMse(Loss):
    name = "mse"

    def kinds(self, rng):
        gaps = [0.0, 0.01, -0.05, 0.6, -3.0, 7.0, -40.0, 300.0, -1.0, 5e3, 0.0, 2.0, 1.0]
        targets = [2, 0.0, -9.5, 0, 1.0, -3, *[rng.uniform(-3, 3) for _ in range(7)]]
        return [[t + gap, t] for t, gap in zip(targets, gaps, strict=True)]

    def loss(self, student, nodes, targets):
        return student.mse(nodes, targets)

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
        expected = sum(map(self.formula, predictions, targets)) / 3
        assert student.mse(nodes, wanted).data == close(expected)


@exercise("bce")
class TestBce(Loss):
    name = "bce"

    def kinds(self, rng):
        sizes = [0.0, 1e-4, 0.05, rng.uniform(0.3, 3), 8.0, 20.0, rng.uniform(35, 90), 250.0, 650.0]
        logits = [sign * size for size in sizes for sign in (1, -1)]
        return [[z, t] for z in logits for t in (1, 0.0, 1.0, 0)]

    def loss(self, student, nodes, targets):
        return student.bce(nodes, targets)

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
        targets, found = (0.0, 1.0), []
        for target in targets:
            z = student.Value(0.0)
            loss = student.bce([z], [target])
            loss.backward()
            found.append([loss.data, z.grad])
        assert found == close([[math.log(2), 0.5 - target] for target in targets])

    @pytest.mark.parametrize("target", [0.0, 1.0])
    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign, target):
        """Far out, as at 1000 and at -1000, the loss and its gradient are right."""
        a = rng.uniform(900, 1000)
        z = student.Value(sign * a)
        loss = student.bce([z], [target])
        loss.backward()
        wrong = (sign > 0) != (target > 0)
        assert [loss.data, z.grad] == close([a, sign] if wrong else [0.0, 0.0])


@exercise("hinge")
class TestHinge(Loss):
    name = "hinge"

    def kinds(self, rng):
        sizes = [
            0.0,
            1e-4,
            0.05,
            rng.uniform(0.3, 0.8),
            0.97,
            1.03,
            2,
            4.5,
            rng.uniform(7, 90),
            500.0,
        ]
        scores = [sign * size for size in sizes for sign in (1, -1)]
        return [[s, t] for s in scores for t in (1, -1.0, 1.0, -1)]

    def loss(self, student, nodes, targets):
        return student.hinge(nodes, targets)

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
            s = student.Value(t)
            loss = student.hinge([s], [t])
            loss.backward()
            # The slope jumps there, from one for each unit to none: any in between will do.
            assert loss.data == close(0.0) and -1.0 <= float(s.grad * t) <= 0.0


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
        found, expected = [], []
        for count in (2, 3, 5):
            logits = [rng.uniform(-3, 3) for _ in range(count)]
            for target in range(count):
                nodes = [student.Value(z) for z in logits]
                found.append(student.cross_entropy(nodes, target).data)
                expected.append(self.expected(logits, target)[0])
        assert found == close(expected)

    def test_equal_logits(self, student, rng):
        """Where several logits are the largest, each of them counts."""
        a = rng.uniform(-3, 3)
        logits = [a, a - rng.uniform(0.5, 2), a]
        found = []
        for target in range(3):
            nodes = [student.Value(z) for z in logits]
            loss = student.cross_entropy(nodes, target)
            loss.backward()
            found.append([loss.data, [node.grad for node in nodes]])
        assert found == close([self.expected(logits, target) for target in range(3)])

    def test_gradients(self, student, rng):
        """Every logit gets its gradient: its probability, minus 1 for the right class."""
        logits = [rng.uniform(-3, 3) for _ in range(4)]
        found, expected = [], []
        for target in range(4):
            nodes = [student.Value(z) for z in logits]
            (student.cross_entropy(nodes, target) * 3).backward()
            found.append([node.grad for node in nodes])
            expected.append([3 * slope for slope in self.expected(logits, target)[1]])
        assert found == close(expected)

    def test_leaves_the_logits_alone(self, student, rng):
        """The list of logits stays as it is, and a second call gives the same."""
        nodes = [student.Value(rng.uniform(-3, 3)) for _ in range(4)]
        logits = student.inside.builtins.list(nodes)
        before = [plain(node.data) for node in nodes]
        first, second = (student.cross_entropy(logits, 1).data for _ in range(2))
        assert second == close(first) and list(logits) == nodes
        assert [node.data for node in nodes] == before

    @pytest.mark.parametrize("sign", [1, -1], ids=["plus", "minus"])
    def test_far_out(self, student, rng, sign):
        """Far out, as with logits of 1000 or of -1000, the loss and its gradients are right."""
        far, near = sign * 1000.0, sign * 1000.0 - rng.uniform(0.5, 2)
        logits = [near, far, -far]
        nodes = [student.Value(z) for z in logits]
        losses = [student.cross_entropy(nodes, target) for target in range(3)]
        losses[2].backward()
        top = max(logits)
        powers = [math.exp(z - top) for z in logits]
        expected = [top + math.log(sum(powers)) - z for z in logits]
        slopes = [power / sum(powers) for power in powers]
        slopes[2] -= 1
        found = [[loss.data for loss in losses], [node.grad for node in nodes]]
        assert found == close([expected, slopes])

    def test_any_logits(self, student, rng):
        """It is right for one class or many, equal ones, far apart or close, whole numbers too."""
        a = rng.uniform(1.2, 3)
        rows = [[a], [0.0, 0.0], [a] * 9, [a, a + 0.01, a - 0.02], [3, -2, 5, 0], [0.0, 9.0, -9.0]]
        rows += [
            [30 * a, 29 * a, -30 * a],
            [-200.0, -201.5],
            [-1000.0, -1000.0, -1000.0],
            [-500.0, -900.0],
            [rng.uniform(-2, 2) for _ in range(10)],
        ]
        cases = [
            [row, place, scale, 1]
            for row in rows
            for place, scale in {0: 1.0, len(row) // 2: -2.0, len(row) - 1: 0.5}.items()
        ]
        found = student.inside.functions.losses(student.Value, student.cross_entropy, cases)
        expected = []
        for row, place, scale, _ in cases:
            loss, slopes = self.expected([z - max(row) for z in row], place)
            expected.append([loss, *[scale * slope for slope in slopes]])
        assert found == close(expected)


@exercise("sgd")
class TestSgd:
    def stepped(self, student, start, gradients, lr, **settings):
        """The parameters after one step for each row of gradients, and what they should be."""
        nodes = [student.Value(a) for a in start]
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
        return [node.data for node in nodes], expected

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            pytest.param({"momentum": 0.9}, marks=extra()),
            pytest.param({"weight_decay": 0.3}, marks=extra()),
            pytest.param({"momentum": 0.5, "weight_decay": 0.2}, marks=extra()),
        ],
        ids=lambda settings: "-".join(settings) or "plain",
    )
    def test_steps(self, student, rng, numbers, settings):
        """Several steps, each with its own gradients, lead where the formula says."""
        lr = rng.uniform(0.05, 0.3)
        gradients = [numbers(3) for _ in range(4)]
        found, expected = self.stepped(student, numbers(3), gradients, lr, **settings)
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
        """`zero_grad()` zeroes the gradients, and leaves the numbers as they are."""
        a, b, g, h = numbers(4)
        p, q = leaf(student, a, g), leaf(student, b, h)
        optimizer = student.SGD([p, q], lr=0.1)
        optimizer.step()
        optimizer.zero_grad()
        assert [p.grad, q.grad, p.data, q.data] == close([0.0, 0.0, a - 0.1 * g, b - 0.1 * h])

    @extra()
    def test_zero_grad_leaves_velocities(self, student, numbers):
        """`zero_grad()` leaves the velocities as they are."""
        a, b, g, h = numbers(4)
        p, q = leaf(student, a, g), leaf(student, b, h)
        optimizer = student.SGD([p, q], lr=0.1, momentum=0.5)
        optimizer.step()
        optimizer.zero_grad()
        optimizer.step()
        p.grad, q.grad = g, h
        optimizer.step()
        # The velocity was g, then half of it, then half of that and another g.
        steps = 0.1 * (1 + 0.5 + 1.25)
        assert [p.data, q.data] == close([a - steps * g, b - steps * h])

    def test_leaves_the_gradients(self, student, numbers):
        """A step moves the numbers and leaves the gradients: `zero_grad()` alone zeroes them."""
        data, gradients = numbers(3), numbers(3)
        nodes = [leaf(student, a, g) for a, g in zip(data, gradients, strict=True)]
        student.SGD(nodes, lr=0.1).step()
        assert [node.grad for node in nodes] == close(gradients)
        assert all(node.data != a for node, a in zip(nodes, data, strict=True))

    @extra()
    def test_two_optimizers(self, student, numbers):
        """Two optimizers know nothing of each other's velocities: a new one starts from 0."""
        a, b, g, h = numbers(4)
        p, q = leaf(student, a, g), leaf(student, b, h)
        for node in (p, q, p):
            student.SGD([node], lr=0.1, momentum=0.9).step()
        assert [p.data, q.data] == close([a - 0.2 * g, b - 0.1 * h])

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            pytest.param({"momentum": 1.0}, marks=extra()),
            pytest.param({"momentum": 0.8, "weight_decay": 0.1}, marks=extra()),
        ],
        ids=lambda settings: "-".join(settings) or "plain",
    )
    def test_any_numbers(self, student, rng, settings):
        """Parameters, gradients and rates of any size, many steps, equal parameters."""
        a = rng.uniform(1.2, 3.0)
        start = [a, a, -a, 0.0, 1e-5, 50.0, -50.0, 0.3, 1, 0.02]
        gradients = [0.0, 1e-6, -1e-4, 0.3, a, -9.0, 80.0, -3e3, 1e6, -0.2]
        rows = [[0.0] * 10, [0.0] * 10, *(gradients[i:] + gradients[:i] for i in range(8))]
        for lr in (1e-4, 0.7, 5.0):
            found, expected = self.stepped(student, start, rows, lr, **settings)
            assert found == close(expected)

    def test_zeroes_any_gradient(self, student, number):
        """`zero_grad()` sets gradients of any size to 0.0."""
        grads = [0.0, 1e-9, -0.3, 500.0, -1e9]
        nodes = [leaf(student, number(), grad) for grad in grads]
        student.SGD(nodes, lr=0.1).zero_grad()
        assert [node.grad for node in nodes] == [0.0] * 5


@exercise("schedule")
class TestSchedule:
    def test_formula(self, student, rng):
        """The rate is lr / (1 + decay · step)."""
        cases = [
            (rng.uniform(0.1, 2), rng.randint(2, 300), rng.uniform(0.002, 0.5)) for _ in range(4)
        ]
        found = [student.decayed(lr, step, decay) for lr, step, decay in cases]
        assert found == close([lr / (1 + decay * step) for lr, step, decay in cases])

    def test_beginning_and_default(self, student, rng):
        """At step 0 it is the full rate; unless told otherwise, decay is 0.01."""
        lr, step = rng.uniform(0.1, 2), rng.randint(20, 300)
        found = [student.decayed(lr, 0, 0.5), student.decayed(lr, step)]
        assert found == close([lr, lr / (1 + 0.01 * step)])

    def test_any_numbers(self, student, rng):
        """It is so for any step, late ones and the first, any rate and any decay, none too."""
        a = rng.uniform(1.2, 3.0)
        cases = [
            (a, 1, 0.3),
            (a, 5000, 0.3),
            (a, 1, 4.0),
            (a, 7, 0.0),
            (1e-5, 30, 0.1),
            (40.0, 3, 0.1),
        ]
        cases += [(a, 900, 2e-6), (a, 2.5, 0.2), (a, 3, 0.3), (2 * a, 3, 0.3), (1e-9, 50, 0.5)]
        assert [student.decayed(*each) for each in cases] == close(
            [lr / (1 + decay * step) for lr, step, decay in cases], relative=1e-9
        )


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
        assert here.gradients == close(here.slopes) and len(here.gradients) == 4
        assert all(here.saw_every_sample([batch]) for batch in here.batches)

    def test_leftovers(self, ground, number):
        """Gradients that were left over from before make no difference."""
        here = ground(3, leftover=number())
        here.run(2)
        assert here.gradients == close(here.slopes) and len(here.gradients) == 2
        assert all(here.saw_every_sample([batch]) for batch in here.batches)

    def test_all_at_once(self, ground):
        """Without a batch size, a batch holds every sample, each with its own target."""
        here = ground(5)
        here.run(2)
        assert len(here.batches) == 2 and all(here.saw_every_sample([b]) for b in here.batches)

    @extra()
    @pytest.mark.parametrize(("count", "size"), [(12, 4), (6, 1)], ids=["four", "one"])
    def test_batches(self, ground, count, size):
        """With a batch size, each epoch makes a step a batch, and sees every sample once."""
        here, steps = ground(count), count // size
        here.run(2, size)
        assert list(map(len, here.batches)) == [size] * 2 * steps
        for epoch in (here.batches[:steps], here.batches[steps:]):
            assert here.saw_every_sample(epoch)
        assert here.gradients == close(here.slopes) and len(here.gradients) == 2 * steps

    @extra()
    def test_mean_of_the_batches(self, ground):
        """An epoch's number is the mean of its batches' losses; the given lists stay in order."""
        here = ground(8)
        found = here.run(2, 2)
        assert len(here.losses) == 8 and here.unchanged
        assert found == close([sum(here.losses[:4]) / 4, sum(here.losses[4:]) / 4])

    @extra()
    def test_the_tail(self, ground):
        """Where the samples do not divide evenly, the last ones make a smaller batch, whose loss
        counts as the others do in the epoch's mean."""
        here = ground(9)
        found = here.run(2, 4)
        for epoch in (here.batches[:3], here.batches[3:]):
            assert sorted(map(len, epoch)) == [1, 4, 4] and here.saw_every_sample(epoch)
        assert here.gradients == close(here.slopes) and len(here.gradients) == 6
        assert found == close([sum(here.losses[:3]) / 3, sum(here.losses[3:]) / 3])

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
    def test_any_size(self, ground, count, epochs, size):
        """One sample or many, one epoch or many or none, whether the loss falls to 0 or grows."""
        here = ground(count)
        found = here.run(epochs, *[size for _ in range(size is not None)])
        steps = -(-count // (size or count))
        batches = [here.batches[i : i + steps] for i in range(0, len(here.batches), steps)]
        losses = [here.losses[i : i + steps] for i in range(0, len(here.losses), steps)]
        assert len(batches) == epochs and all(map(here.saw_every_sample, batches))
        assert found == close([sum(each) / steps for each in losses])
        assert here.gradients == close(here.slopes) and len(here.gradients) == steps * epochs

    def test_equal_samples(self, ground):
        """Samples that are alike count each, and the lists stay as they are."""
        here = ground(6, alike=True)
        found = here.run(2)
        assert all(map(here.saw_every_sample, [[batch] for batch in here.batches]))
        assert found == close(here.losses) and here.unchanged


def assert_the_seed_decides(student, name, seeds, data, points, model_of=lambda found: found):
    """Networks trained from one seed answer the same at the points, and from another seed not.

    Where answers are rounded they may be the same there: then the networks differ in where the
    border between the classes lies.
    """
    first, second = seeds
    found, watch = trained(student, name, *data, first)
    one = model_of(found)
    network_answers(student, one, watch, *data)
    other, again = (model_of(trained(student, name, *data, seed)[0]) for seed in (second, first))
    expected = answers(one, points)
    assert answers(again, points) == close(expected)
    if answers(other, points) == close(expected, relative=1e-6):
        assert borders(other, *data) != borders(one, *data)


@exercise("xor")
class TestXor:
    def right(self, student, rng, seed, turned=False):
        """At how many of the four points a network trained from this seed is right."""
        inputs, targets = xor()
        targets = [1.0 - t for t in targets] if turned else targets
        model, watch = trained(student, "train_xor", inputs, targets, seed)
        found = network_answers(student, model, watch, inputs, targets)
        return sum((a > 0.5) == (t > 0.5) for a, t in zip(found, targets, strict=True))

    # Always the same seeds, here and below: whether a training is good enough must not depend on
    # the draw. Where it is too short, these are the last to be learnt from.
    @pytest.mark.parametrize("seed", [0, 4])
    def test_learns(self, student, rng, seed):
        """From each of the seeds 0 to 9 the network learns XOR: all four points are right."""
        assert self.right(student, rng, seed) == 4

    def test_learns_the_opposite(self, student, rng):
        """From each of the seeds 0 to 9 the network learns the opposite of XOR as well."""
        assert self.right(student, rng, 0, turned=True) == 4

    def test_the_seed_decides(self, student, rng):
        """The same seed gives the same network, and another seed gives another one."""

        # Between the four points: on them, whoever has trained for long answers just the targets.
        points = [[rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)] for _ in range(4)]
        assert_the_seed_decides(student, "train_xor", (0, 4), xor(), points)


@exercise("four_points")
class TestFourPoints:
    def trained(self, student, rng, seed, sign=1):
        """The mean squared error of a network trained from this seed, and its losses."""
        inputs, targets = four_points()
        targets = [sign * t for t in targets]
        result, watch = trained(student, "train_four_points", inputs, targets, seed)
        pair = list(result)
        assert len(pair) == 2
        model, losses = pair
        found = network_answers(student, model, watch, inputs, targets)
        error = sum((a - t) ** 2 for a, t in zip(found, targets, strict=True)) / 4
        return error, [loss for loss in losses], [float(loss) for loss in watch.losses]

    @pytest.mark.parametrize(("seed", "sign"), [(0, 1), (4, -1)], ids=["straight", "turned"])
    def test_learns(self, student, rng, seed, sign):
        """From each of the seeds 0 to 9, targets flipped or not, the error is below 0.01."""
        assert self.trained(student, rng, seed, sign)[0] < 0.01

    def test_the_seed_decides(self, student, rng):
        """The same seed gives the same network, and another seed gives another one."""
        data = four_points()
        assert_the_seed_decides(
            student, "train_four_points", (0, 4), data, data[0], lambda found: found[0]
        )

    def test_losses(self, student, rng):
        """The second result is the list of losses, at most 200, which have fallen: they are those
        of the training that made the model."""
        _, losses, seen = self.trained(student, rng, 0)
        assert all(isinstance(loss, (int, float)) for loss in losses)
        assert 4 <= len(losses) <= min(200, len(seen) + 1) and losses[-1] < losses[0] / 2
        # Sums or means, before the steps or after them, of an epoch or of each of its batches: they
        # fall as those that were seen do.
        ends = [round(i * len(seen) / len(losses)) for i in range(len(losses) + 1)]
        means = [statistics.fmean(seen[a : max(b, a + 1)] or seen[-1:]) for a, b in pairwise(ends)]
        told, known = (
            [math.log10(max(abs(loss), 1e-12)) for loss in each] for each in (losses, means)
        )
        ways = [abs(a - told[0] - b + known[0]) for a, b in zip(told, known, strict=True)]
        assert sum(ways) / len(ways) < 0.7


@exercise("moons")
class TestMoons:
    # Always the same moons: from the first, what squeezes its answers learns too little.
    @pytest.mark.parametrize(("seed", "sign"), [(0, 1), (8, -1)], ids=["straight", "turned"])
    def test_learns(self, student, rng, seed, sign):
        """For each of the seeds 0 to 9, also with targets flipped, 92 % are right, of the
        points that were given and of fresh ones."""
        inputs, targets = moons(40, 0.1, seed)
        turned = [sign * t for t in targets]
        model, watch = trained(student, "train_moons", inputs, turned, seed)
        network_answers(student, model, watch, inputs, turned)
        for points, truth in ((inputs, targets), moons(200, 0.1, 1000 + seed)):
            found = answers(model, points)
            right = sum((a > 0) == (sign * t > 0) for a, t in zip(found, truth, strict=True))
            assert right >= 0.92 * len(points)

    def test_the_seed_decides(self, student, rng):
        """The same seed gives the same network, and another seed gives another one."""
        data = moons(40, 0.1, 8)
        assert_the_seed_decides(student, "train_moons", (3, 4), data, data[0][:8])
