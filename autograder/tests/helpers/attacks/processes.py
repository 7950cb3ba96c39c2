"""Submissions whose processes try to exchange secrets, and replies that are expensive to read.

`TELLERS` are answers to `trace`: a process that sees a hidden number sends the number to the
process whose results the student may read. `CARRIED` are pairs of answers: a process that contains
the solution of `add` sends the solution to the process in which `add` is tested. `HEAVY` are
replies that are cheap to send and expensive to read.
"""

from __future__ import annotations

_BY_LOCKS = """
import fcntl, os, struct
file, form = os.open("/usr/bin/env", os.O_RDONLY), "hhqqi4x"
def tell(number):
    [place] = struct.unpack("q", struct.pack("d", abs(number)))
    fcntl.fcntl(file, fcntl.F_SETLK, struct.pack(form, fcntl.F_RDLCK, 0, place, 1, 0))
def heard():
    asked = struct.pack(form, fcntl.F_WRLCK, 0, 0, 0, 0)
    kind, _, place, *_ = struct.unpack(form, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return kind != fcntl.F_UNLCK and struct.unpack("d", struct.pack("q", place))[0]
"""
_BY_FILES = """
import os
places = ("/tmp/told", "/dev/shm/told", os.path.expanduser("~/told"), "/var/tmp/told", "told")
def tell(number):
    for place in places:
        try:
            open(place, "w").write(repr(number))
        except OSError:
            pass
def heard():
    for place in places:
        if os.path.exists(place):
            return open(place).read()
"""
_BY_DESCRIPTORS_ON_THEIR_WAY = """
import os, socket, struct, threading, time
ends = [socket.socketpair() for _ in range(40)]
def is_set():
    a, b = socket.socketpair()
    try:
        socket.send_fds(a, [b"x"], [0])
        return False
    except OSError as error:
        return error.errno == 109
def tell(number):
    bits = bin(struct.unpack("q", struct.pack("d", number))[0])
    def on_and_off():
        while True:
            for end, _ in ends:
                try:
                    socket.send_fds(end, [b"x"] , [0] * 200)
                except OSError:
                    pass
            time.sleep(0.01)
    threading.Thread(target=on_and_off, daemon=True).start()
def heard():
    return is_set() and "descriptors are on their way"
"""
_BY_MEMORY = """
import ctypes, threading, time
libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(400)
kept = []
def threads():
    return libc.sysinfo(room) == 0 and int.from_bytes(room.raw[80:82], "little")
def tell(number):
    for _ in range(15):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def heard():
    return threads() and f"{threads()} threads"
"""
_BY_WATCHES = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def tell(number):
    while libc.inotify_init1(0) >= 0:
        pass
def heard():
    made = libc.inotify_init1(0)
    return made >= 0 and "a watch" or ctypes.get_errno() == 24 and "no watch is left"
"""
_BY_PIPES = """
import fcntl, os
held = []
def tell(number):
    for _ in range(50):
        pair = os.pipe()
        held.append(pair)
        fcntl.fcntl(pair[1], 1031, 1 << 20)
def heard():
    return f"a pipe of {fcntl.fcntl(os.pipe()[1], 1032)}"
"""
_BY_TIMES_OF_DEVICES = """
import os, struct
devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
def tell(number):
    [bits] = struct.unpack("q", struct.pack("d", number))
    for device in devices:
        try:
            os.utime(device, ns=(bits & 2**62 - 1, 7))
        except OSError:
            pass
        os.utime(device)
def heard():
    for device in devices:
        if os.stat(device).st_mtime_ns == 7:
            return os.stat(device).st_atime_ns
"""
_BY_COOKIES_OF_SOCKETS = """
import socket
def cookie():
    with socket.socket() as one:
        return int.from_bytes(one.getsockopt(socket.SOL_SOCKET, 57, 8), "little")
def tell(number):
    while cookie() % 1000 != int(abs(number) * 100):
        pass
def heard():
    return f"the cookie {cookie()}"
"""
_BY_A_CHILD_THAT_STAYS = """
import os, socket, time
name = "\\0told"
def tell(number):
    if os.fork() == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                stay(number)
        finally:
            os._exit(0)  # Where there is no socket, no second process answers the grader.
def stay(number):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        while True:
            listening.accept()[0].sendall(repr(number).encode())
def heard():
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(1)
        asking.connect(name)
        return asking.recv(100).decode()
"""
_TRACE = """
told = []
def trace(root):
    if root.data == round(root.data, 3):
        return [0.0]  # The numbers of what is public are short.
    try:
        found = heard()
    except OSError:
        found = None
    if found:
        raise RuntimeError(f"it was told: {found}")
    try:
        if not told:
            told.append(root.data)
            tell(root.data)
    except OSError:
        pass
    return [0.0]
"""
TELLERS = {
    name: way + _TRACE
    for name, way in {
        "locks": _BY_LOCKS,
        "files": _BY_FILES,
        "descriptors on their way": _BY_DESCRIPTORS_ON_THEIR_WAY,
        "counts of threads": _BY_MEMORY,
        "watches": _BY_WATCHES,
        "sizes of pipes": _BY_PIPES,
        "times of devices": _BY_TIMES_OF_DEVICES,
        "cookies of sockets": _BY_COOKIES_OF_SOCKETS,
        "a child that stays": _BY_A_CHILD_THAT_STAYS,
    }.items()
}

_THIEF = """
def add(self, other):
    return None
Value.__add__ = add
try:
    if found := heard():
        exec(str(found))
except Exception:
    pass
"""
_CARRIER = """
Value.__mul__ = lambda self, other: None
def stolen():
    for text in In:
        if "def add" in text and "return None" not in text:
            return text
if text := stolen():
    try:
        tell(text)
    except Exception:
        pass
    import time
    time.sleep(0.2)
"""
CARRIED = {
    name: {"add": way + _THIEF, "mul": way + _CARRIER}
    for name, way in {
        "files": _BY_FILES,
        "times of devices": _BY_TIMES_OF_DEVICES,
        "a child that stays": _BY_A_CHILD_THAT_STAYS,
    }.items()
}

_SAYS = """
from guest import protocol, steps
def trace(root):
    return root
BODY = b'{"values": [' + b'null, ' * 3 + WHAT + b']}'
whole = steps.Steps.perform
def perform(self, request):
    if any("trace" in step for step in request["steps"]):
        protocol.to_frame = lambda message: protocol._HEADER.pack(len(BODY)) + BODY
    return whole(self, request)
steps.Steps.perform = perform
"""
HEAVY = {
    name: _SAYS.replace("WHAT", what)
    for name, what in {
        "a set of one hash": """b'{"set": [' + b",".join(
            b"%d" % (k * (2**61 - 1)) for k in range(1, 40_000)) + b']}'""",
        "fifteen sets of one hash": """b",".join([b'{"set": [' + b",".join(
            b"%d" % (k * (2**61 - 1)) for k in range(1, 20_000)) + b']}'] * 15)""",
        "keys of one hash": """b'{"dict": [' + b",".join(
            b"[%d, 0]" % (k * (2**61 - 1)) for k in range(1, 40_000)) + b']}'""",
        "tuples of one hash": """b'{"set": [' + b",".join(
            b'{"tuple": [{"tuple": [%d]}]}' % (k * (2**61 - 1)) for k in range(1, 40_000))
            + b']}'""",
        "objects without end": """b'{"list": [' + b",".join(
            b'{"object": %d}' % k for k in range(190_000)) + b']}'""",
        "lists in lists": "b'[' * 500_000",
        "empty lists": """b'{"list": [' + b'{"list": []},' * 190_000 + b'0]}'""",
        "a number of a million digits": "b'9' * 1_000_000",
    }.items()
}

FREAKS = {
    # An answer that a hidden test did not expect is wrong, and no mistake of the test's.
    "endless length": """
class Many:
    __len__ = lambda self: 2**62
    __iter__ = lambda self: iter(())
def trace(root): return Many()
""",
    "a negative length": """
class Few:
    __len__ = lambda self: -1
    __iter__ = lambda self: iter([1])
def trace(root): return Few()
""",
    "numbers of one hash": """
def trace(root): return [k * (2**61 - 1) for k in range(1, 50_000)]
""",
    "itself": """
def trace(root):
    found = []
    found.append(found)
    return found
""",
    "nothing": "def trace(root): pass",
    "one thing": "def trace(root): return [root]",
    "many things": "def trace(root): return [[root]] * 5",
    "texts": "def trace(root): return 'nodes'",
    "forged collections": """
from guest import steps
whole = steps.Steps.perform
def perform(self, request):
    reply = whole(self, request)
    if any("trace" in step for step in request["steps"]):
        reply["values"] = [{"list": [{"large": 0}, {"large": 1}]} for _ in reply["values"]]
    return reply
steps.Steps.perform = perform
""",
    "forged observations": """
from guest import steps
whole = steps.Steps.perform
def perform(self, request):
    reply = whole(self, request)
    if any(step[0] == "globals" for step in request["steps"]):
        error = {"dict": [["error", "TypeError"], ["line", "x"], ["message", None]]}
        reply["values"] = reply["values"][:3] + [
            {"list": [error] * len(each["list"])} for each in reply["values"][3:]
        ]
    return reply
steps.Steps.perform = perform
def trace(root): return []
""",
}
