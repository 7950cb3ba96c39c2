"""Runs student code where it can see and harm nothing.

`bubblewrap` builds the box, `processes` starts student processes in it and talks to them, and
`inside` is the program that runs there.
"""

from .bubblewrap import SandboxUnavailable
from .processes import Limits, StudentLost, StudentProcess, WarmServer, on_one_processor

__all__ = [
    "Limits",
    "SandboxUnavailable",
    "StudentLost",
    "StudentProcess",
    "WarmServer",
    "on_one_processor",
]
