"""The kind of sandbox that bubblewrap builds from namespaces: student code sees a root of its
own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..errors import SandboxUnavailable
from ..model import Visible
from . import visible as seen
from .inside.confine import HOME

INSIDE = "/sandbox"
PACKAGES = f"{INSIDE}/packages"

DATA = f"{INSIDE}/data"
"""Folder in the box that holds a folder for each assignment with files beside its notebook."""

ENVIRONMENT = seen.environment(HOME)

_NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts")
_WITH_PROC = ("--unshare-pid", "--proc", "/proc")
_START = f"import sys; sys.path.insert(0, {PACKAGES!r}); from inside.server import main; main()"


def find_bubblewrap() -> str:
    """Return the path of the `bwrap` program: the system's, or the one beside Python."""
    found = shutil.which("bwrap")
    if found:
        return found
    beside_python = Path(sys.executable).parent / "bwrap"
    if beside_python.exists():
        return str(beside_python)
    raise SandboxUnavailable(
        "bubblewrap is not installed, so student code cannot be confined and nothing was run. "
        "Install it with `sudo apt-get install bubblewrap`; without the right to do that, run "
        "`pip install ./coursecheck './autograder[bubblewrap]'` in the clone."
    )


def command(arguments: Sequence[str], visible: Visible) -> list[str]:
    """Return the command line that starts the warm server inside a fresh box.

    Args:
        arguments: the server's own arguments.
        visible: what student code may see.

    Raises:
        SandboxUnavailable: there is no bubblewrap.
        CourseError: a package or a file that the course names is missing.
    """
    line = [
        find_bubblewrap(), *_NAMESPACES, "--unshare-cgroup-try", *_numbers(),
        "--die-with-parent", "--new-session",
        "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "student",
        "--clearenv",
    ]  # fmt: skip
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    for path in seen.SYSTEM:
        line += ["--ro-bind-try", path, path]
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if Path("/", name).is_symlink():
            line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    needed = seen.interpreter_paths()
    for path in sorted(needed):
        line += ["--ro-bind", path, path]
    for path in sorted(seen.foreign_packages({*seen.SYSTEM, *needed})):
        line += ["--tmpfs", path, "--remount-ro", path]
    line += ["--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", "/tmp", "--tmpfs", HOME]
    for name, path in sorted(seen.packages(visible).items()):
        line += ["--ro-bind", path, f"{PACKAGES}/{name}"]
    for name, path in seen.data(visible).items():
        line += ["--ro-bind", path, f"{DATA}/{name}"]
    line += ["--remount-ro", "/", "--chdir", HOME]
    # No user site, no current folder, no site-packages: only the folders listed above. The
    # environment is ENVIRONMENT; with -I Python would not read the hash seed from it.
    line += [seen.interpreter(), "-s", "-P", "-S", "-B", "-c", _START, *arguments]
    return line


@cache
def may_mount_proc() -> bool:
    """Return whether the warm server may have process numbers and a /proc of its own.

    If parts of /proc are covered, as in most containers, the kernel mounts no other one. The server
    then uses the container's; a student's process has numbers of its own and no /proc.
    """
    return "mount proc" not in _tried(*_WITH_PROC, "true")


def _numbers() -> tuple[str, ...]:
    return _WITH_PROC if may_mount_proc() else ("--bind", "/proc", "/proc")


@cache
def why_not() -> str:
    """Return why bubblewrap can confine no student process here; "" if it can.

    It tries the warm server's steps: namespaces and mounts in a box that has its own already.
    """
    try:
        program = find_bubblewrap()
    except SandboxUnavailable:
        return "bubblewrap is not installed"
    inner = [program, *_NAMESPACES, "--unshare-pid", "--ro-bind", "/", "/", "--tmpfs", "/tmp"]
    return _tried(*_numbers(), *inner, "true")


def _tried(*arguments: str) -> str:
    """Return bubblewrap's error message for these arguments in a box that shows all files, or
    ""."""
    line = [find_bubblewrap(), *_NAMESPACES, "--ro-bind", "/", "/", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["bubblewrap does not work here"])[-1]
