"""Makes the tables in which `coursecheck.inference` looks a formula up by its numbers.

The formulas are those one edit away from the right one, and a few small ones. Left out are the
right one and each that gives the same numbers as another at the sample's points.
"""

from __future__ import annotations

import ast
import copy
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from coursecheck.inference import EVERYWHERE, NO_ID, evaluate, id_of, packed

from ..course_folder.samples import Quantity, Sample
from ..errors import CourseError

MOST = 400
"""Greatest number of formulas for a quantity; the smallest formulas are kept."""

_TIMES = (-1.0, 2.0, 0.5, -2.0, 3.0, -0.5, 4.0, 0.25)
_FRESH = 6
"""Number of times that each point is moved, to see whether two formulas are the same."""

Point = dict[str, float]


def samples_entry(
    samples: Sequence[Sample], observed: Sequence[Sequence[Sequence[Any]]]
) -> list[dict[str, Any]]:
    """Return the part of the public table on an exercise's samples.

    Args:
        observed: the solution's results, by sample, point and quantity.
    """
    return [_entry(sample, right) for sample, right in zip(samples, observed, strict=True)]


def _entry(sample: Sample, right: Sequence[Sequence[Any]]) -> dict[str, Any]:
    points = [point_of(sample, row) for row in sample.points]
    for point, row in zip(points, right, strict=True):
        _compare(sample, point, row)
    fresh = fresh_points(sample, random.Random("fresh"), _FRESH)
    places = {
        region: [i for i, point in enumerate(points) if holds(region, point)]
        for partition in sample.regions
        for region in partition
    }
    views = {EVERYWHERE: (points, fresh)} | {
        region: ([points[i] for i in indices], [each for each in fresh if holds(region, each)])
        for region, indices in places.items()
        if indices
    }
    return {
        **sample.as_table,
        "right": [list(row) for row in right],
        "regions": [
            [{"where": each, "points": places[each]} for each in partition if places[each]]
            for partition in sample.regions
        ],
        "quantities": [_quantity(each, sample, views) for each in sample.quantities],
    }


def _compare(sample: Sample, point: Point, row: Sequence[Any]) -> None:
    """Raise `CourseError` if a declared formula differs from the solution's result."""
    for quantity, seen in zip(sample.quantities, row, strict=True):
        value = evaluate(quantity.formula, point) if quantity.formula else None
        if value is None:
            continue
        if quantity.kind == "share":
            value = point["h"] + value * point["g"]
        if not isinstance(seen, (int, float)) or not _near(value, seen):
            raise CourseError(
                f"the sample's formula `{quantity.name} = {quantity.formula}` gives {value} at "
                f"{point}, and the solution {seen}: mend the formula"
            )


def _quantity(
    quantity: Quantity, sample: Sample, views: dict[str, tuple[list[Point], list[Point]]]
) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": quantity.kind, "name": quantity.name}
    if quantity.says:
        entry["says"] = quantity.says
    if quantity.kind == "fact":
        return entry
    names = [each for each in sample.names if each not in ("g", "h")] + [*sample.derived]
    if quantity.kind == "share" and sample.quantities[0].kind == "result":
        names.append("out")
    if "h" in sample.names:
        # `h` is the value held before, which students take for the number itself.
        names.append("h")
    formulas = candidates(quantity.formula, names, sample.functions, sample.also)
    factors = [f"~{factor:g}" for factor in _TIMES]
    entry["index"] = {
        region: _index(quantity.formula, factors, formulas, *points)
        for region, points in views.items()
    }
    entry["formulas"] = packed([*factors, *formulas])
    return entry


def _index(
    right: str,
    factors: Sequence[str],
    formulas: Sequence[str],
    points: list[Point],
    fresh: list[Point],
) -> str:
    """Return the ids of all formulas in a region, joined to one text."""
    good, good_fresh = _values(right, points), _values(right, fresh)
    # If the right one is a constant, each other constant is a multiple of it and proves nothing.
    is_constant = all(map(_near, good, good[1:] + good[:1])) if None not in good else True
    rows = [
        ([], []) if is_constant else (_scaled(good, text), _scaled(good_fresh, text))
        for text in factors
    ]
    rows += [(_values(text, points), _values(text, fresh)) for text in formulas]
    first: dict[str, list[float | None]] = {id_of(good): good_fresh}
    ids: list[str] = []
    dead = {id_of(good)}
    for values, more in rows:
        name = id_of(values) if values else NO_ID
        if name in first:
            if not all(map(_near, first[name], more)):
                dead.add(name)
            name = NO_ID
        elif name != NO_ID:
            first[name] = more
        ids.append(name)
    return "".join(NO_ID if name in dead else name for name in ids)


def _scaled(values: list[float | None], factor: str) -> list[float | None]:
    return [None if value is None else float(factor[1:]) * value for value in values]


def _near(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return math.isclose(left, right, rel_tol=1e-7, abs_tol=1e-9)


def _values(formula: str, points: Iterable[Point]) -> list[float | None]:
    return [evaluate(formula, point) for point in points]


def point_of(sample: Sample, row: Sequence[float]) -> Point:
    """Return a point's numbers by name; `out` is the right result there."""
    point = dict(zip(sample.names, row, strict=True))
    for name, formula in sample.derived.items():
        point[name] = evaluate(formula, point) or 0.0
    first = sample.quantities[0]
    out = evaluate(first.formula, point) if first.kind == "result" else None
    return point if out is None else {**point, "out": out}


def holds(region: str, point: Point) -> bool:
    """Return whether a point is in a region."""
    return region == EVERYWHERE or bool(eval(region, {}, dict(point)))


def fresh_points(sample: Sample, rng: random.Random, times: int) -> list[Point]:
    """Return points near the sample's own, with other fractions and another `seed` in each."""
    return [
        point_of(
            sample,
            [
                rng.randrange(1000, 10**6)
                if name == "seed"
                else number * rng.uniform(0.8, 1.25)
                if isinstance(number, float)
                else number
                for name, number in zip(sample.names, row, strict=True)
            ],
        )
        for row in sample.points
        for _ in range(times)
    ]


# The neighbourhood of a formula.

_CONSTANTS = (0.0, 1.0, 2.0, -1.0, 0.5, 3.0)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv)
_COMPARISONS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)


def candidates(
    right: str, names: Sequence[str], functions: Sequence[str], also: Sequence[str] = ()
) -> list[str]:
    """Return formulas that a student may have meant, the smallest first.

    Args:
        names: the names that it may depend on.
        functions: the functions that it may call.
        also: formulas to take in as they are.
    """
    near = {_tidy(text) for text in _neighbours(right, names, functions) if _is_sensible(text)}
    far = {_tidy(text) for text in _small(names, functions)}
    far |= {_tidy(f"{sign}({text})") for text in near for sign in ("-", "2 * ")}
    size = {text: (_size(text), len(text), text) for text in near | far}
    size |= {text: (_size(text), len(text), text) for text in map(_tidy, also)}
    near |= {*map(_tidy, also)}
    chosen = [*sorted(near, key=size.__getitem__), *sorted(far - near, key=size.__getitem__)]
    return sorted([text for text in chosen if text != _tidy(right)][:MOST], key=size.__getitem__)


def _small(names: Sequence[str], functions: Sequence[str]) -> Iterator[str]:
    """Yield formulas of one or two names, numbers and functions."""
    leaves = [*names, *(f"{each:g}" for each in (1, 2, 0.5))]
    yield from (f"{each:g}" for each in _CONSTANTS)
    for name in names:
        yield from (name, f"-{name}", f"abs({name})", f"{name} ** 2", f"1 / {name}", f"{name} ** 3")
        yield from (f"1 if {name} > 0 else 0", f"1 - {name} ** 2", f"max(0.0, {name})")
        yield from (f"{call}({name})" for call in functions)
        yield from (f"-{call}({name})" for call in functions)
    for left, right in product(leaves, repeat=2):
        if left in names or right in names:
            yield from (f"{left} {sign} {right}" for sign in ("+", "-", "*", "/"))
    for left, right in product(names, repeat=2):
        yield f"{left} ** {right}"
        yield f"-{left} / {right}"
        yield f"{left} / {right} ** 2"


def _neighbours(right: str, names: Sequence[str], functions: Sequence[str]) -> Iterator[str]:
    """Yield the formulas that are one edit away."""
    tree = ast.parse(right, mode="eval")
    for number, node in enumerate(_places(tree)):
        for other in _replacements(node, names, functions):
            twin = copy.deepcopy(tree)
            place = _places(twin)[number]
            changed = _Swap(place, other).visit(twin)
            yield ast.unparse(ast.fix_missing_locations(changed))


def _places(tree: ast.AST) -> list[ast.expr]:
    """Return the nodes of a formula that may be replaced: all but the names of called functions."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr) and node not in called]


class _Swap(ast.NodeTransformer):
    def __init__(self, place: ast.AST, other: ast.AST) -> None:
        self._place, self._other = place, other

    def visit(self, node: ast.AST) -> Any:
        return copy.deepcopy(self._other) if node is self._place else self.generic_visit(node)


def _replacements(
    node: ast.expr, names: Sequence[str], functions: Sequence[str]
) -> Iterator[ast.expr]:
    """Yield the nodes that may replace a node of a formula."""
    numbers = [ast.Constant(value) for value in _CONSTANTS]
    others = [ast.Name(name, ast.Load()) for name in names]
    if isinstance(node, ast.Name):
        yield from others
        yield from numbers
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield from others
        yield from numbers
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
        yield ast.Constant(node.value * 2)
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right, ast.BinOp(node.right, node.op, node.left))
        yield from (ast.BinOp(node.left, each(), node.right) for each in _OPERATORS)
        yield from (ast.BinOp(node.right, each(), node.left) for each in (ast.Div, ast.Sub))
    if isinstance(node, ast.Call):
        yield from node.args
        yield from (_call(each, *node.args) for each in functions if len(node.args) == 1)
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse, ast.IfExp(node.test, node.orelse, node.body))
    if isinstance(node, ast.Compare):
        yield from (ast.Compare(node.left, [op()], node.comparators) for op in _COMPARISONS)
        return
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    yield ast.UnaryOp(ast.USub(), node)
    yield _call("abs", node)
    yield ast.BinOp(ast.Constant(2), ast.Mult(), node)
    yield ast.BinOp(node, ast.Pow(), ast.Constant(2))
    yield from (ast.BinOp(node, sign(), ast.Constant(1)) for sign in (ast.Add, ast.Sub))
    yield from (_call(each, node) for each in functions)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _tidy(text: str) -> str:
    """Return the formula in Python's own spelling, whole numbers without a fraction."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if isinstance(value, float) and value.is_integer():
            node.value = int(value)  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_sensible(text: str) -> bool:
    """Return whether every function call has an argument that is no bare number."""
    return not any(
        isinstance(node, ast.Call) and all(isinstance(each, ast.Constant) for each in node.args)
        for node in ast.walk(ast.parse(text, mode="eval"))
    )


def _size(text: str) -> int:
    return sum(isinstance(node, ast.expr) for node in ast.walk(ast.parse(text, mode="eval")))
