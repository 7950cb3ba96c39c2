"""Compiles solutions that run in place of a student's cells, so that their text is not sent."""

from __future__ import annotations
import __future__

import ast
import marshal
from functools import lru_cache

from ..course_folder.assignments import Assignment, Exercise


def compiled(assignment: Assignment, exercise: Exercise) -> bytes:
    """Return an exercise's solution as a code object, serialized by `marshal`.

    A docstring of the solution is left out unless the stub holds the same text.
    """
    cells = [*assignment.setup.values(), *(e.solution for e in assignment.exercises.values())]
    flags = _flags(tuple(each for each in cells if "__future__" in each))
    return _compiled(exercise.solution, exercise.stub, flags)


@lru_cache(maxsize=128)
def _compiled(source: str, stub: str, flags: int) -> bytes:
    tree = _parsed(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node, clean=False)
            if text is not None and text not in stub:
                node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return marshal.dumps(compile(tree, "<solution>", "exec", flags, dont_inherit=True))


@lru_cache(maxsize=16)
def _flags(cells: tuple[str, ...]) -> int:
    """Return the compiler's flags for all `from __future__ import …` in these cells. As in a
    notebook, they hold for every other cell too."""
    flags = 0
    for node in (node for cell in cells for node in _parsed(cell).body):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for each in node.names:
                flags |= getattr(__future__, each.name).compiler_flag
    return flags


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:
        # The cell uses IPython's syntax, such as magics. IPython takes long to import, and few
        # courses need it here.
        from IPython.core.inputtransformer2 import TransformerManager

        return ast.parse(TransformerManager().transform_cell(source))
