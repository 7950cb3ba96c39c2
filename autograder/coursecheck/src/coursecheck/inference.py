"""Infers the formula that code computes from its results at many points, if no known mistake fits.

A course declares *sweeps*: a few public lines that are run with many numbers, and the expressions
to observe, the *quantities*. A quantity is a plain result or a *share*: a stored number `h`, to
which right code adds a slope times a factor `g`. For a share, each way is tried in which code may
combine `h`, `g` and a slope (module `ways`), so that only the slope has to be found. The table
lists small formulas that resemble the right one; the right one itself is left out. An explanation
is a model that can be evaluated. It is reported only if it gives every observed number at all
points of its region, and no other model does.
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

from coursecheck.examples import Observation, PublicExample
from coursecheck.messages import (
    FailedExample,
    Hints,
    Row,
    agree,
    describe,
    explain_error,
    first_error,
    is_error,
    is_stub,
)
from coursecheck.tables import CheckEntry, Quantity, SolvedSweep, SweepLines
from coursecheck.ways import PLAIN, WAYS, Way

Point = Mapping[str, float]

EVERYWHERE = ""
"""The region to which every point belongs."""

ID = 4
"""Length of an id in a table's index. An id is a digest of the numbers that a formula gives at the
points of a region (`id_of`)."""

NO_ID = "-" * ID
"""Takes the place of the id of a formula that must not be reported in this region."""


def _exp(x: float) -> float:
    """Return exp(x), or infinity where `math.exp` raises OverflowError: then 1 / (1 + exp(-x)) is
    0, which is right."""
    return math.exp(x) if x < 709.0 else math.inf


NOTHING = "Nothing was added to it."
NOTHING_AT_ALL = "The step of the result added nothing to any operand."

_SAFE = vars(math) | {"abs": abs, "exp": _exp, "max": max, "min": min, "__builtins__": {}}


@dataclass(frozen=True)
class Model:
    """A model of a quantity in one region.

    Attributes:
        sweep: the sweep's index in the exercise's entry.
        quantity: the quantity's index in the sweep.
        region: a condition on the names of a point's numbers; `EVERYWHERE` for all points.
        way: for a share, the index in `WAYS`; None for a plain result.
        formula: the formula for the slope of a share or for a result; None if it is the right one.
        constant: the observation at every point, if `is_constant`.
        times: the factor by which the right slope or result is multiplied; None for none.
        is_kept: whether a share keeps its previous value.
        is_constant: whether the observation is the same at every point.
        is_measured: whether the formula or the factor is a number that was observed.
    """

    sweep: int
    quantity: int
    region: str
    way: int | None = None
    formula: str | None = None
    constant: Observation = None
    times: float | None = None
    is_kept: bool = False
    is_constant: bool = False
    is_measured: bool = False

    @property
    def is_of_the_table(self) -> bool:
        """True if the model's description quotes no observed number or text."""
        return not self.is_measured and (self.constant is None or isinstance(self.constant, bool))

    def value(self, point: Point, right: float | None) -> Observation:
        """Return the model's observation at a point.

        Args:
            point: the numbers by name; `g` is the factor, `h` the previous value.
            right: the right slope or result at the point, used if the model has no formula.
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
    """What code computes: a sentence for the student, and the models of a quantity that it
    describes."""

    says: str
    models: list[Model] = field(default_factory=list)

    @property
    def is_of_the_table(self) -> bool:
        """True if the message quotes no observed number or text."""
        return all(model.is_of_the_table for model in self.models)


def sweep_examples(sweeps: Sequence[SweepLines]) -> list[PublicExample]:
    """Return the sweeps as public examples: one for each point of each sweep, in order."""
    return [
        PublicExample(code=_code_at(sweep, point), observe=sweep["observe"])
        for sweep in sweeps
        for point in sweep["points"]
    ]


def _code_at(sweep: SweepLines, numbers: Sequence[float]) -> str:
    """Return a sweep's code, with a line in front that assigns a point's numbers to their names."""
    return f"{', '.join(sweep['names'])} = {', '.join(map(repr, numbers))}\n{sweep['code']}"


def infer(
    entry: CheckEntry,
    seen: Sequence[Sequence[Observation]],
    core_is_right: bool = True,
    declared: bool = False,
) -> Inference | None:
    """Return what code computes, from its results on `sweep_examples`.

    Returns None if the results are right, if no model fits or several do, or if the sentence would
    be long.

    Args:
        entry: the exercise's entry in the table.
        seen: the observations, a list for each of these examples.
        core_is_right: whether the public examples of the core are right. If not, mistakes in an
            extra part are not explained.
        declared: whether to return only what the course has words for.
    """
    core_is_right = core_is_right and not any(
        is_wrong and not sweep.get("extra") for sweep, is_wrong in judged_sweeps(entry, seen)
    )
    rows = iter(seen)
    for number, sweep in enumerate(entry.get("sweeps", ())):
        shown = [next(rows) for _ in sweep["points"]]
        if sweep.get("extra") and not core_is_right:
            continue
        for index, described in enumerate(sweep["quantities"]):
            if bool(described.get("says")) != declared:
                continue
            models = _explain(_Quantity(sweep, number, index, shown))
            says = _sentence(sweep, described, models) if models else ""
            if says and len(says.split()) <= _MOST_WORDS:
                return Inference(says, models)
    return None


def cause(
    entry: CheckEntry, seen: Sequence[Sequence[Observation]], expression: str, core_is_right: bool
) -> str:
    """Return a sentence that follows a wrong result of a public example: how the code works out its
    shares, or what its result comes out as; "" if not all go wrong alike, or the sentence is long.

    Args:
        seen: the observations, a list for each of `sweep_examples`.
        expression: the wrong expression of the example, such as `node.total`.
        core_is_right: as in `infer`.
    """
    rows = iter(seen)
    for number, sweep in enumerate(entry.get("sweeps", ())):
        shown = [next(rows) for _ in sweep["points"]]
        if sweep.get("extra") and not core_is_right:
            continue
        alike = [
            _Quantity(sweep, number, index, shown)
            for index, each in enumerate(sweep["quantities"])
            if each["name"].rpartition(".")[2] == expression.rpartition(".")[2]
        ]
        shares = [each for each in alike if each.is_share]
        causes = [share.causes() for share in shares if share.wrong]
        if causes:
            is_idle = len(causes) == len(shares) and set().union(*causes) == {NOTHING}
            found = {NOTHING_AT_ALL} if is_idle else set().union(*causes)
            return found.pop() if len(found) == 1 else ""
        for each in alike:
            if each.entry["kind"] == "result" and (says := _comes_out(sweep, _explain(each))):
                return says
    return ""


def failed_example(
    entry: CheckEntry, seen: Sequence[Sequence[Observation]], inference: Inference | None
) -> FailedExample | None:
    """Return the example of a sweep's point with a wrong result; None if all results are right, or
    are wrong only where the sweep draws data from a seed: no reader wants to follow that.

    If possible, the point is one that the inference explains.

    Args:
        seen: the observations, a list for each of `sweep_examples`.
    """
    model = inference.models[0] if inference else None
    first = None
    for number, index, example in _failed(entry, seen):
        sweep = entry["sweeps"][number]
        if _is_drawn(sweep):
            continue
        first = first or example
        if model and model.sweep == number and index in _points_in(sweep, model.region):
            return example
    return first


def _failed(
    entry: CheckEntry, seen: Sequence[Sequence[Observation]]
) -> Iterator[tuple[int, int, FailedExample]]:
    """Yield each point with a wrong result: the indexes of sweep and point, and the example."""
    examples = iter(zip(sweep_examples(entry.get("sweeps", ())), seen, strict=True))
    for number, sweep in enumerate(entry.get("sweeps", ())):
        for index, right in enumerate(sweep["right"]):
            example, shown = next(examples)
            if not all(map(agree, shown, right)):
                rows = list(map(Row, example["observe"], shown, right))
                yield number, index, FailedExample(example["code"], rows)


def explain_raised(
    entry: CheckEntry, seen: Sequence[Sequence[Observation]], hints: Hints
) -> tuple[str, FailedExample | None]:
    """Return a message on the first error that a line of the student's raised in a sweep, and the
    example in which this happened, if it can be shown; ("", None) if there is no such error."""
    for number, _, example in _failed(entry, seen):
        wrong = [row.seen for row in example.rows if not row.right]
        error = first_error([wrong])
        if error is not None and error.get("line"):
            is_drawn = _is_drawn(entry["sweeps"][number])
            return explain_error([wrong], hints), None if is_drawn else example
    return "", None


def _is_drawn(sweep: SweepLines) -> bool:
    """Return whether a sweep draws its data at random."""
    return "seed" in sweep["names"]


def judged_sweeps(
    entry: CheckEntry, seen: Sequence[Sequence[Observation]]
) -> Iterator[tuple[SolvedSweep, bool]]:
    """Yield each sweep, and whether any of the student's results on it is wrong."""
    rows = iter(seen)
    for sweep in entry.get("sweeps", ()):
        pairs = [(next(rows), right) for right in sweep["right"]]
        yield sweep, not all(all(map(agree, shown, right)) for shown, right in pairs)


class _Quantity:
    """An observed quantity of a sweep, at all points of the sweep.

    Args:
        number: the index of the sweep.
        index: the index of the quantity.
        shown: the student's observations, a list for each point.

    Attributes:
        entry: the quantity's entry in the table.
        seen: the student's result at each point.
        right: the right result at each point.
        points: each point's numbers by name; `out` is the first result of the student's code.
        wrong: the indexes of the points at which the student's result is wrong.
    """

    def __init__(
        self,
        sweep: SolvedSweep,
        number: int,
        index: int,
        shown: Sequence[Sequence[Observation]],
    ) -> None:
        self.sweep, self.number, self.index = sweep, number, index
        self.seen = [row[index] for row in shown]
        self.entry = sweep["quantities"][index]
        self.right = [row[index] for row in sweep["right"]]
        self.is_share = self.entry["kind"] == "share"
        # `out` is the first result of the student's code, right or wrong.
        self.points = [
            _point(sweep, row) | ({"out": seen[0]} if _is_number(seen[0]) else {})
            for row, seen in zip(sweep["points"], shown, strict=True)
        ]
        self.wrong = {
            i for i, pair in enumerate(zip(self.seen, self.right, strict=True)) if not agree(*pair)
        }

    def models(self, region: str, places: Sequence[int]) -> list[Model]:
        """Return all models that give the observed results in a region.

        Args:
            places: the indexes of the region's points.
        """
        seen = [self.seen[i] for i in places]
        about = (self.number, self.index, region)
        if self.entry["kind"] == "fact":
            # A fact is explained only in the course's words, and if it is the same everywhere.
            is_said = describe(seen[0]) in self.entry.get("says", {})
            is_same = len(seen) > 1 and all(agree(each, seen[0]) for each in seen)
            is_plain = is_said and is_same and not is_error(seen[0])
            return [Model(*about, constant=seen[0], is_constant=True)] if is_plain else []
        if not all(map(_is_number, seen)):
            return []
        if self.is_share and all(
            agree(v, self.points[i]["h"]) for v, i in zip(seen, places, strict=True)
        ):
            return [Model(*about, is_kept=True)]
        ways = enumerate(WAYS) if self.is_share else [(None, PLAIN)]
        fitting = [
            model for number, way in ways for model in self._fitting(about, number, way, places)
        ]
        if not fitting and len(places) > 2 and all(agree(each, seen[0]) for each in seen):
            fitting = [Model(*about, constant=seen[0], is_constant=True)]
        return fitting

    def _fitting(
        self, about: tuple[int, int, str], number: int | None, way: Way, places: Sequence[int]
    ) -> list[Model]:
        if len(places) < 2:
            return []  # At a single point, many formulas give the right number by chance.
        try:
            right = [self._slope(WAYS[0] if self.is_share else way, self.right, i) for i in places]
            slopes = [self._slope(way, self.seen, i) for i in places]
        except (ZeroDivisionError, OverflowError, KeyError, TypeError):
            return []
        if not all(map(_is_number, right)):
            return []  # The right result is not a number.
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
                models = [Model(*about, way=number, times=factors[0], is_measured=True)]
                if number == 0:  # the same slope everywhere
                    slope = f"{slopes[0]:g}"
                    models.append(Model(*about, way=number, formula=slope, is_measured=True))
        return [
            model
            for model in models
            if all(
                agree(model.value(self.points[i], each), self.seen[i])
                for i, each in zip(places, right, strict=True)
            )
        ]

    def right_slopes(self) -> list[float]:
        """Return a share's right slope at each point; [] for a plain result."""
        places = range(len(self.points)) if self.is_share else ()
        return [self._slope(WAYS[0], self.right, i) for i in places]

    def causes(self) -> set[str]:
        """Return a sentence for each way in which this share goes wrong; {""} without a model."""
        signs = [
            _is_number(seen) and agree(seen, 2 * point["h"] - right)
            for seen, right, point in zip(self.seen, self.right, self.points, strict=True)
        ]
        if all(signs):
            return {"The sign of what is added is wrong."}
        # The right slope used in a wrong way is more likely than a wrong one that looks the same.
        models = self.models(EVERYWHERE, range(len(self.points)))
        right = [model for model in models if model.formula is None and model.times is None]
        models = right if len(right) == 1 else _explain(self)
        return {_cause(model) for model in models if not model.is_constant} or {""}

    def _slope(self, way: Way, values: Sequence[Any], i: int) -> float:
        point = self.points[i]
        out = point.get("out", math.nan)
        return way.slope(values[i], point.get("g", 1.0), point.get("h", 0.0), out)


def _explain(quantity: _Quantity) -> list[Model]:
    """Return models that explain a quantity's wrong results: one for all points, or one for each
    region; [] if there is no explanation, or more than one."""
    if not quantity.wrong:
        return []
    fitting = _different(quantity, quantity.models(EVERYWHERE, range(len(quantity.points))))
    if fitting:
        return fitting if len(fitting) == 1 else []
    best: list[Model] = []
    most = 0
    for partition in quantity.sweep["regions"]:
        models, explained = [], 0
        for region in partition:
            wrong = quantity.wrong & {*region["points"]}
            fitting = quantity.models(region["where"], region["points"]) if wrong else []
            fitting = _different(quantity, fitting)
            if len(fitting) == 1:
                models += fitting
                explained += len(wrong)
        if explained > most:
            best, most = models, explained
    # Models that explain less than half of the wrong results are not reported.
    return best if 2 * most >= len(quantity.wrong) else []


def _different(quantity: _Quantity, models: list[Model]) -> list[Model]:
    """Return the models without duplicates: of those that give the same values, the simplest."""
    # Formulas with the previous value h count only if no other formula fits.
    models = [each for each in models if not re.search(r"\bh\b", each.formula or "")] or models
    if len(models) < 2:
        return models
    slopes = quantity.right_slopes()
    fixed = slopes[0] if slopes and all(agree(each, slopes[0]) for each in slopes) else None
    simplest: dict[str, Model] = {}
    for model in sorted(
        models, key=lambda each: (bool(each.formula), each.way or 0, len(each.formula or ""))
    ):
        # The models are compared at arbitrary numbers: formulas that agree there are the same
        # function.
        values = [
            model.value(
                {name: 2.5 * math.sin(turn * (place + 2.3)) for place, name in enumerate(point)},
                fixed,
            )
            for turn, point in enumerate(quantity.points[:4], 1)
        ]
        is_known = any(value is not None for value in values)
        simplest.setdefault(repr(_rounded(values)) if is_known else repr(model), model)
    return list(simplest.values())


def _point(sweep: SweepLines, row: Sequence[float]) -> dict[str, float]:
    point = dict(zip(sweep["names"], row, strict=True))
    for name, formula in sweep.get("derived", {}).items():
        point[name] = evaluate(formula, point) or 0.0
    return point


def evaluate(formula: str, point: Point) -> float | None:
    """Return a formula's value at a point; None if it is not a finite number."""
    try:
        value = eval(_compiled(formula), _SAFE, dict(point))
    except (ArithmeticError, ValueError, TypeError, NameError):
        return None
    return float(value) if _is_number(value) and math.isfinite(value) else None


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> Any:
    return compile(formula, "<formula>", "eval")


def id_of(values: Sequence[float | None]) -> str:
    """Return a short digest of numbers, which is the same for numbers that agree up to rounding;
    `NO_ID` if one of them is missing or not finite."""
    if any(value is None or not math.isfinite(value) for value in values):
        return NO_ID
    text = " ".join("0" if abs(value or 0.0) < 1e-9 else f"{value:.8g}" for value in values)
    return b64encode(blake2b(text.encode(), digest_size=3).digest()).decode()


def digest(seen: Sequence[Sequence[Observation]]) -> str:
    """Return a digest of the results of sweeps, which is the same for results that agree up to
    rounding."""
    return blake2b(repr(_rounded(seen)).encode(), digest_size=9).hexdigest()


def digests(entry: CheckEntry, seen: Sequence[Sequence[Observation]]) -> list[str]:
    """Return a digest of the results of each sweep; "" for a sweep with a result that comes from a
    stub."""
    rows = iter(seen)
    parts = [[next(rows) for _ in sweep["points"]] for sweep in entry.get("sweeps", ())]
    return ["" if any(is_stub(i) for row in part for i in row) else digest(part) for part in parts]


def _rounded(value: Any) -> Any:
    if _is_number(value):
        return f"{value:.8g}" if abs(value) > 1e-9 else "0"
    if isinstance(value, dict):
        kept = ("error",) if is_error(value) else tuple(value)
        return [[key, _rounded(value[key])] for key in kept]
    return [*map(_rounded, value)] if isinstance(value, (list, tuple)) else value


def pack(formulas: Sequence[str]) -> str:
    """Return the formulas of a quantity as one text in base64, for a table."""
    return b64encode("\n".join(formulas).encode()).decode()


@lru_cache(maxsize=256)
def _unpacked(text: str) -> list[str]:
    return b64decode(text).decode().split("\n")


def _known(entry: Quantity, region: str, values: Sequence[float]) -> list[str]:
    """Return the formulas in the table that give these values at the points of the region."""
    index: str = entry.get("index", {}).get(region, "")
    wanted = id_of(values)
    if wanted == NO_ID:
        return []
    places = range(0, len(index), ID)
    hits = [place // ID for place in places if index.startswith(wanted, place)]
    return [_unpacked(entry["formulas"])[hit] for hit in hits]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Messages.

_MOST_WORDS = 25
"""Greatest number of words in an explanation: a longer formula is not recognised by a reader."""


def _sentence(sweep: SolvedSweep, quantity: Quantity, models: Sequence[Model]) -> str:
    """Return the course's words on a fact, or a sentence on what the code computes, by region.

    Args:
        models: the models of the quantity, one for each region.
    """
    about = f"For {sweep['about']}, " if sweep.get("about") else ""
    if "says" in quantity:
        says = f"{about}{quantity['says'][describe(models[0].constant)]}."
        return says[:1].upper() + says[1:]
    by_words: dict[str, list[str]] = {}
    for model in models:
        by_words.setdefault(_words(quantity["name"], model), []).append(model.region)
    parts = []
    for words, regions in by_words.items():
        where = " and where ".join(f"`{region}`" for region in regions if region)
        parts.append(f"as if {words}" + (f", where {where}" if where else ""))
    says = f"{about}your code behaves {', and '.join(parts)}."
    if sweep.get("where") and any(model.formula for model in models):
        says += f" Here {sweep['where']}."
    return says[:1].upper() + says[1:]


def _cause(model: Model) -> str:
    """Return a sentence on the way in which a share is worked out."""
    if model.is_kept:
        return NOTHING
    if not model.way and model.formula and not re.search(r"\bh\b", model.formula):
        formula = re.sub(r"\bout\b", "out.data", model.formula)
        return (
            f"What arrives is used as it should be, but the local slope comes out as `{formula}`."
        )
    return WAYS[model.way or 0].cause


def _comes_out(sweep: SolvedSweep, models: Sequence[Model]) -> str:
    """Return a sentence on the formula of a result; "" if it has none, or a long one."""
    parts = {
        f"`{model.formula}`" if model.formula else f"the right number times {model.times:g}": (
            f", where `{model.region}`" * bool(model.region)
        )
        for model in models
        if model.formula or model.times is not None
    }
    if len(parts) != 1 or sweep.get("where"):
        return ""
    about = f"For {sweep['about']}, what" if sweep.get("about") else "What"
    says = "".join(f"{about} comes out is {what}{where}." for what, where in parts.items())
    return says if len(says.split()) <= _MOST_WORDS else ""


def _words(name: str, model: Model) -> str:
    """Return a clause on a model of the quantity called `name`; it follows "as if"."""
    if model.is_kept:
        return f"nothing reached `{name}`"
    if model.is_constant:
        return f"`{name}` were {describe(model.constant)}, whatever the numbers are"
    way = PLAIN if model.way is None else WAYS[model.way]
    if model.times is not None:
        what = "the right number" if way is PLAIN else "the right slope"
        return way.says.replace("`{slope}`", f"{what} times {model.times:g}").format(name=name)
    if model.formula is None:
        return way.bare.format(name=name)
    return way.says.format(name=name, slope=model.formula)


def _points_in(sweep: SolvedSweep, region: str) -> Sequence[int]:
    """Return the indexes of the points in a region."""
    for partition in sweep["regions"]:
        for each in partition:
            if each["where"] == region:
                places: list[int] = each["points"]
                return places
    return range(len(sweep["points"]))
