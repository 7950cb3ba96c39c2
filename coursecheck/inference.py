"""Infers the formula that code computes, from its results at many points, if no known mistake fits.

A course declares *samples*: a few public lines that are run with many numbers, and the names
that the observed quantities depend on. Two kinds of quantity are supported: a plain result, and a
*share*, which adds a slope times a factor to the value held before. A share is split by the ways in
which held value, factor and slope may be combined, so that the slope alone has to be found. The
table lists small formulas near the right one, which itself is not in it. Each explanation is a
model that can be run: it is reported only if it gives every observed number, at all points of its
region, and no other model does.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from coursecheck.messages import (
    Example,
    Hints,
    Row,
    agree,
    describe,
    explain_error,
    first_error,
    is_error,
    is_stub,
)
from coursecheck.probes import Observation, Probe
from coursecheck.ways import PLAIN, WAYS, Way

Point = Mapping[str, float]

EVERYWHERE = ""
"""The region that holds every point."""

ID = 4
"""Number of characters of the id of a formula's numbers in a table."""

NO_ID = "-" * ID
"""Entry of a table's index for a formula that must not be reported in this region."""


def _exp(x: float) -> float:
    """Return the exponential, infinite beyond the range of floats: 1 / (1 + exp(-x)) is then
    right."""
    return math.exp(x) if x < 709.0 else math.inf


_SAFE = vars(math) | {"abs": abs, "exp": _exp, "max": max, "min": min, "__builtins__": {}}


@dataclass(frozen=True)
class Model:
    """A model of a quantity in one region.

    Attributes:
        sample, quantity: their numbers.
        region: a condition on the point's names; `EVERYWHERE` for all points.
        way: number of the way, for a share; None for a plain result.
        formula: the slope or the result; None if it is the right one.
        constant: the observation at every point, for a constant model.
        times: the factor on the right slope or result, for a multiple of it.
    """

    sample: int
    quantity: int
    region: str
    way: int | None = None
    formula: str | None = None
    constant: Observation = None
    times: float | None = None
    is_kept: bool = False
    is_constant: bool = False

    def value(self, point: Point, right: float | None) -> Observation:
        """Return the model's observation at a point.

        Args:
            point: its numbers; `g` and `h` are the factor and the value held before.
            right: the right slope or result there, for a model that is a multiple of it.
        """
        if self.is_kept:
            return point["h"]
        if self.is_constant:
            return self.constant
        slope = right if self.formula is None else evaluate(self.formula, point)
        if slope is None:
            return None
        slope *= 1.0 if self.times is None else self.times
        way = PLAIN if self.way is None else WAYS[self.way]
        return way.apply(slope, point.get("g", 1.0), point.get("h", 0.0), point.get("out", 0.0))


@dataclass
class Inference:
    """The behaviour of code, in words, and as models that can be run.

    Attributes:
        models: of quantities, by formulas.
        behaviour: the number of the course's own model, and its choices.
    """

    says: str
    models: list[Model] = field(default_factory=list)
    behaviour: tuple[int, dict[str, str]] | None = None

    @property
    def is_of_the_table(self) -> bool:
        """Return whether the words are free of numbers and texts that were observed."""
        constants = [model.constant for model in self.models if model.is_constant]
        return all(each is None or isinstance(each, bool) for each in constants)


def sample_probes(samples: Sequence[Mapping[str, Any]]) -> list[Probe]:
    """Return the probes that run each sample at each of its points."""
    return [
        Probe(code=_code_at(sample, point), observe=sample["observe"])
        for sample in samples
        for point in sample["points"]
    ]


def _code_at(sample: Mapping[str, Any], numbers: Sequence[float]) -> str:
    """Return a sample's lines with a point's numbers in front."""
    return f"{', '.join(sample['names'])} = {', '.join(map(repr, numbers))}\n{sample['code']}"


def infer(
    entry: Mapping[str, Any], seen: Sequence[Sequence[Observation]], core_is_right: bool = True
) -> Inference | None:
    """Return the formula that code computes, from its results on `sample_probes`; None if unsure.

    Args:
        entry: the table's entry on the exercise.
        seen: the observations, one list for each of the probes.
        core_is_right: whether the probes show no mistake in the core: as long as there is one, an
            extra part is not explained.
    """
    core_is_right = core_is_right and not any(
        is_wrong and not sample.get("extra") for sample, is_wrong in wrong_samples(entry, seen)
    )
    known = entry.get("behaviours", {}).get(digest(seen))
    if known:
        return Inference(known["says"], behaviour=(known["behaviour"], known["chosen"]))
    rows = iter(seen)
    for number, sample in enumerate(entry.get("samples", ())):
        shown = [next(rows) for _ in sample["points"]]
        if sample.get("extra") and not core_is_right:
            continue
        parts: list[str] = []
        models: list[Model] = []
        place = 0
        # Quantities with words of the course come first: others may follow from them.
        order = sorted(range(len(sample["quantities"])), key=lambda i: not _has_words(sample, i))
        for index in order:
            quantity = _Quantity(sample, number, index, shown)
            found = _explain(quantity)
            if found and len(parts) < _MOST_PARTS:
                if not models:
                    place = min(quantity.wrong & {*_places(sample, found[0].region)})
                parts.append(_sentence(quantity, found))
                models += found
        if models:
            about = sample.get("about")
            begin = f"For {about}, your" if about else "Your"
            says = f"{begin} code behaves {', and '.join(parts)}."
            if sample.get("where") and any(model.formula for model in models):
                says += f" Here {sample['where']}."
            return Inference(f"{says} {_question(sample, models[0], place)}", models)
    return None


def example(
    entry: Mapping[str, Any], seen: Sequence[Sequence[Observation]], inference: Inference | None
) -> Example | None:
    """Return a point with a wrong result, if possible one that the inference is about."""
    model = inference.models[0] if inference and inference.models else None
    probes = iter(zip(sample_probes(entry.get("samples", ())), seen, strict=True))
    first = None
    for number, sample in enumerate(entry.get("samples", ())):
        for place, right in enumerate(sample["right"]):
            probe, shown = next(probes)
            if all(map(agree, shown, right)):
                continue
            found = Example(probe["code"], list(map(Row, probe["observe"], shown, right)))
            first = first or found
            if model and model.sample == number and place in _places(sample, model.region):
                return found
    return first


def raised(
    entry: Mapping[str, Any], seen: Sequence[Sequence[Observation]], hints: Hints
) -> tuple[str, Example | None]:
    """Return a sentence on an error that the student's own line raised at a point of a sample, and
    that point; "" if there is none."""
    probes = iter(zip(sample_probes(entry.get("samples", ())), seen, strict=True))
    for sample in entry.get("samples", ()):
        for right in sample["right"]:
            probe, shown = next(probes)
            wrong = [each for each, good in zip(shown, right, strict=True) if not agree(each, good)]
            error = first_error([wrong])
            if error is not None and error.get("line"):
                rows = list(map(Row, probe["observe"], shown, right))
                return explain_error([wrong], hints), Example(probe["code"], rows)
    return "", None


def wrong_samples(
    entry: Mapping[str, Any], seen: Sequence[Sequence[Observation]]
) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield each sample, and whether one of its results is wrong."""
    rows = iter(seen)
    for sample in entry.get("samples", ()):
        pairs = [(next(rows), right) for right in sample["right"]]
        yield sample, not all(all(map(agree, shown, right)) for shown, right in pairs)


def _has_words(sample: Mapping[str, Any], index: int) -> bool:
    return bool(sample["quantities"][index].get("says"))


class _Quantity:
    """One observed quantity of a sample at all its points."""

    def __init__(
        self,
        sample: Mapping[str, Any],
        number: int,
        index: int,
        shown: Sequence[Sequence[Observation]],
    ) -> None:
        self.sample, self.number, self.index = sample, number, index
        self.seen = [row[index] for row in shown]
        self.entry = sample["quantities"][index]
        self.right = [row[index] for row in sample["right"]]
        self.is_share = self.entry["kind"] == "share"
        # To the student, `out` is the result that the code gave, right or wrong.
        self.points = [
            _point(sample, row) | ({"out": seen[0]} if _is_number(seen[0]) else {})
            for row, seen in zip(sample["points"], shown, strict=True)
        ]
        self.wrong = {
            i for i, pair in enumerate(zip(self.seen, self.right, strict=True)) if not agree(*pair)
        }

    def models(self, region: str, places: Sequence[int]) -> list[Model]:
        """Return all models with the observed results at these places."""
        seen = [self.seen[i] for i in places]
        about = (self.number, self.index, region)
        if not all(map(_is_number, seen)):
            # `None`, a truth value, a text: the same at every point.
            plain = all(agree(each, seen[0]) for each in seen) and not is_error(seen[0])
            # An empty or long text is reported only if the course has words for it.
            is_text = isinstance(seen[0], str) and 0 < len(seen[0]) <= _LONGEST_TEXT
            is_said = describe(seen[0]) in self.entry.get("says", {})
            simple = seen[0] is None or isinstance(seen[0], bool) or is_text or is_said
            alike = [Model(*about, constant=seen[0], is_constant=True)]
            return alike if plain and simple and len(seen) > 1 else []
        if self.is_share and all(
            agree(v, self.points[i]["h"]) for v, i in zip(seen, places, strict=True)
        ):
            return [Model(*about, is_kept=True)]
        ways = enumerate(WAYS) if self.is_share else [(None, PLAIN)]
        found = [
            model for number, way in ways for model in self._fitting(about, number, way, places)
        ]
        if not found and len(places) > 2 and all(agree(each, seen[0]) for each in seen):
            found = [Model(*about, constant=seen[0], is_constant=True)]
        return found

    def _fitting(
        self, about: tuple[int, int, str], number: int | None, way: Way, places: Sequence[int]
    ) -> list[Model]:
        if len(places) < 2:
            return []  # By chance, several formulas may give one number.
        try:
            right = [self._slope(WAYS[0] if self.is_share else way, self.right, i) for i in places]
            slopes = [self._slope(way, self.seen, i) for i in places]
        except (ZeroDivisionError, OverflowError, KeyError, TypeError):
            return []
        if not all(map(_is_number, right)):
            return []  # A number where a text or a list is right.
        models = []
        if number and all(map(agree, slopes, right)):
            models = [Model(*about, way=number)]
        else:
            for text in _known(self.entry, about[2], slopes):
                factor = text.partition("~")[2]
                models.append(
                    Model(*about, way=number, times=float(factor))
                    if factor
                    else Model(*about, way=number, formula=text)
                )
            factors = [slope / each for slope, each in zip(slopes, right, strict=True) if each]
            varies = not all(agree(each, right[0]) for each in right)
            if not models and varies and len(factors) > 2 and factors[0]:
                models = [Model(*about, way=number, times=factors[0])]
                if number == 0:  # the same slope everywhere
                    models.append(Model(*about, way=number, formula=f"{slopes[0]:g}"))
        return [
            model
            for model in models
            if all(
                agree(model.value(self.points[i], each), self.seen[i])
                for i, each in zip(places, right, strict=True)
            )
        ]

    def right_slopes(self) -> list[float]:
        """The right slope at each point, for a share."""
        places = range(len(self.points)) if self.is_share else ()
        return [self._slope(WAYS[0], self.right, i) for i in places]

    def _slope(self, way: Way, values: Sequence[Any], i: int) -> float:
        point = self.points[i]
        out = point.get("out", math.nan)
        return way.slope(values[i], point.get("g", 1.0), point.get("h", 0.0), out)


def _explain(quantity: _Quantity) -> list[Model]:
    """Return the models of a quantity's mistake: one for all points, or by region."""
    if not quantity.wrong:
        return []
    found = _different(quantity, quantity.models(EVERYWHERE, range(len(quantity.points))))
    if found:
        return found if len(found) == 1 else []
    best: list[Model] = []
    most = 0
    for partition in quantity.sample["regions"]:
        models, explained = [], 0
        for region in partition:
            wrong = quantity.wrong & {*region["points"]}
            found = quantity.models(region["where"], region["points"]) if wrong else []
            found = _different(quantity, found)
            if len(found) == 1:
                models += found
                explained += len(wrong)
        if explained > most:
            best, most = models, explained
    # Models that explain less than half of the wrong results are not worth reporting.
    return best if 2 * most >= len(quantity.wrong) else []


def _different(quantity: _Quantity, models: list[Model]) -> list[Model]:
    """Return the models without those that are equal to a simpler one, the simplest first."""
    # The value held before is part of a formula only if no other formula fits.
    models = [each for each in models if not re.search(r"\bh\b", each.formula or "")] or models
    if len(models) < 2:
        return models
    slopes = quantity.right_slopes()
    fixed = slopes[0] if slopes and all(agree(each, slopes[0]) for each in slopes) else None
    found: dict[str, Model] = {}
    for model in sorted(
        models, key=lambda each: (bool(each.formula), each.way or 0, len(each.formula or ""))
    ):
        # The names stand for any numbers here: models that agree then are the same.
        values = [
            model.value(
                {name: 2.5 * math.sin(turn * (place + 2.3)) for place, name in enumerate(point)},
                fixed,
            )
            for turn, point in enumerate(quantity.points[:4], 1)
        ]
        is_known = any(value is not None for value in values)
        found.setdefault(repr(_rounded(values)) if is_known else repr(model), model)
    return list(found.values())


def _point(sample: Mapping[str, Any], row: Sequence[float]) -> dict[str, float]:
    point = dict(zip(sample["names"], row, strict=True))
    for name, formula in sample.get("derived", {}).items():
        point[name] = evaluate(formula, point) or 0.0
    return point


def evaluate(formula: str, point: Point) -> float | None:
    """Return a formula's number at a point; None if it has none."""
    try:
        value = eval(_compiled(formula), _SAFE, dict(point))
    except (ArithmeticError, ValueError, TypeError, NameError):
        return None
    return float(value) if _is_number(value) and math.isfinite(value) else None


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> Any:
    return compile(formula, "<formula>", "eval")


def id_of(values: Sequence[float | None]) -> str:
    """Return a short id of numbers: the same if they agree up to rounding; `NO_ID` without them."""
    if any(value is None or not math.isfinite(value) for value in values):
        return NO_ID
    text = " ".join("0" if abs(value or 0.0) < 1e-9 else f"{value:.8g}" for value in values)
    return b64encode(blake2b(text.encode(), digest_size=3).digest()).decode()


def digest(seen: Sequence[Sequence[Observation]]) -> str:
    """Return a digest of all results of samples: the same if they agree up to rounding."""
    return blake2b(repr(_rounded(seen)).encode(), digest_size=9).hexdigest()


def digests(entry: Mapping[str, Any], seen: Sequence[Sequence[Observation]]) -> list[str]:
    """Return a digest of each sample's results; "" for a sample that met a stub."""
    rows = iter(seen)
    parts = [[next(rows) for _ in sample["points"]] for sample in entry.get("samples", ())]
    return ["" if any(is_stub(i) for row in part for i in row) else digest(part) for part in parts]


def _rounded(value: Any) -> Any:
    if _is_number(value):
        return f"{value:.8g}" if abs(value) > 1e-9 else "0"
    if isinstance(value, dict):
        kept = ("error",) if is_error(value) else tuple(value)
        return [[key, _rounded(value[key])] for key in kept]
    return [*map(_rounded, value)] if isinstance(value, (list, tuple)) else value


def packed(formulas: Sequence[str]) -> str:
    """Return the formulas of a quantity in the form of a table."""
    return b64encode("\n".join(formulas).encode()).decode()


@lru_cache(maxsize=256)
def _unpacked(text: str) -> list[str]:
    return b64decode(text).decode().split("\n")


def _known(entry: Mapping[str, Any], region: str, values: Sequence[float]) -> list[str]:
    """Return the formulas in the table that have these numbers in the region."""
    index: str = entry.get("index", {}).get(region, "")
    wanted = id_of(values)
    if wanted == NO_ID:
        return []
    places = range(0, len(index), ID)
    hits = [place // ID for place in places if index.startswith(wanted, place)]
    return [_unpacked(entry["formulas"])[hit] for hit in hits]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# The words.

_LONGEST_TEXT = 24
"""Greatest length of a text that an explanation quotes."""

_MOST_PARTS = 2
"""Greatest number of quantities in one explanation."""


def _sentence(quantity: _Quantity, models: Sequence[Model]) -> str:
    """Return a sentence on a quantity's behaviour, region by region."""
    by_words: dict[str, list[str]] = {}
    for model in models:
        by_words.setdefault(_words(quantity.entry, model), []).append(model.region)
    parts = []
    for words, regions in by_words.items():
        where = " and where ".join(f"`{region}`" for region in regions if region)
        parts.append(f"as if {words}" + (f", where {where}" if where else ""))
    return ", and ".join(parts)


def _words(quantity: Mapping[str, Any], model: Model) -> str:
    name = quantity["name"]
    if model.is_kept:
        return f"nothing reached `{name}`, which stays what it was"
    if model.is_constant:
        seen = describe(model.constant)
        declared: str = quantity.get("says", {}).get(seen, "")
        return declared or f"`{name}` were {seen}, whatever the numbers are"
    way = PLAIN if model.way is None else WAYS[model.way]
    if model.times is not None:
        what = "the right number" if way is PLAIN else "the right slope"
        return way.says.replace("`{slope}`", f"{what} times a fixed factor").format(name=name)
    if model.formula is None:
        return way.bare.format(name=name)
    return way.says.format(name=name, slope=model.formula)


def _question(sample: Mapping[str, Any], model: Model, place: int) -> str:
    """Return an input to try, at which the model holds and is wrong, and a question."""
    numbers = zip(sample["names"], sample["points"][place], strict=True)
    point = ", ".join(f"{name} = {number:g}" for name, number in numbers)
    if model.is_kept:
        ask = "What should arrive there?"
    elif model.is_constant:
        ask = "What should it be?"
    else:
        ask = (PLAIN if model.way is None else WAYS[model.way]).ask
    return f"Take {point}. {ask}"


def _places(sample: Mapping[str, Any], region: str) -> Sequence[int]:
    """Return the indexes of the points in a region."""
    for partition in sample["regions"]:
        for each in partition:
            if each["where"] == region:
                places: list[int] = each["points"]
                return places
    return range(len(sample["points"]))
