"""Cells that try to reach files of the grading account, and cells that fill their folder.

Each cell in `REACHES` prints a list of the attempts that succeeded. Each cell in `FULL` tries to
write more into its own folder than it may.
"""

from __future__ import annotations

_TRIES = """
import ctypes, fcntl, os, resource, socket, struct, time
libc, managed = ctypes.CDLL(None, use_errno=True), []
x86 = os.uname().machine == "x86_64"
def call(name, on_x86, elsewhere, *arguments):
    if libc.syscall(on_x86 if x86 else elsewhere, *arguments) >= 0:
        managed.append(name)
def attempt(name, action, *arguments):
    try:
        action(*arguments)
        managed.append(name)
    except (OSError, AttributeError):
        pass
others = [each for each in (os.getppid(), 1, 2, os.getpid() - 1) if each not in (0, os.getpid())]
"""
REACHES = {
    name: _TRIES + source + "\nprint(managed)"
    for name, source in {
        "signals": """
for pid in others:
    attempt("kill", os.kill, pid, 0)
    call("tkill", 200, 130, pid, 0)
    call("tgkill", 234, 131, pid, pid, 0)
    call("rt_sigqueueinfo", 129, 138, pid, 0, ctypes.create_string_buffer(128))
    call("pidfd_open", 434, 434, pid, 0)
""",
        "signals when a pipe is read from": """
ends = os.pipe()
for pid in others:
    attempt("F_SETOWN", fcntl.fcntl, ends[0], 8, pid)
    attempt("F_SETOWN_EX", fcntl.fcntl, ends[0], 15, struct.pack("ii", 1, pid))
    attempt("FIOSETOWN", fcntl.ioctl, ends[0], 0x8901, struct.pack("i", pid))
    attempt("SIOCSPGRP", fcntl.ioctl, ends[0], 0x8902, struct.pack("i", pid))
attempt("F_SETSIG", fcntl.fcntl, ends[0], 10, 9)
""",
        "priorities and limits": """
for pid in others:
    attempt("setpriority", os.setpriority, os.PRIO_PROCESS, pid, 19)
    attempt("sched_setaffinity", os.sched_setaffinity, pid, {0})
    attempt("sched_setscheduler", os.sched_setscheduler, pid, os.SCHED_BATCH, os.sched_param(0))
    attempt("prlimit", resource.prlimit, pid, resource.RLIMIT_NOFILE)
    call("ioprio_set", 251, 30, 1, pid, 3 << 13)
attempt("setpriority of a user", os.setpriority, os.PRIO_USER, 0, 19)
""",
        "clocks and groups of processes": """
for pid in others:
    attempt("clock", time.clock_gettime, ~pid << 3 | 2)
    attempt("getpgid", os.getpgid, pid)
    attempt("getsid", os.getsid, pid)
""",
        "memory of other processes": """
for pid in others:
    attempt("mem", open, f"/proc/{pid}/mem", "rb")
    attempt("exe", os.readlink, f"/proc/{pid}/exe")
    attempt("fd", os.listdir, f"/proc/{pid}/fd")
    call("ptrace", 101, 117, 0x4206, pid, 0, 0)
    call("process_vm_readv", 310, 270, pid, None, 0, None, 0, 0)
    call("kcmp", 312, 272, pid, pid, 0, 0, 0)
call("shmget", 29, 194, 7, 4096, 0o1600)
call("semget", 64, 190, 7, 1, 0o1600)
call("memfd_create", 319, 279, b"x", 0)
call("keyctl", 250, 219, 0, -3, 0)
""",
        "sockets": """
attempt("unix", socket.socket, socket.AF_UNIX)
attempt("internet", socket.socket, socket.AF_INET)
attempt("vsock", socket.socket, 40)
attempt("datagrams", socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)
attempt("packets", socket.socketpair, socket.AF_UNIX, socket.SOCK_SEQPACKET)
one, other = socket.socketpair()
for address in ("LISTENER", "\\0NAME", "/dev/log", "/run/systemd/journal/socket"):
    attempt("sendto", one.sendto, b"x", address)
    attempt("connect", one.connect, address)
attempt("bind", one.bind, "own")
attempt("descriptors", socket.send_fds, one, [b"x"], [0])
""",
        "what it is when others end": """
for option in (1, 4, 36, 0x59616D61):  # PDEATHSIG, DUMPABLE, SUBREAPER, PTRACER
    if libc.prctl(option, 1, 0, 0, 0) == 0:
        managed.append(option)
""",
    }.items()
}

DAMAGE = (
    _TRIES
    + """
for path in ("data.csv", os.path.realpath("data.csv"), "OUTSIDE", "FOLDER"):
    for mode in ("wb", "ab", "r+b"):
        attempt("open", open, path, mode)
    for flags in (os.O_RDONLY | os.O_TRUNC, 3 | os.O_TRUNC, os.O_WRONLY, os.O_RDWR):
        attempt(f"open {flags}", os.open, path, flags)
    attempt("truncate", os.truncate, path, 0)
    attempt("remove", os.remove, os.path.realpath(path))
    attempt("rename", os.rename, os.path.realpath(path), "mine")
    attempt("link", os.link, os.path.realpath(path), "mine")
    for action in (lambda: os.utime(path, (1, 1)), lambda: os.chmod(path, 0o777),
                   lambda: os.chown(path, -1, os.getgid()),
                   lambda: os.setxattr(path, "user.x", b"x")):
        try:
            action()
        except OSError:
            pass
for path in ("FOLDER/new", "FOLDER/../new", "/tmp/new-by-an-attack"):
    for action in (os.mkdir, os.mkfifo, lambda at: os.symlink("x", at), lambda at: open(at, "x")):
        if "/tmp" not in path or os.environ.get("TMPDIR"):
            attempt(f"{action} {path}", action, path)
try:
    file = os.open("data.csv", os.O_RDONLY)
    os.fchmod(file, 0o777)
    os.utime(file, (1, 1))
except OSError:
    pass
print(managed)
"""
)
"""Tries to change `data.csv`, which the process may read, and a file and a folder that it may not
read."""

FULL = {
    "large files": """
for number in range(10**6):
    open(f"{number}", "wb").write(bytes(4 << 20))
""",
    "many files": """
for number in range(10**6):
    open(f"{number}", "w").close()
""",
    "deep folders": """
import os
while True:
    os.mkdir("x" * 200)
    os.chdir("x" * 200)
""",
    "files that nobody sees": """
import os, time
held = []
while True:
    held.append(open("x", "wb"))
    os.unlink("x")
    held[-1].write(bytes(7 << 20))
    held[-1].flush()
""",
    "files without a name": """
import tempfile
held = []
while True:
    held.append(tempfile.TemporaryFile())
    held[-1].write(bytes(7 << 20))
    held[-1].flush()
""",
    "folders that nobody may look into": """
import os
for number in range(10**6):
    os.mkdir(f"{number}", 0o300)
    open(f"{number}/x", "wb").write(bytes(4 << 20))
""",
    "files that are there for a moment": """
import os
while True:
    for number in range(60):
        open(f"{number}", "wb").write(bytes(4 << 20))
    for number in range(60):
        os.unlink(f"{number}")
""",
    "files that are only mapped": """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = address = ctypes.c_void_p
libc.mmap.argtypes = [address, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
for number in range(20):
    file = os.open("x (deleted)", os.O_RDWR | os.O_CREAT)
    if os.write(file, bytes(7 << 20)) < 7 << 20:
        raise OSError
    assert libc.mmap(None, 4096, 1, 1 + number % 2, file, 0) != 2**64 - 1
    os.unlink("x (deleted)")
    os.close(file)
time.sleep(30)
""",
    "folders that change their names": """
import os, threading, time
os.makedirs("a/b")
os.mkdir("c")
folder = os.open("a/b", os.O_RDONLY)
def rename():
    while True:
        os.rename("a", "d"); os.rename("c", "a"); os.rename("a", "c"); os.rename("d", "a")
threading.Thread(target=rename, daemon=True).start()
for number in range(8):
    file = os.open(f"{number}", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    if os.write(file, bytes(7 << 20)) < 7 << 20:
        raise OSError
    os.close(file)
time.sleep(30)
""",
    "files under a name that changes": """
import os, threading, time
def rename(number):
    while True:
        os.rename(f"a{number}", f"b{number}"); os.rename(f"b{number}", f"a{number}")
for number in range(8):
    if os.write(os.open(f"a{number}", os.O_WRONLY | os.O_CREAT), bytes(7 << 20)) < 7 << 20:
        raise OSError
    threading.Thread(target=rename, args=(number,), daemon=True).start()
time.sleep(30)
""",
    "many names of one file": """
import os, time
open("x", "w").close()
for folder in range(10):
    os.mkdir(f"{folder}")
    for number in range(900):
        os.link("x", f"{folder}/{number}")
time.sleep(30)
""",
}
