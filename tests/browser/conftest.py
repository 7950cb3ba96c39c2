"""The fixtures of tests in a browser, and the lesson."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsers import *  # noqa: F403
from tested_course import COURSE

from autograder.publishing.lesson.site import build


@pytest.fixture(scope="session")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lesson and the slides, built as if the notebooks lay beside them."""
    folder = tmp_path_factory.mktemp("bundle") / "lesson"
    build(COURSE, folder, COURSE.assignment_names())
    return folder
