"""Lists the ways in which right or wrong code may compute a share: from a slope, a factor `g` and
the previous value `h`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way to compute the new value of a share from a slope, a factor g and the previous value h.

    Attributes:
        says: a clause for the student, with the quantity's `{name}` and the `{slope}`.
        bare: the clause without the slope. It is used if the slope is the right one, which must not
            be revealed.
        apply: takes slope, g, h and the first result of the code, and returns the new value.
        slope: the inverse: takes the new value, g, h and the first result of the code, and returns
            the slope.
        cause: a sentence that follows a wrong result of a public example, which shows the numbers.
    """

    says: str
    bare: str
    apply: Callable[[float, float, float, float], float]
    slope: Callable[[float, float, float, float], float]
    cause: str = ""


WAYS = (
    Way(
        "the local slope behind `{name}` were `{slope}`",
        "",
        lambda s, g, h, out: h + s * g,
        lambda v, g, h, out: (v - h) / g,
        "What arrives is used as it should be; the local slope is not the right one.",
    ),
    Way(
        "`{name}` forgot what it held before, and became g times `{slope}`",
        "`{name}` forgot what it held before, and kept the new share alone",
        lambda s, g, h, out: s * g,
        lambda v, g, h, out: v / g,
        "What it held before is lost: write `+=` or `-=`, not `=`.",
    ),
    Way(
        "`{name}` grew by `{slope}`, whatever arrives as g",
        "`{name}` grew by the same amount, whatever arrives as g",
        lambda s, g, h, out: h + s,
        lambda v, g, h, out: v - h,
        "It grows by the same amount whatever arrives at the result: multiply by that.",
    ),
    Way(
        "`{name}` became `{slope}`, whatever it held before and whatever arrives as g",
        "`{name}` became one and the same, whatever it held before and whatever arrives as g",
        lambda s, g, h, out: s,
        lambda v, g, h, out: v,
        "What it held before is lost, and what arrives at the result is not used.",
    ),
    Way(
        "`{name}` grew by `{slope}` times the square of g",
        "g counted twice, as its square, in what `{name}` gets",
        lambda s, g, h, out: h + s * g * g,
        lambda v, g, h, out: (v - h) / (g * g),
        "What arrives at the result counts twice, as its square.",
    ),
    Way(
        "`{name}` grew by `{slope}` times h, its own old value, and not by what arrives as g",
        "`{name}` grew in proportion to h, its own old value, and not to what arrives as g",
        lambda s, g, h, out: h + s * h,
        lambda v, g, h, out: (v - h) / h,
        "It uses what an operand itself held in place of what arrives at the result.",
    ),
    Way(
        "`{name}` grew by `{slope}` times the result's number, and not by what arrives as g",
        "`{name}` grew in proportion to the result's number, and not to what arrives as g",
        lambda s, g, h, out: h + s * out,
        lambda v, g, h, out: (v - h) / out,
        "It uses the number of the result in place of what arrives there.",
    ),
    Way(
        "`{name}` grew by `{slope}` plus g",
        "g were added to the local slope, and `{name}` grew by their sum",
        lambda s, g, h, out: h + s + g,
        lambda v, g, h, out: v - h - g,
        "What arrives at the result is added to the local slope. They are multiplied.",
    ),
    Way(
        "`{name}` grew by `{slope}` minus g",
        "g were taken from the local slope, and `{name}` grew by what is left",
        lambda s, g, h, out: h + s - g,
        lambda v, g, h, out: v - h + g,
        "What arrives at the result is taken from the local slope. They are multiplied.",
    ),
    Way(
        "`{name}` became `{slope}` plus g, whatever it held before",
        "g were added to the local slope, and `{name}` became their sum, whatever it held before",
        lambda s, g, h, out: s + g,
        lambda v, g, h, out: v - g,
        "What arrives is added to the local slope, and what it held before is lost.",
    ),
    Way(
        "`{name}` grew by `{slope}` divided by g",
        "the more arrives as g, the less `{name}` grew: something is divided by g",
        lambda s, g, h, out: h + s / g,
        lambda v, g, h, out: (v - h) * g,
        "It is divided by what arrives at the result, which should be a factor.",
    ),
    Way(
        "`{name}` were multiplied by `{slope}` and by g, and no new share were added",
        "`{name}` were multiplied by its new share, which is not added",
        lambda s, g, h, out: h * s * g,
        lambda v, g, h, out: v / (h * g),
        "It is multiplied by its new share. Shares are added, with `+=`.",
    ),
    Way(
        "`{name}` grew by h, a value held before, as well as by `{slope}` times g",
        "`{name}` grew by h, a value held before, as well as by its share",
        lambda s, g, h, out: 2 * h + s * g,
        lambda v, g, h, out: (v - 2 * h) / g,
        "What it held before counts twice: `+=` adds it already.",
    ),
    Way(
        "what `{name}` held before changed its sign, and the local slope were `{slope}`",
        "what `{name}` held before changed its sign",
        lambda s, g, h, out: -h + s * g,
        lambda v, g, h, out: (v + h) / g,
        "What it held before changed its sign.",
    ),
)

PLAIN = Way("`{name}` were `{slope}`", "", lambda s, g, h, out: s, lambda v, g, h, out: v)
