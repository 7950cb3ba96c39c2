"""Computes with plain values that came from a student process, in bounded time and memory."""

from __future__ import annotations

import operator
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

from .guest.protocol import is_array, weight
from .guest.steps import IN_PLACE

MOST_BITS = 7_000
"""Greatest bit length of an integer operand; a longer one becomes a float. The product of two such
operands is within `protocol.MAX_INT_BITS`, so that it can be sent."""
MOST_ITEMS = 1_000_000
_MOST_JOINED = 10_000
_MOST_PRODUCTS = 10**8
_JOINS = ("add", "sub", "and_", "or_", "xor")
_NUMBERS = {int, float, bool}
_SETS = {set, frozenset}
_DATES = {date, datetime, timedelta}
_PLAIN = {
    *_NUMBERS, *_SETS, *_DATES, complex, Decimal, Fraction, str, bytes, bytearray, list, tuple, dict
}  # fmt: skip


def arithmetic(verb: str, *values: Any) -> Any:
    """Return the result of an operator on plain values.

    The student's code chooses the values, and `9**9**9` or `"a" * 10**12` would stop the grader. So
    each branch bounds the size of the result for one kind of operands.

    Args:
        verb: the name of a function of `operator`, such as "add".

    Raises:
        ArithmeticError, TypeError, ValueError: as the operator does, or if the operation is not
            supported or its result would be too large.
    """
    kinds = set(map(type, values))
    verb = verb[1:] if verb in IN_PLACE else verb
    if any(map(is_array, values)):
        return _of_arrays(verb, *values)
    if kinds <= _NUMBERS:
        bits = [int(each).bit_length() for each in values if type(each) is not float]
        huge = verb == "pow" and (len(bits) > 1 and bits[0] * max(1, abs(values[1])) > MOST_BITS)
        if huge or any(each > MOST_BITS for each in bits):
            values = tuple(map(float, values))
        if verb in ("lshift", "rshift") and not all(0 <= each <= MOST_BITS for each in values):
            raise OverflowError
    elif kinds <= {*_NUMBERS, Fraction}:
        # A fraction's numerator and denominator are integers, and grow as these do.
        exact: list[Any] = [each for each in values if type(each) is not float]
        longest = max(part.bit_length() for each in exact for part in each.as_integer_ratio())
        if verb == "pow" and longest * max(1, abs(values[-1])) > MOST_BITS:
            raise OverflowError
        if longest > MOST_BITS:
            values = tuple(map(float, values))
    elif any(kinds <= {*_NUMBERS, *bounded} for bounded in ({complex}, {Decimal}, _DATES)):
        pass  # The results of these kinds have a bounded size: a Decimal is rounded to 28 digits.
    elif (
        verb == "mul"
        and kinds & {str, bytes, bytearray, list, tuple}
        and kinds & {int, bool}
        and len(kinds) == 2
    ):
        # A repetition is as long as the sequence's length times the count.
        size, count = sorted((each if type(each) in (int, bool) else len(each)) for each in values)
        if size * count > _MOST_JOINED:
            raise OverflowError
    elif not (len(kinds) == 1 or kinds == _SETS) or verb not in _JOINS:
        raise TypeError  # No other operator on collections is supported.
    elif hasattr(values[0], "__len__") and sum(map(len, values)) > _MOST_JOINED:
        raise OverflowError
    result = getattr(operator, verb)(*values)
    if type(result) not in _PLAIN:
        raise ValueError
    return result


def _of_arrays(verb: str, *values: Any) -> Any:
    """Return the result of an operator on numpy arrays and numbers. The size of the result is
    checked before it is computed."""
    numpy: Any = import_module("numpy")
    if not all(is_array(each) or type(each) in (*_NUMBERS, complex) for each in values):
        raise TypeError
    shapes = [numpy.shape(each) for each in values]
    if verb == "matmul":
        left, right = shapes
        items = weight(left[:-1]) * weight(right[1:])
        too_much = len(left) > 2 or len(right) > 2 or items * weight(left) > _MOST_PRODUCTS
    else:
        # Broadcasting multiplies sizes: a column and a row of 10**5 make 10**10 items.
        items, too_much = weight(numpy.broadcast_shapes(*shapes)), False
    if too_much or items > MOST_ITEMS:
        raise OverflowError
    with numpy.errstate(all="ignore"):
        result = getattr(operator, verb)(*values)
    return result if is_array(result) else result.item()
