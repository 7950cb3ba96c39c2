"""Makes answers to operations that are wrong for one kind of input alone: more edges.

Each is the solution with a few lines behind it, which spoil the result, its operands or its slope
where an operand, a gradient or an earlier call is of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

OPERATIONS = {
    # By exercise: the methods of `Value` that it defines.
    "add": ["__add__"],
    "mul": ["__mul__"],
    "pow": ["__pow__"],
    "neg_sub": ["__neg__", "__sub__"],
    "div": ["__truediv__"],
    "reverse": ["__radd__", "__rsub__", "__rmul__", "__rtruediv__"],
    "exp": ["exp"],
    "log": ["log"],
    "tanh": ["tanh"],
    "relu": ["relu"],
    "sigmoid": ["sigmoid"],
    "extra_ops": ["sin", "cos", "sqrt"],
}

_SPOILED = """

def spoiled(operation):
    calls, held = [], {{}}

    def wrong(self, *others):
        other = others[0] if others else self
        number = getattr(other, "data", other)
        out = operation(self, *others)
        calls.append(1)
{forward}
        step, ran = out._backward, []

        def _backward():
            upstream, before = out.grad, self.grad
{backward}

        out._backward = _backward
        return out

    return wrong


Value.{method} = spoiled(Value.{method})
"""

_HALVED = """\
if {rule}:
    step()
    self.grad = before + (self.grad - before) / 2
else:
    step()"""

WHERE = {
    # By partition: whether the operand's number is in it.
    "tiny": "0 < abs(self.data) < 1e-4",
    "small": "0 < abs(self.data) < 0.1",
    "below one": "0.2 < abs(self.data) < 0.95",
    "exactly 1": "self.data == 1",
    "large": "15 < abs(self.data) < 95",
    "above 5": "5 < self.data < 12",
    "negative": "self.data < 0",
    "positive": "self.data > 0",
}

OTHERS = {
    # By partition of the other operand, for operations that have one.
    "other tiny": "0 < abs(number) < 1e-4",
    "other below one": "0.2 < abs(number) < 0.95",
    "other exactly 1": "number == 1",
    "other large": "20 < abs(number) < 95",
    "other negative": "number < 0",
    "equal numbers": "number == self.data and other is not self",
    "opposite numbers": "number == -self.data != 0",
    "a smaller one": "number < self.data",
}

_TWICE = "others and other is self"
"""Where both operands are one node. No slope is spoiled there: half of 0 is 0."""

UPSTREAM = {
    "small upstream": "0 < abs(upstream) < 1e-3",
    "upstream below one": "0.1 < abs(upstream) < 1",
    "large upstream": "abs(upstream) > 50",
    "negative upstream": "upstream < 0",
    "positive upstream": "upstream > 0",
    "upstream of 1": "upstream == 1",
    "signs differ": "self.data * upstream < 0",
    "signs agree": "self.data * upstream > 0",
    "held gradient": "before != 0",
    "held gradient of the other sign": "before * upstream < 0",
}

STATE = {
    "later calls": ("if len(calls) > 1: out.data += 0.5", "step()"),
    "kept by number": (
        "out = held.setdefault((self.data, number), out)\nif out is not held: pass",
        "step()",
    ),
    "backward once": ("", "if not ran: step()\nran.append(1)"),
    "own gradient erased": ("", "step()\nout.grad = 0.0"),
    "operand moved": ("", "step()\nself.data -= 1e-3 * self.grad"),
    "operand moved forward": ("self.data = round(self.data, 3)", "step()"),
    "six digits": ("out.data = round(out.data, 6)", "step()"),
    "gradient clipped": ("", "step()\nself.grad = max(-100.0, min(100.0, self.grad))"),
    "gradient rounded": ("", "step()\nself.grad = round(self.grad, 5)"),
}

_FLAT = {("relu", "negative"), ("tanh", "large"), ("sigmoid", "large")}
"""Where the slope is 0, or next to it: half of it is no other one."""

_COMPOSED = ("__rsub__", "__rtruediv__")
"""What the solution makes of other operations: its last step alone does not reach the operand."""


def edges(exercise: str, solution: str) -> Iterator[tuple[str, str]]:
    """Yield names and sources of wrong answers to an exercise; none if it has no operation."""
    for method in OPERATIONS.get(exercise, ()):
        for kind, forward, backward in _spoilings(method):
            yield (
                f"{method.strip('_')}_{kind.replace(' ', '_')}",
                solution
                + _SPOILED.format(
                    method=method,
                    forward=indent(forward or "pass", " " * 8),
                    backward=indent(backward, " " * 12),
                ),
            )


def _spoilings(method: str) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of input, and what goes wrong there in the forward and the backward step."""
    positive, composed = method in ("log", "sqrt"), method in _COMPOSED
    has_other = method.startswith("__") and method != "__neg__"
    for kind, rule in (WHERE | OTHERS if has_other else WHERE).items():
        if positive and kind == "negative":
            continue
        yield f"{kind} value", f"if {rule}: out.data += 1e-3 * (abs(out.data) or 1.0)", "step()"
        yield f"{kind} cut off", f"if {rule}: out._prev = ()", "step()"
        if (method, kind) not in _FLAT and not composed:
            yield f"{kind} slope", "", _HALVED.format(rule=rule)
    if method in ("__add__", "__mul__", "__sub__", "__truediv__"):
        yield "twice value", f"if {_TWICE}: out.data += 1e-3", "step()"
        yield "twice cut off", f"if {_TWICE}: out._prev = ()", "step()"
    for kind, rule in () if composed else UPSTREAM.items():
        rule = "upstream < 0" if positive and kind == "signs differ" else rule
        yield kind, "", _HALVED.format(rule=rule)
    for kind, (forward, backward) in STATE.items():
        if kind != "gradient clipped" or (not composed and method != "sigmoid"):
            yield kind, forward, backward
