"""The fixtures of tests in a browser."""

from __future__ import annotations

from browsers import *  # noqa: F403
