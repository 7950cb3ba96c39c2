"""Arithmetic on plain values that came from a student, in bounded time and memory."""

from __future__ import annotations

import operator
from typing import Any

from .inside.steps import IN_PLACE

MOST_BITS = 4096
"""Greatest bit length of a whole number; a longer one becomes a float."""
MOST_ITEMS = 1_000_000
_MOST_JOINED = 10_000
_PLAIN = (bool, int, float, str, bytes, list, tuple, set, dict)


def arithmetic(verb: str, *values: Any) -> Any:
    """Return the result of an operator on plain values, in bounded time and memory.

    Raises:
        ArithmeticError, TypeError, ValueError: as the operator does, or if it would take long.
    """
    kinds = set(map(type, values))
    verb = verb[1:] if verb in IN_PLACE else verb
    if kinds <= {int, float, bool}:
        bits = [int(each).bit_length() for each in values if type(each) is not float]
        huge = verb == "pow" and (len(bits) > 1 and bits[0] * max(1, abs(values[1])) > MOST_BITS)
        if huge or any(each > MOST_BITS for each in bits):
            values = tuple(map(float, values))
        if verb in ("lshift", "rshift") and not all(0 <= each <= MOST_BITS for each in values):
            raise OverflowError
    elif (
        verb == "mul"
        and kinds & {str, bytes, list, tuple}
        and kinds & {int, bool}
        and len(kinds) == 2
    ):
        size, count = sorted((each if type(each) in (int, bool) else len(each)) for each in values)
        if size * count > _MOST_JOINED:
            raise OverflowError
    elif len(kinds) != 1 or verb not in ("add", "sub", "and_", "or_", "xor"):
        raise TypeError
    elif hasattr(values[0], "__len__") and sum(map(len, values)) > _MOST_JOINED:
        raise OverflowError
    result = getattr(operator, verb)(*values)
    if type(result) not in _PLAIN:  # as for the root of a negative number
        raise ValueError
    return result
