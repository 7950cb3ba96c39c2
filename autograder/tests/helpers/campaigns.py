"""The seed and the size of campaigns: `make campaigns` draws a seed, prints it and sets
CAMPAIGN_SEED.

Tests marked `campaign` run only in campaigns. Tests marked `sized` also run in `make test`
or `make test-all`, with less data.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

_SEED = os.environ.get("CAMPAIGN_SEED")


def size(usual: int, full: int) -> int:
    """Return the number of cases to try: in a campaign `full`, otherwise the smaller number."""
    return usual if _SEED is None else full


def seed(usual: int) -> int:
    """Return the seed of the campaign; outside of campaigns, the given one."""
    return usual if _SEED is None else int(_SEED)


def drawn(name: str, test: int, test_all: int = 1) -> list[pytest.MarkDecorator]:
    """Return the marks of one of many similar tests.

    Args:
        test: one in so many runs in `make test`.
        test_all: of the others, one in so many runs in `make test-all`, and the rest in campaigns.
    """
    number = crc32(name.encode())
    if number % test == 0:
        return []
    return [pytest.mark.full if number % test_all == 0 else pytest.mark.campaign]
