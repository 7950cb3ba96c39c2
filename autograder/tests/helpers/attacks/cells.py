"""Cells that try to break, fill or leave their sandbox, each with its required outcome.

`test_sandbox` runs each of `CELLS` in a student process, in both kinds of sandbox. `test_attacks`
submits each as the last answer of a notebook.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from .breaking import CONNECTION, FATAL, MALFORMED, PROCESSES, SURVIVABLE
from .memory import OUT_OF_SIGHT
from .same_account import FULL, REACHES

LITTLE = "little memory"


class Attack(NamedTuple):
    """A cell and its allowed outcomes.

    Attributes:
        must: the allowed outcomes: reasons for the end of the process, names of errors that end the
            cell, or printed texts. If it is empty, the process must still be usable, whatever the
            cell prints.
        under_landlock: the same for a process that cannot start other processes.
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
