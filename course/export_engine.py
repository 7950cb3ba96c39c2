"""Exports the student's engine as a module, from the cells that pass, for later notebooks.

`export("value", by="Ada")` at the end of a notebook writes the cells that pass their checks to
`my_engine.py`, beside the notebooks' folders. In a later notebook, `own_engine()` replaces the
given engine by the one in this file as far as it passes, and `own_network()` the given network by
the one that the notebook `mlp` exported. Grading uses none of these: only the notebook is marked.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from coursecheck.check import diagnose, load_table

TABLES = Path(__file__).parent / "tables"
FILE = "my_engine.py"

PARTS: dict[str, dict[str, list[str]]] = {
    "value": {
        "node": ["Value"],
        "add": ["Value.__add__"],
        "mul": ["Value.__mul__"],
        "pow": ["Value.__pow__"],
        "neg_sub": ["Value.__neg__", "Value.__sub__"],
        "div": ["Value.__truediv__"],
        "reverse": [f"Value.__r{name}__" for name in ("add", "sub", "mul", "truediv")],
        "trace": ["trace"],
        "manual_backward": ["push_gradients"],
        "numerical": ["numerical_derivative"],
    },
    "backward": {
        **{name: [f"Value.{name}"] for name in ("exp", "log", "tanh", "relu", "sigmoid")},
        "topological_order": ["topological_order"],
        "backward": ["backward", "Value.backward"],
        "zero_grad": ["zero_grad"],
        "check_gradients": ["check_gradients"],
        "deep": ["backward_without_recursion"],
        "extra_ops": ["Value.sin", "Value.cos", "Value.sqrt"],
        "dot_source": ["draw_dot"],
    },
    "mlp": {
        "module": ["Module"],
        "neuron": ["Neuron"],
        "layer": ["Layer"],
        "mlp": ["MLP"],
        "linear_sequential": ["Linear", "Sequential"],
        **{name: [name] for name in ("mse", "hinge", "bce", "cross_entropy")},
        "sgd": ["SGD"],
        "schedule": ["decayed"],
        "train": ["train"],
        **{name: [f"train_{name}"] for name in ("xor", "four_points", "moons")},
    },
}
"""By notebook and exercise: the names that the exercise adds to the file, in the file's order."""
ENGINE = ("value", "backward")
"""The notebooks that make the engine itself."""

_OWN = {
    name.partition(".")[0] for part in PARTS.values() for names in part.values() for name in names
}
_HEAD = '"""A scalar autograd engine{by}. The cells of its notebooks that passed their checks."""'
_PART = '# From the notebook "{}".'


def export(notebook: str, by: str = "", namespace: dict[str, Any] | None = None) -> None:
    """Write your cells that pass their checks to the file `my_engine.py`, and say what it holds.

    The file is written beside the folder of this notebook if the folder is called after the
    notebook, such as `value` or `value-2`; otherwise into the folder. What you exported from other
    notebooks stays in the file.

    Args:
        notebook: the name of this notebook: "value", "backward" or "mlp".
        by: your name, to stand in the file.
        namespace: where your classes and functions are defined; by default this notebook.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    passing = [name for name in PARTS[notebook] if _passes(notebook, name, namespace)]
    left_out = [name for name in PARTS[notebook] if name not in passing]
    cells = _cells(notebook, passing, namespace)
    if "deep" in passing:  # an example cell attaches it
        cells.append("Value.backward = backward_without_recursion")
    here = Path.cwd()
    path = (here.parent if notebook in here.name.lower() else here) / FILE
    parts = _parts(path.read_text("utf-8")) if path.is_file() else {}
    parts[notebook] = "\n\n\n".join([*_imports(cells, namespace), *cells])
    text = _HEAD.format(by=f" by {by}" if by else "") + "\n"
    for name in PARTS:
        if name in parts:
            text += f"\n{_PART.format(name)}\n\n{parts[name].strip()}\n"
    path.write_text(text, "utf-8")
    whose = f"{by}'s" if by else "Yours"
    print(f"{path.name} is written: {code_lines(text)} lines of code. {whose}, every one of them.")
    if left_out:
        print(f"Not in it, since the check does not pass yet: {', '.join(left_out)}.")
    if notebook != "value" and "value" not in parts:
        print('The class itself is missing: run the last cell of the notebook "value", too.')


def own_engine(namespace: dict[str, Any] | None = None) -> None:
    """Run this notebook on your own engine from `my_engine.py`, as far as it passes its checks.

    The engine that the course gives stands in for what yours does not have yet. A message says what
    is used, and why.

    Args:
        namespace: where the given engine is defined; by default this notebook.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    path = own_file()
    if path is None:
        print(f"There is no {FILE}, so the given engine stays. The last cell of the notebook")
        print('"value" makes one of what you wrote there.')
        return
    text = path.read_text("utf-8")
    own: dict[str, Any] = {"__name__": path.stem}
    try:
        exec(compile(text, str(path.resolve()), "exec"), own)
    except (Exception, SystemExit) as error:
        print(f"{FILE} cannot be run ({type(error).__name__}: {error}).")
        print("The given engine stays.")
        return
    exercises = {name: (book, brings) for book in ENGINE for name, brings in PARTS[book].items()}
    passing = [name for name, (book, _) in exercises.items() if _passes(book, name, own)]
    if "node" not in passing:
        print("Your engine has no class Value that passes its check. The given engine stays.")
        return
    yours = {each for name in passing for each in exercises[name][1]}
    lent = []
    for name, (_, brings) in exercises.items():
        for each in brings:
            _, _, attribute = each.partition(".")
            if each not in yours and _find(each, namespace) is not None:
                if attribute:
                    setattr(own["Value"], attribute, _find(each, namespace))
                lent += [name] * (name not in lent)
    for attribute, thing in vars(namespace["Value"]).items():
        if not hasattr(own["Value"], attribute):  # what the lent methods need themselves
            setattr(own["Value"], attribute, thing)
    namespace.update({each: own[each] for each in yours if each in own and each in namespace})
    lines = sum(code_lines(part) for name, part in _parts(text).items() if name in ENGINE)
    print(f"This notebook runs on your own engine now: {FILE}, {lines} lines of code.")
    if lent:
        print(f"The course's stands in for what does not pass its check yet: {', '.join(lent)}.")


def own_network(*names: str, namespace: dict[str, Any] | None = None) -> None:
    """Use the network that you exported from the notebook `mlp`, on this notebook's engine.

    The network is read from `my_engine.py`. The one that the course gives stands in for what yours
    does not have yet. A message says what is used, and why.

    Args:
        names: the classes and functions that this notebook needs.
        namespace: where the given network is defined; by default this notebook.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    path = own_file()
    text = path.read_text("utf-8") if path else ""
    part = _parts(text).get("mlp")
    if path is None or part is None:
        print(f"There is no {FILE} with a network, so the given one stays. The last cells of the")
        print('notebook "mlp" make one of what you wrote there.')
        return
    given = {name: namespace.get(name) for name in names}
    above = "\n" * text.partition(part)[0].count("\n")  # keeps the file's line numbers in errors
    try:
        exec(compile(above + part, str(path.resolve()), "exec"), namespace)
    except (Exception, SystemExit) as error:
        namespace.update(given)
        print(f"The network in {FILE} cannot be run ({type(error).__name__}: {error}).")
        print("The given one stays.")
        return
    lent = [name for name in names if namespace.get(name) is given[name]]
    print(f"This notebook runs on your own network now: {code_lines(part)} lines of code.")
    if lent:
        print(f"The course's stands in for {', '.join(lent)}.")


def own_file() -> Path | None:
    """Return the path of `my_engine.py` in this folder, or else in the folder above, or else two
    folders above; None if there is none."""
    return next((at for up in (".", "..", "../..") if (at := Path(up, FILE)).is_file()), None)


def _passes(notebook: str, exercise: str, namespace: dict[str, Any]) -> bool:
    """Return whether an exercise, or at least its core, passes its visible check."""
    if not all(_find(name, namespace) for name in PARTS[notebook][exercise]):
        return False
    table = load_table(TABLES / f"{notebook}.json")
    finding = diagnose(table["exercises"][exercise], namespace)
    return finding is None or finding.only_extra


def _find(name: str, namespace: dict[str, Any]) -> Any:
    """Return the object that has a name such as "trace" or "Value.exp"; None if there is none."""
    first, _, attribute = name.partition(".")
    thing = namespace.get(first)
    return vars(thing).get(attribute) if attribute and isinstance(thing, type) else thing


def _cells(notebook: str, exercises: Iterable[str], namespace: dict[str, Any]) -> list[str]:
    """Return the text of the cells that define the exercises' names, each cell once. A cell comes
    after the cells of the student's own helper functions that it uses."""
    cells: list[str] = []

    def add(thing: Any) -> None:
        cell = _cell_of(thing)
        if not cell or cell in cells or cell in underway:
            return
        underway.append(cell)
        for name in _names_in(cell):
            helper = namespace.get(name)
            if getattr(helper, "__module__", "") == "__main__" and name not in _OWN:
                add(helper)
        cells.append(cell)

    underway: list[str] = []
    for exercise in exercises:
        names = PARTS[notebook][exercise]
        for name in names:
            # The method `backward` may be the function of `deep`, which has a cell of its own.
            if name.partition(".")[2] not in names:
                add(_find(name, namespace))
    return cells


def _cell_of(thing: Any) -> str:
    """Return the text of the cell that defines a class or a function, without magics; "" if
    unknown."""
    if isinstance(thing, type):
        thing = next((each for each in vars(thing).values() if hasattr(each, "__code__")), None)
    code = getattr(thing, "__code__", None)
    lines = linecache.getlines(code.co_filename) if code else []
    return "".join(line for line in lines if not line.startswith(("%", "!"))).strip()


def _names_in(text: str) -> Iterator[str]:
    """Yield the names that code reads, each once."""
    read = (node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    yield from dict.fromkeys(read)


def _imports(cells: Iterable[str], namespace: dict[str, Any]) -> list[str]:
    """Return a list with one text, the import lines that the cells need; [] if they need none."""
    lines: set[str] = set()
    for name in {*_names_in("\n".join(cells))} - _OWN:
        thing = namespace.get(name)
        home = getattr(thing, "__module__", None)
        if isinstance(thing, ModuleType):
            called = f" as {name}" if name != thing.__name__ else ""
            lines.add(f"import {thing.__name__}{called}")
        elif callable(thing) and home not in (None, "__main__", "builtins"):
            lines.add(f"from {home} import {name}")
    return ["\n".join(sorted(lines))] if lines else []


def _parts(text: str) -> dict[str, str]:
    """Return, by name of a notebook, the part of `my_engine.py` that was exported from it."""
    pieces = re.split(re.escape(_PART).replace(r"\{\}", r"(\w+)"), text)
    return {
        name: part for name, part in zip(pieces[1::2], pieces[2::2], strict=True) if name in PARTS
    }


def code_lines(text: str) -> int:
    """Count the lines of code, without docstrings, comments and empty lines."""
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            prose |= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose
        for number, line in enumerate(text.splitlines(), 1)
    )
