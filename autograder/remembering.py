"""Remembers what functions made of texts that come again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def remembered(count: int, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Let a function know its last `count` answers, for texts of up to `longest` characters.

    Submissions to one assignment are much alike: the lesson's cells and the drawings of right
    code are the same in all. The function must depend on its text alone, and its answers must
    not be changed by whoever gets them.
    """

    def remembering(function: Callable[[str], T]) -> Callable[[str], T]:
        known = lru_cache(maxsize=count)(function)

        @wraps(function)
        def answer(text: str) -> T:
            return known(text) if len(text) <= longest else function(text)

        return answer

    return remembering
