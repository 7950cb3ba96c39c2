"""The sandbox kind `bubblewrap`: namespaces, and a root file system of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..errors import SandboxUnavailable
from ..records import VisibleFiles
from . import visible as visible_files
from .guest.confine import HOME

INSIDE = "/sandbox"
PACKAGES = f"{INSIDE}/packages"

DATA = f"{INSIDE}/data"
"""Folder in the sandbox with a folder for each assignment that has data files."""

ENVIRONMENT = visible_files.environment(HOME)
ENVIRONMENT |= {"PYTHONPATH": PACKAGES, "PATH": f"{INSIDE}/bin:{ENVIRONMENT['PATH']}"}
"""Environment variables of student code. A program `python` that it starts is the same Python, with
the same packages."""

_NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts")
_WITH_PROC = ("--unshare-pid", "--proc", "/proc")
_START = "from guest.server import main; main()"


def find_bubblewrap() -> str:
    """Return the path of the program `bwrap`: the system's, or the one beside this Python.

    Raises `SandboxUnavailable` if there is none.
    """
    system = shutil.which("bwrap")
    if system:
        return system
    beside_python = Path(sys.executable).parent / "bwrap"
    if beside_python.exists():
        return str(beside_python)
    raise SandboxUnavailable(
        "bubblewrap is not installed, so student code cannot be confined and nothing was run. "
        "Install it with `sudo apt-get install bubblewrap`; without the right to do that, run "
        "`pip install ./autograder/coursecheck './autograder[bubblewrap]'` in the clone."
    )


def command(arguments: Sequence[str], visible: VisibleFiles) -> list[str]:
    """Return the command line that starts the fork server in a fresh sandbox.

    Args:
        arguments: the command-line arguments of the fork server.
        visible: what student code may see.

    Raises:
        SandboxUnavailable: bubblewrap is not installed.
        CourseError: a package or a file that the course names is missing.
    """
    line = [
        find_bubblewrap(), *_NAMESPACES, "--unshare-cgroup-try", *_proc_arguments(),
        "--die-with-parent", "--new-session",
        "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "student",
        "--clearenv",
    ]  # fmt: skip
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    for path in visible_files.SYSTEM:
        line += ["--ro-bind-try", path, path]
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if Path("/", name).is_symlink():
            line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    needed = visible_files.interpreter_paths()
    for path in sorted(needed):
        line += ["--ro-bind", path, path]
    # Empty read-only folders cover the other installed packages, such as this grader.
    for path in sorted(visible_files.foreign_packages({*visible_files.SYSTEM, *needed})):
        line += ["--tmpfs", path, "--remount-ro", path]
    line += ["--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", "/tmp", "--tmpfs", HOME]
    for path in sorted(visible_files.elsewhere(visible)):
        line += ["--ro-bind", path, path]
    for name, path in sorted(visible_files.packages(visible).items()):
        line += ["--ro-bind", path, f"{PACKAGES}/{name}"]
    for name, path in visible_files.data(visible).items():
        line += ["--ro-bind", path, f"{DATA}/{name}"]
    # Mounted over Python's `multiprocessing`, so that a program that student code starts gets the
    # functions of `guest.standins`, too.
    multiprocessing = f"{sysconfig.get_path('stdlib')}/multiprocessing/__init__.py"
    wrapper = str(Path(__file__).parent / "guest" / "multiprocessing_init.py")
    line += ["--ro-bind", multiprocessing, f"{INSIDE}/multiprocessing.py"]
    line += ["--ro-bind", wrapper, multiprocessing]
    for name in ("python", "python3"):
        line += ["--symlink", visible_files.interpreter(), f"{INSIDE}/bin/{name}"]
    line += ["--remount-ro", "/", "--chdir", HOME]
    # -s -P -S: neither the user's site-packages, the current folder nor site-packages on sys.path.
    # With -I, Python would ignore PYTHONHASHSEED.
    line += [visible_files.interpreter(), "-s", "-P", "-S", "-B", "-c", _START, *arguments]
    return line


@cache
def may_mount_proc() -> bool:
    """Return whether the fork server can have a PID namespace with a /proc of its own.

    The kernel refuses to mount a new /proc if parts of the present one are covered, as in most
    containers. The fork server then uses the container's /proc. A student process has a PID
    namespace of its own and no /proc in either case.
    """
    return "mount proc" not in _error_of(*_WITH_PROC, "true")


def _proc_arguments() -> tuple[str, ...]:
    return _WITH_PROC if may_mount_proc() else ("--bind", "/proc", "/proc")


@cache
def why_not() -> str:
    """Return why bubblewrap cannot confine a student process here; "" if it can.

    It starts `bwrap` in `bwrap`, since the fork server makes nested namespaces and mounts.
    """
    try:
        program = find_bubblewrap()
    except SandboxUnavailable:
        return "bubblewrap is not installed"
    inner = [program, *_NAMESPACES, "--unshare-pid", "--ro-bind", "/", "/", "--tmpfs", "/tmp"]
    return _error_of(*_proc_arguments(), *inner, "true")


def _error_of(*arguments: str) -> str:
    """Run bubblewrap with all files visible and these arguments; return the last line of its error
    message, or "" if it succeeded."""
    line = [find_bubblewrap(), *_NAMESPACES, "--ro-bind", "/", "/", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["bubblewrap does not work here"])[-1]
