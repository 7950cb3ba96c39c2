"""Honest cells behave in the sandbox as in a kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from sandboxes import kind

from autograder.records import LANDLOCK, VisibleFiles
from autograder.sandbox import ForkServer

pytestmark = pytest.mark.subprocess

assert kind  # a fixture of every test here

TEXT = (Path(__file__).parent / "habits.txt").read_text("utf-8")
HABITS = {
    name: pair.partition("\n--\n")[::2]
    for name, _, pair in (each.partition("\n") for each in TEXT.split("\n== ")[1:])
}
"""By habit: two cells, of which the second tests the first. If the name is in brackets, they start
a program."""
MODULES = {
    name: set(re.findall(r"^(?:import|from) (\w+)", "\n".join(pair), re.MULTILINE))
    for name, pair in HABITS.items()
}
"""By habit: the modules that its cells import, as far as these begin a line."""
WRITTEN = {"habit", "tools"}
"""Modules that the cells write."""


def missing(habit: str) -> list[str]:
    return [each for each in MODULES[habit] - WRITTEN if find_spec(each) is None]


@pytest.fixture(scope="module")
def desk(kind: str) -> Iterator[ForkServer]:
    """Return a fork server whose student code may import every module of the table."""
    modules, installed = set().union(*MODULES.values()), packages_distributions()
    packages = {installed[each][0] for each in modules if each in installed}
    visible = VisibleFiles(("ipython", "matplotlib-inline", *sorted(packages)))
    with ForkServer(visible=visible, kind=kind) as server:
        yield server


@pytest.mark.parametrize(
    "habit", [pytest.param(each, marks=[pytest.mark.full] * (each == "models")) for each in HABITS]
)
def test_a_pair_of_cells_passes_as_in_a_kernel(habit: str, desk: ForkServer) -> None:
    if lacking := missing(habit):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    if desk.kind == LANDLOCK and habit.startswith("["):
        pytest.skip("docs/security.md: under Landlock no program can be started")
    with desk.spawn(seed=1) as student:
        for cell in HABITS[habit]:
            reply = student.request({"cell": cell}, 10)
            shown = [each for each in reply["outputs"] if each.get("name") == "stderr"]
            assert (reply["error"], shown) == (None, []), reply["outputs"]


@pytest.mark.full
def test_every_pair_of_cells_passes_in_a_kernel(tmp_path, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("LOGNAME", "ada")
    # Where a cell assigns `_`, or runs doctests, `_` no longer has the values of later cells.
    clear = "import builtins\nfor each in (globals(), vars(builtins)):\n    each.pop('_', 0)"
    pairs = ((clear, *HABITS[each]) for each in HABITS if not missing(each))
    cells = [cell for pair in pairs for cell in pair]
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
