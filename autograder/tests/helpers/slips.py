"""Makes wrong answers by inserting a line into a right one."""

from __future__ import annotations

import ast


def first_function(solution: str) -> tuple[ast.Module, ast.FunctionDef]:
    tree = ast.parse(solution)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    function.body = function.body[1:] if ast.get_docstring(function) else function.body
    return tree, function


def beginning_with(solution: str, line: str) -> str:
    """Return the solution with a line inserted at the beginning of its first function."""
    tree, function = first_function(solution)
    function.body.insert(0, ast.parse(line).body[0])
    return ast.unparse(tree) + "\n"
