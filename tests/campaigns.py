"""The campaigns' seed and size: `make campaigns` draws a seed, prints it and sets CAMPAIGN_SEED.

Tests that are marked `campaign` run there alone; those that are marked `sized` run in `make test`
as well, on less.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

_SEED = os.environ.get("CAMPAIGN_SEED")


def size(usual: int, full: int) -> int:
    """Return how many cases to try: `full` in a campaign."""
    return usual if _SEED is None else full


def seed(usual: int) -> int:
    """Return the seed: the campaign's own, or the usual one."""
    return usual if _SEED is None else int(_SEED)


def daily(name: str, every: int) -> list[pytest.MarkDecorator]:
    """Return the marks of one of many similar tests: one in `every` runs in `make test`."""
    return [] if crc32(name.encode()) % every == 0 else [pytest.mark.campaign]
