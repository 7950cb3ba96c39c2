"""Computes the points for an exercise from the share of its hidden tests that passed."""

from __future__ import annotations

import math

from ..model import Verdict


def share_of(verdicts: list[Verdict]) -> float:
    """Return the share of the tests that passed; 0 if there are none."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else 0.0


def points_for(share: float, max_points: float) -> float:
    """Return the points for a share of the tests, in quarters, rounded down: full points need all
    tests."""
    return math.floor(min(max(share, 0.0), 1.0) * max_points * 4) / 4
