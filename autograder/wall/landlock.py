"""The kind of sandbox that needs no privilege and no namespace: Landlock's rules for files.

It works in ordinary containers. docs/security.md says what it does not hide.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..model import Visible
from . import visible as seen
from .inside.landlock import why_not

__all__ = ["command", "why_not"]

_START = """
import os, sys
os.setsid()
folder = {folder!r}
sys.path = [folder + "/seen/packages", folder + "/seen/library", *sys.path[2:]]
from inside.server import main
main(folder)
"""


def command(arguments: Sequence[str], visible: Visible) -> list[str]:
    """Return the command line that starts the warm server, which removes its folder in the end.

    Args:
        arguments: the server's own arguments.
        visible: what student code may see.

    Raises `CourseError` if a package or a file that the course names is missing.
    """
    packages, data = seen.packages(visible), seen.data(visible)
    folder = Path(tempfile.mkdtemp(prefix="autograder-sandbox-"))
    # Student code may read all that the folder has links to.
    links = {f"packages/{name}": path for name, path in packages.items()}
    links |= {f"data/{name}": path for name, path in data.items()}
    needed = seen.interpreter_paths()
    system = {*seen.SYSTEM, *needed, "/lib", "/lib64", "/lib32"}
    foreign = {os.path.realpath(each) for each in seen.foreign_packages(system)}
    paths = {path for each in system for path in _without(os.path.realpath(each), foreign)}
    links |= {f"system/{number}": path for number, path in enumerate(sorted(paths))}
    library = seen.library()
    inner = {name: f"{library}/{name}" for name in os.listdir(library)}
    links |= {f"library/{name}": path for name, path in inner.items() if path not in foreign}
    for name, path in links.items():
        link = folder / "seen" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    home = folder / "homes" / "server"
    home.mkdir(parents=True)
    environment = [f"{name}={value}" for name, value in seen.environment(str(home)).items()]
    # As for bubblewrap: no user site, no current folder, no site-packages.
    start = [seen.interpreter(), "-s", "-P", "-S", "-B", "-c", _START.format(folder=str(folder))]
    return ["/usr/bin/env", "-i", *environment, *start, *arguments]


def _without(path: str, foreign: set[str]) -> Iterator[str]:
    """Yield the paths that together hold all of a folder but some folders in it."""
    if path in foreign or not os.path.exists(path):
        return
    if not any(each.startswith(f"{path}/") for each in foreign):
        yield path
        return
    for name in os.listdir(path):
        yield from _without(f"{path}/{name}", foreign)
