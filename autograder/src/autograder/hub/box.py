"""Runs a student's Jupyter server under bubblewrap, so that one account can serve a whole class.

The server sees the operating system, the Python environment, the course's packages, the student's
home, the released files, and the student's inbound folder. Other students' files and processes, the
instructor's course folder, the autograder and the hub's secrets are hidden. The server uses the
host's network, since it talks to the hub and the hub's proxy. Memory, disk and processor time are
not limited.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import autograder

from ..packages import module_folder
from ..sandbox.bubblewrap import find_bubblewrap
from ..sandbox.visible import OWN_MODULES
from .folders import HubFolder

PACKAGES = "/opt/course"

_ETC = ("alternatives", "fonts", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
        "localtime", "mime.types", "nsswitch.conf", "resolv.conf", "ssl")  # fmt: skip


def command(folder: HubFolder, student: str, server: list[str]) -> list[str]:
    """Return the command line that starts a student's server under bubblewrap.

    Args:
        server: the command line of the Jupyter server itself.
    """
    home = str(folder.home(student))
    line = [
        find_bubblewrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
        "--die-with-parent", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000",
        "--hostname", "hub", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        "--ro-bind", "/usr", "/usr",
    ]  # fmt: skip
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if Path("/", name).is_symlink():
            line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for name in _ETC:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # nbgrader asks the hub for the user with this account's name.
    line += ["--ro-bind", str(_accounts(folder)), "/etc/passwd"]
    prefixes = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent)}
    for prefix in sorted(prefixes):
        if not prefix.startswith("/usr"):
            line += ["--ro-bind", prefix, prefix]
    # The autograder would be visible if it is installed in this environment (not if it runs from a
    # clone): an empty folder is mounted over it.
    grader = Path(autograder.__file__ or "").parent
    for path in {grader, grader.resolve()}:
        if any(path.is_relative_to(shown) for shown in {"/usr", *prefixes}):
            line += ["--tmpfs", str(path), "--remount-ro", str(path)]
    settings = folder.course.settings
    for name in {*OWN_MODULES, *settings.visible.modules}:
        line += ["--ro-bind", str(module_folder(name)), f"{PACKAGES}/{name}"]
    exchange = folder.exchange / settings.id
    for name in ("outbound", "feedback"):
        line += ["--ro-bind", str(exchange / name), str(exchange / name)]
    line += ["--bind", str(folder.inbound(student)), str(exchange / "inbound")]
    settings_folder = str(folder.settings("student"))
    line += ["--ro-bind", settings_folder, settings_folder, "--bind", home, home, "--chdir", home]
    return [*line, "--setenv", "PYTHONPATH", PACKAGES, *server]


def desktop_sockets(listing: str) -> list[str]:
    """Return the names of a desktop session's abstract Unix sockets.

    These sockets belong to the network namespace, so that students' servers can connect to them.

    Args:
        listing: the content of `/proc/net/unix`.
    """
    # A socket's name is the eighth field of its line, and may hold spaces.
    names = {"".join(line.split(maxsplit=7)[7:]) for line in listing.splitlines()}
    return sorted(each for each in names if re.fullmatch(r"@\S*(X11-unix|ICE-unix|dbus)\S*", each))


def _accounts(folder: HubFolder) -> Path:
    """Return the path of the file that students' servers see as `/etc/passwd`.

    The file is written if it is missing or has another content.
    """
    path = folder.settings("student") / "passwd"
    text = "jovyan:x:1000:1000::/nonexistent:/bin/sh\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path
