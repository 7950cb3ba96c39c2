"""Takes privileges from a forked student process, in either kind of box.

Linux only, through libc. Code that runs afterwards is not trusted, and every step that fails
raises, so that a process is either confined or not started.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
from typing import Any

from . import system_calls

HOME = "/home/student"

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 4, 22, 24
_PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS = 38, 40
_SIGKILL = 9

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent() -> None:
    check(libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def close_all_from(first: int) -> None:
    """Close every descriptor from this number on, whatever the highest one may be."""
    # Not there before Linux 5.9.
    if libc.syscall(system_calls.number("close_range"), first, 0xFFFFFFFF, 0) != 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def be_killed_first() -> None:
    """Make the kernel choose this process before any other when memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def limit_resources(limits: dict[str, Any], has_namespaces: bool) -> None:
    """Set the kernel's limits for this process and its children.

    Args:
        limits: memory, file_size and cpu_seconds and processes, in bytes, bytes, seconds, count.
        has_namespaces: whether the kernel counts for this process's user alone.
    """
    kinds = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["file_size"],
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_NOFILE: 128,
        # With 0, the kernel would still call a program that collects dumps.
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 64 * 1024,
        resource.RLIMIT_SIGPENDING: 64,
    }
    if has_namespaces:
        kinds[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in kinds.items():
        _, most = resource.getrlimit(kind)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))


def drop_privileges(has_namespaces: bool) -> None:
    """Drop every capability for good and install the filter of system calls."""
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = struct.pack("Ii", 0x20080522, 0)
    check(libc.capset(header, bytes(24)), "capset")
    forbid_new_privileges()
    if has_namespaces:
        check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")
    place = ctypes.addressof(system_calls.program(0 if has_namespaces else os.getpid()))
    check(libc.prctl(_PR_SET_SECCOMP, 2, place, 0, 0), "prctl(PR_SET_SECCOMP)")


def forbid_new_privileges() -> None:
    """Forbid that a program started by this process gains privileges."""
    check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
