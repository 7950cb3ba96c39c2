"""The kinds of sandbox, by name, and the choice of one that works on this machine.

Each is a module with two functions: `command(arguments, visible)` is the command line that starts
the warm server, and `why_not()` says why it does not work here, "" where it does.
"""

from __future__ import annotations

from types import ModuleType

from ..errors import SandboxUnavailable
from ..model import AUTO, BUBBLEWRAP, LANDLOCK
from . import bubblewrap, landlock

KINDS: dict[str, ModuleType] = {BUBBLEWRAP: bubblewrap, LANDLOCK: landlock}
"""The stronger one comes first."""


def chosen(wanted: str) -> str:
    """The name of the kind that is used where `wanted` is asked for, a name or `AUTO`.

    Raises `SandboxUnavailable` where it is `AUTO` and no kind works here.
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
    """What a person is to know of the kind that is used where `wanted` is asked for; "" if nothing.

    Raises as `chosen`.
    """
    if wanted != AUTO or (kind := chosen(wanted)) == BUBBLEWRAP:
        return ""
    return (
        f"student code runs in the sandbox of the kind {kind}, since bubblewrap does not work here "
        f"({bubblewrap.why_not()}). docs/security.md says how they differ."
    )
