"""Submissions that try to stop the grader, and messages that break the protocol.

After a cell of `SURVIVABLE`, its process can still be used. A cell of `FATAL` ends its process for
the stated reason; so does a cell of `PROCESSES` if it may start processes. Code of `MALFORMED`,
which follows `CONNECTION` in a cell, sends invalid replies. Each cell costs only its own exercise.
"""

from __future__ import annotations

SURVIVABLE = {
    "exception": "1 / 0",
    # The student's process is pid 1 of its namespace: no signal from within can kill it.
    "kills itself": "import os\nfor number in (1, 2, 3, 9, 15, 19): os.kill(os.getpid(), number)",
    "kills all": "import os\nif os.fork() == 0: os.kill(-1, 9); os.kill(0, 9)\nos.kill(-1, 9)",
    "sys.exit": "raise SystemExit(0)",
    "deep recursion": "def f(): f()\nf()",
    "descriptors": "import os\nheld = []\nwhile True: held.append(os.open('/dev/null', 0))",
    "one large file": "f = open('/tmp/large', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "many files": "for i in range(10**6): open(f'/tmp/{i}', 'w').write('x')",
    "full disk": """
        for i in range(10**6):
            open(f'/tmp/{i}', 'wb').write(bytes(4 << 20))
    """,
    "sparse file": "open('/tmp/sparse', 'wb').truncate(1 << 40)",
    "lying traceback": """
        class E(Exception):
            def __str__(self): raise E
        raise E
    """,
    "no stdout": "import sys; sys.stdout = None; sys.stderr = 5; del sys.stdin; 1 / 0",
}

FATAL = {
    "endless loop": ("while True: pass", "timeout"),
    "a loop that swallows everything": (
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            try:
                while True: pass
            except BaseException:
                pass
        """,
        "timeout",
    ),
    "a loop in C": ("sum(range(10**12))", "timeout"),
    "pathological regex": ("import re; re.match('(a+)+$', 'a' * 60 + 'b')", "timeout"),
    "huge power": ("x = 3 ** 10 ** 12", "timeout"),
    "os._exit": ("import os; os._exit(0)", "crashed"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crashed"),
    "abort": ("import os; os.abort()", "crashed"),
    "closes its connection and loops": (
        "import os; os.closerange(0, 256)\nwhile True: pass",
        "crashed",
    ),
    "thread bomb": (
        """
        import threading, time
        threading.stack_size(65536)
        try:
            for _ in range(10**5):
                threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        except RuntimeError:
            time.sleep(1000)
        """,
        "crashed",
    ),
}

PROCESSES = {
    "fork bomb": ("import os\nwhile True: os.fork()", "crashed"),
    "many sleeping processes": (
        """
        import os, time
        for _ in range(60):
            if os.fork() == 0:
                time.sleep(1000)
        while True: pass
        """,
        "crashed",
    ),
    "memory of many processes": (
        """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20)) * 200
                time.sleep(1000)
        time.sleep(1000)
        """,
        "out_of_memory",
    ),
}

CONNECTION = """
import gc, json, os, socket, struct, time
from guest.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection._socket
def say(body):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)
"""
MALFORMED = {
    "garbage": "connection.sendall(os.urandom(5000))",
    "a huge length": "connection.sendall(b'\\xff' * 100); time.sleep(100)",
    "just over the limit": "connection.sendall(struct.pack('>I', (8 << 20) + 1)); time.sleep(100)",
    "half a frame": "connection.sendall(struct.pack('>I', 1000) + b'x'); time.sleep(100)",
    "a slow frame": """
connection.sendall(struct.pack('>I', 1000))
while True:
    connection.sendall(b'1'); time.sleep(0.1)
""",
    "not UTF-8": "say(b'\\xff\\xfe')",
    "deep JSON": "say(b'[' * 100_000)",
    "millions of objects": "say(b'{\"outputs\": [' + b'{},' * 5_000_000 + b'{}]}')",
    "NaN": "say(b'{\"outputs\": NaN}')",
    "infinity": "say(b'-Infinity')",
    "a huge int": "say(b'9' * 100_000)",
    "a number": "say(5)",
    "a list": "say([])",
    "null": "say(None)",
    "a request of its own": "say({'callback': 0, 'arguments': []})",
    "steps of its own": "say({'steps': [['name', 'student']]})",
    "values instead of outputs": "say({'values': [1.0, True]})",
    "no reply to a cell": "say({})",
    "silence": "connection.shutdown(socket.SHUT_WR); time.sleep(100)",
}

BOMBS = {
    "a huge product": """
class Bad(Value):
    def __init__(self): self.data = (1 << 2**29) - 1
Value.__mul__(Bad(), Bad())
""",
    "a huge text": """
class Bad(Value):
    def __init__(self): self.data = "x" * 999_999
class Times(Value):
    def __init__(self): self.data = 10**9
Value.__mul__(Bad(), Times())
""",
    "a number that never comes": """
class Endless(Value):
    data = property(lambda self: sum(iter(int, 1)), lambda self, data: None)
Value.__add__(Endless(1.0), 1.0)
""",
    "calls without end": """
class Again(Value):
    data = property(lambda self: (self + self).data, lambda self, data: None)
Again(1.0) + 1.0
""",
}

DISPLAYS = {
    "prints without end": "while True: print('x' * 1000)",
    "a display of 100 MB": """
from IPython.display import display
display({"text/plain": "x" * 10**8, "text/html": "<b>" * 10**7}, raw=True)
""",
    "a million displays": """
from IPython.display import display
for i in range(10**6): display({"text/plain": "x"}, raw=True)
""",
    "a number of a million digits": "import sys; sys.set_int_max_str_digits(0); 10**10**6",
    "a representation that never ends": """
class Endless:
    def __repr__(self): return repr([self])
Endless()
""",
    "an error with a message of 50 MB": "raise ValueError('x' * 50_000_000)",
    "a display nested without end": """
from IPython.display import display
deep = []
for _ in range(10**5): deep = [deep]
display({"application/json": deep, "text/plain": "x"}, raw=True)
""",
    "a number too large for floats as an answer": """
def trace(root): return 10**100_000
""",
    "a text of 900 kB as an answer": """
def trace(root): return "9" * 900_000
""",
    "a list nested without end as an answer": """
def trace(root):
    deep = []
    deep.append(deep)
    return deep
""",
    "a million items as an answer": """
def trace(root): return [[0.0] * 1000] * 1000
""",
}
