"""Reads a graph from the student's objects into plain strings and numbers.

The later steps of a drawing use only these, and never touch a Value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from course.drawing.operands import MISSING, as_number, attribute, operands_of
from course.drawing.operations import local_derivatives

MAX_LABELLED = 24
"""Greatest number of nodes of a graph in which the arrows show local derivatives."""


@dataclass
class Node:
    """One node of the graph: what is shown of it, in text, and its numbers.

    Attributes:
        number: the node's index in `Graph.nodes`.
        operands: the indexes of the drawn operands in `Graph.nodes`.
        tags: words such as "leaf" and "root".
        note: a note on a node that is marked; "" for any other.
        name: the label, or a name made from the number.
        hidden_operands: the number of operands that are not drawn.
        number_of: its `data` and `grad` as floats; None for what is no finite number.
        derivatives: the local derivative by each operand; [] if they are unknown.
    """

    number: int
    label: str
    data: str
    grad: str
    op: str
    operands: list[int]
    tags: list[str]
    note: str
    name: str = ""
    hidden_operands: int = 0
    number_of: tuple[float | None, float | None] = (None, None)
    derivatives: list[float] = field(default_factory=list)

    def passes(self, slot: int) -> float:
        """Return the gradient that passes along the arrow from an operand, 0.0 if it is unknown."""
        return self.derivatives[slot] * (self.number_of[1] or 0.0) if self.derivatives else 0.0


@dataclass
class Graph:
    """The drawn part of a graph.

    Attributes:
        nodes: the drawn nodes, operands first and root last.
        folded: the number of nodes that are not drawn; one box stands for all of them.
        folded_leaves: the number of leaves among the folded nodes.
    """

    nodes: list[Node]
    folded: int
    folded_leaves: int

    @property
    def is_labelled(self) -> bool:
        """Whether arrows show local derivatives: a larger graph has no room for them."""
        return len(self.nodes) <= MAX_LABELLED

    @property
    def title(self) -> str:
        values = self.folded + len(self.nodes)
        operations = sum(bool(node.op) for node in self.nodes)
        drawn = " drawn" if self.folded else ""
        return (
            f"Computational graph of {self.nodes[-1].name}: {count_of(values, 'value')}, "
            f"{count_of(operations, 'operation')}{drawn}"
        )

    @property
    def folded_text(self) -> list[str]:
        results = self.folded - self.folded_leaves
        return [
            f"{count_of(self.folded, 'more node')}",
            f"{count_of(results, 'result')}, {count_of(self.folded_leaves, 'leaf', 'leaves')}",
            f"max_nodes={self.folded + len(self.nodes)} draws all",
        ]

    def text(self) -> str:
        lines = [self.title + "."]
        if self.folded:
            more, kinds, advice = self.folded_text
            lines.append(f"  (folded: {more}, {kinds}; {advice})")
        lines += ["  " + self.sentence(node) for node in self.nodes]
        return "\n".join(lines)

    def sentence(self, node: Node) -> str:
        """Return a node in words, such as "z: data 6.0, grad 1.0, from x times y"."""
        words = f"{node.name}: data {node.data}, grad {node.grad}"
        if node.op:
            words += ", from " + self._operation(node)
        if node.derivatives and self.is_labelled:
            slopes = ", ".join(map(short, node.derivatives))
            plural = "s" if len(node.derivatives) > 1 else ""
            words += f" (local derivative{plural} {slopes})"
        words += "".join(f", {tag}" for tag in node.tags)
        return words + (f" [marked: {node.note}]" if node.note else "")

    def _operation(self, node: Node) -> str:
        names = [self.nodes[i].name for i in node.operands]
        if node.hidden_operands:
            names.append(count_of(node.hidden_operands, "folded node"))
        infix = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}.get(node.op)
        if infix and len(names) == 2:
            return f"{names[0]} {infix} {names[1]}"
        if node.op.startswith("**") and len(names) == 1:
            return f"{names[0]} to the power {node.op[2:]}"
        operation = "an unnamed operation" if node.op == "?" else node.op
        return f"{operation} of {' and '.join(names) or 'no recorded operand'}"


def read_graph(root: Any, max_nodes: int, notes: Mapping[int, str]) -> Graph:
    """Read the graph behind `root`, breadth first, and describe the nodes nearest to the root.

    Args:
        max_nodes: the greatest number of nodes to describe.
        notes: notes on marked nodes, by the `id()` of the object.
    """
    found = [root]
    place = {id(root): 0}
    operands_of: list[list[int]] = []
    for value in found:  # the list grows during the loop
        places = []
        for operand in _operands(value) or ():
            if id(operand) not in place:
                place[id(operand)] = len(found)
                found.append(operand)
            places.append(place[id(operand)])
        operands_of.append(places)

    drawn = min(len(found), max_nodes)
    order = _operands_first(operands_of, drawn)
    number = {found_at: i for i, found_at in enumerate(order)}
    nodes = []
    for found_at in order:
        node = _describe(found[found_at], number[found_at], notes.get(id(found[found_at]), ""))
        node.operands = [number[i] for i in operands_of[found_at] if i < drawn]
        node.hidden_operands = len(operands_of[found_at]) - len(node.operands)
        nodes.append(node)
    for node in nodes:
        numbers = [nodes[i].number_of[0] for i in node.operands]
        result, known = node.number_of[0], [x for x in numbers if x is not None]
        complete = len(known) == len(numbers) > 0 and not node.hidden_operands
        if node.op and result is not None and complete:
            node.derivatives = local_derivatives(node.op, known, result)
    nodes[-1].tags.append("root")
    for node, name in zip(nodes, names_of([node.label for node in nodes]), strict=True):
        node.name = name
    leaves = sum(not operands for operands in operands_of[drawn:])
    return Graph(nodes, len(found) - drawn, leaves)


def _operands_first(operands_of: list[list[int]], drawn: int) -> list[int]:
    """Return the indexes of the drawn nodes, ordered so that operands come before results.

    Args:
        operands_of: for each node, root first, the indexes of its operands.
        drawn: the number of drawn nodes, which are the first ones.
    """
    order: list[int] = []
    seen: set[int] = set()
    stack = [(0, False)]
    while stack:
        i, operands_done = stack.pop()
        if operands_done:
            order.append(i)
        elif i not in seen and i < drawn:
            seen.add(i)
            stack.append((i, True))
            stack += [(operand, False) for operand in reversed(operands_of[i])]
    return order


def _describe(value: Any, number: int, note: str) -> Node:
    if not looks_like_a_value(value):
        data = short(value)
        return Node(number, "", data, "?", "", [], ["not a Value"], note)
    operands = _operands(value)
    op = attribute(value, "_op")
    op = op if isinstance(op, str) else ""
    tags = []
    if operands is None:
        tags.append("_prev ?")
    elif operands and not op:
        op = "?"
    elif not operands and not op:
        tags.append("leaf")
    label = attribute(value, "label")
    return Node(
        number,
        clean(label, 32) if isinstance(label, str) else "",
        short(attribute(value, "data")),
        short(attribute(value, "grad")),
        clean(op, 14),
        [],
        tags,
        note,
        number_of=(_finite(attribute(value, "data")), _finite(attribute(value, "grad"))),
    )


def _finite(thing: Any) -> float | None:
    number = None if thing is MISSING else as_number(thing)
    return number if number is not None and math.isfinite(number) else None


def names_of(labels: list[str]) -> list[str]:
    """Return a name for each node: its label, with its number if another node has the same
    label."""
    times = Counter(labels)
    return [
        label if label and times[label] == 1 else f"{label} (v{number})" if label else f"v{number}"
        for number, label in enumerate(labels, 1)
    ]


def _operands(value: Any) -> list[Any] | None:
    """Return the operands of a node, as `operands_of` does; [] for what is no Value."""
    return operands_of(value) if looks_like_a_value(value) else []


def looks_like_a_value(thing: Any) -> bool:
    if isinstance(thing, type):
        return False
    if type(thing).__name__ == "Value" or attribute(thing, "_prev") is not MISSING:
        return True
    return all(attribute(thing, name) is not MISSING for name in ("data", "grad"))


def not_a_value(root: Any, wish: str = "draw_graph draws the graph behind one Value") -> str:
    """Return the error message for an argument that is no Value.

    Args:
        root: the argument.
        wish: the beginning of the message: what the function needs.
    """
    kind = type(root).__name__
    if root is None:
        advice = "None often means that a function ended without `return out`."
    elif isinstance(root, type):
        kind = f"the class {root.__name__}"
        advice = "Draw an instance, such as the result of a computation."
    elif isinstance(root, (int, float)):
        advice = "A plain number has no graph. Pass the Value itself, not its `.data`."
    elif isinstance(root, (list, tuple, set)):
        advice = "Pass one element, or add the elements up and draw the sum."
    else:
        advice = "A Value has at least `data`, `grad` and `_prev`."
    return f"{wish}, but it was given {kind}. {advice}"


def notes_of(highlight: Mapping[Any, str] | Iterable[Any]) -> dict[int, str]:
    if isinstance(highlight, Mapping):
        return {id(node): clean(str(note), 40) or "marked" for node, note in highlight.items()}
    return {id(node): "marked" for node in highlight}


def short(number: Any) -> str:
    """Return a number with four significant digits; "?" and the type for any other object."""
    if number is MISSING:
        return "?"
    if number is None or isinstance(number, bool):
        return str(number)
    try:
        if isinstance(number, str):
            raise TypeError("a string is not a number, even where float() would read it")
        text = f"{float(number):.4g}"
    except Exception:
        # Conversion runs methods of the stored object, which may raise anything.
        return f"? ({clean(type(number).__name__, 12)})"
    whole = text.lstrip("-").isdigit()
    return text + ".0" if whole and not isinstance(number, int) else text


def clean(text: str, longest: int) -> str:
    """Return a text in one line, without unprintable characters, and cut to `longest`
    characters."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def count_of(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
