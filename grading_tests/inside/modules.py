"""Modules beside those that a student writes, and models with given parameters."""


def with_parameters(Module, nodes):
    """A module that builds on the student's `Module` and has these nodes as its parameters."""

    class Ours(Module):
        def __init__(self):
            pass

        def parameters(self):
            return list(nodes)

    return Ours()


class Part:
    """A part of a network that has nothing to learn."""

    def parameters(self):
        return []


class Times(Part):
    """Multiplies what it is given by a number."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class Plus(Part):
    """Adds a number to what it is given."""

    def __init__(self, amount):
        self.amount = amount

    def __call__(self, x):
        return x + self.amount


class Weighting(Part):
    """Multiplies what it is given by a weight, its only parameter."""

    def __init__(self, weight):
        self.weight = weight

    def parameters(self):
        return [self.weight]

    def __call__(self, x):
        return x * self.weight


class Square(Part):
    """Squares what it is given."""

    def __call__(self, x):
        return x * x


def filled(model, numbers):
    """The model, with these numbers as its parameters, without gradients; there must be as many."""
    for parameter, number in zip(list(model.parameters()), numbers, strict=True):
        parameter.data, parameter.grad = number, 0.0
    return model


def after_zero_grad(model, numbers):
    """A model's parameters, with these numbers and gradients, after its `zero_grad`, if it has
    one: they are a `Module`'s."""
    for parameter, number in zip(model.parameters(), numbers, strict=True):
        parameter.data, parameter.grad = number, 2 * number
    zero = getattr(model, "zero_grad", None)
    if zero is None:
        return [[number, 0.0] for number in numbers]
    zero()
    return [[parameter.data, parameter.grad] for parameter in model.parameters()]


def gradients(model):
    """The gradients of a model's parameters."""
    return [parameter.grad for parameter in model.parameters()]


def numbers(model):
    """The numbers of a model's parameters."""
    return [parameter.data for parameter in model.parameters()]
