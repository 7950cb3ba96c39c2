"""Cells that allocate memory which the kernel does not count in the size of any process.

Each cell tries to allocate more than all its processes may have together, and prints the number of
megabytes that it got.
"""

from __future__ import annotations

_LIBC = """
import ctypes, os, socket, time
libc = ctypes.CDLL(None)
libc.mmap.restype = address = ctypes.c_void_p
libc.mmap.argtypes = [address, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [address, ctypes.c_size_t]
libc.madvise.argtypes = [address, ctypes.c_size_t, ctypes.c_int]
failed, held, kept, MB = 2**64 - 1, 0, [], 1 << 20
"""
_SHARED = """
for _ in range(60):
    place = libc.mmap(None, 20 * MB, 3, FLAGS, FILE, 0)
    if place == failed:
        break
    ctypes.memset(place, 1, 20 * MB)
    libc.munmap(place + 4096, 20 * MB - 4096)
    held += 20
print(held)
"""
OUT_OF_SIGHT = {
    name: _LIBC + source
    for name, source in {
        "shared memory that is unmapped but for a page": (
            _SHARED.replace("FLAGS", "0x21").replace("FILE", "-1")
        ),
        "shared memory by way of a device": (
            "kept.append(os.open('/dev/zero', os.O_RDWR))"
            + _SHARED.replace("FLAGS", "0x01").replace("FILE", "kept[0]")
        ),
        "semaphores": """
while held < 1200 and libc.semget(0, 32_000, 0o1600) >= 0:
    held += 2
print(held)
""",
        "messages that nobody fetches": """
message = ctypes.create_string_buffer(b"1", 8200)
while held < 1200 * 1024 and (queue := libc.msgget(0, 0o1600)) >= 0:
    while libc.msgsnd(queue, message, 8192, 0o4000) == 0:
        held += 8
# There are no more than 32,000 queues of 16 kB.
print(3 * held // 1024)
""",
        "page tables": """
for _ in range(5):
    if os.fork() == 0:
        for place in range(1, 60_000):
            libc.mmap(place << 30, 4096, 1, 0x108022, -1, 0)
        time.sleep(60)
time.sleep(60)
print(5 * 470)
""",
        "parts of huge pages in pipes": """
class Part(ctypes.Structure):
    _fields_ = [("place", address), ("size", ctypes.c_size_t)]
for _ in range(40):
    kept.append(os.pipe())
    start = libc.mmap(None, 34 * MB, 3, 0x22, -1, 0)
    first = (start + 2 * MB - 1) // (2 * MB) * (2 * MB)
    libc.madvise(first, 32 * MB, 14)
    for place in range(first, first + 30 * MB, 2 * MB):
        ctypes.memset(place, 1, 1)
        if libc.vmsplice(kept[-1][1], ctypes.byref(Part(place, 4096)), 1, 0) > 0:
            held += 2
    libc.munmap(start, 34 * MB)
print(held)
""",
        "connections that nobody accepts": """
for number in range(2):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(f"\\0{number}")
    kept[-1].listen(4096)
    for _ in range(3000):
        with socket.socket(socket.AF_UNIX) as one:
            one.setblocking(False)
            try:
                one.connect(f"\\0{number}")
                while True:
                    held += one.send(bytes(65536))
            except OSError:
                pass
print(held // MB)
""",
        "long queues of sockets": """
for _ in range(60):
    kept.append(socket.socketpair())
    for end in kept[-1]:
        end.setblocking(False)
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        except OSError:
            pass
        try:
            while held < 2000 * MB:
                held += end.send(bytes(65536))
        except OSError:
            pass
print(held // MB)
""",
        "processes with the name of a line": """
for number in range(12):
    if os.fork() == 0:
        libc.prctl(15, (b"VmRSS: 0", b"VmPTE: 0 VmRSS:", b"a\\nVmRSS: 0")[number % 3], 0, 0, 0)
        kept.append(b"x" * (80 * MB))
        time.sleep(60)
time.sleep(60)
print(12 * 80)
""",
        "processes whose first thread has ended": """
import threading
def hold():
    time.sleep(0.5)
    kept.append(b"x" * (160 * MB))
    time.sleep(60)
for _ in range(6):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        libc.syscall(EXIT, 0)
time.sleep(60)
print(6 * 160)
""".replace("EXIT", "60 if os.uname().machine == 'x86_64' else 93"),
        "many small programs": """
import subprocess, sys
code = "import time; kept = b'x' * (46 << 20); time.sleep(60)"
for _ in range(14):
    kept.append(subprocess.Popen([sys.executable, "-S", "-c", code]))
time.sleep(60)
print(14 * 46)
""",
        "threads that hand on to the next": """
import threading
def first():
    time.sleep(0.5)
    kept.append(b"x" * (160 * MB))
    next_one()
def next_one():
    threading.Thread(target=next_one).start()
for _ in range(6):
    if os.fork() == 0:
        threading.Thread(target=first).start()
        libc.syscall(EXIT, 0)
time.sleep(60)
print(6 * 160)
""".replace("EXIT", "60 if os.uname().machine == 'x86_64' else 93"),
    }.items()
}
