"""Lets hidden tests use `is`, `in`, `type`, `callable` and `hasattr` on proxies, and `except` and
`next` with a default on errors of student code.

Python calls no method of a proxy for these, so their results would be wrong without an error. When
a hidden test is imported, its syntax tree is rewritten, as pytest does for assertions: functions
that know proxies, and treat other objects as Python does, take the place of these operations.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..errors import AuthorError, StudentError
from ..sandbox.proxies import Proxy, fetch, same

_PREFIX = "_plain_"


class PlainPython(MetaPathFinder):
    """Finds the modules of a folder, and compiles them with functions in place of `is`, `type` and
    so on (`_MEANINGS`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self._folder / f"{fullname.rpartition('.')[2]}.py"
        if not file.is_file() or (path and str(self._folder) not in path):
            return None
        return spec_from_file_location(fullname, file, loader=_Loader(fullname, str(file)))


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        # Compiled each time: bytecode that another program has cached lacks the replacements.
        tree = ast.parse(self.get_data(self.path), self.path)
        tree = ast.fix_missing_locations(_Rewriter().visit(tree))
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update({_PREFIX + name: function for name, function in _MEANINGS.items()})
        super().exec_module(module)


class _Rewriter(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        name = {ast.Is: "is", ast.IsNot: "is_not", ast.In: "in", ast.NotIn: "not_in"}.get(
            type(node.ops[0])
        )
        if name is None or len(node.ops) > 1:
            return node
        return ast.copy_location(_call(name, [node.left, *node.comparators]), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and node.func.id in _CALLED
        if not named or node.keywords or len(node.args) > 2:
            return node
        assert isinstance(node.func, ast.Name)
        return ast.copy_location(_call(node.func.id, node.args), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.type is not None:
            node.type = ast.copy_location(_call("except", [node.type]), node)
        return node


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(_PREFIX + name, ast.Load()), arguments, [])


def _is(left: Any, right: Any) -> bool:
    if Proxy not in (type(left), type(right)):
        return left is right
    one, other = fetch(left), fetch(right)
    if Proxy in (type(one), type(other)):
        return same(one, other)
    if not {type(one), type(other)} & {type(None), bool, type}:
        raise AuthorError("plain values have no identity here: write `==` in place of `is`")
    return one is other


def _in(item: Any, collection: Any) -> bool:
    if type(item) is not Proxy or type(collection) not in (str, bytes):
        return item in collection
    part = fetch(item)
    try:
        return part in collection
    except TypeError:
        return item._proxy_.student._fail("TypeError")


def _type(*arguments: Any) -> Any:
    [value, *rest] = arguments
    if rest or type(value) is not Proxy:
        return type(*arguments)
    found = fetch(value, whole=True)
    return _built_ins(value).type(value) if found is value else type(found)


def _except(kinds: Any) -> Any:
    """Return the classes that an `except` clause catches: `StudentError` if the current error is
    one that stands for one of `kinds`, else `kinds`."""
    error = sys.exception()
    return StudentError if isinstance(error, StudentError) and error.is_a(kinds) else kinds


def _next(iterator: Any, *default: Any) -> Any:
    if type(iterator) is not Proxy or not default:
        return next(iterator, *default)
    fetch(iterator)  # Raises the errors of earlier steps, before the `try` below.
    try:
        return next(iterator)
    except StudentError as error:
        if error.is_a(StopIteration):
            return default[0]
        raise


def _built_ins(value: Any) -> Any:
    """Return the module `builtins` of the process that holds a value: for a proxy, that of the
    student process."""
    return value._proxy_.student.remote.builtins if type(value) is Proxy else builtins


_MEANINGS = {
    "is": _is,
    "is_not": lambda left, right: not _is(left, right),
    "in": _in,
    "not_in": lambda item, collection: not _in(item, collection),
    "type": _type,
    "callable": lambda value: _built_ins(value).callable(value),
    "hasattr": lambda value, name: _built_ins(value).hasattr(value, name),
    "next": _next,
    "except": _except,
}
_CALLED = ("type", "callable", "hasattr", "next")
