"""A target that gives the same reply to every request."""

from __future__ import annotations

from typing import Any


class Says:
    """Target that answers every request with the given reply."""

    def __init__(self, reply: Any) -> None:
        self.modules: set[str] = set()
        self.taken = 0.0
        self._reply = reply

    def perform(self, request: Any) -> Any:
        return self._reply

    def seconds(self) -> float:
        return 0.0
