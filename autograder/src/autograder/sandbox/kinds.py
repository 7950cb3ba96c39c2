"""Chooses a kind of sandbox that works on this machine.

Each kind is a module with two functions: `command(arguments, visible)` returns the command line
that starts the fork server; `why_not()` returns the reason why the kind does not work here, or "".
"""

from __future__ import annotations

from types import ModuleType

from ..errors import SandboxUnavailable
from ..records import AUTO, BUBBLEWRAP, LANDLOCK
from . import bubblewrap, landlock

KINDS: dict[str, ModuleType] = {BUBBLEWRAP: bubblewrap, LANDLOCK: landlock}
"""The modules of the kinds by the kind's name, the stronger kind first."""


def choose(wanted: str) -> str:
    """Return the name of the kind to use: `wanted`, or for `AUTO` the first kind that works here.

    Raises `SandboxUnavailable` if no kind works.
    """
    if wanted != AUTO:
        return wanted
    why = {}
    for name, kind in KINDS.items():
        why[name] = kind.why_not()
        if not why[name]:
            return name
    reasons = "; ".join(f"{name}: {reason}" for name, reason in why.items())
    raise SandboxUnavailable(
        f"no kind of sandbox works here ({reasons}), so no student code was run. "
        "`autograder doctor` says what is missing and the command that mends it."
    )


def notice(wanted: str) -> str:
    """Return a warning if `AUTO` falls back to the weaker kind; else "".

    Raises `SandboxUnavailable` if no kind works.
    """
    if wanted != AUTO or (kind := choose(wanted)) == BUBBLEWRAP:
        return ""
    return (
        f"student code runs in the sandbox of the kind {kind}, since bubblewrap does not work here "
        f"({bubblewrap.why_not()}). docs/security.md says how they differ."
    )
