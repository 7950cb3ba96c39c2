"""A training that is small enough to follow, and that is written down while it runs."""

import gc
from types import FunctionType, ModuleType


class Ground:
    """What a training loop needs: a model with one weight, a loss and an optimizer.

    Args:
        Value: the student's class of nodes.
        start: the number that the weight starts at.
        leftover: the gradient that the weight has from before.
        rate: the learning rate.

    Attributes:
        w: the weight, a node.
        model: answers w · x.
        optimizer: takes a step against the gradient.
        record: what happened, in order: for each call of the loss `("loss", pairs)`, with the
            sorted pairs of a prediction and its target, and for each step `("step", gradient)`.
    """

    def __init__(self, Value, start, leftover, rate):
        self.w = Value(start)
        self.w.grad = leftover
        self.record = []
        self.model = Line(self.w)
        self.optimizer = Steps(self.w, rate, self.record)

    def loss(self, predictions, targets):
        """The mean squared error."""
        pairs = list(zip(list(predictions), list(targets), strict=True))
        self.record.append(("loss", sorted((p.data, t) for p, t in pairs)))
        return sum((p - t) * (p - t) for p, t in pairs) / len(pairs)


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
    """An optimizer that notes the gradient that each of its steps uses."""

    def __init__(self, w, rate, record):
        self.w = w
        self.rate = rate
        self.record = record

    def step(self):
        self.record.append(("step", self.w.grad))
        self.w.data -= self.rate * self.w.grad

    def zero_grad(self):
        self.w.grad = 0.0


def parameters_behind(model):
    """The Values that a model's answers can come from: its parameters, or what a function holds."""
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
