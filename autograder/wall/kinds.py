"""The kinds of sandbox, by name, and the choice of one that works on this machine.

Each is a module with two functions: `command(arguments, visible)` returns the command line that
starts the warm server, and `why_not()` why it does not work here, "" if it does.
"""

from __future__ import annotations

from types import ModuleType

from ..errors import SandboxUnavailable
from ..model import AUTO, BUBBLEWRAP, LANDLOCK
from . import bubblewrap, landlock

KINDS: dict[str, ModuleType] = {BUBBLEWRAP: bubblewrap, LANDLOCK: landlock}
"""The stronger one comes first."""


def chosen(wanted: str) -> str:
    """Return the name of the kind that is used for `wanted`, a name or `AUTO`.

    Raises `SandboxUnavailable` if it is `AUTO` and no kind works here.
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
    """Return a warning if the weaker kind is used for `wanted`; "" if not.

    Raises as `chosen`.
    """
    if wanted != AUTO or (kind := chosen(wanted)) == BUBBLEWRAP:
        return ""
    return (
        f"student code runs in the sandbox of the kind {kind}, since bubblewrap does not work here "
        f"({bubblewrap.why_not()}). docs/security.md says how they differ."
    )
