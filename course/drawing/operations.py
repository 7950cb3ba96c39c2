"""Computes local derivatives of the operations that the course knows, from plain numbers.

No code of a student's runs here, so the numbers on the arrows are true also where an engine is not.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from course.drawing.operands import BINARY

_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "neg": operator.neg,
    "exp": cmath.exp,
    "log": cmath.log,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "sqrt": cmath.sqrt,
    "tanh": cmath.tanh,
    "relu": lambda x: x if x.real > 0 else 0.0 * x,
    "sigmoid": lambda x: (1 + cmath.tanh(x / 2)) / 2,
}
_STEP = 1e-100


def local_derivatives(op: str, operands: Sequence[float], result: float) -> list[float]:
    """Return the derivative of an operation's result by each of its operands.

    A step in the imaginary direction gives a derivative to the last digit, since nothing is
    subtracted: f(x + ih) = f(x) + ih f'(x) (Squire and Trapp, 1998).

    Args:
        op: the operation, as in `_op`.
        operands: the operands' numbers.
        result: the number that the operation gave.

    Returns:
        The derivatives; [] if the operation is unknown, or does not give `result`.
    """
    compute = _operation(op.lower(), len(operands))
    if compute is None:
        return []
    try:
        if not math.isclose(complex(compute(*operands)).real, result, rel_tol=1e-9, abs_tol=1e-12):
            return []
        found = [
            complex(compute(*(x + (i == k) * _STEP * 1j for k, x in enumerate(operands)))).imag
            / _STEP
            for i in range(len(operands))
        ]
    except (ArithmeticError, ValueError):
        return []
    return found if all(map(math.isfinite, found)) else []


def _operation(op: str, operands: int) -> Callable[..., Any] | None:
    if operands == 2:
        return BINARY.get(op)
    if operands != 1:
        return None
    if not op.startswith("**"):
        return _UNARY.get(op)
    try:
        exponent = float(op[2:])
    except ValueError:
        return None
    return lambda x: x**exponent
