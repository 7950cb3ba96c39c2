"""The filter of system calls: a list of the calls that student code may make.

Its form is described in Linux's Documentation/userspace-api/seccomp_filter. A call that is not in
the list is refused, and so is every call that later kernels add.

Left out are new namespaces and mounts, looking into other processes, kernel key rings and modules,
io_uring, bpf, userfaultfd, and sockets, but for connected pairs. So is memory that no limit counts:
shared memory without a file, System V's semaphores and messages, pages given to pipes. So are the
values that the kernel counts or keeps for all processes of a user or of the machine, through which
two processes could exchange messages: watches, leases, owners of file locks, reading or setting
which parts of a file are in memory, descriptors on their way through sockets, asynchronous input
and output, the sizes of pipes, cookies of sockets, the counts of threads, of free memory and of
free disk. Locking a file seems to succeed and locks nothing, since the file is the process's own:
SQLite needs its lock.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from functools import cache

# From the kernel's tables: the number on x86_64 and on aarch64, None if there is no such call.
_CALLS: dict[str, tuple[int | None, int | None]] = {
    # Contents of files and pipes.
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
    "pread64": (17, 67), "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70),
    "lseek": (8, 62), "ftruncate": (77, 46), "fallocate": (285, 47), "fsync": (74, 82),
    "fdatasync": (75, 83), "sendfile": (40, 71), "copy_file_range": (326, 285),
    # Descriptors.
    "open": (2, None), "openat": (257, 56), "creat": (85, None), "close": (3, 57),
    "close_range": (436, 436), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "pipe": (22, None), "pipe2": (293, 59), "fcntl": (72, 25), "ioctl": (16, 29),
    # Names of files.
    "stat": (4, None), "lstat": (6, None), "fstat": (5, 80), "newfstatat": (262, 79),
    "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getdents": (78, None),
    "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50),
    "umask": (95, 166), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None),
    "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37), "symlink": (88, None),
    "symlinkat": (266, 36),
    # Memory.
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216),
    "brk": (12, 214), "madvise": (28, 233), "msync": (26, 227), "membarrier": (324, 283),
    # Threads.
    "clone": (56, 220), "exit": (60, 93), "exit_group": (231, 94), "futex": (202, 98),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "rseq": (334, 293),
    "arch_prctl": (158, None), "prctl": (157, 167), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "sched_setaffinity": (203, 122), "getcpu": (309, 168),
    # Signals to itself.
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132), "pause": (34, None), "setitimer": (38, 103),
    "getitimer": (36, 102), "alarm": (37, None), "restart_syscall": (219, 128),
    "tgkill": (234, 131),
    # Its own numbers and the machine's name.
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, None),
    "getpgid": (121, 155), "getsid": (124, 156), "capget": (125, 90), "uname": (63, 160),
    "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261),
    "getrusage": (98, 165), "times": (100, 153), "wait4": (61, 260), "waitid": (247, 95),
    # Time and random numbers.
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, None),
    "getrandom": (318, 278),
    # Waiting.
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "eventfd": (284, None), "eventfd2": (290, 19), "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    # Sockets that are connected from the beginning.
    "socketpair": (53, 199), "sendto": (44, 206), "recvfrom": (45, 207), "shutdown": (48, 210),
    "getsockname": (51, 204), "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip

# Allowed as well to a process that is alone in namespaces of its own.
_WITH_NAMESPACES: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "setsid": (112, 157),
    "setpgid": (109, 154), "kill": (62, 129), "tkill": (200, 130), "truncate": (76, 45),
    "mknod": (133, None), "mknodat": (259, 33),
}  # fmt: skip

# Without namespaces files have owners, times and modes for all to see: these then do nothing.
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88),
    "futimesat": (261, None),
}  # fmt: skip

# These seem to succeed and do nothing.
_LOCKS: dict[str, tuple[int | None, int | None]] = {"flock": (73, 32)}
_LOCKING = (6, 7, 37, 38)
"""Commands of fcntl that also seem to succeed: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""

# These fail with an error after which libraries use another call.
_ABSENT: dict[str, tuple[int, tuple[int | None, int | None]]] = {
    "clone3": (errno.ENOSYS, (435, 435)),
    **{
        name: (errno.ENOTSUP, numbers)
        for name, numbers in {
            "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
            "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
        }.items()
    },
}  # fmt: skip

_NEWEST = 462
"""Greatest number in these tables. Later calls fail as if the kernel did not have them."""

_NAMESPACES = 0x7E02_0000  # CLONE_NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWNS
_THREAD = 0x0001_0400  # CLONE_THREAD and CLONE_FILES
_SHARED_WITHOUT_FILE = 0x21  # MAP_SHARED and MAP_ANONYMOUS
_ALL = 0xFFFF_FFFF

_Condition = tuple[str, int, int, bool, tuple[int, ...]]
"""A call; the number of one of its arguments; a mask of the bits that count; and the values that
these must have (True) or must not have (False)."""

_CONDITIONS: list[_Condition] = [
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC.
    ("fcntl", 1, _ALL, True, (0, 1, 2, 3, 4, 1030)),
    # Queries of a terminal, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX. None that sends signals.
    ("ioctl", 1, _ALL, True,
     (0x5401, 0x5402, 0x5403, 0x5404, 0x540E, 0x540F, 0x5410, 0x5413, 0x5414, 0x541B, 0x5421,
      0x5422, 0x5441, 0x5450, 0x5451, 0x40045431, 0x80045430)),
    # MADV_NORMAL, RANDOM, SEQUENTIAL, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP.
    ("madvise", 2, _ALL, True, (0, 1, 2, 4, 8, 14, 15, 16, 17)),
    # PR_GET_DUMPABLE, SET_NAME, GET_NAME, CAPBSET_READ, GET_NO_NEW_PRIVS, SET_VMA.
    ("prctl", 0, _ALL, True, (3, 15, 16, 23, 39, 0x53564D41)),
    ("mmap", 3, _SHARED_WITHOUT_FILE, False, (_SHARED_WITHOUT_FILE,)),
    ("clone", 0, _NAMESPACES, True, (0,)),
    # AF_UNIX and SOCK_STREAM, since such a socket reaches its other end alone. The mask 0xF leaves
    # the flags SOCK_NONBLOCK and SOCK_CLOEXEC free.
    ("socketpair", 0, _ALL, True, (1,)),
    ("socketpair", 1, 0xF, True, (1,)),
    # SO_TYPE, ERROR, SNDBUF, RCVBUF, PROTOCOL, DOMAIN.
    ("getsockopt", 2, _ALL, True, (3, 4, 7, 8, 38, 39)),
    # A process may set its own limits, but RLIMIT_CPU: the kernel's SIGKILL at that limit would
    # look as if it came from outside.
    ("prlimit64", 0, _ALL, True, (0,)),
    ("prlimit64", 1, _ALL, False, (0,)),
    ("setrlimit", 0, _ALL, False, (0,)),
    ("sched_setaffinity", 0, _ALL, True, (0,)),
    ("sched_getaffinity", 0, _ALL, True, (0,)),
    ("getpgid", 0, _ALL, True, (0,)),
    ("getsid", 0, _ALL, True, (0,)),
    # Numbers below 0 are the clocks of processes.
    *[(name, 0, 1 << 31, True, (0,)) for name in ("clock_gettime", "clock_getres",
                                                  "clock_nanosleep")],
]  # fmt: skip

_ERRORS = {"madvise": errno.EINVAL, "ioctl": errno.EOPNOTSUPP}
"""Errors that libraries expect if a call exists and does not know one of its arguments."""

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
if platform.machine() not in _MACHINES:
    raise OSError(f"student code can be confined on {' and '.join(_MACHINES)} machines only")
_PLACE, _ARCHITECTURE = _MACHINES[platform.machine()]

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _GREATER, _GREATER_OR_EQUAL = 0x15, 0x25, 0x35
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000


def number(name: str) -> int | None:
    """Return the number of a system call on this machine; None if it has none."""
    numbers = {**_CALLS, **_WITH_NAMESPACES, **_ATTRIBUTES, **_LOCKS}
    return numbers[name][_PLACE]


class Program(ctypes.Structure):
    """The kernel's `struct sock_fprog`: a filter in the kernel's form."""

    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


@cache
def program(own: int = 0) -> Program:
    """Return the filter of system calls.

    Args:
        own: the number of the one process that it is for, which has no namespaces of its own: it
            may start threads and no process, and send signals to itself alone. 0 for a process that
            is alone in namespaces.
    """
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURE),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        # Numbers from 2**30 on are x86's x32 calls: second numbers of the same system calls.
        (_GREATER_OR_EQUAL, 0, 1, 1 << 30),
        (_RETURN, 0, 0, _FAIL | errno.EPERM),
        (_GREATER, 0, 1, _NEWEST),
        (_RETURN, 0, 0, _FAIL | errno.ENOSYS),
    ]
    conditions = [*_CONDITIONS, *(_alone(own) if own else ())]
    calls = {**_CALLS, **({} if own else {**_WITH_NAMESPACES, **_ATTRIBUTES})}
    outcomes = {name: (_FAIL | error, numbers) for name, (error, numbers) in _ABSENT.items()}
    outcomes |= {name: (_ALLOW, numbers) for name, numbers in calls.items()}
    pretended = {**_LOCKS, **(_ATTRIBUTES if own else {})}
    outcomes |= {name: (_FAIL, numbers) for name, numbers in pretended.items()}
    for name, (outcome, numbers) in outcomes.items():
        if (wanted := numbers[_PLACE]) is None:
            continue
        block = [line for each in conditions if each[0] == name for line in _checked(each)]
        if name == "fcntl":
            block = [*_checked((name, 1, _ALL, False, _LOCKING), _FAIL), *block]
        lines += [(_EQUAL, 0, len(block) + 1, wanted), *block, (_RETURN, 0, 0, outcome)]
    lines.append((_RETURN, 0, 0, _FAIL | errno.EPERM))
    return Program(len(lines), b"".join(struct.pack("HBBI", *line) for line in lines))


def _alone(own: int) -> list[_Condition]:
    """Return the conditions for a process without namespaces of its own.

    Such a process may start only threads that share its table of open files, since files in a
    table of one thread's own would not be counted. It may send itself any signal but SIGKILL,
    which would look as if an outsider had sent it. And it may empty a file by opening it only if
    it opens it for writing: Landlock before its third version checks that alone.
    """
    truncate = os.O_TRUNC
    return [
        ("clone", 0, _THREAD, True, (_THREAD,)),
        ("tgkill", 0, _ALL, True, (own,)),
        ("tgkill", 2, _ALL, False, (9,)),
        ("open", 1, truncate | os.O_ACCMODE, False, (truncate, truncate | os.O_ACCMODE)),
        ("openat", 2, truncate | os.O_ACCMODE, False, (truncate, truncate | os.O_ACCMODE)),
    ]


def _checked(
    condition: _Condition, otherwise: int | None = None
) -> list[tuple[int, int, int, int]]:
    """Return the lines that go on only if a condition holds; by default the call fails."""
    name, argument, mask, is_allowed, values = condition
    refused = _FAIL | _ERRORS.get(name, errno.EPERM)
    fail = (_RETURN, 0, 0, refused if otherwise is None else otherwise)
    lines = [(_LOAD, 0, 0, 16 + 8 * argument)]
    if mask != _ALL:
        lines.append((_AND, 0, 0, mask))
    if is_allowed:
        left = len(values)
        lines += [(_EQUAL, left - place, 0, value) for place, value in enumerate(values)]
        return [*lines, fail]
    for value in values:
        lines += [(_EQUAL, 0, 1, value), fail]
    return lines
