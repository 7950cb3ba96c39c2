"""Makes texts from outside fit to be written and told."""

from __future__ import annotations

_UNFIT = dict.fromkeys(
    [*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)], "\ufffd"
)


def fit(text: str) -> str:
    """The text without half characters, which no file holds, and without a terminal's commands."""
    return text.translate(_UNFIT)
