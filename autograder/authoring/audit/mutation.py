"""Makes slightly wrong versions of the course's own solution cells, one change in each."""

from __future__ import annotations

import ast
import copy
import difflib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from textwrap import shorten

_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True)
class Mutant:
    """A cell with one change.

    Attributes:
        exercise: the exercise whose solution cell it is.
        change: the lines that differ, as `before → after`.
        source: the cell, without its comments.
    """

    exercise: str
    change: str
    source: str

    @property
    def id(self) -> str:
        """A name that depends on the cell's text alone."""
        digest = blake2b(self.source.encode(), digest_size=4).hexdigest()
        return f"{self.exercise}~{digest}"


def mutants(
    exercise: str,
    cell: str,
    limit: int,
    seed: str,
    attributes: Sequence[tuple[str, str]] = (),
) -> list[Mutant]:
    """Return distinct versions of a cell with one change that are valid Python.

    Operators, comparisons and constants are replaced, statements and operands left out, names and
    arguments swapped, calls replaced by their arguments, branches forced.

    Args:
        limit: how many to draw if there are more.
        seed: the seed of the draw.
        attributes: pairs of attributes, of which the first may be replaced by the second.
    """
    tree = _without_docstrings(ast.parse(cell))
    before = ast.unparse(tree)
    names = _names_in_reach(tree)
    changes = [
        (number, change)
        for number, node in enumerate(_places(tree))
        for change in _changes(node, names.get(number, []), attributes)
    ]
    random.Random(f"{seed} {exercise}").shuffle(changes)
    found: dict[str, Mutant] = {}
    for number, change in changes:
        source = _changed(tree, number, change)
        if source.rstrip() != before and source not in found and _compiles(source):
            found[source] = Mutant(exercise, _in_words(before, source), source)
            if len(found) == limit:
                break
    return list(found.values())


def merged(solution: str, one: str, other: str) -> str | None:
    """Return the solution with two mistakes at once, or None if they touch the same lines.

    Args:
        one, other: the cell with one mistake each.
    """
    lines = _lines(solution)
    edits = sorted(
        (low, high, tuple(changed[start:end]))
        for changed in (_lines(one), _lines(other))
        for kind, low, high, start, end in difflib.SequenceMatcher(
            None, lines, changed, autojunk=False
        ).get_opcodes()
        if kind != "equal"
    )
    result, place = [], 0
    for low, high, new in edits:
        if low < place or (low == place and place and low == high):
            return None
        result += [*lines[place:low], *new]
        place = high
    source = "\n".join([*result, *lines[place:]]) + "\n"
    alone = ("\n".join(_lines(one)) + "\n", "\n".join(_lines(other)) + "\n")
    return source if _compiles(source) and source not in alone else None


def _lines(source: str) -> list[str]:
    return ast.unparse(_without_docstrings(ast.parse(source))).splitlines()


def _compiles(source: str) -> bool:
    try:
        compile(source, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def _in_words(before: str, after: str) -> str:
    """Return a description of the change: its lines before and after."""
    old, new = before.splitlines(), after.rstrip().splitlines()
    kept = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    edits = [(old[a:b], new[c:d]) for kind, a, b, c, d in kept if kind != "equal"]
    gone = " ⏎ ".join(line.strip() for lines, _ in edits for line in lines if line)
    come = " ⏎ ".join(line.strip() for _, lines in edits for line in lines if line)
    return f"{shorten(gone, 100)} → {shorten(come, 100)}"


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _places(tree: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


def _changed(tree: ast.Module, number: int, change: _Change) -> str:
    """Return the source of a copy in which one node was changed."""
    twin = copy.deepcopy(tree)
    target = _places(twin)[number]
    replacement = change(target)
    if replacement is not target:
        _replace(twin, target, replacement)
    return ast.unparse(ast.fix_missing_locations(twin)) + "\n"


def _replace(tree: ast.AST, target: ast.AST, replacement: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, replacement)
                return
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if item is target:
                        value[index] = replacement
                        return


def _changes(
    node: ast.AST, names: list[str], attributes: Sequence[tuple[str, str]]
) -> Iterator[_Change]:
    """Yield the possible changes of one node; each takes the copy's node and returns another."""
    if isinstance(node, ast.BinOp):
        for operator in _OPERATORS.get(type(node.op), ()):
            yield _set("op", operator())
        yield lambda n: n.left  # type: ignore[attr-defined]
        yield lambda n: n.right  # type: ignore[attr-defined]
        if isinstance(node.op, (ast.Sub, ast.Div, ast.Pow)):
            yield _swapped_sides
    elif isinstance(node, ast.AugAssign):
        for operator in _OPERATORS.get(type(node.op), ())[:1]:
            yield _set("op", operator())
        yield lambda n: ast.Assign([n.target], n.value)  # type: ignore[attr-defined]
    elif isinstance(node, ast.Compare):
        for comparison in _COMPARISONS.get(type(node.ops[0]), ()):
            yield _set("ops", [comparison()])
    elif isinstance(node, ast.UnaryOp):
        yield lambda n: n.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.BoolOp):
        yield _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant):
        for value in _other_constants(node.value):
            yield lambda n, value=value: ast.Constant(value)  # type: ignore[misc]
    elif isinstance(node, ast.JoinedStr):
        yield lambda n: ast.Constant("")
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names:
            yield lambda n, name=name: ast.Name(name, ast.Load())  # type: ignore[misc]
    elif isinstance(node, ast.Attribute):
        for name in [new for old, new in attributes if old == node.attr]:
            yield _set("attr", name)
    elif isinstance(node, ast.IfExp):
        yield lambda n: n.body  # type: ignore[attr-defined]
        yield lambda n: n.orelse  # type: ignore[attr-defined]
    elif isinstance(node, (ast.If, ast.While)):
        yield _set("test", ast.Constant(False))
        if isinstance(node, ast.If):
            yield _set("test", ast.Constant(True))
    elif isinstance(node, ast.Call):
        yield from _changes_of_call(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        for index in range(len(node.elts)):
            yield _without("elts", index)
        for index in range(len(node.elts) - 1):
            yield _swapped("elts", index)
    if isinstance(node, ast.stmt) and not isinstance(node, ast.Pass):
        yield lambda n: ast.Pass()


def _changes_of_call(node: ast.Call) -> Iterator[_Change]:
    for index in range(len(node.args) - 1):
        yield _swapped("args", index)
    if len(node.args) > 1:
        yield _without("args", len(node.args) - 1)
    if len(node.args) == 1 and not node.keywords and isinstance(node.func, ast.Name):
        yield lambda n: n.args[0]  # type: ignore[attr-defined]
    for index in range(len(node.keywords)):
        yield _without("keywords", index)


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        others = [value + 1, -value, value * 2, type(value)(0)]
        return [other for other in dict.fromkeys(others) if other != value]
    if isinstance(value, str):
        return [other for other in ("", value + "?") if other != value]
    return []


def _set(name: str, value: object) -> _Change:
    def change(node: ast.AST) -> ast.AST:
        setattr(node, name, value)
        return node

    return change


def _swapped_sides(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    node.left, node.right = node.right, node.left
    return node


def _swapped(name: str, index: int) -> _Change:
    def change(node: ast.AST) -> ast.AST:
        items = getattr(node, name)
        items[index], items[index + 1] = items[index + 1], items[index]
        return node

    return change


def _without(name: str, index: int) -> _Change:
    def change(node: ast.AST) -> ast.AST:
        del getattr(node, name)[index]
        return node

    return change


def _names_in_reach(tree: ast.Module) -> dict[int, list[str]]:
    """Return, for each name that is read, by its number in the walk, its function's other
    variables."""
    numbers = {id(node): number for number, node in enumerate(_places(tree))}
    reach: dict[int, list[str]] = {}

    def visit(node: ast.AST, known: list[str]) -> None:
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            known = list(dict.fromkeys([*known, *_variables(node)]))
        if isinstance(node, ast.Name) and node.id in known:
            reach[numbers[id(node)]] = [name for name in known if name != node.id]
        for child in ast.iter_child_nodes(node):
            visit(child, known)

    visit(tree, [])
    return reach


def _variables(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """Return a function's parameters, and the names that it assigns itself."""
    arguments = function.args
    found = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return found
