"""Records trainings: a small one with its own model, loss and optimizer, and a student's own."""

import gc
from contextlib import suppress
from types import FunctionType, ModuleType


class Ground:
    """The parts of a training loop: a model with one weight, a loss and an optimizer.

    Args:
        Value: the student's class of nodes.
        start: the number that the weight starts at.
        leftover: the gradient that the weight has from before.
        rate: the learning rate.
        scale: a factor on the loss, so that its slope cannot be guessed.
        bare: whether the model is a function, which answers with a list.

    Attributes:
        w: the weight, a node.
        model: answers w · x.
        optimizer: takes a step against the gradient.
        record: the events, in order: for each call of the loss `("loss", pairs)`, with the sorted
            pairs of a prediction and its target, and for each step `("step", gradient)`.
    """

    def __init__(self, Value, start, leftover, rate, scale, bare=False):
        self.scale, self.bare = scale, bare
        self.w = Value(start)
        self.w.grad = leftover
        self.record = []
        self.model = (lambda point: [Line(self.w)(point)]) if bare else Line(self.w)
        self.optimizer = Steps(self.w, rate, self.record)

    def loss(self, predictions, targets):
        """Return the mean squared error of a list of predictions and a list of targets, times the
        scale."""
        count = max(len(predictions), len(targets))
        answers = [p for [p] in predictions] if self.bare else predictions
        pairs = list(zip(answers, targets, strict=True))
        self.record.append(("loss", sorted((p.data, t) for p, t in pairs)))
        return sum((p - t) * (p - t) for p, t in pairs) * (self.scale / count)


class Line:
    """The model w · x, for points with one coordinate."""

    def __init__(self, w):
        self.w = w

    def __call__(self, point):
        [x] = point
        return self.w * x

    def parameters(self):
        return [self.w]

    def zero_grad(self):
        self.w.grad = 0.0


class Steps:
    """An optimizer that records the gradient of each of its steps."""

    def __init__(self, w, rate, record):
        self.w = w
        self.rate = rate
        self.record = record

    def step(self):
        self.record.append(("step", self.w.grad))
        self.w.data -= self.rate * self.w.grad

    def zero_grad(self):
        self.w.grad = 0.0


class Enough(BaseException):
    """Ends a training whose first passes suffice."""


class Watched:
    """A training function that is recorded while it runs.

    Args:
        Value: the student's class of nodes.
        train: the function.
        most: after how many backward passes it is ended; by default never.

    Attributes:
        losses: the numbers of the nodes from which backward passes ran, in order.
    """

    def __init__(self, Value, train, most=None):
        self.Value = Value
        self.train = train
        self.most = most
        self.losses = []
        self._first = {}
        self._met = set()
        self._last = []
        self._depth = 0

    def __call__(self, *task):
        backward = self.Value.backward

        def watched(root, *more):
            # A pass may be written as several passes.
            self._depth += 1
            try:
                if self._depth == 1:
                    self._note(root)
                return backward(root, *more)
            finally:
                self._depth -= 1

        self.Value.backward = watched
        try:
            return self.train(*task)
        finally:
            self.Value.backward = backward

    def _note(self, root):
        if len(self.losses) == self.most:
            raise Enough
        self.losses.append(root.data)
        count = len(self.losses)
        # Now and then: a walk takes about as long as a pass.
        if self.most or count % 16 == 0 or count & (count - 1) == 0:
            order = _in_order(root)
            leaves = [node for node in order if not node._prev]
            starts = ((id(leaf), leaf, self._first.get(id(leaf))) for leaf in leaves)
            moved = {name for name, leaf, first in starts if first and first[1] != leaf.data}
            if not self.most and not moved <= self._met:
                self._met |= _coupled(order, moved)
            self._last = order
            for leaf in leaves:
                self._first.setdefault(id(leaf), (leaf, leaf.data))

    def numbers(self):
        """Return the numbers of the leaves that have moved since a backward pass reached them."""
        return [leaf.data for leaf, start in self._first.values() if leaf.data != start]

    def coupled(self, parameters):
        """Return the share of moved parameters that are combined with others in a loss.

        If none of them was behind one, since they are copies, all leaves that moved count.
        """
        moved = {name for name, (leaf, start) in self._first.items() if leaf.data != start}
        own = moved & {id(each) for each in parameters} or moved
        met = self._met | _coupled(self._last, moved)
        return len(own & met) / max(1, len(own))

    def moved(self, parameters):
        """Return how far each parameter has moved since a backward pass reached it; 0 if it has
        not.

        A copy counts as its original, also if that has moved on a little.
        """
        ways = {name: abs(leaf.data - start) for name, (leaf, start) in self._first.items()}
        leaves = [(leaf.data, ways[name]) for name, (leaf, _) in self._first.items() if ways[name]]

        def way_of(parameter):
            if id(parameter) in ways or not leaves:
                return ways.get(id(parameter), 0.0)
            number, way = min(leaves, key=lambda leaf: abs(leaf[0] - parameter.data))
            return way if abs(number - parameter.data) <= way / 5 else 0.0

        return [way_of(parameter) for parameter in parameters]


def beginning(Value, train, task, most):
    """Return the losses of a training's first backward passes, `most` of them, and the numbers of
    the leaves that these have moved."""
    watch = Watched(Value, train, most)
    with suppress(Enough):
        watch(*task)
    return watch.losses, watch.numbers()


def _coupled(order, leaves):
    """Return the leaves that meet others in a graph, whose nodes are given in order.

    A weight that is multiplied by a neuron's answer, or a bias that is added to a weighted sum,
    meets all leaves on which that depends. If each leaf has a term of the loss for itself, none
    meets another one.
    """
    behind, met = {}, set()
    for node in order:
        own = {id(each) for each in node._prev} & leaves
        others = set().union(*(behind[id(each)] for each in node._prev))
        if own and others - own:
            met |= own | others
        behind[id(node)] = own | others
    return met


def _in_order(root):
    """Return every node of a graph, each after its operands."""
    order, met, to_do = [], {id(root)}, [(root, iter(root._prev))]
    while to_do:
        node, operands = to_do[-1]
        for operand in operands:
            if id(operand) not in met:
                met.add(id(operand))
                to_do.append((operand, iter(operand._prev)))
                break
        else:
            to_do.pop()
            order.append(node)
    return order


def number_of(answer):
    """Return a model's answer as a number."""
    [answer] = answer if isinstance(answer, (list, tuple)) else [answer]
    return float(getattr(answer, "data", answer))


def nudged(model, parameters, points, step=1e-4):
    """Return a model's answers at the points, for each parameter: as it is, a step up and two
    steps."""
    found = []
    for parameter in parameters:
        held, rows = parameter.data, []
        for steps in range(3):
            parameter.data = held + steps * step
            rows.append([number_of(model(point)) for point in points])
        parameter.data = held
        found.append(rows)
    return found


def largest_jump(model, start, end, halvings=30):
    """Return the greatest jump of a model's answer between two points, at one place."""

    def answer(part):
        return number_of(model([a + part * (b - a) for a, b in zip(start, end, strict=True)]))

    low, high = 0.0, 1.0
    left, right = answer(low), answer(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        between = answer(middle)
        if abs(between - left) > abs(right - between):
            high, right = middle, between
        else:
            low, left = middle, between
    return abs(right - left)


def parameters_behind(model):
    """Return the Values that a model's answers can come from: its parameters, or a function's
    variables."""
    if callable(getattr(model, "parameters", None)):
        return list(model.parameters())
    found, met, to_do = [], set(), [model]
    while to_do and len(met) < 20_000:
        each = to_do.pop()
        if id(each) in met or isinstance(each, (type, ModuleType)):
            continue
        met.add(id(each))
        if hasattr(each, "data") and hasattr(each, "grad"):
            found.append(each)
        elif isinstance(each, FunctionType):
            names = each.__globals__.keys() & set(each.__code__.co_names)
            to_do += [each.__closure__, each.__defaults__, *(each.__globals__[n] for n in names)]
        else:
            to_do += gc.get_referents(each)
    return found
