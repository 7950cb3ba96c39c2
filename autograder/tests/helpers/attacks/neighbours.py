"""Code by which two student processes in different sandboxes try to exchange messages through the
kernel.

`LOOK` tries the system calls in its table on three things that all sandboxes can see: a file called
`shared`, the file's mapping in memory, and a folder. `NOT_ASKED` has the allowed system calls that
are not in this table, each with the reason.
"""

from __future__ import annotations

_OWN = "names only what the process made or holds itself"
_CLOCK = "tells the time, which nothing hides"
_ENDS = "replaces, ends or stops the caller"
_IN_ORDER = "gives numbers in order for the whole machine, which docs/security.md admits"

NOT_ASKED = {
    name: reason
    for reason, names in {
        _OWN: """
            close close_range dup dup2 dup3 fchdir chdir getcwd umask munmap brk arch_prctl
            set_robust_list rseq rt_sigaction rt_sigprocmask rt_sigpending
            sigaltstack setitimer getitimer alarm getuid geteuid getgid getegid getresuid getresgid
            getgroups getpgrp setrlimit poll ppoll select pselect6 epoll_create epoll_create1
            epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 timerfd_create timerfd_settime
            timerfd_gettime socketpair sendto recvfrom shutdown setsid setpgid sched_setaffinity
            getrandom tkill""",
        _CLOCK: """
            times clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time
            sched_yield getcpu""",
        _ENDS: """
            exit exit_group execve vfork pause rt_sigsuspend rt_sigreturn restart_syscall""",
        _IN_ORDER: "pipe pipe2 clone fork gettid getpid getppid set_tid_address",
    }.items()
    for name in names.split()
}

LOOK = """
import ctypes, errno, json, os, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.syscall.restype = ctypes.c_long
libc.syscall.argtypes = [ctypes.c_long] * 7
libc.mmap.argtypes = [ctypes.c_long] * 6
PATH, FOLDER = os.path.realpath("shared").encode(), os.path.dirname(json.__file__).encode()
NEW = FOLDER + b"/new"
shared, folder = os.open(PATH, os.O_RDONLY), os.open(FOLDER, os.O_RDONLY)
own = os.open("own", os.O_RDWR | os.O_CREAT)
SIZE, SIGNAL, me = 4096, 40, os.getpid()
signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])
at = libc.mmap(0, 16 * SIZE, 1, 1, shared, 0)
assert at > 0
room, more = (ctypes.create_string_buffer(SIZE) for _ in range(2))
ROOM, MORE = ctypes.addressof(room), ctypes.addressof(more)
PARTS = ctypes.create_string_buffer(struct.pack("QQ", MORE, 512))
AT_ONCE = ctypes.create_string_buffer(bytes(16))  # a time of 0 seconds
by_address = lambda text: ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value
HEADER, SIGNALS = struct.pack("Ii", 0x20080522, 1), struct.pack("Q", 1 << SIGNAL - 1)
path, new, header, signals = map(by_address, (PATH, NEW, HEADER, SIGNALS))
parts, at_once = ctypes.addressof(PARTS), ctypes.addressof(AT_ONCE)
[word] = struct.unpack_from("I", open(PATH, "rb").read(4))
CALLS = {
    # Contents.
    "read": [(shared, ROOM, 512)], "readv": [(shared, parts, 1)],
    "pread64": [(shared, ROOM, 512, 99)], "preadv": [(shared, parts, 1, 99)],
    "write": [(shared, ROOM, 1)], "writev": [(shared, parts, 1)],
    "pwrite64": [(shared, ROOM, 1, 0)], "pwritev": [(shared, parts, 1, 0)],
    "lseek": [(shared, 7, how) for how in (3, 4, 2, 1, 0)] + [(shared, 0, 0)],
    "ftruncate": [(shared, 0)], "truncate": [(path, 0)], "fallocate": [(shared, 0, 0, 1)],
    "fsync": [(shared,)], "fdatasync": [(shared,)],
    "sendfile": [(own, shared, 0, 1 << 14)], "copy_file_range": [(shared, 0, own, 0, 1 << 14, 0)],
    # Names.
    "open": [(path, flags, 0) for flags in (1, 2, 0o1000, 0o3000)],
    "openat": [(-100, path, flags, 0) for flags in (1, 2, 0o1000, 0o3000, 0o100000003)],
    "creat": [(new, 0o600)], "fcntl": [(shared, command, ROOM) for command in (*range(3, 50),
                                        *range(1024, 1045)) if command != 4],
    "ioctl": [(shared, asked, ROOM) for asked in (1, 2, 0x5401, 0x541B, 0x6609, 0xC020660B,
               0x80086601, 0x5452, 0x5460, 0x8901, 0x12A0)],
    **{name: [(path, ROOM)] for name in ("stat", "lstat")}, "fstat": [(shared, ROOM)],
    "newfstatat": [(-100, path, ROOM, 0), (folder, by_address(b""), ROOM, 0x1000)],
    "statx": [(-100, path, 0, 0xFFF, ROOM), (shared, by_address(b""), 0x1000, 0xFFF, ROOM)],
    "access": [(path, 4), (path, 2)], "faccessat": [(-100, path, 4)],
    "faccessat2": [(-100, path, 2, 0)], "readlink": [(path, ROOM, 99)],
    "readlinkat": [(-100, path, ROOM, 99)], "getdents": [(folder, ROOM, SIZE)],
    "getdents64": [(folder, ROOM, SIZE)],
    **{name: [(new, 0o700)] for name in ("mkdir", "mknod")}, "rmdir": [(new,)],
    "mkdirat": [(folder, new, 0o700)], "mknodat": [(folder, new, 0o10600)],
    "unlink": [(path,)], "unlinkat": [(folder, path, 0)],
    **{name: [(path, new)] for name in ("rename", "link", "symlink")},
    "renameat": [(-100, path, -100, new)], "renameat2": [(-100, path, -100, new, 0)],
    "linkat": [(-100, path, -100, new, 0)], "symlinkat": [(path, -100, new)],
    "chmod": [(path, 0o600)], "fchmod": [(shared, 0o600)], "fchmodat": [(-100, path, 0o600)],
    "fchmodat2": [(-100, path, 0o600, 0)], "utime": [(path, 0)], "utimes": [(path, 0)],
    "utimensat": [(-100, path, 0, 0), (shared, 0, 0, 0)], "futimesat": [(-100, path, 0)],
    "flock": [(shared, how | 4) for how in (1, 2, 8)],
    # Memory.
    "mmap": [(at, SIZE, rights, how | 16, shared, 0) for rights in (3, 1) for how in (3, 1)]
            + [(0, SIZE, 3, how, -1, 0) for how in (0x21, 0x40022)],
    "mprotect": [(at, SIZE, rights) for rights in (3, 1)], "mremap": [(at, SIZE, SIZE, 0)],
    "madvise": [(at, SIZE, advice) for advice in (*range(30), 100, 101)],
    "msync": [(at, SIZE, how) for how in (1, 4, 6)],
    "membarrier": [(command, 0, 0) for command in (0, 8, 16)],
    "futex": [(at, kind | private | real, word, at_once, at, word) for kind in range(16)
              for private in (0, 128) for real in (0, 256)],
    # The process, and others by their numbers.
    "prctl": [(option, 0, 0) for option in range(1, 80) if option != 15],
    "kill": [(other, 0) for other in range(100, 200)], "getpgid": [(99,)], "getsid": [(99,)],
    "tgkill": [(me, me, SIGNAL)], "rt_sigtimedwait": [(signals, ROOM, at_once, 8)],
    "sched_getaffinity": [(99, 8, ROOM)], "capget": [(header, ROOM)], "uname": [(ROOM,)],
    "getrlimit": [(kind, ROOM) for kind in range(16)],
    "prlimit64": [(0, kind, 0, ROOM) for kind in range(16)] + [(99, 7, 0, ROOM)],
    "wait4": [(-1, 0, 1, ROOM)], "waitid": [(0, 0, 0, 5, ROOM)],
    "epoll_ctl": [(shared, 1, shared, ROOM)], "getpeername": [(shared, ROOM, MORE)],
    "getsockname": [(shared, ROOM, MORE)],
    "getsockopt": [(shared, 1, option, ROOM, MORE) for option in range(90)],
}
def look():
    said = {}
    for name, ways in CALLS.items():
        for way in ways if NUMBERS.get(name) is not None else ():
            for each in (room, more):
                ctypes.memset(each, 0, SIZE)
            done = libc.syscall(NUMBERS[name], *way, *[0] * (6 - len(way)))
            failed = errno.errorcode[ctypes.get_errno()] if done == -1 else ""
            told = hash((room.raw, more.raw))
            said.setdefault(name, []).append((done, failed, told))
    os.closerange(own + 1, 64)
    for each in (shared, folder, own):
        os.lseek(each, 0, 0)
    return said
"""

WAIT = """
import threading
BITS = "10110010"
def wait(word_number):
    libc.syscall(FUTEX, at + 4 * word_number, 0, words[word_number], at_long, 0, 0)
words, LONG = struct.unpack_from("8I", open(PATH, "rb").read(32)), struct.pack("qq", 20, 0)
LONG = ctypes.create_string_buffer(LONG)
at_long = ctypes.addressof(LONG)
for number, bit in enumerate(BITS):
    if bit == "1":
        threading.Thread(target=wait, args=(number,), daemon=True).start()
"""
"""Sends bits: for each bit that is 1, a thread waits at the word of a shared file with that number.
"""

QUEUE = """
for _ in range(200):
    libc.syscall(NUMBERS["tgkill"], me, me, SIGNAL, 0, 0, 0)
"""
"""Queues signals to the process itself, which the kernel may count for the whole account."""

WAKE = """
print("".join(str(libc.syscall(FUTEX, at + 4 * number, 1, 9, 0, 0, 0)) for number in range(8)))
"""
"""Receives bits: a bit is 1 if a thread was woken at the word with that number."""
