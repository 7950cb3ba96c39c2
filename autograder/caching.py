"""A cache for functions of texts, bounded by the characters of its results."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import ParamSpec, TypeVar

from cachetools import LRUCache, cached

P = ParamSpec("P")
T = TypeVar("T", str, str | None)

_OVERHEAD = 200
"""Characters that an entry counts for beside its own, for the memory of its objects."""


def cached_by_text(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function's latest results, of up to `most` characters together.

    Submissions to one assignment are much alike: the lesson's cells and the drawings of right code
    are the same in all. The function must depend on its arguments alone. One result may take a
    fiftieth of the room, so that one submission's long texts do not evict the shared ones.
    """

    def size(result: str | None) -> int:
        taken = _OVERHEAD + len(result or "")
        return taken if taken <= most // 50 else most + 1

    def digest(*texts: object, **more: object) -> bytes:
        return blake2b(repr((texts, more)).encode(), digest_size=16).digest()

    decorate: Callable[[Callable[P, T]], Callable[P, T]] = cached(LRUCache(most, size), digest)
    return decorate
