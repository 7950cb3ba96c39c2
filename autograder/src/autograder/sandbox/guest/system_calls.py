"""The seccomp filter: an allow-list of the system calls of student code.

The form of a filter is described in Linux's Documentation/userspace-api/seccomp_filter. A call that
is not in the list is refused, and so is every call that later kernels add.

These calls are not in the list:

- Calls for new namespaces and mounts, for looking into other processes, for kernel key rings and
  modules, io_uring, bpf, userfaultfd, and sockets except connected pairs.
- Calls for memory that no limit counts: shared memory without a file, System V's semaphores and
  messages, pages given to pipes, and huge pages that the machine keeps ready.
- Calls for values that the kernel counts or keeps for all processes of a user or of the machine,
  through which two processes could exchange messages: watches, leases, which parts of a file are
  in memory, counts of page faults, descriptors that are being sent through
  sockets, asynchronous input and output, the sizes of pipes, cookies of sockets, and the counts of
  threads, of free memory and of free disk.

Two kinds of calls are let through without their effect. File locks succeed and lock nothing: no
other process can write the files, and SQLite needs the call to succeed. So no lock has an owner.
Shared futexes have the inode of the mapped file as their key, and two sandboxes may see the same
file. So FUTEX_WAKE wakes nobody, and FUTEX_WAIT returns at once, as if the value had changed. It
would not be enough to refuse FUTEX_WAKE, since the kernel also wakes a waiter when a thread ends,
at an address that the thread chooses. So code that waits has to poll, as `standins` does.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from functools import cache
from typing import NamedTuple

# By name, from the kernel's tables: the call's number on x86_64 and that on aarch64, or None if the
# machine does not have the call.
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
    # Signals to the process itself.
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132), "pause": (34, None), "setitimer": (38, 103),
    "getitimer": (36, 102), "alarm": (37, None), "restart_syscall": (219, 128),
    "tgkill": (234, 131),
    # Ids and limits of the process itself and its children, and the machine's name.
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, None),
    "getpgid": (121, 155), "getsid": (124, 156), "capget": (125, 90), "uname": (63, 160),
    "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261),
    "times": (100, 153), "wait4": (61, 260), "waitid": (247, 95),
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
    # Pairs of connected sockets.
    "socketpair": (53, 199), "sendto": (44, 206), "recvfrom": (45, 207), "shutdown": (48, 210),
    "getsockname": (51, 204), "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip

# Allowed only under bubblewrap, where a student process has namespaces of its own.
_WITH_NAMESPACES: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "setsid": (112, 157),
    "setpgid": (109, 154), "kill": (62, 129), "tkill": (200, 130), "truncate": (76, 45),
    "mknod": (133, None), "mknodat": (259, 33),
}  # fmt: skip

# Change the mode or the times of a file. Under Landlock, other student processes could read these,
# so the calls succeed and do nothing; under bubblewrap they are allowed.
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88),
    "futimesat": (261, None),
}  # fmt: skip

# These calls succeed and do nothing.
_LOCKS: dict[str, tuple[int | None, int | None]] = {"flock": (73, 32)}

# These calls fail with an error after which libraries fall back to another call.
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
"""Number of the newest system call, `mseal`, that was considered for these tables. A call with a
greater number fails as on a kernel that does not have it; other calls that are not in the tables
fail for want of permission."""

_NAMESPACES = 0x7E02_0000  # CLONE_NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWNS
_THREAD = 0x0001_0400  # CLONE_THREAD and CLONE_FILES
_SHARED_WITHOUT_FILE = 0x21  # MAP_SHARED and MAP_ANONYMOUS
_HUGE_PAGES = 0x40000  # MAP_HUGETLB
_PRIVATE = 0x80  # FUTEX_PRIVATE_FLAG
_ALL = 0xFFFF_FFFF
_POINTER = 0xFFFF_FFFF_FFFF_FFFF


class _Condition(NamedTuple):
    """A condition on one argument of a call. The call is allowed if all its conditions hold.

    Attributes:
        call: the name of the call.
        argument: the number of the argument, counted from 0.
        mask: the bits of the argument that are compared.
        is_allowed: True if these bits must equal one of the values; False if they must equal none.
        values: numbers below 2**32.
        error: the errno with which the call fails if the condition does not hold. With 0 the call
            seems to succeed and does nothing.
    """

    call: str
    argument: int
    mask: int
    is_allowed: bool
    values: tuple[int, ...]
    error: int = errno.EPERM


_CONDITIONS = [
    # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW.
    _Condition("fcntl", 1, _ALL, False, (6, 7, 37, 38), 0),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, which SQLite needs for a database in WAL
    # mode, and F_DUPFD_CLOEXEC.
    _Condition("fcntl", 1, _ALL, True, (0, 1, 2, 3, 4, 5, 1030)),
    # Requests about a terminal, FIONREAD, FIONBIO, FIOCLEX and FIONCLEX, but none that sends a
    # signal. Libraries expect the error EOPNOTSUPP if ioctl does not know a request.
    _Condition("ioctl", 1, _ALL, True,
               (0x5401, 0x5402, 0x5403, 0x5404, 0x540E, 0x540F, 0x5410, 0x5413, 0x5414, 0x541B,
                0x5421, 0x5422, 0x5441, 0x5450, 0x5451, 0x40045431, 0x80045430), errno.EOPNOTSUPP),
    # MADV_NORMAL, RANDOM, SEQUENTIAL, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP.
    # Libraries expect the error EINVAL if madvise does not know an advice.
    _Condition("madvise", 2, _ALL, True, (0, 1, 2, 4, 8, 14, 15, 16, 17), errno.EINVAL),
    # PR_GET_DUMPABLE, SET_NAME, GET_NAME, CAPBSET_READ, GET_NO_NEW_PRIVS and SET_VMA.
    _Condition("prctl", 0, _ALL, True, (3, 15, 16, 23, 39, 0x53564D41)),
    _Condition("mmap", 3, _SHARED_WITHOUT_FILE, False, (_SHARED_WITHOUT_FILE,)),
    _Condition("mmap", 3, _HUGE_PAGES, True, (0,)),
    # Without FUTEX_PRIVATE_FLAG: FUTEX_WAKE and WAKE_BITSET do nothing, FUTEX_WAIT and WAIT_BITSET
    # return at once, and all others are refused.
    _Condition("futex", 1, 0x7F | _PRIVATE, False, (1, 10), 0),
    _Condition("futex", 1, 0x7F | _PRIVATE, False, (0, 9), errno.EAGAIN),
    _Condition("futex", 1, _PRIVATE, True, (_PRIVATE,), errno.ENOSYS),
    _Condition("clone", 0, _NAMESPACES, True, (0,)),
    # Only AF_UNIX and SOCK_STREAM, since such a socket can send to nothing except its other end.
    # With the mask 0xF, the flags SOCK_NONBLOCK and SOCK_CLOEXEC may be set or not.
    _Condition("socketpair", 0, _ALL, True, (1,)),
    _Condition("socketpair", 1, 0xF, True, (1,)),
    # SO_TYPE, ERROR, SNDBUF, RCVBUF, PROTOCOL, DOMAIN.
    _Condition("getsockopt", 2, _ALL, True, (3, 4, 7, 8, 38, 39)),
    # The pointer to the resource usage of the child has to be null: the usage includes page faults,
    # which depend on what other processes have in memory.
    _Condition("wait4", 3, _POINTER, True, (0,)),
    _Condition("waitid", 4, _POINTER, True, (0,)),
    # A process may set its own limits, except RLIMIT_CPU: the kernel's SIGKILL at that limit would
    # look as if it came from outside.
    _Condition("prlimit64", 0, _ALL, True, (0,)),
    _Condition("prlimit64", 1, _ALL, False, (0,)),
    _Condition("setrlimit", 0, _ALL, False, (0,)),
    _Condition("sched_setaffinity", 0, _ALL, True, (0,)),
    _Condition("sched_getaffinity", 0, _ALL, True, (0,)),
    _Condition("getpgid", 0, _ALL, True, (0,)),
    _Condition("getsid", 0, _ALL, True, (0,)),
    # Negative numbers are the clocks of processes and threads.
    *[_Condition(name, 0, 1 << 31, True, (0,))
      for name in ("clock_gettime", "clock_getres", "clock_nanosleep")],
]  # fmt: skip

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
if platform.machine() not in _MACHINES:
    raise OSError(f"student code can be confined on {' and '.join(_MACHINES)} machines only")
_PLACE, _ARCHITECTURE = _MACHINES[platform.machine()]

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _GREATER, _GREATER_OR_EQUAL = 0x15, 0x25, 0x35
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000


def number(name: str) -> int | None:
    """Return the number of a system call on this machine; None if the machine does not have it."""
    numbers = {**_CALLS, **_WITH_NAMESPACES, **_ATTRIBUTES, **_LOCKS}
    return numbers[name][_PLACE]


class Program(ctypes.Structure):
    """The kernel's `struct sock_fprog`: a filter in the kernel's form."""

    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


@cache
def program(own: int = 0) -> Program:
    """Return the seccomp filter.

    Args:
        own: 0 under bubblewrap, for processes with namespaces of their own. Under Landlock, the pid
            of the process that gets the filter: it may start threads but no processes, and send
            signals only to itself.
    """
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURE),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        # Numbers from 2**30 on belong to the x32 ABI of x86_64, which has second numbers for the
        # same calls.
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
        block = [line for each in conditions if each.call == name for line in _checked(each)]
        lines += [(_EQUAL, 0, len(block) + 1, wanted), *block, (_RETURN, 0, 0, outcome)]
    lines.append((_RETURN, 0, 0, _FAIL | errno.EPERM))
    return Program(len(lines), b"".join(struct.pack("HBBI", *line) for line in lines))


def _alone(own: int) -> list[_Condition]:
    """Return the further conditions for a process under Landlock, which has no namespaces.

    The process may start only threads, and these must share its table of file descriptors: files in
    another table would not be counted. It may send itself any signal except SIGKILL, which would
    look as if it came from outside. It may open a file with O_TRUNC only together with O_WRONLY or
    O_RDWR, since Landlock restricts O_TRUNC with O_RDONLY only from its third version on.
    """
    truncate, any_mode = os.O_TRUNC, os.O_TRUNC | os.O_ACCMODE
    return [
        _Condition("clone", 0, _THREAD, True, (_THREAD,)),
        _Condition("tgkill", 0, _ALL, True, (own,)),
        _Condition("tgkill", 2, _ALL, False, (9,)),
        _Condition("open", 1, any_mode, False, (truncate, any_mode)),
        _Condition("openat", 2, any_mode, False, (truncate, any_mode)),
    ]


def _checked(condition: _Condition) -> list[tuple[int, int, int, int]]:
    """Return the BPF instructions for a condition: if it holds, the program continues after them,
    else the call fails."""
    fail = (_RETURN, 0, 0, _FAIL | condition.error)
    word = 16 + 8 * condition.argument
    lines = []
    if condition.mask > _ALL:
        lines += [(_LOAD, 0, 0, word + 4), (_EQUAL, 1, 0, 0), fail]
    lines.append((_LOAD, 0, 0, word))
    if (mask := condition.mask & _ALL) != _ALL:
        lines.append((_AND, 0, 0, mask))
    if condition.is_allowed:
        left = len(condition.values)
        lines += [(_EQUAL, left - place, 0, value) for place, value in enumerate(condition.values)]
        return [*lines, fail]
    for value in condition.values:
        lines += [(_EQUAL, 0, 1, value), fail]
    return lines
