"""Steps forward and backward through a graph, one node at a time, on the student's own engine.

The backward pass is run when the stepper reads a graph: every gradient is set to 0, then each
node's `_backward` is called in reverse topological order, and the changes are recorded. After that
the gradients are restored. So the picture shows what the student's engine did; only the chain rule
beside it is written by this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course.draw import draw_graph
from course.drawing.graph import clean, looks_like_a_value, names_of, not_a_value, short
from course.drawing.operands import MISSING, attribute
from course.drawing.svg import framed
from course.interactives.formatting import brief, table
from course.interactives.graphs import can_rebuild, rebuild, topological, uses
from course.interactives.model import Control, describe, your_code
from course.interactives.rules import rule, term
from course.interactives.showing import show

LISTED = 60  # greatest number of steps in the list of steps below the picture
MAX_NODES = 1000  # a limit, since after every step all gradients are compared
SLIDERS = 6  # greatest number of leaves with a slider; only leaves with a label have one
REACH, NUDGE = 10.0, 0.1  # the distance from a slider's start to either end, and between values


def step_through(root: Any) -> None:
    """Step forward and then backward through the graph behind `root`, one node at a time.

    Leaves with a label have sliders. When you move one, a new graph is computed with the operations
    of your class; the graph behind `root` and its gradients stay as they are.

    Args:
        root: a Value, yours or the course's.

    Raises:
        TypeError: `root` is not a Value, or a node behind it lacks what a backward pass needs.
        ValueError: the graph has more than 1,000 nodes, or a node that is computed from itself.
    """
    show(Stepper(root))


@dataclass(frozen=True)
class Row:
    """The change that a step makes to one gradient.

    Attributes:
        rule: the chain rule in names; "" if the node is no operand.
        digits: the chain rule in numbers; "" if they are unknown.
        seen: what the student's engine did, in words.
    """

    rule: str
    digits: str
    seen: str

    def __str__(self) -> str:
        digits = f", that is {self.digits}" if self.digits else ""
        return f"{self.rule}{digits}: {self.seen}" if self.rule else self.seen


@dataclass(frozen=True)
class Step:
    """One step of the forward or the backward pass.

    Attributes:
        phase: "forward" or "backward".
        place: the index of the step's node in the topological order; -1 for the step in which all
            leaves are given.
        says: the step in one sentence.
        rows: what the step does to each gradient.
        grads: the gradients that changed, by index of their node.
    """

    phase: str
    place: int
    says: str
    rows: list[Row] = field(default_factory=list)
    grads: dict[int, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.says, *(f"{row}." for row in self.rows)])


class Stepper:
    """The model of the stepper: a graph, its steps, and the current step.

    Attributes:
        steps: all steps, forward and then backward.
        position: the index of the current step.
        numbers: the present numbers of the leaves that have a slider, by index of the leaf.
    """

    title = "Step through the graph"
    running = False

    def __init__(self, root: Any) -> None:
        if not looks_like_a_value(root):
            raise TypeError(not_a_value(root, "step_through takes one Value"))
        self._nodes = topological(root)
        if len(self._nodes) > MAX_NODES:
            raise ValueError(
                f"this graph has {len(self._nodes):,} nodes, and nobody wants to step through more "
                f"than {MAX_NODES:,}. Take a smaller one, or a node farther from its root."
            )
        self._read()
        self._first = self._nodes, self._operands
        self._starts = self._movable()
        self.numbers = dict(self._starts)
        self.position = len(self.steps) - 1
        self.news = ""
        self._whole = True

    def _read(self) -> None:
        """Record names, operands and numbers of the graph's nodes, and the steps."""
        labels = [attribute(node, "label") for node in self._nodes]
        self._names = names_of([clean(x, 32) if isinstance(x, str) else "" for x in labels])
        place = {id(node): i for i, node in enumerate(self._nodes)}
        self._operands = [[place[id(x)] for x in uses(node)] for node in self._nodes]
        self._require_backward()
        self._data = [short(attribute(node, "data")) for node in self._nodes]
        self.steps = [*self._forward(), *self._backward()]

    def _movable(self) -> dict[int, float]:
        """Return the starting numbers of the leaves that get a slider, by index of the leaf."""
        if not can_rebuild(self._nodes, self._operands):
            return {}
        leaves = [i for i, operands in enumerate(self._operands) if not operands]
        named = [i for i in leaves if attribute(self._nodes[i], "label")]
        return {i: float(self._nodes[i].data) for i in named[:SLIDERS]}

    def begin(self) -> None:
        self._whole = False
        self._go_to(0)

    def controls(self) -> list[Control]:
        last = len(self.steps) - 1
        back, on = self.position > 0, self.position < last
        return [
            Control("first", "First", enabled=back),
            Control("back", "◀ Back", enabled=back),
            Control("next", "Next ▶", enabled=on),
            Control("last", "Last", enabled=on),
            Control("step", "Step", "slider", self.position + 1, low=1, high=last + 1),
            *(
                Control(
                    f"leaf {place}",
                    self._names[place],
                    "slider",
                    number,
                    low=self._starts[place] - REACH,
                    high=self._starts[place] + REACH,
                    step=NUDGE,
                )
                for place, number in self.numbers.items()
            ),
        ]

    def act(self, name: str, value: Any) -> None:
        if name.startswith("leaf "):
            # Sums of steps in the browser have rounding errors, such as 2.1000000000000005.
            self._move(int(name.removeprefix("leaf ")), float(f"{float(value):.10g}"))
            return
        last = len(self.steps) - 1
        targets: dict[str, Callable[[], int]] = {
            "first": lambda: 0,
            "back": lambda: self.position - 1,
            "next": lambda: self.position + 1,
            "last": lambda: last,
            "step": lambda: int(value) - 1,
        }
        self._go_to(min(max(targets[name](), 0), last))

    def _move(self, place: int, number: float) -> None:
        """Compute the graph again with another number in the leaf `place`, at the same step."""
        numbers = {**self.numbers, place: number}
        with your_code(f"With {self._names[place]} = {short(number)} the graph"):
            root = rebuild(*self._first, numbers)
            nodes, operands = self._nodes, self._operands
            self._nodes = topological(root)
            try:
                self._read()
            except Exception:
                self._nodes, self._operands = nodes, operands
                raise
        self.numbers = numbers
        self._go_to(min(self.position, len(self.steps) - 1))
        self.news = f"{self._names[place]} is {short(number)}. {self.news}"

    def _go_to(self, position: int) -> None:
        self.position = position
        self.news = f"{self.heading}. {self.steps[position]}"

    @property
    def heading(self) -> str:
        step = self.steps[self.position]
        return f"Step {self.position + 1} of {len(self.steps)}, {step.phase}"

    def html(self) -> str:
        step = self.steps[self.position]
        drawing = self._drawing()
        rows = table(
            ("chain rule", "in numbers", "what your engine did"),
            [(row.rule, row.digits, row.seen) for row in step.rows],
        )
        listed = [f"<li>{escape(str(each))}</li>" for each in self.steps[:LISTED]]
        more = len(self.steps) - len(listed)
        rest = f"<p>… and {more} more.</p>" if more else ""
        picture = framed(drawing.svg, drawing.tall, steps=True)
        return (
            f"<p><strong>{escape(self.heading)}.</strong> {escape(step.says)}</p>{rows}"
            f"{picture}<details{' open' if self._whole else ''}>"
            "<summary>All steps in words</summary>"
            f"<ol>{''.join(listed)}</ol>{rest}</details>"
        )

    def text(self) -> str:
        if self._whole:
            return "\n".join(f"{i}. {step}" for i, step in enumerate(self.steps[:LISTED], 1))
        return f"{self.heading}. {self.steps[self.position]}\n{self._drawing()!r}"

    def _drawing(self) -> Any:
        """Return a drawing of the graph with the numbers that are known at the current step."""
        copies, step = self.copies(), self.steps[self.position]
        marked = {copies[step.place]: step.phase} if step.place >= 0 else {}
        return draw_graph(copies[-1], highlight=marked)

    def copies(self) -> list[_Copy]:
        """Return copies of all nodes, operands first, with the numbers that are known at the
        current step."""
        steps = self.steps[: self.position + 1]
        reached = {step.place for step in steps}
        grads: dict[int, Any] = {}
        for step in steps:
            grads.update(step.grads)
        copies: list[_Copy] = []
        for i, node in enumerate(self._nodes):
            copy = _Copy()
            copy._prev = [copies[operand] for operand in self._operands[i]]
            copy._op = attribute(node, "_op")
            copy.label = self._names[i]
            copy.grad = grads.get(i, 0.0)
            if i in reached or not self._operands[i]:
                copy.data = attribute(node, "data")
            copies.append(copy)
        return copies

    # Recording of the passes.

    def _require_backward(self) -> None:
        for node, name, operands in zip(self._nodes, self._names, self._operands, strict=True):
            if not looks_like_a_value(node):
                raise TypeError(
                    f"an operand in the graph is not a Value but {brief(node)}. "
                    "Wrap plain numbers in a Value before they become operands."
                )
            if operands and not callable(attribute(node, "_backward")):
                found = attribute(node, "_backward")
                has = (
                    "has no `_backward`"
                    if found is MISSING
                    else f"has {brief(found)} as `_backward`"
                )
                raise TypeError(
                    f"the node {name} {has}, so it cannot pass its gradient on. The operation that "
                    "makes it has to store the function, without calling it: "
                    "`out._backward = _backward`."
                )

    def _forward(self) -> list[Step]:
        leaves = [i for i, operands in enumerate(self._operands) if not operands]
        given = ", ".join(f"{self._names[i]} = {self._data[i]}" for i in leaves)
        steps = [Step("forward", -1, f"The leaves are given: {given}.")]
        for i, operands in enumerate(self._operands):
            if operands:
                names = self._spell(i, [term(self._names[x]) for x in operands])
                digits = self._spell(i, [self._data[x] for x in operands])
                says = f"{self._names[i]} is {names}: {digits} gives {self._data[i]}."
                steps.append(Step("forward", i, says))
        return steps

    def _spell(self, place: int, operands: list[str]) -> str:
        op = self._op(place)
        if op in ("+", "-", "*", "/") and len(operands) == 2:
            return f"{operands[0]} {op.replace('*', '·')} {operands[1]}"
        if op.startswith("**") and len(operands) == 1:
            base = operands[0]
            return f"{f'({base})' if base.startswith('-') else base}^{op[2:]}"
        return f"{op or '?'}({', '.join(operands)})"

    def _op(self, place: int) -> str:
        op = attribute(self._nodes[place], "_op")
        return clean(op, 14) if isinstance(op, str) else ""

    def _backward(self) -> list[Step]:
        """Run the engine's backward steps and record the changes that each made to the
        gradients."""
        before = [attribute(node, "grad") for node in self._nodes]
        try:
            for node in self._nodes:
                node.grad = 0.0
            self._nodes[-1].grad = 1.0
            return self._run()
        finally:
            for node, grad in zip(self._nodes, before, strict=True):
                if grad is not MISSING:
                    node.grad = grad

    def _run(self) -> list[Step]:
        last = len(self._nodes) - 1
        root = self._names[last]
        says = f"Backward starts at the root: ∂{term(root)}/∂{term(root)} = 1."
        steps = [Step("backward", last, says, grads={last: 1.0})]
        grads = [attribute(node, "grad") for node in self._nodes]
        for i in reversed(range(len(self._nodes))):
            failure = ""
            step_back = attribute(self._nodes[i], "_backward")
            if not self._operands[i] and not callable(step_back):
                continue
            try:
                step_back()
            except Exception as error:
                # Student code may raise any error. Then the pass ends here, as in `backward`.
                failure = describe(error)
            after = [attribute(node, "grad") for node in self._nodes]
            changed = {
                k: new
                for k, (old, new) in enumerate(zip(grads, after, strict=True))
                if not _same(old, new)
            }
            if self._operands[i] or changed or failure:
                steps.append(self._describe_pass(i, grads, changed, failure))
            if failure:
                break
            grads = after
        return steps

    def _describe_pass(
        self, place: int, grads: list[Any], changed: dict[int, Any], failure: str
    ) -> Step:
        name, grad = self._names[place], short(grads[place])
        operands = self._operands[place]
        rules: dict[int, list[tuple[str, str]]] = {}
        listed = rule(
            self._op(place),
            self._names[-1],
            name,
            grad,
            [(self._names[i], self._data[i]) for i in operands],
            self._data[place],
        )
        for operand, line in zip(operands, listed, strict=True):
            rules.setdefault(operand, []).append(line)
        rows = []
        for operand in dict.fromkeys([*operands, *changed]):
            what = f"{term(self._names[operand])}.grad"
            old = short(grads[operand])
            seen = f"{what} stays {old}"
            if operand in changed:
                seen = f"{what} goes from {old} to {short(changed[operand])}"
            if operand not in operands:
                seen += ", though it is no operand"
            names, digits = zip(*rules.get(operand, [("", "")]), strict=True)
            rows.append(Row(_and(names), _and(digits), seen))
        says = f"{name} passes its gradient, {grad}, on to its operands."
        if not operands:
            says = f"{name} is a leaf and has nothing to pass on."
        if failure:
            says += f" Its `_backward` raised {failure}. The pass ends here."
        return Step("backward", place, says, rows, changed)


class _Copy:
    """The attributes of a node that a drawing needs; an attribute that is not known yet is
    missing."""

    data: Any
    grad: Any
    label: str
    _op: Any
    _prev: list[_Copy]


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    try:
        return float(old) == float(new) or (old != old and new != new)
    except Exception:
        # The student's `grad` may be an object that is no number.
        return False


def _and(parts: tuple[str, ...]) -> str:
    if len(set(parts)) == 1:
        return parts[0] + (", twice" if len(parts) == 2 and parts[0] else "")
    return " and ".join(parts)
