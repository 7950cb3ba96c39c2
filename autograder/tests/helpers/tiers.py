"""Hooks that make a test fail if it lacks a mark that it needs.

A test without marks runs in pytest's own process: `shutil.which` finds no program there, and a test
that starts one fails. A test without the mark `full` fails if it takes more than `MOST` seconds of
processor time on a machine that does little else. The seconds that each test took are in
`artefacts/durations.tsv`, in the folder in which pytest was started.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from campaigns import size

MOST = 5  # seconds
BUSY = 1.5
"""Ratio of a test's time by the clock to its processor time from which the machine counts as busy.
Code that polls by the clock takes several times the processor time there, so the test passes."""
_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_STARTING = {"campaign", "external", "subprocess"}  # marks
_LONG = {"campaign", "external", "full"}
_USING = {"grader", "kind", "school", "server"}  # fixtures

_which = shutil.which
_pytest_process = psutil.Process()
_durations: dict[str, tuple[float, float]] = {}
_runs_in_one_process = False


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the sandbox, and tests in a folder `browser`. Put long files first: with
    one of them last, the other processes of pytest would wait."""
    for item in items:
        if _USING & set(getattr(item, "fixturenames", ())):
            item.add_marker("subprocess")
        if item.path.parent.name == "browser":
            item.add_marker("external")
    browser = {item.path for item in items if item.path.parent.name == "browser"}
    starting = {item.path for item in items if _STARTING & _marks(item)}
    items.sort(key=lambda item: (item.path not in browser, item.path not in starting))


def _find_nothing(*_: object, **__: object) -> None:
    """Stand in for `shutil.which`, so that a test without marks is the same on every machine."""


def _refuse_programs(event: str, _: tuple[Any, ...]) -> None:
    if _runs_in_one_process and event in _STARTS:
        pytest.fail("a test that starts a program needs the mark `subprocess` or `external`")


sys.addaudithook(_refuse_programs)


def _processor_seconds(item: pytest.Item) -> float:
    """Return the processor time of this process and of all that it started. Processes whose parent
    was killed are left out."""
    seconds = sum(os.times()[:4])
    if _STARTING & _marks(item):
        for process in _pytest_process.children(recursive=True):
            with suppress(psutil.Error):
                seconds += sum(process.cpu_times()[:4])
    return seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    global _runs_in_one_process
    _runs_in_one_process = not _STARTING & _marks(item)
    if _runs_in_one_process:
        shutil.which = _find_nothing
    item.user_properties.append(("began", _processor_seconds(item)))
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    before, started = _processor_seconds(item), time.monotonic()
    try:
        yield
    finally:
        seconds = _processor_seconds(item) - before
        item.user_properties.append(("call", seconds))
    is_busy = time.monotonic() - started > BUSY * seconds
    if seconds > size(MOST, 3600) and not is_busy and not _LONG & _marks(item):
        pytest.fail(
            f"a test that takes over {MOST} seconds of processor time needs the mark `full`; "
            f"this one took {seconds:.1f}",
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    global _runs_in_one_process
    try:
        yield
    finally:
        _runs_in_one_process = False
        shutil.which = _which
        item.user_properties.append(("ended", _processor_seconds(item)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        found: dict[str, Any] = dict(report.user_properties)
        _durations[report.nodeid] = found["ended"] - found["began"], found.get("call", 0.0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write a line for each test, the longest first: the seconds of processor time with and without
    setup and teardown, and the test's name. Tests that did not run keep their lines."""
    folder = session.config.invocation_params.dir
    if not _durations or hasattr(session.config, "workerinput"):
        return
    project = Path(os.path.relpath(session.config.rootpath, folder))
    file = folder / "artefacts/durations.tsv"
    file.parent.mkdir(exist_ok=True)
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    durations = {line.split("\t", 2)[2]: line for line in lines}
    for name, (whole, call) in _durations.items():
        path = str(project / name)
        durations[path] = f"{whole:.2f}\t{call:.2f}\t{path}"
    ordered = sorted(durations.values(), key=lambda line: -float(line.split("\t", 1)[0]))
    file.write_text("".join(f"{line}\n" for line in ordered), "utf-8")
