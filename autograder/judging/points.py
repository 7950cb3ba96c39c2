"""The points for an exercise: what share of its hidden tests passed, in quarters of a point."""

from __future__ import annotations

import math

from ..model import Verdict


def share_of(verdicts: list[Verdict]) -> float:
    """The share of the tests that passed; nothing to pass is nothing passed."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else 0.0


def points_for(share: float, max_points: float) -> float:
    """The points for a share of the tests, in quarters, rounded down: full marks are for all."""
    return math.floor(min(max(share, 0.0), 1.0) * max_points * 4) / 4
