"""The wall: runs student code in a sandbox, sends requests to it and takes plain data back.

The code inside can send no request of its own. `bubblewrap` and `landlock` are the two `kinds` of
sandbox, `host` starts student processes in one and sends them requests, `proxies` are the objects
that a hidden test works with, `targets` performs their steps, and `inside` is the program in the
sandbox.
"""

from ..errors import ProcessKilled, SandboxLost, SandboxUnavailable, StudentLost
from .host import StudentProcess, WarmServer, on_one_processor
from .inside.confine import die_with_parent

__all__ = [
    "ProcessKilled",
    "SandboxLost",
    "SandboxUnavailable",
    "StudentLost",
    "StudentProcess",
    "WarmServer",
    "die_with_parent",
    "on_one_processor",
]
