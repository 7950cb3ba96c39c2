"""Starts Dask schedulers and workers on the loopback interface, and `autograder grade` with
them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from small_school import wait_for


@contextmanager
def scheduling(folder: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    """Run a scheduler; yield its address and its process."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file]
    with running(folder, "distributed.cli.dask_scheduler", *map(str, options)) as started:
        # The scheduler has written the whole file.
        wait_for(lambda: file.exists() and file.read_text().endswith("\n}"))
        yield json.loads(file.read_text())["address"], started


@contextmanager
def worker(folder: Path, address: str, *more: str) -> Iterator[subprocess.Popen]:
    """Run a worker; yield its process once it has registered with the scheduler."""
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", *more]
    with (
        tempfile.NamedTemporaryFile() as log,
        running(folder, "distributed.cli.dask_worker", address, *options, log=log) as started,
    ):
        wait_for(lambda: b"Registered to" in Path(log.name).read_bytes())
        yield started


@contextmanager
def running(
    folder: Path, module: str, *arguments: str, log: Any = subprocess.DEVNULL
) -> Iterator[subprocess.Popen]:
    # Outside of the course folder, which a worker must not need.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=log,
    )  # fmt: skip
    try:
        yield started
    finally:
        started.terminate()
        started.wait(300)


def start_grading(school: Path, *options: str, folder: Path | None = None) -> subprocess.Popen:
    """Start `autograder grade value` in the background, and return the process."""
    environment = dict(os.environ)
    if folder is not None:
        environment["DASK_CONFIG"] = str(folder)
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", "value", "--json", *options],
        cwd=school, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
