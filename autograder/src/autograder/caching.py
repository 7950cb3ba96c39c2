"""An LRU cache for functions of texts, bounded by the characters of the results."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import ParamSpec, TypeVar

from cachetools import LRUCache, cached

P = ParamSpec("P")
T = TypeVar("T", str, str | None)

_OVERHEAD = 200
"""Added to the size of each entry, in characters, for the memory of its Python objects."""


def cached_by_text(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a pure function: cache its results, in all at most `most` characters.

    Submissions to one assignment share most texts: the lesson's cells, and drawings of right code.
    A result longer than a fiftieth of `most` is not cached, so that the long texts of one
    submission do not evict the shared texts.
    """

    def size(result: str | None) -> int:
        size = _OVERHEAD + len(result or "")
        # cachetools stores nothing that is larger than the cache.
        return size if size <= most // 50 else most + 1

    def digest(*texts: object, **more: object) -> bytes:
        # A key with the argument's text would take as much memory as the result.
        return blake2b(repr((texts, more)).encode(), digest_size=16).digest()

    decorate: Callable[[Callable[P, T]], Callable[P, T]] = cached(LRUCache(most, size), digest)
    return decorate
