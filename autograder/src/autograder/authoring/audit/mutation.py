"""Mutates solution cells: each mutant has one change of the syntax tree."""

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
    """A solution cell with one change.

    Attributes:
        exercise: the exercise's id.
        change: the lines that differ, as the text `before → after`.
        source: the changed cell's code, without comments and docstrings.
    """

    exercise: str
    change: str
    source: str

    @property
    def id(self) -> str:
        """The exercise's id and a digest of the code: the same mutant has the same id in every
        audit."""
        digest = blake2b(self.source.encode(), digest_size=4).hexdigest()
        return f"{self.exercise}~{digest}"


def mutants(
    exercise: str,
    cell: str,
    limit: int,
    seed: str,
    attributes: Sequence[tuple[str, str]] = (),
) -> list[Mutant]:
    """Return distinct mutants of a cell, all valid Python.

    A change replaces an operator, comparison, constant, name or attribute; removes a statement,
    operand or argument; swaps neighbouring arguments; replaces a call by its argument; or makes a
    condition always true or false.

    Args:
        exercise: the exercise's id.
        cell: the code of the solution cell.
        limit: the greatest number of mutants, which are drawn at random.
        seed: the seed of the draw.
        attributes: pairs of attribute names; a mutant may have the second in place of the first.
    """
    tree = _without_docstrings(ast.parse(cell))
    before = ast.unparse(tree)
    names = _other_names(tree)
    changes = [
        (number, change)
        for number, node in enumerate(_nodes(tree))
        for change in _changes(node, names.get(number, []), attributes)
    ]
    random.Random(f"{seed} {exercise}").shuffle(changes)
    by_source: dict[str, Mutant] = {}
    for number, change in changes:
        source = _changed(tree, number, change)
        if source.rstrip() != before and source not in by_source and _compiles(source):
            by_source[source] = Mutant(exercise, _in_words(before, source), source)
            if len(by_source) == limit:
                break
    return list(by_source.values())


def merged(solution: str, one: str, other: str) -> str | None:
    """Return the solution with two mistakes; None if both change the same lines.

    Args:
        one: the solution with the first mistake.
        other: the solution with the second mistake.
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
    result, end = [], 0
    for low, high, new in edits:
        # The edit overlaps the last one; or it is an insertion right behind the last one, and the
        # order of the two would be arbitrary.
        if low < end or (low == end and end and low == high):
            return None
        result += [*lines[end:low], *new]
        end = high
    source = "\n".join([*result, *lines[end:]]) + "\n"
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
    """Return the text `removed lines → added lines` for a change, each side cut to 100
    characters."""
    old, new = before.splitlines(), after.rstrip().splitlines()
    opcodes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    edits = [(old[a:b], new[c:d]) for kind, a, b, c, d in opcodes if kind != "equal"]
    removed = " ⏎ ".join(line.strip() for lines, _ in edits for line in lines if line)
    added = " ⏎ ".join(line.strip() for _, lines in edits for line in lines if line)
    return f"{shorten(removed, 100)} → {shorten(added, 100)}"


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a tree in a fixed order, so that a node and its counterpart in a copy of
    the tree have the same index."""
    return [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


def _changed(tree: ast.Module, number: int, change: _Change) -> str:
    """Return the code of a copy of the tree in which one node is changed.

    Args:
        number: the node's index in `_nodes`.
    """
    twin = copy.deepcopy(tree)
    target = _nodes(twin)[number]
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
    """Yield the possible changes of a node.

    Each is a function that takes the node's counterpart in a copy of the tree and returns the node
    to put in its place, which may be the same node, changed.

    Args:
        names: names that may replace the node, if it is a name.
        attributes: as for `mutants`.
    """
    # Default arguments of the lambdas bind the loop's variable, since they are called later.
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


def _other_names(tree: ast.Module) -> dict[int, list[str]]:
    """Return the names that may replace a local variable: those of the other ones in scope.

    The keys are the indexes in `_nodes` of the nodes in which a local variable occurs.
    """
    numbers = {id(node): number for number, node in enumerate(_nodes(tree))}
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
    """Return the names of a function's parameters and local variables, without those of inner
    functions."""
    arguments = function.args
    names = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
    queue: list[ast.AST] = list(ast.iter_child_nodes(function))
    while queue:
        node = queue.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            queue += ast.iter_child_nodes(node)
    return names
