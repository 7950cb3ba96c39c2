"""The ways in which a slope, a factor and the value held before may be combined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way to combine a slope, a factor g and the value held before, h.

    Attributes:
        says: in words, around the quantity's `{name}` and the `{slope}`.
        bare: the words for a right slope, which must not be revealed.
        apply: the observation, from slope, g, h and the result.
        slope: the slope, from the observation, g, h and the result.
        ask: a question to think about.
    """

    says: str
    bare: str
    apply: Callable[[float, float, float, float], float]
    slope: Callable[[float, float, float, float], float]
    ask: str


_NUDGE = "How far does the result move when that number is nudged by 0.001?"
_RESULT = "What should come out, worked out by hand?"
WAYS = (
    Way(
        "the local slope behind `{name}` were `{slope}`",
        "",
        lambda s, g, h, out: h + s * g,
        lambda v, g, h, out: (v - h) / g,
        _NUDGE,
    ),
    Way(
        "`{name}` forgot what it held before, and became g times `{slope}`",
        "`{name}` forgot what it held before, and kept the new share alone",
        lambda s, g, h, out: s * g,
        lambda v, g, h, out: v / g,
        "What should become of h, which was there before?",
    ),
    Way(
        "`{name}` grew by `{slope}`, whatever arrives as g",
        "`{name}` grew by the same amount, whatever arrives as g",
        lambda s, g, h, out: h + s,
        lambda v, g, h, out: v - h,
        "What should change where twice as much arrives?",
    ),
    Way(
        "`{name}` became `{slope}`, whatever it held before and whatever arrives as g",
        "`{name}` became one and the same, whatever it held before and whatever arrives as g",
        lambda s, g, h, out: s,
        lambda v, g, h, out: v,
        "What should become of h, and what of g?",
    ),
    Way(
        "`{name}` grew by `{slope}` times the square of g",
        "g counted twice, as its square, in what `{name}` gets",
        lambda s, g, h, out: h + s * g * g,
        lambda v, g, h, out: (v - h) / (g * g),
        "What should change where twice as much arrives?",
    ),
    Way(
        "`{name}` grew by `{slope}` times h, its own old value, and not by what arrives as g",
        "`{name}` grew in proportion to h, its own old value, and not to what arrives as g",
        lambda s, g, h, out: h + s * h,
        lambda v, g, h, out: (v - h) / h,
        "What should change where h is another number?",
    ),
    Way(
        "`{name}` grew by `{slope}` times the result's number, and not by what arrives as g",
        "`{name}` grew in proportion to the result's number, and not to what arrives as g",
        lambda s, g, h, out: h + s * out,
        lambda v, g, h, out: (v - h) / out,
        "What is it that arrives: the result's number, or g?",
    ),
    Way(
        "`{name}` grew by `{slope}` plus g",
        "g were added to the local slope, and `{name}` grew by their sum",
        lambda s, g, h, out: h + s + g,
        lambda v, g, h, out: v - h - g,
        _NUDGE,
    ),
    Way(
        "`{name}` grew by `{slope}` minus g",
        "g were taken from the local slope, and `{name}` grew by what is left",
        lambda s, g, h, out: h + s - g,
        lambda v, g, h, out: v - h + g,
        _NUDGE,
    ),
    Way(
        "`{name}` became `{slope}` plus g, whatever it held before",
        "g were added to the local slope, and `{name}` became their sum, whatever it held before",
        lambda s, g, h, out: s + g,
        lambda v, g, h, out: v - g,
        "What should become of h, and what of g?",
    ),
    Way(
        "`{name}` grew by `{slope}` divided by g",
        "the more arrives as g, the less `{name}` grew: something is divided by g",
        lambda s, g, h, out: h + s / g,
        lambda v, g, h, out: (v - h) * g,
        "What should change where twice as much arrives?",
    ),
    Way(
        "`{name}` were multiplied by `{slope}` and by g, and no new share were added",
        "`{name}` were multiplied by its new share, which is not added",
        lambda s, g, h, out: h * s * g,
        lambda v, g, h, out: v / (h * g),
        "What should be there if h were 0?",
    ),
    Way(
        "`{name}` grew by h, a value held before, as well as by `{slope}` times g",
        "`{name}` grew by h, a value held before, as well as by its share",
        lambda s, g, h, out: 2 * h + s * g,
        lambda v, g, h, out: (v - 2 * h) / g,
        "What should become of h, which was there before?",
    ),
    Way(
        "what `{name}` held before changed its sign, and the local slope were `{slope}`",
        "what `{name}` held before changed its sign",
        lambda s, g, h, out: -h + s * g,
        lambda v, g, h, out: (v + h) / g,
        "What should become of h, which was there before?",
    ),
)

PLAIN = Way("`{name}` were `{slope}`", "", lambda s, g, h, out: s, lambda v, g, h, out: v, _RESULT)
