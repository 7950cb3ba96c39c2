"""Leaves out, where the server forks, what modules have registered to be done at a fork.

They renew locks that another thread may hold, and reseed `random`. The server has one thread, and a
student's process is told its seed, so nothing of it is needed, and it touches a hundred memory
pages that each process would have to copy. Forks of a student's own are done as anywhere.

To be imported before all else that registers something.
"""

from __future__ import annotations

import os
from typing import Any

_registered: list[dict[str, Any]] = []
_register = os.register_at_fork


def _keep(**hooks: Any) -> None:
    _registered.append(hooks)


os.register_at_fork = _keep


def restore() -> None:
    """Register what was kept, for forks of this process, and register as ever from now on."""
    os.register_at_fork = _register
    for hooks in _registered:
        _register(**hooks)
