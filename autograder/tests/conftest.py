"""Provides the fixtures of the grader's tests."""

from __future__ import annotations

from session import *  # noqa: F403

collect_ignore = ["course", "courses"]
"""Folders of courses: their hidden tests are run by the grader, and not by pytest directly."""
