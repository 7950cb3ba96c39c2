"""A playground: an expression whose inputs have sliders, with the expression's graph and
gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from course.draw import draw_graph
from course.drawing.graph import looks_like_a_value, short
from course.drawing.operands import as_number, attribute
from course.interactives.formatting import brief
from course.interactives.graphs import topological, uses
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show

REACH = 10.0  # the distance from a slider's start to either end
NUDGE = 0.1
EXAMPLE = "playground(Value, lambda a, b: a * b, a=2.0, b=-3.0)"


def playground(value_class: type[Any], expression: Callable[..., Any], /, **starts: float) -> None:
    """Move the inputs of an expression and watch its graph, with gradients if you like.

    Args:
        value_class: your Value class. It makes each input. Gradients come from its `backward`, or,
            without one, from the nodes' own `_backward`, called in reverse topological order.
        expression: a function of Values that returns a Value, such as `lambda a, b: a * b + b`.
        starts: the number at which each input starts, by the input's name, such as `a=2.0`. An
            input for which the function has a default may be left out.

    Raises:
        TypeError: an argument is not of the kind that is described above.
        YourCodeFailed: the expression raised an error at the start, or did not return a Value.
    """
    show(Playground(value_class, expression, starts))


@dataclass(frozen=True)
class Evaluation:
    """The result of evaluating the expression once.

    Attributes:
        numbers: the numbers of the inputs, by name.
        inputs: the inputs as Values, by name.
        root: the result, a Value.
        gradients: whether a backward pass was run.
    """

    numbers: dict[str, float]
    inputs: dict[str, Any]
    root: Any
    gradients: bool

    @property
    def name(self) -> str:
        label = attribute(self.root, "label")
        return label if isinstance(label, str) and label else "result"

    @property
    def result(self) -> float | None:
        return as_number(attribute(self.root, "data"))

    def __str__(self) -> str:
        return f"{listed(self.numbers)} give {self.name} = {short(attribute(self.root, 'data'))}."


class Playground:
    """The model of the playground: an expression, the numbers of its inputs, and the result.

    Attributes:
        numbers: the present numbers of the inputs, by name.
        gradients: whether a backward pass is wanted.
        shown: the last evaluation that worked.
    """

    title = "Playground"
    running = False

    def __init__(self, value_class: Any, expression: Any, starts: dict[str, Any]) -> None:
        if not isinstance(value_class, type):
            raise TypeError(
                "playground takes your Value class first and then the expression, as in "
                f"`{EXAMPLE}`. In place of the class it was given {brief(value_class)}."
            )
        if not callable(expression):
            raise TypeError(
                "the expression must be a function of Values, such as `lambda a, b: a * b`, and "
                f"not {brief(expression)}"
            )
        self._value_class = value_class
        self._expression = expression
        self._starts = _starting_numbers(expression, starts)
        self.numbers = dict(self._starts)
        self.gradients = False
        self.news = ""
        self.shown = self._evaluate()
        self.gradients = self._differentiable = _has_closures(self.shown.root)
        if self.gradients:
            self.shown = self._evaluate()

    def begin(self) -> None:
        """Do nothing: the playground is in its initial state."""

    def controls(self) -> list[Control]:
        sliders = [
            Control(
                f"input {name}",
                name,
                "slider",
                number,
                low=self._starts[name] - REACH,
                high=self._starts[name] + REACH,
                step=NUDGE,
            )
            for name, number in self.numbers.items()
        ]
        label = "Gradients" if self._differentiable else "Gradients (a node has no _backward yet)"
        toggle = Control("gradients", label, "toggle", self.gradients, self._differentiable)
        return [*sliders, toggle, Control("reset", "Back to the start")]

    def act(self, name: str, value: Any) -> None:
        if name == "reset":
            self.numbers = dict(self._starts)
        elif name == "gradients":
            self.gradients = bool(value)
        else:
            # Sums of steps in the browser have rounding errors, such as 2.1000000000000005.
            self.numbers[name.removeprefix("input ")] = float(f"{float(value):.10g}")
        before, self.shown = self.shown, self._evaluate()
        self.news = _what_happened(before, self.shown)

    def html(self) -> str:
        drawing = draw_graph(self.shown.root)
        news = f"<p>{escape(self.news)}</p>" if self.news else ""
        return (
            f"<p><strong>{escape(str(self.shown))}</strong></p>{news}{drawing.html}"
            f"<details><summary>The graph in words</summary><pre>{escape(drawing.text)}</pre>"
            "</details>"
        )

    def text(self) -> str:
        parts = str(self.shown), self.news, draw_graph(self.shown.root).text
        return "\n".join(part for part in parts if part)

    def _evaluate(self) -> Evaluation:
        inputs = {}
        for name, number in self.numbers.items():
            with your_code(f"{self._value_class.__name__}({number})"):
                inputs[name] = self._value_class(number)
                inputs[name].label = name
        at = f"At {listed(self.numbers)} the expression"
        with your_code(at):
            root = self._expression(**inputs)
        if not looks_like_a_value(root):
            raise YourCodeFailed(
                f"{at} gave {brief(root)}, which is not a Value. Does it end with `return`?"
            )
        with your_code("The backward pass"):
            if not attribute(root, "label"):
                root.label = "result"
            if self.gradients:
                _send_back(root)
        return Evaluation(dict(self.numbers), inputs, root, self.gradients)


def _has_closures(root: Any) -> bool:
    """Return whether a backward pass can be run from `root`: it has a `backward`, or each result
    behind it has a `_backward`."""
    if callable(attribute(root, "backward")):
        return True
    try:
        results = [node for node in topological(root) if uses(node)]
    except (TypeError, ValueError):
        return False
    return all(callable(attribute(node, "_backward")) for node in results)


def _send_back(root: Any) -> None:
    """Run `root.backward()`; without that method, each node's `_backward` in reverse topological
    order."""
    if callable(attribute(root, "backward")):
        root.backward()
        return
    root.grad = 1.0
    for node in reversed(topological(root)):
        if uses(node):
            node._backward()


def _what_happened(before: Evaluation, now: Evaluation) -> str:
    """Return a sentence on how the result changed when an input moved, and on the change that the
    gradient predicted."""
    moved = [name for name, number in now.numbers.items() if number != before.numbers[name]]
    if not moved:
        return f"The gradients are {'there' if now.gradients else 'left out'}."
    old, new = before.result, now.result
    if old is None or new is None:
        return ""
    sentence = f"{now.name} went from {short(old)} to {short(new)}, by {short(new - old)}."
    grad = as_number(attribute(before.inputs[moved[0]], "grad"))
    if len(moved) > 1 or not before.gradients or grad is None:
        return sentence
    step = now.numbers[moved[0]] - before.numbers[moved[0]]
    stated = f"{short(grad)} · {short(step)} = {short(grad * step)}"
    return f"{sentence} The gradient of {moved[0]} had promised about {stated}."


def _starting_numbers(expression: Callable[..., Any], starts: dict[str, Any]) -> dict[str, float]:
    """Return the number at which each input of the expression starts, by name.

    Raises `TypeError` if the expression has no inputs, or an input has no number to start at.
    """
    try:
        bound = inspect.signature(expression).bind(**starts)
    except TypeError as error:
        raise TypeError(f"{error}. Give each input a number to start at: `{EXAMPLE}`.") from None
    bound.apply_defaults()
    if not bound.arguments:
        raise TypeError(f"the expression has no input to move; write it as in `{EXAMPLE}`")
    for name, start in bound.arguments.items():
        if as_number(start) is None:
            raise TypeError(f"{name} must start at a number, not at {brief(start)}")
    return {name: float(start) for name, start in bound.arguments.items()}


def listed(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} = {short(number)}" for name, number in numbers.items())
