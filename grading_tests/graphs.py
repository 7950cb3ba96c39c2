"""Expression graphs of a student's nodes, or of the reference's: leaves, operands, gradients."""

from autograder.testing import Student
from inside import graphs


def helpers(engine):
    """The graph functions, where the engine's nodes live."""
    return engine.inside.graphs if isinstance(engine, Student) else graphs


def leaf(engine, data, grad=0.0):
    """A node without operands, its gradient set to `grad`."""
    node = engine.Value(data)
    node.grad = grad
    return node


def push(result, upstream):
    """Give a result the gradient `upstream` and let it pass it on, as a backward pass would."""
    result.grad = upstream
    result._backward()


def operands(node):
    """What a node was computed from, whatever kind of collection `_prev` is."""
    return list(node._prev)


def gradients(engine, build, inputs, upstream=1.0):
    """Build an expression and run the backward pass by hand.

    Args:
        engine: the student's names or the reference, whose `Value` to use.
        build: takes one node an input and returns the root.
        inputs: the leaves' numbers.
        upstream: the gradient that the root is given.

    Returns:
        The root's data, and `upstream` times the root's derivative by each input.
    """
    leaves = [leaf(engine, number) for number in inputs]
    return helpers(engine).differentiate(build(*leaves), leaves, upstream)
