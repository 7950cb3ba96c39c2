"""Fixtures for tests that attack the sandbox: each kind of sandbox, with low limits."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.records import Limits, VisibleFiles
from autograder.sandbox import ForkServer, kinds

VISIBLE = VisibleFiles(("ipython", "numpy", "matplotlib", "matplotlib-inline"), preload=("numpy",))
LIMITS = Limits(memory=600 << 20, processes=16, file_size=8 << 20, disk_megabytes=16)


@pytest.fixture(scope="module", params=kinds.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return the name of a kind of sandbox that works on this machine; the test runs with each."""
    if why := kinds.KINDS[request.param].why_not():
        pytest.skip(f"{request.param}: {why}")
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str) -> Iterator[ForkServer]:
    """Return a fork server with low limits."""
    with ForkServer(LIMITS, VISIBLE, kind) as warm:
        yield warm


def needs(server: ForkServer, kind: str) -> None:
    """Skip the test if the server has another kind of sandbox."""
    if server.kind != kind:
        pytest.skip(f"this holds for {kind} alone")


def run(server: ForkServer, *cells: str, seconds: float = 10.0) -> list[list[dict[str, Any]]]:
    """Run cells in a new student process, and return the outputs of each."""
    with server.spawn(seed=1) as student:
        return [
            student.request({"cell": textwrap.dedent(cell)}, seconds)["outputs"] for cell in cells
        ]


def printed(server: ForkServer, cell: str, seconds: float = 10.0) -> Any:
    """Run a cell, and return the Python value whose literal it printed."""
    [output] = run(server, cell, seconds=seconds)[0]
    assert output["output_type"] == "stream", output
    return ast.literal_eval(output["text"])


def descendants(pid: int) -> set[int]:
    """Return the processes that `pid` has started, and all their descendants."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(status[1]), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found.update(children)
        waiting += children
    return found
