"""Submissions that try to read secrets.

Every secret file contains a *canary*, a random text that occurs nowhere else. No output may contain
a canary, except `CONTROL`: each search plants it itself, which proves that the search works.
"""

from __future__ import annotations

CONTROL = "canary-" + "0" * 16

SEARCH = r"""
import ctypes, fcntl, gc, os, re, sys, threading
control = "cana" + "ry-" + "0" * 16
pattern = re.compile(("cana" + "ry-[0-9a-f]{16}").encode())
found = set()
def look(where, content):
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    for token in pattern.findall(content):
        found.add(f"{where}: {token.decode()}")
def report():
    print("\n".join(sorted(found)))
    found.clear()
"""
FILES = """
import tempfile
open(tempfile.gettempdir() + "/control", "w").write(control)
system = ("/usr", "/bin", "/lib", "/dev", sys.base_prefix)
own = (tempfile.gettempdir(), os.getcwd(), *sys.path)
for start in ("/", "/root", "/home", "/tmp", "/proc", *own):
    for folder, folders, files in os.walk(start):
        look("name", "\\n".join([folder, *files]))
        for name in () if folder.startswith(system) else files:
            path = os.path.join(folder, name)
            try:
                if os.path.getsize(path) < 1 << 20:
                    look("file", open(path, "rb").read())
            except OSError:
                pass
report()
"""
PROCESS = """
os.environ["X"] = control
look("environment", repr(dict(os.environ)) + repr(sys.argv) + repr(sys.orig_argv))
look("modules", repr({n: vars(m) for n, m in list(sys.modules.items()) if n != "__main__"}))
for path in ("/proc/self/environ", "/proc/self/mem", "/proc/1/environ", "/proc/self/cmdline"):
    try:
        look("proc", open(path, "rb").read(1 << 20))
    except OSError:
        pass
for fd in range(256):
    try:
        look("descriptor", os.pread(fd, 1 << 20, 0))
    except OSError:
        pass
frames = list(sys._current_frames().values())
while frames:
    frame = frames.pop()
    look("frame", repr(frame.f_locals)[: 1 << 20])
    frames += [frame.f_back] if frame.f_back else []
history = get_ipython().history_manager
look("history", repr(list(history.get_range(0))) + repr(list(history.get_tail(999))))
report()
"""
OBJECTS = """
kept = control
seen, waiting = set(), gc.get_objects()
while waiting:
    item = waiting.pop()
    if id(item) in seen:
        continue
    seen.add(id(item))
    if type(item) in (str, bytes):
        look("object", item)
    elif len(seen) < 3_000_000:
        waiting += gc.get_referents(item)
report()
"""
MEMORY = """
libc = ctypes.CDLL(None)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
read_end, write_end = os.pipe()
starts = [id(object()), id(found), id(sys), id(control), id(b"x" * 5000), id(compile),
          ctypes.addressof(ctypes.create_string_buffer(1 << 20))]
pages = sorted({(start >> 12) + step for start in starts for step in range(-3000, 3000)})
tail = b""
for page in pages:
    if libc.write(write_end, page << 12, 4096) == 4096:
        block = os.read(read_end, 4096)
        look("memory", tail + block)
        tail = block[-32:]
report()
"""
SPY = """
import gc, sys
def spy(where):
    frame = sys._getframe()
    while frame:
        look(where, repr(frame.f_locals)[:100_000])
        frame = frame.f_back
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        spy("in a test")
        self.data, self.grad, self._prev, self._op = data, 0.0, _children, _op
        self._backward, self.label = (lambda: spy("in backward")), label
    def anything(self, *others):
        spy("in an operation")
        for item in others:
            look("argument", repr(item) + repr(gc.get_referents(item)) + repr(dir(item)))
        return Value(1.0)
    __add__ = __mul__ = __pow__ = __sub__ = __neg__ = __truediv__ = __radd__ = anything
def trace(*arguments):
    spy("in a call")
    for item in arguments:
        look("argument", repr(item) + repr(gc.get_referents(item)))
"""

LEAKY = {
    "node": """
import atexit, os, sys, threading, time
from IPython.display import display
from IPython import get_ipython
told = []
handle = display("nothing yet", display_id=True)
def tell(*values):
    text = " ".join(map(repr, values))
    told.append(text)
    print(text)
    print(text, file=sys.__stdout__, flush=True)
    os.write(1, text.encode()); os.write(2, text.encode())
    get_ipython().outputs.write("stdout", text)
    handle.update(text)
    for folder in ("/tmp", "/dev", "/dev/shm", os.environ["HOME"]):
        try:
            open(folder + "/told", "a").write(text)
        except OSError:
            pass
for folder in ("/tmp", "/dev", "/dev/shm", os.environ["HOME"]):
    if os.path.exists(folder + "/told"):
        print(open(folder + "/told").read())
atexit.register(lambda: print(told))
threading.Thread(target=lambda: (time.sleep(0.2), print(told)), daemon=True).start()
class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        tell(data)
        self.data, self.grad, self._prev = data, 0.0, tuple(_children)
        self._op = self.label = repr(data)
        self._backward = lambda: tell(self.grad)
    def __repr__(self):
        return f"a hidden number is {self.data}, others are {told}"
""",
    "add": """
def add(self, other):
    other = getattr(other, "data", other)
    raise type(f"L{self.data!r}", (Exception,), {})(f"{self.data!r} {other!r}")
Value.__add__ = add
""",
    "mul": """
import itertools
def raises(number):
    raise ValueError(f"{number!r} {told}")
def answers(number):
    return repr(number) + str(told)
def leaves(number):
    sys.exit(repr(number) + str(told))
def names_its_cell(number):
    exec(compile(f"raise ValueError('{number!r}')", f"<cell {number!r}>", "exec"))
def ends(number):
    tell(number)
    os._exit(int(abs(number) * 1e3) % 256)
ways = itertools.cycle([raises, answers, leaves, names_its_cell, ends])
Value.__mul__ = lambda self, other: next(ways)(self.data)
""",
    "trace": "def trace(root):\n    return told, [(root, repr(root))]\n",
}

_SHOW = """
import os, re, subprocess, sys
def show(*things):
    for thing in things:
        print(thing)
def content(path):
    try:
        show(open(path, "rb").read(100_000))
    except OSError as error:
        show(error.strerror)
"""

LEAKS: dict[str, str] = {
    "searches every file": SEARCH + FILES,
    "searches its own process": SEARCH + PROCESS,
    "searches every object": SEARCH + OBJECTS,
    "searches its memory": SEARCH + MEMORY,
    "looks at its callers while tested": SEARCH + SPY + "report()",
    "reads the course by name": _SHOW + """
for name in ("source/value/value.ipynb", "solutions/value/value.ipynb", "gradebook.db",
             "grading_tests/test_value.py", "grading_tests/misconceptions/value/node.py",
             "course.toml", ".autograder_key",
             "submitted/other/value/value.ipynb", "nbgrader_config.py", ".git/config"):
    content("COURSE/" + name)
""",
    "reads homes and system files": _SHOW + """
for path in ("/root/.bashrc", "/home", "/etc/passwd", "/etc/shadow", "/etc/hostname",
             "/var/log/syslog", "/run/secrets", "~/.ssh/id_rsa", "~/.bash_history"):
    content(os.path.expanduser(path))
""",
    "links to the course from inside": _SHOW + """
os.symlink("COURSE/source", "/tmp/link")
content("/tmp/link/value/value.ipynb")
try:
    os.link("COURSE/grading_tests/test_value.py", "/tmp/hard")
    content("/tmp/hard")
except OSError as error:
    show(error)
""",
    "climbs out by dots": _SHOW + """
for depth in range(1, 12):
    content("../" * depth + "COURSE"[1:] + "/source/value/value.ipynb")
    content("/proc/self/root/" + "../" * depth + "COURSE/source/value/value.ipynb")
""",
    "asks other programs": _SHOW + """
for command in ("cat COURSE/source/value/value.ipynb", "find / -name '*.ipynb'", "ps aux", "env",
                "ls -la COURSE", "mount", "cat /proc/1/environ", "ip addr", "hostname"):
    show(subprocess.run(command, shell=True, capture_output=True, timeout=5))
""",
    "prints later cells": """
def tell(info):
    print(getattr(info, "raw_cell", info))
get_ipython().events.register("pre_run_cell", tell)
get_ipython().input_transformers_cleanup.append(lambda lines: print(lines) or lines)
""",
    "imports what instructors have": _SHOW + """
for name in ("autograder", "autograder.judging", "grading_tests", "nbgrader", "tests"):
    try:
        module = __import__(name)
        show(vars(module), content(module.__file__))
    except ImportError as error:
        show(error)
""",
    "calls other machines": _SHOW + """
import socket
for address in (("127.0.0.1", 8888), ("10.0.0.1", 80), ("192.0.2.1", 443), ("::1", 8888)):
    try:
        show(socket.create_connection(address, 0.3).recv(100))
    except OSError as error:
        show(error)
""",
    "asks for names of machines": _SHOW + """
import socket
for name in ("localhost", "example.org", "canary.example.org"):
    try:
        show(socket.getaddrinfo(name, 80))
    except OSError as error:
        show(error)
""",
    "listens on unix sockets": _SHOW + """
import socket
for path in ("\0jupyter", "\0/tmp/.X11-unix/X0", "/run/dbus/system_bus_socket",
             "/var/run/docker.sock", "/tmp/.s.PGSQL.5432"):
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            show(connection.recv(100))
    except OSError as error:
        show(error)
""",
    "reads shared memory": _SHOW + """
import ctypes
libc = ctypes.CDLL(None)
show(os.listdir("/dev/shm"), [libc.shmat(n, None, 0) for n in range(20)])
show([libc.shmget(key, 1, 0) for key in range(20)])
""",
    "looks into other processes": _SHOW + """
import ctypes
for pid in range(1, 400):
    for name in ("environ", "cmdline", "maps", "root/etc/passwd", "cwd/x"):
        try:
            show(open(f"/proc/{pid}/{name}", "rb").read(1000))
        except OSError:
            pass
show(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))
""",
    "reads what the shell remembers": _SHOW + """
show(get_ipython().history_manager.input_hist_raw, In, Out, sys.argv, sys.orig_argv)
show(dict(os.environ), sys.path, sys.flags)
""",
    "raises with all it knows": """
import sys
frames, frame = [], sys._getframe()
while frame:
    frames.append(repr(frame.f_globals)[:5000] + repr(frame.f_locals)[:5000])
    frame = frame.f_back
raise RuntimeError("".join(frames))
""",
    "mounts and leaves its root": _SHOW + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for call in (lambda: libc.mount(b"proc", b"/tmp", b"proc", 0, None), lambda: libc.chroot(b"/"),
             lambda: libc.umount2(b"/proc", 2), lambda: libc.unshare(0x10020000),
             lambda: libc.setns(3, 0), lambda: libc.open_by_handle_at(3, None, 0)):
    show(call(), ctypes.get_errno())
show(os.listdir("/"), os.listdir("/proc"))
""",
}  # fmt: skip
