"""Confines a student process by namespaces: for users, processes, mounts, network, IPC and host
name."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import processes, system_calls
from .confine import HOME, PR_GET_TID_ADDRESS, check, libc

# CLONE_NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
_FLAGS = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID, _SIGCHLD = 0x00200000, 0x01000000, 17
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 0x20, 0x1000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_SOCKET_KILOBYTES = 512
"""Kilobytes of memory that the kernel can hold for one socket: unread messages and filters."""

# PyDLL keeps the GIL during the call: if it were released, the forked child would wait for it for
# ever.
_fork_call = ctypes.PyDLL(None, use_errno=True).syscall
_fork_call.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 5
_fork_call.restype = ctypes.c_long

# Read here, since in a new user namespace both are the overflow id until users are mapped.
_UID, _GID = os.getuid(), os.getgid()


class NamespaceBox:
    """Confines a student process by namespaces. The process is pid 1 of its PID namespace: when it
    ends, the kernel ends all that it started."""

    has_namespaces = True

    def __init__(self, limits: dict[str, Any]) -> None:
        self._limits = limits

    def fork(self) -> int:
        """Fork into new namespaces; return the child's pid, or 0 in the child."""
        return _fork_into_namespaces()

    def enter(self) -> None:
        """Confine this forked process. It drops its privileges later, in `run_student`."""
        _map_user()
        _private_file_systems(self._limits["disk_megabytes"])

    def kilobytes(self, pid: int) -> int:
        """Return the kilobytes that the kernel can hold for the process's sockets."""
        if (thread := processes.living(pid)) is None:
            return 0
        try:
            counted = processes.read(f"{thread}/net/sockstat")
        except OSError:  # The process has ended meanwhile.
            return 0
        return _SOCKET_KILOBYTES * processes.amount(counted, b"sockets: used")

    def is_full(self, pid: int) -> bool:
        """Return False: the folders of the process are tmpfs mounts of limited size."""
        return False

    def remove(self) -> None:
        """Do nothing: the tmpfs mounts vanish with the process."""


def _fork_into_namespaces() -> int:
    """Fork a child that is pid 1 of new namespaces; return its pid, or 0 in the child.

    This does what `os.fork` does, by clone(2) with flags for the namespaces. With unshare(2) a
    second fork would be needed, and to fork is most of the cost of a student process. The calling
    process must have only one thread.

    Raises `OSError` if the kernel refuses.
    """
    # libc caches the thread id at this address. The flags below make the kernel write the child's
    # id there in the child, as fork(2) does.
    address = ctypes.c_ulong()
    check(libc.prctl(PR_GET_TID_ADDRESS, ctypes.addressof(address), 0, 0, 0), "prctl")
    flags = _FLAGS | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | _SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    # child_tid is the fourth argument of clone on some architectures, and the fifth on others. The
    # other of the two is tls, which the kernel ignores without CLONE_SETTLS.
    pid = int(_fork_call(system_calls.number("clone"), flags, 0, 0, address.value, address.value))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return pid


def _map_user() -> None:
    """Map the user and the group of this process into its user namespace, with the same ids."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_UID} {_UID} 1"),
        ("gid_map", f"{_GID} {_GID} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)


def _private_file_systems(megabytes: int) -> None:
    """Mount empty tmpfs folders over /proc, the home folder, /tmp and /dev/shm, and private
    devices.

    Args:
        megabytes: the size limit in megabytes of each folder except /proc.
    """
    check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount /")
    flags = _MS_NOSUID | _MS_NODEV
    for path, options in (
        ("/proc", "size=4k,mode=555"),
        ("/tmp", f"size={megabytes}m,nr_inodes=4k,mode=1777"),
        ("/dev/shm", f"size={megabytes}m,nr_inodes=1k,mode=1777"),
        (HOME, f"size={megabytes}m,nr_inodes=4k,mode=700"),
    ):
        more = _MS_NOEXEC if path == "/proc" else 0
        mounted = libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags | more, options.encode())
        check(mounted, f"mount {path}")
    # A shared mapping of /dev/zero is memory that no limit counts. /dev/full, which takes its
    # place, yields zeros as well, and cannot be mapped.
    mounted = libc.mount(b"/dev/full", b"/dev/zero", None, _MS_BIND, None)
    check(mounted, "mount /dev/zero")
    # Devices are bind mounts of the host's device nodes. Two processes could exchange messages by
    # the timestamps of a node, so it is mounted read-only; the device itself can still be written.
    flags = _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        mounted = libc.mount(b"none", f"/dev/{name}".encode(), None, flags, None)
        check(mounted, f"mount /dev/{name}")
    # A private devpts instance, since all student processes would share that of the server.
    terminals = b"newinstance,ptmxmode=0666,mode=620,max=16"
    mounted = libc.mount(b"devpts", b"/dev/pts", b"devpts", _MS_NOSUID | _MS_NOEXEC, terminals)
    check(mounted, "mount /dev/pts")
