"""Runs programs to their end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from typing import Any


def run_program(
    line: Iterable[object], status: int | None = 0, timeout: float = 600, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end. Raise an error if its exit status differs from `status`; None
    allows any."""
    words = [*map(str, line)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, **more)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done
