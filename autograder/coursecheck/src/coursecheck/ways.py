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
    """

    says: str
    bare: str
    apply: Callable[[float, float, float, float], float]
    slope: Callable[[float, float, float, float], float]


WAYS = (
    Way(
        "the local slope behind `{name}` were `{slope}`",
        "",
        lambda s, g, h, out: h + s * g,
        lambda v, g, h, out: (v - h) / g,
    ),
    Way(
        "`{name}` forgot what it held before, and became g times `{slope}`",
        "`{name}` forgot what it held before, and kept the new share alone",
        lambda s, g, h, out: s * g,
        lambda v, g, h, out: v / g,
    ),
    Way(
        "`{name}` grew by `{slope}`, whatever arrives as g",
        "`{name}` grew by the same amount, whatever arrives as g",
        lambda s, g, h, out: h + s,
        lambda v, g, h, out: v - h,
    ),
    Way(
        "`{name}` became `{slope}`, whatever it held before and whatever arrives as g",
        "`{name}` became one and the same, whatever it held before and whatever arrives as g",
        lambda s, g, h, out: s,
        lambda v, g, h, out: v,
    ),
    Way(
        "`{name}` grew by `{slope}` times the square of g",
        "g counted twice, as its square, in what `{name}` gets",
        lambda s, g, h, out: h + s * g * g,
        lambda v, g, h, out: (v - h) / (g * g),
    ),
    Way(
        "`{name}` grew by `{slope}` times h, its own old value, and not by what arrives as g",
        "`{name}` grew in proportion to h, its own old value, and not to what arrives as g",
        lambda s, g, h, out: h + s * h,
        lambda v, g, h, out: (v - h) / h,
    ),
    Way(
        "`{name}` grew by `{slope}` times the result's number, and not by what arrives as g",
        "`{name}` grew in proportion to the result's number, and not to what arrives as g",
        lambda s, g, h, out: h + s * out,
        lambda v, g, h, out: (v - h) / out,
    ),
    Way(
        "`{name}` grew by `{slope}` plus g",
        "g were added to the local slope, and `{name}` grew by their sum",
        lambda s, g, h, out: h + s + g,
        lambda v, g, h, out: v - h - g,
    ),
    Way(
        "`{name}` grew by `{slope}` minus g",
        "g were taken from the local slope, and `{name}` grew by what is left",
        lambda s, g, h, out: h + s - g,
        lambda v, g, h, out: v - h + g,
    ),
    Way(
        "`{name}` became `{slope}` plus g, whatever it held before",
        "g were added to the local slope, and `{name}` became their sum, whatever it held before",
        lambda s, g, h, out: s + g,
        lambda v, g, h, out: v - g,
    ),
    Way(
        "`{name}` grew by `{slope}` divided by g",
        "the more arrives as g, the less `{name}` grew: something is divided by g",
        lambda s, g, h, out: h + s / g,
        lambda v, g, h, out: (v - h) * g,
    ),
    Way(
        "`{name}` were multiplied by `{slope}` and by g, and no new share were added",
        "`{name}` were multiplied by its new share, which is not added",
        lambda s, g, h, out: h * s * g,
        lambda v, g, h, out: v / (h * g),
    ),
    Way(
        "`{name}` grew by h, a value held before, as well as by `{slope}` times g",
        "`{name}` grew by h, a value held before, as well as by its share",
        lambda s, g, h, out: 2 * h + s * g,
        lambda v, g, h, out: (v - 2 * h) / g,
    ),
    Way(
        "what `{name}` held before changed its sign, and the local slope were `{slope}`",
        "what `{name}` held before changed its sign",
        lambda s, g, h, out: -h + s * g,
        lambda v, g, h, out: (v + h) / g,
    ),
)

PLAIN = Way("`{name}` were `{slope}`", "", lambda s, g, h, out: s, lambda v, g, h, out: v)
