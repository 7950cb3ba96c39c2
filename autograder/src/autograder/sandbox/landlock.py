"""The sandbox kind `landlock`: file access rules, without namespaces or privileges.

It works in ordinary containers. docs/security.md says what it does not hide.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..records import VisibleFiles
from . import visible as visible_files
from .guest.landlock import why_not

__all__ = ["command", "why_not"]

_START = """
import os, sys
os.setsid()
folder = {folder!r}
sys.path = [folder + "/seen/packages", folder + "/seen/library", *sys.path[2:]]
from guest.server import main
main(folder)
"""


def command(arguments: Sequence[str], visible: VisibleFiles) -> list[str]:
    """Return the command line that starts the fork server, with a new folder that the fork server
    removes when it ends.

    Args:
        arguments: the command-line arguments of the server.
        visible: what student code may see.

    Raises `CourseError` if a package or a file that the course names is missing.
    """
    packages, data = visible_files.packages(visible), visible_files.data(visible)
    folder = Path(tempfile.mkdtemp(prefix="autograder-sandbox-"))
    # The guest makes a rule for the target of each link: student code may read these targets, and
    # nothing else.
    links = {f"packages/{name}": path for name, path in packages.items()}
    links |= {f"data/{name}": path for name, path in data.items()}
    seen = sorted(visible_files.elsewhere(visible))
    links |= {f"elsewhere/{number}": path for number, path in enumerate(seen)}
    needed = visible_files.interpreter_paths()
    system = {*visible_files.SYSTEM, *needed, "/lib", "/lib64", "/lib32"}
    # A rule covers everything below a folder. So there is no rule for a folder that holds foreign
    # packages, but one for each of its other entries.
    foreign = {os.path.realpath(each) for each in visible_files.foreign_packages(system)}
    paths = {path for each in system for path in _excluding(os.path.realpath(each), foreign)}
    links |= {f"system/{number}": path for number, path in enumerate(sorted(paths))}
    library = visible_files.library()
    inner = {name: f"{library}/{name}" for name in os.listdir(library)}
    links |= {f"library/{name}": path for name, path in inner.items() if path not in foreign}
    for name, path in links.items():
        link = folder / "seen" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    home = folder / "homes" / "server"
    home.mkdir(parents=True)
    # No process can be started, so joblib has to run its tasks one after the other.
    variables = {**visible_files.environment(str(home)), "JOBLIB_MULTIPROCESSING": "0"}
    environment = [f"{name}={value}" for name, value in variables.items()]
    # -s -P -S: neither the user's site-packages, the current folder nor site-packages on sys.path.
    start = [
        visible_files.interpreter(),
        "-s",
        "-P",
        "-S",
        "-B",
        "-c",
        _START.format(folder=str(folder)),
    ]
    return ["/usr/bin/env", "-i", *environment, *start, *arguments]


def _excluding(path: str, foreign: set[str]) -> Iterator[str]:
    """Yield paths that together cover everything below `path`, except the folders in `foreign`."""
    if path in foreign or not os.path.exists(path):
        return
    if not any(each.startswith(f"{path}/") for each in foreign):
        yield path
        return
    for name in os.listdir(path):
        yield from _excluding(f"{path}/{name}", foreign)
