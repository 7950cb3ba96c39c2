"""Makes the tables in which `coursecheck.inference` looks up a formula by its values.

A table holds the formulas that differ from the right one by one edit, and a few small formulas.
The right one is left out, and so are different formulas with the same values at the sweep's points.
"""

from __future__ import annotations

import ast
import copy
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from coursecheck import tables
from coursecheck.inference import EVERYWHERE, NO_ID, evaluate, id_of, pack

from ..course_folder.sweeps import Quantity, Sweep
from ..errors import CourseError

MOST = 400
"""Greatest number of formulas for a quantity; the smallest formulas are kept."""

_TIMES = (-1.0, 2.0, 0.5, -2.0, 3.0, -0.5, 4.0, 0.25)
"""Factors: a multiple of the right value by one of these is recognized as such."""

_FRESH = 6
"""Number of fresh points made from each point of a sweep. Two formulas with the same values at the
sweep's points are the same formula only if they also agree on the fresh points."""

Point = dict[str, float]


def sweeps_entry(
    sweeps: Sequence[Sweep], observed: Sequence[Sequence[Sequence[Any]]]
) -> list[tables.SolvedSweep]:
    """Return the part of the public table on an exercise's sweeps.

    Args:
        observed: the solution's results: a list for each sweep of lists for each point, with a
            result for each quantity.
    """
    return [_entry(sweep, right) for sweep, right in zip(sweeps, observed, strict=True)]


def _entry(sweep: Sweep, right: Sequence[Sequence[Any]]) -> tables.SolvedSweep:
    points = [point_of(sweep, row) for row in sweep.points]
    for point, row in zip(points, right, strict=True):
        _compare(sweep, point, row)
    fresh = fresh_points(sweep, random.Random("fresh"), _FRESH)
    places = {
        region: [i for i, point in enumerate(points) if holds(region, point)]
        for partition in sweep.regions
        for region in partition
    }
    views = {EVERYWHERE: (points, fresh)} | {
        region: ([points[i] for i in indices], [each for each in fresh if holds(region, each)])
        for region, indices in places.items()
        if indices
    }
    return {
        **sweep.as_table,
        "right": [list(row) for row in right],
        "regions": [
            [{"where": each, "points": places[each]} for each in partition if places[each]]
            for partition in sweep.regions
        ],
        "quantities": [_quantity(each, sweep, views) for each in sweep.quantities],
    }


def _compare(sweep: Sweep, point: Point, row: Sequence[Any]) -> None:
    """Raise `CourseError` if a formula that a sweep declares gives another value at a point than
    the solution."""
    for quantity, seen in zip(sweep.quantities, row, strict=True):
        value = evaluate(quantity.formula, point) if quantity.formula else None
        if value is None:
            continue
        if quantity.kind == "share":
            value = point["h"] + value * point["g"]
        if not isinstance(seen, (int, float)) or not _near(value, seen):
            raise CourseError(
                f"the sweep's formula `{quantity.name} = {quantity.formula}` gives {value} at "
                f"{point}, and the solution {seen}: mend the formula"
            )


def _quantity(
    quantity: Quantity, sweep: Sweep, views: dict[str, tuple[list[Point], list[Point]]]
) -> tables.Quantity:
    entry: tables.Quantity = {"kind": quantity.kind, "name": quantity.name}
    if quantity.says:
        entry["says"] = quantity.says
    if quantity.kind == "fact":
        return entry
    names = [each for each in sweep.names if each not in ("g", "h")] + [*sweep.derived]
    if quantity.kind == "share" and sweep.quantities[0].kind == "result":
        names.append("out")
    if "h" in sweep.names:
        # `h` is the number held before; a student may use it in place of another number.
        names.append("h")
    formulas = candidates(quantity.formula, names, sweep.functions, sweep.also)
    factors = [f"~{factor:g}" for factor in _TIMES]
    entry["index"] = {
        region: _index(quantity.formula, factors, formulas, *points)
        for region, points in views.items()
    }
    entry["formulas"] = pack([*factors, *formulas])
    return entry


def _index(
    right: str,
    factors: Sequence[str],
    formulas: Sequence[str],
    points: list[Point],
    fresh: list[Point],
) -> str:
    """Return the ids of all factors and formulas in a region, joined to one text in the order of
    `factors` and then `formulas`.

    An id is a digest of the values at `points`. It is `NO_ID` for a formula with the values of the
    right one or an earlier one, and for all formulas with the same values at `points` if they
    differ at `fresh`.
    """
    good, good_fresh = _values(right, points), _values(right, fresh)
    # If the right formula is a constant, every other constant is a multiple of it, so a factor
    # would say nothing about the code.
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


def point_of(sweep: Sweep, row: Sequence[float]) -> Point:
    """Return the numbers of a sweep's row by name, with the derived ones; `out` is the right result
    at the point, if the sweep declares a formula for it."""
    point = dict(zip(sweep.names, row, strict=True))
    for name, formula in sweep.derived.items():
        point[name] = evaluate(formula, point) or 0.0
    first = sweep.quantities[0]
    out = evaluate(first.formula, point) if first.kind == "result" else None
    return point if out is None else {**point, "out": out}


def holds(region: str, point: Point) -> bool:
    """Return whether a point is in a region, which is a Python condition on the point's numbers."""
    return region == EVERYWHERE or bool(eval(region, {}, dict(point)))


def fresh_points(sweep: Sweep, rng: random.Random, times: int) -> list[Point]:
    """Return `times` points near each point of the sweep: every float is changed by up to a
    quarter, the number `seed` is drawn anew, and whole numbers stay."""
    return [
        point_of(
            sweep,
            [
                rng.randrange(1000, 10**6)
                if name == "seed"
                else number * rng.uniform(0.8, 1.25)
                if isinstance(number, float)
                else number
                for name, number in zip(sweep.names, row, strict=True)
            ],
        )
        for row in sweep.points
        for _ in range(times)
    ]


# The formulas near the right one.

_CONSTANTS = (0.0, 1.0, 2.0, -1.0, 0.5, 3.0)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv)
_COMPARISONS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)


def candidates(
    right: str, names: Sequence[str], functions: Sequence[str], also: Sequence[str] = ()
) -> list[str]:
    """Return formulas that a student's code may compute in place of the right one, the smallest
    first.

    Args:
        right: the right formula.
        names: the names that a formula may depend on.
        functions: the functions that a formula may call.
        also: formulas of the course's author, added as they are.
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
    """Yield formulas made of one or two names, with numbers and functions."""
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
    """Yield the formulas that differ from the right one by one edit."""
    tree = ast.parse(right, mode="eval")
    for number, node in enumerate(_places(tree)):
        for other in _replacements(node, names, functions):
            twin = copy.deepcopy(tree)
            place = _places(twin)[number]
            changed = _Swap(place, other).visit(twin)
            yield ast.unparse(ast.fix_missing_locations(changed))


def _places(tree: ast.AST) -> list[ast.expr]:
    """Return the nodes of a formula that may be replaced: all except the names of called
    functions."""
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
    """Yield the nodes that may stand in place of a node of a formula, each being one edit."""
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
    """Return a formula as `ast.unparse` writes it, with whole numbers as integers (`2`, not
    `2.0`)."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if isinstance(value, float) and value.is_integer():
            node.value = int(value)  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_sensible(text: str) -> bool:
    """Return whether every function call in a formula has an argument that is not a constant."""
    return not any(
        isinstance(node, ast.Call) and all(isinstance(each, ast.Constant) for each in node.args)
        for node in ast.walk(ast.parse(text, mode="eval"))
    )


def _size(text: str) -> int:
    return sum(isinstance(node, ast.expr) for node in ast.walk(ast.parse(text, mode="eval")))
