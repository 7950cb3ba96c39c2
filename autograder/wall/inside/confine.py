"""Turns a forked process into a confined one: namespaces, file systems, limits, system calls.

Linux only, through libc. Nothing here trusts the code that runs afterwards, and every step that
fails raises, so that a process is either confined or not started.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import struct
from functools import cache
from typing import Any

HOME = "/home/student"

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_CLONE_NEWCGROUP = 0x02000000
_NAMESPACES = (
    _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWUSER | _CLONE_NEWPID
    | _CLONE_NEWNET | _CLONE_NEWCGROUP
)  # fmt: skip

_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID, _SIGCHLD = 0x00200000, 0x01000000, 17

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 0x20, 0x1000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 4, 22, 24
_PR_SET_NO_NEW_PRIVS, _PR_GET_TID_ADDRESS = 38, 40
_SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
# Forking must not let go of the interpreter's lock, which the child would wait for in vain.
_fork_call = ctypes.PyDLL(None, use_errno=True).syscall
_fork_call.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 5
_fork_call.restype = ctypes.c_long

# From the kernel's system call tables; `refused` is what the filter below denies.
_MACHINES: dict[str, dict[str, Any]] = {
    "x86_64": {
        "architecture": 0xC000003E,
        "clone": 56,
        "clone3": 435,
        "socket": 41,
        "fcntl": 72,
        "getsockopt": 55,
        "setsockopt": 54,
        "mmap": 9,
        "madvise": 28,
        "setrlimit": 160,
        "prlimit64": 302,
        "close_range": 436,
        "refused": (
            27, 29, 31, 46, 64, 68, 73, 99, 101, 155, 161, 163, 165, 166, 167, 168, 169, 172, 173,
            175, 176, 179, 187, 206, 221, 246, 248, 249, 250, 253, 254, 272, 278, 294, 298, 300,
            301, 303, 304, 307, 308, 310, 311, 313, 319, 320, 321, 323, 327, 328, 425, 426, 427,
            428, 429, 430, 431, 432, 433, 438, 440, 442, 444, 447, 451,
        ),
    },
    "aarch64": {
        "architecture": 0xC00000B7,
        "clone": 220,
        "clone3": 435,
        "socket": 198,
        "fcntl": 25,
        "getsockopt": 209,
        "setsockopt": 208,
        "mmap": 222,
        "madvise": 233,
        "setrlimit": 164,
        "prlimit64": 261,
        "close_range": 436,
        "refused": (
            0, 26, 27, 32, 39, 40, 41, 51, 75, 89, 97, 104, 105, 106, 117, 142, 179, 186, 190, 194,
            196, 211, 213, 217, 218, 219, 223, 224, 225, 232, 241, 262, 263, 264, 265, 268, 269,
            270, 271, 273, 279, 280, 282, 286, 287, 294, 425, 426, 427, 428, 429, 430, 431, 432,
            433, 438, 440, 442, 444, 447, 451,
        ),
    },
}  # fmt: skip
if platform.machine() not in _MACHINES:
    raise OSError(f"student code can be confined on {' and '.join(_MACHINES)} machines only")
_MACHINE = _MACHINES[platform.machine()]

# Inside new namespaces, and before they know any user, these cannot be asked for.
_UID, _GID = os.getuid(), os.getgid()


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def fork_into_namespaces() -> int:
    """Fork; the child is pid 1 of namespaces of its own. Returns its pid, or 0 in the child.

    It does what `os.fork` and libc's `fork` do, with flags for the namespaces: by way of
    `unshare(2)` a second fork is needed, and forking this program is most of what a student
    process costs. The program must have one thread, as a forking server should.

    Raises `OSError` where the kernel refuses.
    """
    # Where libc keeps the thread's id; fork(2) has the kernel renew it in the child.
    place = ctypes.c_ulong()
    _check(_libc.prctl(_PR_GET_TID_ADDRESS, ctypes.addressof(place), 0, 0, 0), "prctl")
    flags = _NAMESPACES & ~_CLONE_NEWCGROUP | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | _SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    # The place is the fourth argument or, on some machines, the fifth. The other one is for
    # thread storage, which is not looked at without its flag.
    pid = int(_fork_call(_MACHINE["clone"], flags, 0, 0, place.value, place.value))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return pid


def map_user() -> None:
    """Let the process be the same user and group in its user namespace as outside."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_UID} {_UID} 1"),
        ("gid_map", f"{_GID} {_GID} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)


def prepare() -> None:
    """Work out ahead what is the same for every process."""
    _filter()


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def private_file_systems(megabytes: int) -> None:
    """Hide /proc and give the process empty home, temporary and shared-memory folders.

    Args:
        megabytes: the size of each folder, in MB.
    """
    _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount /")
    flags = _MS_NOSUID | _MS_NODEV
    for path, options in (
        ("/proc", "size=4k,mode=555"),
        ("/tmp", f"size={megabytes}m,nr_inodes=4k,mode=1777"),
        ("/dev/shm", f"size={megabytes}m,nr_inodes=1k,mode=1777"),
        (HOME, f"size={megabytes}m,nr_inodes=4k,mode=700"),
    ):
        more = _MS_NOEXEC if path == "/proc" else 0
        mounted = _libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags | more, options.encode())
        _check(mounted, f"mount {path}")
    # This one gives zeros, too, and cannot be mapped: that is shared memory that nobody counts.
    mounted = _libc.mount(b"/dev/full", b"/dev/zero", None, _MS_BIND, None)
    _check(mounted, "mount /dev/zero")
    # Each device is a mount of the machine's own node, whose times would carry messages. It can be
    # read from and written to where it is mounted read-only.
    flags = _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        mounted = _libc.mount(b"none", f"/dev/{name}".encode(), None, flags, None)
        _check(mounted, f"mount /dev/{name}")
    # Terminals of its own: the server's would be shared by all.
    terminals = b"newinstance,ptmxmode=0666,mode=620,max=16"
    mounted = _libc.mount(b"devpts", b"/dev/pts", b"devpts", _MS_NOSUID | _MS_NOEXEC, terminals)
    _check(mounted, "mount /dev/pts")


def close_all_from(first: int) -> None:
    """Close every descriptor from this number on, whatever the highest one may be."""
    if _libc.syscall(_MACHINE["close_range"], first, 0xFFFFFFFF, 0) != 0:  # before Linux 5.9
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def be_killed_first() -> None:
    """Have the kernel choose this process, before any other, where memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def limit_resources(limits: dict[str, Any]) -> None:
    """Set the kernel's limits for this process and its children.

    Args:
        limits: memory, file_size and cpu_seconds and processes, in bytes, bytes, seconds, count.
    """
    for kind, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 64 * 1024),
    ):
        resource.setrlimit(kind, (value, value))


def drop_privileges() -> None:
    """Give up every capability for good and shut the door on dangerous system calls."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_libc.capset(header, bytes(24)), "capset")
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")
    place = ctypes.addressof(_filter())
    _check(_libc.prctl(_PR_SET_SECCOMP, 2, place, 0, 0), "prctl(PR_SET_SECCOMP)")


class _Program(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


@cache
def _filter() -> _Program:
    """The filter of system calls, in the form in which the kernel takes it."""
    lines = _Filter.lines()
    return _Program(len(lines), b"".join(lines))


class _Filter:
    """A seccomp filter (Linux's Documentation/userspace-api/seccomp_filter): a deny list.

    Refused are new namespaces and mounts, looking into other processes, kernel key rings and
    modules, io_uring, and sockets of unusual families (vsock is not held by a network namespace).

    So is memory that no limit counts and nobody sees from outside: shared memory without a file,
    which stays when all but a page of it is unmapped, semaphores and messages of System V, pages in
    pipes that are parts of huge ones, rules of Landlock, and longer queues of sockets.

    So is what the kernel counts or keeps for all processes of a user or of the machine, by which
    one could tell another what it was asked: locks on files, being told who opens one, asking or
    saying which parts are in memory, descriptors on their way through sockets, watches,
    asynchronous input and output, the sizes of pipes, cookies of sockets, and the counts of threads
    and of free memory.
    """

    _ALLOW, _EPERM, _ENOSYS, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
    _LOAD, _EQUAL, _GREATER_OR_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
    _NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
    _FOURTH_ARGUMENT, _MAP_SHARED, _MAP_ANONYMOUS = 40, 1, 0x20
    _SHARED = (
        # F_GETLK, F_SETLK and F_SETLKW, the same of open files, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ
        # and F_GETPIPE_SZ.
        ("fcntl", _SECOND_ARGUMENT, (5, 6, 7, 36, 37, 38, 1024, 1026, 1031, 1032)),
        # SO_SNDBUF.
        ("setsockopt", _THIRD_ARGUMENT, (7,)),
        # SO_COOKIE and SO_NETNS_COOKIE.
        ("getsockopt", _THIRD_ARGUMENT, (57, 71)),
        # MADV_COLD and MADV_PAGEOUT.
        ("madvise", _THIRD_ARGUMENT, (20, 21)),
        # RLIMIT_CPU: at its end the kernel kills, as nobody else but an outsider can.
        ("setrlimit", _FIRST_ARGUMENT, (0,)),
        ("prlimit64", _SECOND_ARGUMENT, (0,)),
    )

    @classmethod
    def lines(cls) -> list[bytes]:
        lines: list[tuple[int, int, int, int]] = [
            (cls._LOAD, 0, 0, cls._ARCHITECTURE),
            (cls._EQUAL, 1, 0, _MACHINE["architecture"]),
            (cls._RETURN, 0, 0, cls._KILL),
            (cls._LOAD, 0, 0, cls._NUMBER),
            # Numbers from 2**30 on are x86's x32 calls: second numbers of the same system calls.
            (cls._GREATER_OR_EQUAL, 0, 1, 1 << 30),
            (cls._RETURN, 0, 0, cls._EPERM),
            (cls._EQUAL, 0, 1, _MACHINE["clone3"]),
            (cls._RETURN, 0, 0, cls._ENOSYS),
        ]
        for number in _MACHINE["refused"]:
            lines += [(cls._EQUAL, 0, 1, number), (cls._RETURN, 0, 0, cls._EPERM)]
        for call, place, commands in cls._SHARED:
            lines += [
                (cls._EQUAL, 0, 2 * len(commands) + 2, _MACHINE[call]),
                (cls._LOAD, 0, 0, place),
            ]
            for command in commands:
                lines += [(cls._EQUAL, 0, 1, command), (cls._RETURN, 0, 0, cls._EPERM)]
            lines.append((cls._RETURN, 0, 0, cls._ALLOW))
        lines += [
            (cls._EQUAL, 0, 5, _MACHINE["mmap"]),
            (cls._LOAD, 0, 0, cls._FOURTH_ARGUMENT),
            (cls._ANY_BIT, 0, 2, cls._MAP_SHARED),
            (cls._ANY_BIT, 0, 1, cls._MAP_ANONYMOUS),
            (cls._RETURN, 0, 0, cls._EPERM),
            (cls._RETURN, 0, 0, cls._ALLOW),
            (cls._EQUAL, 0, 3, _MACHINE["clone"]),
            (cls._LOAD, 0, 0, cls._FIRST_ARGUMENT),
            (cls._ANY_BIT, 0, 7, _NAMESPACES),
            (cls._RETURN, 0, 0, cls._EPERM),
            (cls._EQUAL, 0, 5, _MACHINE["socket"]),
            (cls._LOAD, 0, 0, cls._FIRST_ARGUMENT),
            (cls._EQUAL, 3, 0, 1),
            (cls._EQUAL, 2, 0, 2),
            (cls._EQUAL, 1, 0, 10),
            (cls._RETURN, 0, 0, cls._EPERM),
            (cls._RETURN, 0, 0, cls._ALLOW),
        ]
        return [struct.pack("HBBI", *line) for line in lines]
