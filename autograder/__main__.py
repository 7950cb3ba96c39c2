"""The `autograder` command, also as `python -m autograder`."""

from __future__ import annotations

import sys
from types import ModuleType

_SERVER_EXTENSIONS = "nbgrader.server_extensions"


def run() -> None:
    """Run the command."""
    leave_out_server_extensions()
    from .commands.main import main
    from .terminal import print_every_letter

    print_every_letter()
    main()


def leave_out_server_extensions() -> None:
    """Import nbgrader without its server extensions, which Jupyter's server alone needs.

    The package imports them first, and with them a web server: that takes longer than all the rest
    that a command needs. Only for a process that runs a command.
    """
    for name in ("assignment_list", "course_list", "formgrader", "validate_assignment"):
        empty = ModuleType(f"{_SERVER_EXTENSIONS}.{name}")
        empty.load_jupyter_server_extension = None  # type: ignore[attr-defined]
        sys.modules[empty.__name__] = empty
    sys.modules[_SERVER_EXTENSIONS] = ModuleType(_SERVER_EXTENSIONS)


if __name__ == "__main__":
    run()
