"""Provides the fixtures of this course's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import run_program
from session import *  # noqa: F403
from tested_course import COURSE


@pytest.fixture(scope="session")
def docs_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of docs/, with warnings as errors, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    docs = COURSE.root / "docs"
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(folder / "read"), str(docs)]
    run_program([*line, folder / "site"])
    return folder / "site"
