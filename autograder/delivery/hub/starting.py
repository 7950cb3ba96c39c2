"""Starts the hub."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ...errors import CourseError
from ...terminal import console, say
from .box import desktop_sockets
from .folders import INSTRUCTOR, prepare

PROXY = "configurable-http-proxy"


def start(
    clone: Path,
    root: Path,
    port: int,
    students: Sequence[str],
    names: Sequence[str],
    config: Path | None = None,
) -> NoReturn:
    """Replace this program by the hub's.

    Args:
        clone: the course to copy for the instructor.
        root: the hub's folder.
        port: the first of four free ports.
        names: assignments that a new course begins with; all if empty.
        config: settings of JupyterHub that come after this hub's own. They decide who may log in,
            and no passwords are printed.

    Raises `CourseError` if a program that the hub needs is missing.
    """
    proxy = _proxy()
    try:
        import jupyterhub  # noqa: F401
    except ImportError as error:
        raise CourseError(
            "the hub needs JupyterHub: `make hub`, or `pip install ./coursecheck "
            "'./autograder[hub]'` in the clone"
        ) from error
    with console.status("preparing the course"):
        made = prepare(clone, root, list(students), list(names))
    say(f"The hub: http://127.0.0.1:{port}")
    for name, password in () if config else made.users().items():
        role = "the instructor" if name == INSTRUCTOR else "a student"
        say(f"  {name}, {role}: {password}")
    if found := desktop_sockets(Path("/proc/net/unix").read_text("utf-8", "replace")):
        say(
            f"Students' servers can reach this machine's desktop ({', '.join(found)}): its keys "
            "and windows. Let nobody else in here, or run the hub where nobody is logged in.",
            "yellow",
        )
    say("Ctrl+C ends it; what everybody did is kept.")
    environment = os.environ | {
        "AUTOGRADER_HUB": str(made.root),
        "AUTOGRADER_HUB_PORT": str(port),
        "AUTOGRADER_HUB_PROXY": proxy,
        "AUTOGRADER_HUB_CONFIG": str(config.resolve()) if config else "",
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    }
    os.chdir(made.state)
    own = str(Path(__file__).with_name("jupyterhub_config.py"))
    sys.stdout.flush()
    line = [sys.executable, "-m", "jupyterhub", "--config", own, "--log-level", "WARN"]
    os.execve(sys.executable, line, environment)


def _proxy() -> str:
    """Return the path of the proxy's program: the environment's own, or one on the path."""
    own = Path(sys.prefix) / "node_modules" / ".bin" / PROXY
    found = str(own) if own.exists() else shutil.which(PROXY)
    if found is None:
        raise CourseError(
            f"the hub needs its proxy: `npm install --prefix {sys.prefix} {PROXY}`, or `make hub`"
        )
    return found
