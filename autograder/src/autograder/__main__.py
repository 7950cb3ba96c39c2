"""The `autograder` command, also as `python -m autograder`."""

from __future__ import annotations

import sys
from types import ModuleType

_SERVER_EXTENSIONS = "nbgrader.server_extensions"


def run() -> None:
    """Run the command."""
    leave_out_address_grammar()
    leave_out_server_extensions()
    from .commands.main import main
    from .terminal import print_every_letter

    print_every_letter()
    main()


def leave_out_address_grammar() -> None:
    """Make jsonschema, which nbformat imports, do without the package `rfc3987_syntax`.

    If jsonschema finds this package, it builds a grammar of web addresses. That takes over a
    second, and the schema of notebooks does not use the grammar. Call this only in a process that
    runs one command.
    """
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


def leave_out_server_extensions() -> None:
    """Put empty modules in place of nbgrader's server extensions, which only a server needs.

    `import nbgrader` imports them and a web server, which takes longer than all other imports of a
    command. Call this only in a process that runs one command.
    """
    for name in ("assignment_list", "course_list", "formgrader", "validate_assignment"):
        empty = ModuleType(f"{_SERVER_EXTENSIONS}.{name}")
        empty.load_jupyter_server_extension = None  # type: ignore[attr-defined]
        sys.modules[empty.__name__] = empty
    sys.modules[_SERVER_EXTENSIONS] = ModuleType(_SERVER_EXTENSIONS)


if __name__ == "__main__":
    run()
