"""Cells that try to break, fill or leave their sandbox, each with its required outcome.

`CELLS` are run in a process of their own in either kind of sandbox by `test_sandbox`, and handed in
as the last answer of a notebook by `test_attacks`.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from .breaking import CONNECTION, FATAL, MALFORMED, PROCESSES, SURVIVABLE
from .memory import OUT_OF_SIGHT
from .same_account import FULL, REACHES

LITTLE = "little memory"


class Attack(NamedTuple):
    """A cell and its possible outcomes.

    Attributes:
        must: why the process ended, the error that the cell ended with, or the text it printed;
            empty if the process stays in use, whatever the cell shows.
        under_landlock: the same if the process may start no other one.
    """

    code: str
    must: Set[str] = frozenset()
    seconds: float = 10.0
    under_landlock: Set[str] | None = None


_REFUSED = frozenset({"PermissionError"})
_LOST = frozenset({"crashed", "timeout"})
CELLS = {
    **{name: Attack(code) for name, code in SURVIVABLE.items()},
    **{
        name: Attack(code, {reason}, 1.0 if reason == "timeout" else 10.0)
        for name, (code, reason) in FATAL.items()
    },
    **{
        name: Attack(code, {reason}, under_landlock=_REFUSED)
        for name, (code, reason) in PROCESSES.items()
    },
    **{
        f"answers: {name}": Attack(CONNECTION + code, _LOST, 1.0)
        for name, code in MALFORMED.items()
    },
    **{
        f"memory: {name}": Attack(code, {"out_of_memory", LITTLE} | _REFUSED, 60.0)
        for name, code in OUT_OF_SIGHT.items()
    },
    **{f"reaches: {name}": Attack(code, {"[]\n"}) for name, code in REACHES.items()},
    **{
        f"folders: {name}": Attack(code, _LOST | _REFUSED | {"OSError", "FileExistsError"}, 3.0)
        for name, code in FULL.items()
    },
}
