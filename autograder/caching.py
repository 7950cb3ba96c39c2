"""A cache for functions of texts, bounded by the characters that it holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T", str, str | None)

_OVERHEAD = 200
"""How many characters an entry counts for beside its own: what its objects take in memory."""


def cached_by_text(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function's latest results, arguments and results together of up to `most` characters.

    Submissions to one assignment are much alike: the lesson's cells and the drawings of right
    code are the same in all. The function must depend on its arguments alone. One entry may take a
    fiftieth of the room, so that one submission's long texts do not evict what all have.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        taken = 0

        @wraps(function)
        def cached(*texts: P.args, **more: P.kwargs) -> T:
            nonlocal taken
            key = (texts, *more.items()) if more else texts
            if key in entries:
                entries.move_to_end(key)
                return entries[key][0]
            result = function(*texts, **more)
            given = sum(len(text) for text in (*texts, *more.values()) if isinstance(text, str))
            size = _OVERHEAD + given + len(result or "")
            if size <= most // 50:
                entries[key] = result, size
                taken += size
                while taken > most:
                    taken -= entries.popitem(last=False)[1][1]
            return result

        return cached

    return decorate
