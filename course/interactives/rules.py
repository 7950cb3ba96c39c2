"""Writes the chain rule of an operation as text: with the names of a graph's nodes, and with their
numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

# By operation: for each operand, the factor on the result's gradient. {a} and {b} are the operands,
# {c} is the result. "" stands for a factor of 1.
_FACTORS = {
    "+": ("", ""),
    "*": ("{b}", "{a}"),
    "/": ("1 / {b}", "(-{a} / {b}²)"),
    "exp": ("{c}",),
    "log": ("1 / {a}",),
    "tanh": ("(1 - {c}²)",),
    "relu": ("(1 if {a} > 0, else 0)",),
    "sigmoid": ("{c} · (1 - {c})",),
}


def rule(
    op: str, root: str, result: str, grad: str, operands: list[tuple[str, str]], data: str
) -> list[tuple[str, str]]:
    """Return the term that the chain rule adds to each operand's gradient.

    Args:
        op: the operation, as in the result's `_op`.
        root: the name of the node that is differentiated.
        result: the name of the operation's result.
        grad: the result's gradient, as text.
        operands: name and number of each operand, as text; an operand that is used twice is listed
            twice.
        data: the result's number, as text.

    Returns:
        For each operand the term in names and in numbers, such as
        ("∂o/∂x += n.grad · w", "0.5 · (-3.0)"). If the operation is unknown, the factor is
        described in words and the second text is "".
    """
    factors = _factors(op, len(operands))
    names = [term(name) for name, _ in operands]
    lines = []
    for place, name in enumerate(names):
        start = f"∂{term(root)}/∂{name} += {term(result)}.grad"
        if factors is None:
            local = f"the local derivative ∂{term(result)}/∂{name}"
            lines.append((f"{start} · {local}", ""))
            continue
        in_names = _fill(factors[place], names, term(result), str)
        digits = [number for _, number in operands]
        in_digits = _fill(factors[place], digits, data, _in_brackets)
        lines.append((start + _times(in_names), grad + _times(in_digits)))
    return lines


def term(name: str) -> str:
    """Return a name as it is written in a formula: in brackets unless it is a single word."""
    return name if re.fullmatch(r"\w+", name) else f"({name})"


def _factors(op: str, operands: int) -> tuple[str, ...] | None:
    if op == "-" and operands == 2:
        return "", "-1"
    if op in ("-", "neg") and operands == 1:
        return ("-1",)
    if op.startswith("**") and operands == 1:
        try:
            exponent = float(op[2:])
        except ValueError:
            return None
        less = exponent - 1
        power = {0.0: "", 1.0: " · {a}"}.get(less, " · {a}^" + _in_brackets(f"{less:g}"))
        return (_in_brackets(f"{exponent:g}") + power,)
    known = _FACTORS.get(op)
    return known if known is not None and len(known) == operands else None


def _fill(template: str, operands: list[str], result: str, write: Callable[[str], str]) -> str:
    words = dict(zip("ab", map(write, operands), strict=False))
    return template.format(**words, c=write(result))


def _in_brackets(number: str) -> str:
    return f"({number})" if number.startswith("-") else number


def _times(factor: str) -> str:
    return f" · {factor}" if factor else ""
