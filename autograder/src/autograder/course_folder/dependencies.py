"""Finds which exercises build on which, by the names and operators in the course's own code."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping

from .assignments import Exercise

_METHODS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.USub: "neg",
}


def needs(exercises: Iterable[Exercise]) -> dict[str, list[str]]:
    """Return the earlier exercises on which each exercise builds, directly or not, in order.

    An exercise builds on another one if its solution or its public examples use a name, a method or
    an operator that the other one's solution defines.
    """
    defined: dict[str, set[str]] = {}
    found: dict[str, list[str]] = {}
    for exercise in exercises:
        if exercise.manual or exercise.form:
            continue
        solution = ast.parse(exercise.solution)
        examples = [ast.parse(example["code"]) for example in exercise.examples]
        used = {name for tree in (solution, *examples) for name in _used(tree)}
        direct = [name for name, names in defined.items() if names & used]
        indirect = {each for name in direct for each in found[name]}
        found[exercise.id] = [name for name in defined if name in {*direct, *indirect}]
        defined[exercise.id] = {*_defined(solution)}
    return found


def _defined(solution: ast.Module) -> Iterable[str]:
    """Yield the functions and classes of a cell, and the methods that the cell attaches."""
    for node in solution.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (f".{each.attr}" for each in node.targets if isinstance(each, ast.Attribute))


def _used(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            is_of_module = getattr(node.value, "id", "") in sys.stdlib_module_names
            yield "" if is_of_module else f".{node.attr}"
        elif isinstance(node, (ast.BinOp, ast.UnaryOp)) and not _is_plain(node):
            is_reversed = isinstance(getattr(node, "left", None), ast.Constant)
            yield f".__{'r' * is_reversed}{_METHODS.get(type(node.op))}__"


def _is_plain(node: ast.AST) -> bool:
    """Return whether an operation is one on constants or attributes, such as `self.size + 1`, which
    no method of the objects themselves performs."""
    operands = [*ast.iter_child_nodes(node)]
    return any(isinstance(each, ast.Attribute) for each in ast.walk(node)) or all(
        isinstance(each, (ast.Constant, ast.operator, ast.unaryop)) for each in operands
    )
