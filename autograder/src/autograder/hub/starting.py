"""Starts JupyterHub on a prepared folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..course_folder.course import Course
from ..errors import CourseError
from ..terminal import console, echo
from .box import desktop_sockets
from .folders import INSTRUCTOR, prepare

PROXY = "configurable-http-proxy"


def start(
    clone: Course,
    root: Path,
    port: int,
    students: Sequence[str],
    names: Sequence[str],
    config: Path | None = None,
) -> NoReturn:
    """Prepare the hub's folder, and replace this process by JupyterHub (exec).

    Args:
        clone: the course to copy for the instructor.
        root: the hub's folder.
        port: the first of four consecutive free ports.
        students: user names of students to add to those of earlier calls.
        names: the assignments to release if the course is new; all if empty.
        config: a JupyterHub configuration file that is loaded after `jupyterhub_config.py` and sets
            another authenticator; with it, no passwords are printed.

    Raises `CourseError` if JupyterHub or its proxy is not installed.
    """
    proxy = _proxy()
    try:
        import jupyterhub  # noqa: F401
    except ImportError as error:
        raise CourseError(
            "the hub needs JupyterHub: `make hub`, or `pip install ./autograder/coursecheck "
            "'./autograder[hub]'` in the clone"
        ) from error
    with console.status("preparing the course"):
        folder = prepare(clone, root, list(students), list(names))
    echo(f"The hub: http://127.0.0.1:{port}")
    for name, password in () if config else folder.users().items():
        role = "the instructor" if name == INSTRUCTOR else "a student"
        echo(f"  {name}, {role}: {password}")
    if found := desktop_sockets(Path("/proc/net/unix").read_text("utf-8", "replace")):
        echo(
            f"Students' servers can reach this machine's desktop ({', '.join(found)}): its keys "
            "and windows. Let nobody else in here, or run the hub where nobody is logged in.",
            "yellow",
        )
    echo("Ctrl+C ends it; what everybody did is kept.")
    environment = os.environ | {
        "AUTOGRADER_HUB": str(folder.root),
        "AUTOGRADER_HUB_PORT": str(port),
        "AUTOGRADER_HUB_PROXY": proxy,
        "AUTOGRADER_HUB_CONFIG": str(config.resolve()) if config else "",
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    }
    os.chdir(folder.state)
    settings = str(Path(__file__).with_name("jupyterhub_config.py"))
    sys.stdout.flush()
    line = [sys.executable, "-m", "jupyterhub", "--config", settings, "--log-level", "WARN"]
    os.execve(sys.executable, line, environment)


def _proxy() -> str:
    """Return the path of the proxy's program, from the Python environment or else from PATH.

    Raises `CourseError` if it is not installed.
    """
    installed = Path(sys.prefix) / "node_modules" / ".bin" / PROXY
    path = str(installed) if installed.exists() else shutil.which(PROXY)
    if path is None:
        raise CourseError(
            f"the hub needs its proxy: `npm install --prefix {sys.prefix} {PROXY}`, or `make hub`"
        )
    return path
