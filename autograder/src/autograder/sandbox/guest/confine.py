"""Drops the privileges of a forked student process, in either kind of sandbox.

The functions make system calls of Linux through libc. If one fails, an error is raised, so that no
process runs student code unconfined.
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
    """Raise `OSError`, with the errno that libc has set, unless the result of a call is 0.

    Args:
        result: the value that the call returned.
        what: the name of the call, for the message.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends."""
    check(libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def close_all_from(first: int) -> None:
    """Close every file descriptor from `first` on."""
    # close_range came with Linux 5.9. Without it, each possible number is closed.
    if libc.syscall(system_calls.number("close_range"), first, 0xFFFFFFFF, 0) != 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def be_killed_first() -> None:
    """Make the kernel's OOM killer choose this process first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def limit_resources(limits: dict[str, Any], has_namespaces: bool) -> None:
    """Set the kernel's limits for this process and its children.

    Args:
        limits: `memory` and `file_size` in bytes, `cpu_seconds`, and the number of `processes`.
        has_namespaces: whether the process has a user namespace of its own, in which the kernel
            counts processes and pending signals separately.
    """
    kinds = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["file_size"],
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_NOFILE: 128,
        # 1, not 0: with 0, a core_pattern that is a pipe still starts the program that collects
        # core dumps.
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 64 * 1024,
        # Pending signals are counted for all processes of a user: by their number, two processes
        # could exchange messages.
        resource.RLIMIT_SIGPENDING: 64 if has_namespaces else 0,
    }
    if has_namespaces:
        kinds[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in kinds.items():
        _, most = resource.getrlimit(kind)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))


def drop_privileges(has_namespaces: bool) -> None:
    """Drop all capabilities for good, and install the filter of system calls (seccomp).

    Args:
        has_namespaces: whether the process has namespaces of its own, as under bubblewrap.
    """
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = struct.pack("Ii", 0x20080522, 0)
    check(libc.capset(header, bytes(24)), "capset")
    forbid_new_privileges()
    if has_namespaces:
        check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")
    address = ctypes.addressof(system_calls.program(0 if has_namespaces else os.getpid()))
    check(libc.prctl(_PR_SET_SECCOMP, 2, address, 0, 0), "prctl(PR_SET_SECCOMP)")


def forbid_new_privileges() -> None:
    """Set no_new_privs: a program that this process starts gains no privileges by setuid."""
    check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
