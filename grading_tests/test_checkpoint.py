"""The hidden tests of `checkpoint`.

Each test's docstring is what a student reads when it fails: it never says which answer is right.
Letters count in either case, numbers in any form and to three digits. Engines that a student's
test is tried on live in the student's process. Usual numbers are worked out there; what backward
passes do, and numbers that are not the usual ones, are worked out here.
"""

from __future__ import annotations

import math
from functools import partial

import pytest

from autograder.testing import close, exercise, is_node, leaf

LETTERS = {
    "q1": "c", "q3": "b", "q4": "d", "q5": "a", "q7": "c", "q9": "d", "q12": "a", "q14": "b",
    "q15": "d", "q16": "b", "q17": "a",
}  # fmt: skip
NUMBERS = {"q2": 2.0, "q6": 9.0, "q8": 2.5, "q10": -1.0, "q11": 10.0, "q13": 0.5}


def each(answers):
    return [pytest.param(*item, marks=exercise(item[0])) for item in answers.items()]


def to_letter(answer):
    return answer.strip().lower() if isinstance(answer, str) else None


def to_number(answer):
    return float(answer) if isinstance(answer, (int, float)) and answer is not True else None


@pytest.mark.parametrize(("question", "right"), each(LETTERS))
def test_letter(student, question, right):
    """The answer is the letter of the option that is right."""
    assert student.read(question, to_letter) == right


@pytest.mark.parametrize(("question", "right"), each(NUMBERS))
def test_number(student, question, right):
    """The answer is the right number, to three digits."""
    assert student.read(question, to_number) == close(right, 1e-3)


@exercise("q18")
class TestWeightedSum:
    def test_adds_up(self, student, number):
        """The result holds the sum of weight times input."""
        weights, inputs = [number() for _ in range(4)], [number() for _ in range(4)]
        total = student.weighted_sum([leaf(student, w) for w in weights], inputs)
        assert total.data == close(sum(w * x for w, x in zip(weights, inputs, strict=True)))

    def test_every_weight_learns(self, student, number):
        """Each weight's gradient is its own input, also where there is only one."""
        for n in (4, 1):
            weights = [leaf(student, number()) for _ in range(n)]
            inputs = [number() for _ in range(n)]
            student.weighted_sum(weights, inputs).backward()
            assert student.attributes(weights, "grad") == close(inputs)

    def test_within_a_larger_formula(self, student, number):
        """The gradient of the result is passed on, as the chain rule asks."""
        weights, inputs = [leaf(student, number()) for _ in range(3)], [number() for _ in range(3)]
        scale = number()
        (student.weighted_sum(weights, inputs) * scale).backward()
        assert student.attributes(weights, "grad") == close([scale * x for x in inputs])

    def test_adds_to_what_is_there(self, student, number):
        """A weight that is used twice, or has a gradient already, collects everything."""
        weight, held, inputs = leaf(student, number()), number(), [number(), number()]
        weight.grad = held
        student.weighted_sum([weight, weight], inputs).backward()
        assert weight.grad == close(held + sum(inputs))

    def test_weights_with_a_history(self, student, number):
        """Where a weight was itself computed, the gradient goes on to what it came from."""
        first, second = leaf(student, number()), leaf(student, number())
        factor, inputs = number(), [number(), number()]
        student.weighted_sum([first * factor, second * first], inputs).backward()
        expected = [inputs[0] * factor + inputs[1] * second.data, inputs[1] * first.data]
        assert [first.grad, second.grad] == close(expected)


RULES = {
    # The number, and the local derivative by each operand.
    "+": (lambda a, b: a + b, lambda a, b: (1.0, 1.0)),
    "-": (lambda a, b: a - b, lambda a, b: (1.0, -1.0)),
    "*": (lambda a, b: a * b, lambda a, b: (b, a)),
    "/": (lambda a, b: a / b, lambda a, b: (1 / b, -a / b**2)),
    "**": (lambda a, n: a**n, lambda a, n: (n * a ** (n - 1) if n else 0.0, 0.0)),
    "neg": (lambda a: -a, lambda a: (-1.0,)),
    "tanh": (math.tanh, lambda a: (1 - math.tanh(a) ** 2,)),
    "relu": (lambda a: max(a, 0.0), lambda a: (float(a > 0),)),
}


def topological(operands_of, root):
    """Every node behind the root, each after all that it feeds: root first."""
    order, met, waiting = [], set(), [(root, False)]
    while waiting:
        node, operands_done = waiting.pop()
        if operands_done:
            order.append(node)
        elif node not in met:
            met.add(node)
            waiting.append((node, True))
            waiting += [(operand, False) for operand in operands_of(node)]
    return order[::-1]


def breadth_first(operands_of, root):
    """The root, then its operands, then theirs: a node may run before all that it feeds."""
    order, met = [root], {root}
    for node in order:
        new = [operand for operand in operands_of(node) if operand not in met]
        met.update(new)
        order += new
    return order


def make_engine(
    student, rules=None, forgets=(), overwrites=(), cuts=(), turns_round=(), order=topological
):
    """A class in the student's process whose methods run here, right or with one mistake.

    Args:
        rules: operations whose number or local derivatives differ from `RULES`.
        forgets: operations whose backward step does not use the result's gradient.
        overwrites: operations whose backward step assigns the gradient instead of adding to it.
        cuts: operations whose result has no operands.
        turns_round: operations that swap their operands where a plain number stands on the left.
        order: takes a function that gives a node's operands, and the root, and lists the nodes
            as backward runs them; None leaves out the method `backward`.
    """
    rules = RULES | (rules or {})
    # What each node was made by, and from.
    steps = {}
    signs = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}
    # By method: the operation, and whether its operands come in the other order.
    operations = {"__init__": ("", False), "__neg__": ("neg", False), "__pow__": ("**", False)}
    operations |= {name: (name, False) for name in ("tanh", "relu")}
    operations |= {f"__{name}__": (op, False) for name, op in signs.items()}
    operations |= {f"__r{name}__": (op, op not in turns_round) for name, op in signs.items()}

    def note(method, node, *operands):
        op, reflected = operations[method]
        steps[node] = (op, operands[::-1] if reflected else operands)

    def make(method, node, *operands):
        """Work out a node's number here, where it is not the usual one."""
        note(method, node, *operands)
        op, operands = steps[node]
        nodes = nodes_of(node)
        held = dict(zip(nodes, student.attributes(nodes, "data"), strict=True))
        values = [held[operand] if is_node(operand) else operand for operand in operands]
        data = rules[op][0](*values) if op else float(*values)
        student.fill(node, data=data, grad=0.0, _prev=[] if op in cuts else nodes)

    def nodes_of(node):
        return [operand for operand in steps[node][1] if is_node(operand)]

    def pass_on(nodes, seed=None):
        """Run the backward steps of these nodes in this order, the first one seeded if asked."""
        behind = [operand for node in nodes for operand in nodes_of(node)]
        touched = list(dict.fromkeys([*nodes, *behind]))
        held = dict(zip(touched, student.attributes(touched, "data"), strict=True))
        grads = dict(zip(touched, student.attributes(touched, "grad"), strict=True))
        if seed is not None:
            grads[nodes[0]] = seed
        for node in nodes:
            op, operands = steps[node]
            if not op or op in cuts:
                continue
            upstream = 1.0 if op in forgets else grads[node]
            values = [held[operand] if is_node(operand) else operand for operand in operands]
            for operand, slope in zip(operands, rules[op][1](*values), strict=True):
                if is_node(operand):
                    before = 0.0 if op in overwrites else grads[operand]
                    grads[operand] = slope * upstream + before
        student.set_all(list(grads), "grad", list(grads.values()))

    methods = {"_backward": lambda node: pass_on([node])}
    if order is not None:
        methods["backward"] = lambda root: pass_on(order(feeding, root), seed=1.0)

    def feeding(node):
        return [] if steps[node][0] in cuts else nodes_of(node)

    usual = {"__init__": "number"}
    for method, (op, _) in operations.items():
        if op and rules[op][0] is RULES[op][0]:
            name = method.strip("_")
            usual[method] = name[1:] if method.startswith("__r") and op in turns_round else name
    makers = {method: partial(make, method) for method in operations}
    alone = [method for method, (op, _) in operations.items() if op in cuts]
    return student.define_nodes("Engine", methods, makers, usual, note, alone)


@exercise("q19")
class TestBackward:
    @pytest.fixture
    def run(self, student, number):
        """Builds an expression of two leaves and runs the backward pass.

        Gives the root's gradient, the leaves' numbers and their gradients.
        """

        def run_it(build, *held):
            kind = make_engine(student, order=None)
            leaves = [kind(number()), kind(number())]
            for node, grad in zip(leaves, held, strict=False):
                node.grad = grad
            root = build(*leaves)
            root.grad = number()
            student.call(student.backward, root)
            return root.grad, student.attributes(leaves, "data"), student.attributes(leaves, "grad")

        return run_it

    def test_a_chain(self, run):
        """Through a chain of steps the local derivatives are multiplied."""
        _, _, grads = run(lambda x, y: (x * 3 - y) * 2)
        assert grads == close([6.0, -2.0])

    def test_the_seed(self, run):
        """The root's gradient is set to 1.0, whatever it held before."""
        seed, _, grads = run(lambda x, y: x * 2 + y * 3)
        assert [seed, *grads] == close([1.0, 2.0, 3.0])

    def test_reused_steps(self, run):
        """A step that feeds two others takes its turn after both of them, and once."""
        _, (x, y), grads = run(lambda x, y: (s := x * y) + s * s)
        assert grads == close([y + 2 * x * y**2, x + 2 * x**2 * y])
        _, (x, y), grads = run(lambda x, y: (s := x * y) * s + s)
        assert grads == close([y + 2 * x * y**2, x + 2 * x**2 * y])

    def test_shared_by_several(self, run):
        """Where paths part and meet again, every path counts once."""

        def build(x, y):
            once = x * y
            twice = once * once
            thrice = twice * once
            return thrice + (twice + once)

        _, (x, y), grads = run(build)
        slope = 3 * (x * y) ** 2 + 2 * x * y + 1
        assert grads == close([slope * y, slope * x])

    def test_equal_numbers(self, student):
        """Two nodes with equal numbers are still two nodes."""
        kind = make_engine(student, order=None)
        x, y = kind(2.0), kind(2.0)
        first, second = x * 3, y * 3
        student.call(student.backward, first + second * 5)
        assert [x.grad, y.grad] == close([3.0, 15.0])

    def test_a_second_pass(self, student, number):
        """A later pass from another root runs the steps that they share once more."""
        kind, a, b = make_engine(student, order=None), number(), number()
        x, y = kind(a), kind(b)
        both = x * y
        for root in (both * 2, both * 3):
            student.call(student.backward, root)
        assert [both.grad, x.grad, y.grad] == close([5.0, 7 * b, 7 * a])

    def test_adds_to_what_is_there(self, run, number):
        """Gradients that other nodes hold already are added to, and never set back."""
        held = [number(), number()]
        _, _, grads = run(lambda x, y: x * 2 + y * 3, *held)
        assert grads == close([held[0] + 2, held[1] + 3])


@exercise("q20")
class TestDescend:
    @pytest.fixture
    def walk(self, student, number, rng):
        """Walks down a bowl with old gradients lying about: what came out, what should have."""
        start, lr, steps = [number(), number()], rng.uniform(0.02, 0.08), rng.randint(3, 5)
        target, slope = number(), number()
        w, b = (leaf(student, data, number()) for data in start)

        loss_of = student.expression(lambda w, b: (w * slope + b - target) ** 2 + b * b)
        found = student.items(student.call(student.descend, loss_of, [w, b], lr, steps))
        losses, (here, there) = [], start
        for _ in range(steps):
            error = here * slope + there - target
            losses.append(error**2 + there**2)
            here, there = here - lr * 2 * error * slope, there - lr * (2 * error + 2 * there)
        return found, [w.data, b.data], losses, [here, there]

    def test_moves_the_parameters(self, walk):
        """The given Values themselves are moved against their gradients, each step anew."""
        _, data, _, expected = walk
        assert data == close(expected)

    def test_returns_the_losses(self, walk):
        """It returns the loss before each step, as plain numbers in a list."""
        found, _, losses, _ = walk
        assert found == close(losses)

    def test_makes_every_step(self, student, number):
        """It makes every step in full, also where the rate is too large and the loss grows."""
        w = leaf(student, start := number())
        square = student.expression(lambda w: w * w)
        losses = student.items(student.call(student.descend, square, [w], 6.0, 3))
        assert losses == close([(start * (-11.0) ** n) ** 2 for n in range(3)])
        assert w.data == close(start * (-11.0) ** 3)

    def test_no_steps(self, student, number):
        """No steps: no losses, and the parameter stays where it is."""
        w = leaf(student, start := number())
        square = student.expression(lambda w: w * w)
        losses = student.call(student.descend, square, [w], 0.1, 0)
        assert student.items(losses) == [] and w.data == start
        student.call(student.descend, square, [w], 0.1, 1)
        assert w.data == close(0.8 * start)


def rounds_otherwise(a):
    narrow = math.exp(-2 * abs(a))
    return math.copysign((1 - narrow) / (1 + narrow), a)


def slope_otherwise(a):
    t = rounds_otherwise(a)
    return ((1 - t) * (1 + t),)


@exercise("q21")
class TestEngineTest:
    @pytest.fixture
    def says(self, student, rng):
        """What the student's function says of a right engine, and of others with a mistake."""

        def judge(*mistakes, **right):
            engines = [right, *mistakes]
            turns = rng.sample(range(len(engines)), len(engines))
            said = {
                turn: student.test_engine(make_engine(student, **engines[turn])) for turn in turns
            }
            return [said[turn] for turn in range(len(engines))]

        return judge

    def test_right_engines(self, says):
        """A right engine passes however it is built; one that sends nothing back does not."""
        tanh = (rounds_otherwise, slope_otherwise)
        divide = (lambda a, b: a * b**-1, lambda a, b: (b**-1, -(a * b**-1) * b**-1))
        idle = {"cuts": list(RULES)}
        assert says(idle, rules={"tanh": tanh, "/": divide}) == [True, False]

    def test_rules(self, says):
        """Wrong local derivatives are caught: of a product, a quotient, a power, a difference."""
        wrong = {
            "*": lambda a, b: (a, b),
            "/": lambda a, b: (1 / b, a / b**2),
            "**": lambda a, n: (n * a**n, 0.0),
            "-": lambda a, b: (1.0, 1.0),
        }
        broken = [{"rules": {op: (RULES[op][0], slopes)}} for op, slopes in wrong.items()]
        assert says(*broken) == [True, False, False, False, False]

    def test_chain_rule(self, says):
        """An engine in which tanh forgets the chain rule is caught."""
        assert says({"forgets": ["tanh"]}) == [True, False]

    def test_accumulation(self, says):
        """Engines in which a sum, or tanh, assigns gradients instead of adding are caught."""
        assert says({"overwrites": ["+"]}, {"overwrites": ["tanh"]}) == [True, False, False]

    def test_numbers_on_the_left(self, says):
        """An engine that takes `5 - x` for `x - 5` is caught, and one that does so with `/`."""
        assert says({"turns_round": ["-"]}, {"turns_round": ["/"]}) == [True, False, False]

    def test_relu_and_minus(self, says):
        """An engine whose relu has no mask is caught, and one whose minus sign cuts the graph."""
        no_mask = {"relu": (RULES["relu"][0], lambda a: (1.0,))}
        assert says({"rules": no_mask}, {"cuts": ["neg"]}) == [True, False, False]

    def test_order_of_the_pass(self, says):
        """An engine whose backward pass runs a node too early is caught."""
        assert says({"order": breadth_first}) == [True, False]
