"""Records trainings: by a small model, loss and optimizer for the student's `train`, and by
watching the student's own trainings."""

import gc
from contextlib import suppress
from types import FunctionType, ModuleType


class Ground:
    """The parts of a training: a model with one weight, a loss and an optimizer.

    Args:
        Value: the student's class of nodes.
        start: the first value of the weight.
        leftover: the gradient that the weight has before the training.
        rate: the learning rate.
        scale: a factor of the loss, so that its derivative cannot be guessed.
        bare: whether the model is a function that returns a list.

    Attributes:
        w: the weight, a node.
        model: returns w · x.
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
        """Return the mean squared error of the predictions, times the scale."""
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
    """Raised to end a training whose first backward passes are enough."""


class Watched:
    """Calls a student's training function, and records its backward passes.

    Args:
        Value: the student's class of nodes.
        train: the training function.
        most: the number of backward passes after which the training is ended; None for no limit.

    Attributes:
        result: what the function returned.
        losses: the numbers of the nodes from which backward passes were run, in order.
    """

    def __init__(self, Value, train, most=None):
        self.Value = Value
        self.train = train
        self.most = most
        self.result = None
        self.losses = []
        self._first = {}
        self._met = set()
        self._last = []
        self._depth = 0

    def __call__(self, *task):
        backward = self.Value.backward

        def watched(root, *more):
            # A student's `backward` may call `backward` again.
            self._depth += 1
            try:
                if self._depth == 1:
                    self._note(root)
                return backward(root, *more)
            finally:
                self._depth -= 1

        self.Value.backward = watched
        try:
            self.result = self.train(*task)
        finally:
            self.Value.backward = backward
        return self

    def _note(self, root):
        if len(self.losses) == self.most:
            raise Enough
        self.losses.append(root.data)
        count = len(self.losses)
        # Only at some passes: to walk the graph takes about as long as a pass.
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
        """Return the numbers of the leaves that have changed since a backward pass first reached
        them."""
        return [leaf.data for leaf, start in self._first.values() if leaf.data != start]

    def coupled(self, parameters):
        """Return the share of the moved parameters that are combined with other parameters in a
        loss.

        If none of these parameters was in a loss, since they are copies, all leaves that moved
        count.
        """
        moved = {name for name, (leaf, start) in self._first.items() if leaf.data != start}
        own = moved & {id(each) for each in parameters} or moved
        met = self._met | _coupled(self._last, moved)
        return len(own & met) / max(1, len(own))

    def moved(self, parameters):
        """Return how far each parameter has moved since a backward pass first reached it; 0 if it
        has not.

        A copy counts as the leaf with the nearest number, if the two differ little.
        """
        ways = {name: abs(leaf.data - start) for name, (leaf, start) in self._first.items()}
        leaves = [(leaf.data, ways[name]) for name, (leaf, _) in self._first.items() if ways[name]]

        def way_of(parameter):
            if id(parameter) in ways or not leaves:
                return ways.get(id(parameter), 0.0)
            number, way = min(leaves, key=lambda leaf: abs(leaf[0] - parameter.data))
            return way if abs(number - parameter.data) <= way / 5 else 0.0

        return [way_of(parameter) for parameter in parameters]


_TRAINED = {}


def trained(Value, train, *task):
    """Return the record of a training, a `Watched`. A task is trained again only if a cell of the
    notebook has run since."""
    key, names = (id(train), repr(task)), dict(getattr(train, "__globals__", ()))
    watch, before = _TRAINED.get(key, (None, {}))
    is_same = before.keys() == names.keys() and all(before[name] is names[name] for name in names)
    if watch is None or not is_same:
        watch = Watched(Value, train)(*task)
        _TRAINED[key] = watch, names
    return watch


def beginning(Value, train, task, most):
    """Return the losses of a training's first `most` backward passes, and the numbers of the leaves
    that moved."""
    watch = Watched(Value, train, most)
    with suppress(Enough):
        watch(*task)
    return watch.losses, watch.numbers()


def _coupled(order, leaves):
    """Return the leaves that are combined with other leaves in a graph.

    A weight that is multiplied by a neuron's output, or a bias that is added to a weighted sum, is
    combined with all leaves behind these. If each leaf has a separate term in the loss, no leaf is
    combined with another one.

    Args:
        order: the nodes of the graph, operands first.
        leaves: the ids of the leaves that count.
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
    """Return every node of a graph in topological order: operands first."""
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


def answers(model, points):
    """Return a model's outputs at some points as numbers."""
    return [number_of(model(point)) for point in points]


def number_of(answer):
    """Return a model's output, a Value, a number or a list with one of them, as a number."""
    [answer] = answer if isinstance(answer, (list, tuple)) else [answer]
    return float(getattr(answer, "data", answer))


class With:
    """A model whose parameters have other numbers while it computes an output."""

    def __init__(self, model, parameters, numbers):
        self.model, self.parameters, self.numbers = model, parameters, numbers

    def __call__(self, point):
        held = [parameter.data for parameter in self.parameters]
        self._put(self.numbers)
        try:
            return number_of(self.model(point))
        finally:
            self._put(held)

    def _put(self, numbers):
        for parameter, number in zip(self.parameters, numbers, strict=True):
            parameter.data = number


def nudged(model, parameters, every, points, step=1e-4):
    """Return for one in `every` parameters the model's outputs at the points: with the parameter as
    it is, a step higher, and two steps higher."""
    as_it_is = answers(model, points)
    return [
        [as_it_is, *(answers(With(model, [p], [p.data + d]), points) for d in (step, 2 * step))]
        for p in parameters[::every]
    ]


def borders(model, starts, ends, middle, halvings=12):
    """Return where a model's output passes the middle on the ways from starts to ends, as shares of
    the way. Bisection finds it, to 1/4096 of the way."""
    found = []
    for start, end in zip(starts, ends, strict=False):
        near, far = 0.0, 1.0
        for _ in range(halvings):
            part = (near + far) / 2
            if number_of(model(between(start, end, part))) < middle:
                near = part
            else:
                far = part
        found.append(near)
    return found


def largest_jump(model, start, end, halvings=20):
    """Return the size of the jump of a model's output that bisection finds between two points."""

    def answer(part):
        return number_of(model(between(start, end, part)))

    low, high = 0.0, 1.0
    left, right = answer(low), answer(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        at_middle = answer(middle)
        if abs(at_middle - left) > abs(right - at_middle):
            high, right = middle, at_middle
        else:
            low, left = middle, at_middle
    return abs(right - left)


def between(start, end, part):
    """Return the point on a share of the way from one point to another."""
    return [a + part * (b - a) for a, b in zip(start, end, strict=True)]


def parameters_behind(model):
    """Return the Values on which a model's outputs may depend: its parameters, or the variables
    that a function refers to."""
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
