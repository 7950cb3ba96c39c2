"""Stations that take a while to measure. It runs beside student code, and holds no results."""

import asyncio


class Station:
    """Gives its numbers by name.

    Attributes:
        together: how many were measuring at the same time, at most.
    """

    def __init__(self, numbers):
        self.numbers, self.busy, self.together = numbers, 0, 0

    async def measure(self, name):
        self.busy += 1
        self.together = max(self.together, self.busy)
        await asyncio.sleep(0.01)
        self.busy -= 1
        return self.numbers[name]
