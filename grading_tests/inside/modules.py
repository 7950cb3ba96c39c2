"""Modules beside those that a student writes, and models with given parameters."""


def with_parameters(Module, nodes):
    """Return a module that builds on the student's `Module` and has these nodes as its
    parameters."""

    class Ours(Module):
        def __init__(self):
            pass

        def parameters(self):
            return list(nodes)

    return Ours()


class Part:
    """A part of a network without parameters."""

    def parameters(self):
        return []


class Times(Part):
    """Multiplies its input by a number."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class Plus(Part):
    """Adds a number to its input."""

    def __init__(self, amount):
        self.amount = amount

    def __call__(self, x):
        return x + self.amount


class Weighting(Part):
    """Multiplies its input by a weight, its only parameter."""

    def __init__(self, weight):
        self.weight = weight

    def parameters(self):
        return [self.weight]

    def __call__(self, x):
        return x * self.weight


class Square(Part):
    """Squares its input."""

    def __call__(self, x):
        return x * x


def filled(model, numbers):
    """Set a model's parameters to these numbers, without gradients; there must be as many."""
    for parameter, number in zip(list(model.parameters()), numbers, strict=True):
        parameter.data, parameter.grad = number, 0.0
    return model


def answers_at(model, points):
    """Return the numbers of a model's answers at these points, read after the last answer."""
    answers = [model(point) for point in points]
    return [
        [value.data for value in (each if isinstance(each, (list, tuple)) else [each])]
        for each in answers
    ]


def after_zero_grad(model, numbers):
    """Return a model's parameters, with these numbers and gradients, after its `zero_grad`, if it
    has one: they are a `Module`'s."""
    for parameter, number in zip(model.parameters(), numbers, strict=True):
        parameter.data, parameter.grad = number, 2 * number
    zero = getattr(model, "zero_grad", None)
    if zero is None:
        return [[number, 0.0] for number in numbers]
    zero()
    return [[parameter.data, parameter.grad] for parameter in model.parameters()]


def gradients(model):
    """Return the gradients of a model's parameters."""
    return [parameter.grad for parameter in model.parameters()]


def numbers_of(models):
    """Return the numbers of each model's parameters, read after all have listed theirs."""
    listed = [model.parameters() for model in models]
    return [[parameter.data for parameter in each] for each in listed]


def numbers(model):
    """Return the numbers of a model's parameters."""
    return [parameter.data for parameter in model.parameters()]
