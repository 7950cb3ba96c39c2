"""Runs student code in a sandbox, sends requests to it, and takes plain data back.

Code in the sandbox can send no request of its own. `bubblewrap` and `landlock` are the two `kinds`
of sandbox; `fork_server` starts student processes in a sandbox and sends them requests; `proxies`
holds the objects that a hidden test works with, and `targets` performs the steps of a hidden test;
`guest` is the program that runs in the sandbox.
"""

from ..errors import ProcessKilled, SandboxDied, SandboxUnavailable, StudentProcessDied
from .fork_server import ForkServer, StudentProcess, on_one_processor
from .guest.confine import die_with_parent

__all__ = [
    "ForkServer",
    "ProcessKilled",
    "SandboxDied",
    "SandboxUnavailable",
    "StudentProcess",
    "StudentProcessDied",
    "die_with_parent",
    "on_one_processor",
]
