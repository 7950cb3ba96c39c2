"""Submissions that try to earn points without solving an exercise. None may earn a point.

A forgery is code that takes the place of the first answer in an otherwise empty notebook. A change
is a function that edits the JSON of an empty notebook.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def raise_points(notebook: Any) -> None:
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if "points" in marks:
            marks["points"] = 1000


def duplicate_tests(notebook: Any) -> None:
    for cell in list(notebook["cells"]):
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade"):
            again = json.loads(json.dumps(cell))
            again["metadata"]["nbgrader"]["points"] = 1000
            again["source"] = "4.0"
            again["outputs"] = [{"output_type": "execute_result", "execution_count": 1,
                                 "metadata": {}, "data": {"text/plain": "1000.0"}}]  # fmt: skip
            notebook["cells"] += [again]


def unlock_tests(notebook: Any) -> None:
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade"):
            marks.update(locked=False, solution=True)
            cell["source"] = "1000.0"


def make_up_exercises(notebook: Any) -> None:
    marks = {"grade": True, "solution": False, "locked": True, "points": 1000, "schema_version": 3}
    for index in range(3):
        notebook["cells"].append(
            {"cell_type": "code", "source": "1000.0", "outputs": [], "execution_count": 1,
             "metadata": {"nbgrader": {**marks, "grade_id": f"test_more_{index}"}}}
        )  # fmt: skip


def make_answers_given(notebook: Any) -> None:
    """Put points into the outputs of all cells in the file."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1,
                                "metadata": {}, "data": {"text/plain": "4.0"}}]  # fmt: skip


def make_tests_manual(notebook: Any) -> None:
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade"):
            marks.update(task=True, grade=True, solution=True)
            cell["cell_type"] = "markdown"


def delete_tests(notebook: Any) -> None:
    notebook["cells"] = [
        cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")
    ]


def tag_everything(notebook: Any) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["demonstration", "marking-guide", "raises-exception", "skip"]


def say_it_is_graded(notebook: Any) -> None:
    notebook["metadata"]["autograder"] = {"graded": "x", "seed": "00"}
    notebook["metadata"]["autograder_notes"] = {"node": ["full marks"]}


CHANGES: dict[str, Callable[[Any], None]] = {
    change.__name__.replace("_", " "): change
    for change in (
        raise_points, duplicate_tests, unlock_tests, make_up_exercises, make_answers_given,
        make_tests_manual, delete_tests, tag_everything, say_it_is_graded,
    )
}  # fmt: skip

PATCH = """
from guest import protocol, session, shell, steps
"""
SAYS = (
    PATCH
    + """
def perform(self, request):
    return {"values": [VALUE] * len(request["steps"])}
steps.Steps.perform = perform
"""
)
FORGERIES: dict[str, str] = {
    "always equal": """
class Equal(float):
    __eq__ = __ge__ = __le__ = lambda *a: True
    __ne__ = __lt__ = __gt__ = lambda *a: False
    __hash__ = float.__hash__
    __float__ = __abs__ = __sub__ = __rsub__ = lambda *a: Equal(0.0)
class Value:
    def __init__(self, *a, **k): pass
    def anything(self, *a): return Value()
    __getattr__ = lambda self, name: Equal(0.25)
    __add__ = __mul__ = __pow__ = __sub__ = __neg__ = __truediv__ = anything
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __iter__ = __call__ = anything
trace = lambda *a: Equal(0.25)
""",
    "lying class": """
class Liar:
    __class__ = property(lambda self: float)
    __eq__ = lambda *a: True
    __hash__ = lambda self: 0
    __float__ = lambda self: 0.25
    __index__ = __int__ = __bool__ = lambda self: 1
    __iter__ = lambda self: iter([self] * 2)
    __getattr__ = lambda self, name: Liar()
    __call__ = lambda self, *a, **k: Liar()
    for name in ("add", "mul", "pow", "sub", "neg", "truediv", "radd", "rsub", "rmul", "rtruediv"):
        locals()[f"__{name}__"] = lambda self, *a: Liar()
Value = trace = Liar()
""",
    "patched builtins": """
import builtins, json, math, operator, random
for module in (builtins, math, operator, random, json):
    for name in ("isclose", "abs", "all", "any", "sorted", "isinstance", "hasattr", "callable",
                 "eq", "uniform", "repr", "getattr", "sum", "round", "dumps"):
        if hasattr(module, name):
            setattr(module, name, lambda *a, **k: True)
""",
    "exits with success": "import os\nclass Value:\n    def __init__(self, *a, **k): os._exit(0)\n",
    "exits with success later": """
import os, threading
threading.Timer(0.3, os._exit, [0]).start()
""",
    "sys.exit(0)": "class Value:\n    def __init__(self, *a, **k): raise SystemExit(0)\n",
    "a float as the result": "40.0",
    "a display of full marks": """
from IPython.display import display, HTML
display({"text/plain": "4.0", "text/html": "<b>passed</b>"}, raw=True)
print('{"outputs": [], "passed": true}')
4.0
""",
    "AST transformer": """
import ast
class Passes(ast.NodeTransformer):
    def visit_Raise(self, node): return ast.Pass()
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Passes())
""",
    "input transformer": """
get_ipython().input_transformers_cleanup.append(lambda lines: ["4.0\\n"])
get_ipython().run_cell = lambda *a, **k: None
""",
    "frames": """
import sys
class Value:
    def __init__(self, *a, **k):
        frame = sys._getframe()
        while frame:
            for name in ("passed", "points", "score", "value", "result", "expected"):
                if name in frame.f_locals:
                    frame.f_locals[name] = True
            frame = frame.f_back
""",
    "an exception as an answer": """
class Value:
    def __init__(self, *a, **k): raise AssertionError
    __getattr__ = lambda *a: 0.0
""",
    "a verdict said in advance": """
import gc, json, struct
from guest.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection._socket
ran = {"outputs": [], "execution_count": 1, "error": None, "stopped": []}
for said in [ran] + [{"values": [1.0]}] * 500:
    body = json.dumps(said).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)
""",
    **{
        f"says {value} to everything": SAYS.replace("VALUE", repr(value))
        for value in (
            0, 0.0, 1.0, True, None, "", "Value", {"list": []}, {"tuple": [0.0, {"list": [0.0]}]},
            {"object": 0}, {"object": 1}, {"large": 0}, {"float": "nan"}, {"set": []},
        )
    },
    **{
        f"replies {reply}": PATCH + f"steps.Steps.perform = lambda self, request: {reply}"
        for reply in (
            {"values": []}, {"values": [1.0], "passed": True}, {"passed": True}, {"error": []}, {},
            {"values": [], "error": ["TypeError"]}, {"values": [], "error": ["ValueError"]},
        )
    },
    "says the next object each time": PATCH + """
def perform(self, request):
    return {"values": [{"object": n} for n in range(len(request["steps"]))]}
steps.Steps.perform = perform
""",
    "says what it was given": PATCH + """
def perform(self, request):
    numbers = [a for step in request["steps"] for a in step[1:] if isinstance(a, float)]
    return {"values": [numbers[-1] if numbers else 0.0] * len(request["steps"])}
steps.Steps.perform = perform
""",
    "looks for the expected value in what it was sent": PATCH + """
sent = []
whole = steps.Steps.perform
def perform(self, request):
    sent.append(str(request))
    return whole(self, request)
steps.Steps.perform = perform
class Value:
    def __init__(self, data, *a, **k): self.given = data
    def sent(self):
        import re
        numbers = [float(n) for n in re.findall(r"-?\\d+\\.\\d+", sent[-1])]
        return max(numbers, key=lambda n: n != self.given)
    data = grad = property(sent, lambda self, value: None)
    __add__ = __mul__ = lambda self, other: self
""",
    "a new number each time": PATCH + """
import itertools
count = itertools.count()
def perform(self, request):
    return {"values": [float(next(count)) for _ in request["steps"]]}
steps.Steps.perform = perform
""",
    "a difference that is always nothing": """
class Nothing(float):
    __sub__ = __rsub__ = __abs__ = __neg__ = __truediv__ = __mul__ = lambda *a: 0.0
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda *a: True
    __hash__ = float.__hash__
class Value:
    def __init__(self, *a, **k): self.data = self.grad = Nothing(7.0)
    _prev, _op, label, _backward = (), "", "", lambda self: None
    __add__ = __mul__ = __pow__ = __radd__ = __sub__ = __neg__ = lambda *a: Value()
""",
    "patched encoding": PATCH + "protocol.encode = lambda *a: 0.0",
    "patched session": PATCH + """
session.Session.reply_to = lambda self, request: {"values": [True], "passed": True, "points": 4}
""",
    "patched helper modules": PATCH + """
class Anything:
    def __getattr__(self, name): return lambda *a, **k: (0.0, [0.0])
steps.Steps._module = lambda self, *a: Anything()
""",
    "always equal int": """
class Equal(int):
    __eq__ = lambda *a: True
    __hash__ = int.__hash__
    __sub__ = __rsub__ = __abs__ = __float__ = __index__ = lambda *a: 0
class Value:
    data = grad = _prev = _op = label = _backward = Equal(1)
    def __init__(self, *a, **k): pass
    __add__ = __mul__ = __pow__ = __radd__ = lambda *a: Value()
""",
    "text that equals everything": """
class Same(str):
    __eq__ = lambda *a: True
    __hash__ = str.__hash__
class Value:
    def __init__(self, data, *a, **k): self.data = self.grad = self._op = self.label = Same("1.0")
""",
    "an object that is unpickled": """
import os
class Bomb:
    def __reduce__(self): return (os._exit, (0,))
    __reduce_ex__ = lambda self, version: (os._exit, (0,))
class Value(Bomb):
    def __init__(self, *a, **k): self.data = self.grad = Bomb()
trace = lambda *a: Bomb()
""",
    "reads the expected value in the frames of its callers": """
import sys
def expected(self):
    frame = sys._getframe(1)
    while frame:
        for name, value in frame.f_locals.items():
            if "expect" in name or "right" in name:
                return value
        frame = frame.f_back
    return 0.0
class Value:
    def __init__(self, *a, **k): pass
    data = grad = property(expected, lambda self, value: None)
    __add__ = __mul__ = lambda self, other: self
""",
    "reads the expected value among all objects": """
import gc
def expected(self):
    numbers = [n for o in gc.get_objects() if type(o) in (list, tuple) for n in o
               if type(n) is float and n != self.given]
    return numbers[-1] if numbers else 0.0
class Value:
    def __init__(self, data, *a, **k): self.given = data
    data = grad = property(expected, lambda self, value: None)
    __add__ = __mul__ = lambda self, other: self
""",
    "reads the memory of the grader": """
import os
def trace(root):
    for pid in (os.getppid(), 1, "self"):
        for name in ("mem", "environ", "maps", "cmdline", "fd/3"):
            try:
                open(f"/proc/{pid}/{name}", "rb").read(100)
                return {root}
            except OSError:
                pass
""",
    "writes verdicts into every open descriptor": """
import json, os, struct
for said in ({"passed": True, "points": 40}, {"values": [1.0]}):
    body = json.dumps(said).encode()
    for fd in range(64):
        try:
            os.write(fd, struct.pack(">I", len(body)) + body)
            os.write(fd, body)
        except OSError:
            pass
""",
    "a report on standard output": """
import json, sys
report = {"assignment": "value", "score": 16.0, "max_score": 16.0,
          "exercises": [{"id": "node", "points": 3.0, "status": "passed"}]}
print(json.dumps(report)); print(json.dumps(report), file=sys.stderr)
sys.__stdout__.write(json.dumps(report))
""",
    "patches what runs tests": """
import sys, types
for name in ("pytest", "_pytest", "autograder", "nbgrader", "autograder.judging.hidden_tests"):
    module = sys.modules[name] = types.ModuleType(name)
    module.approx = lambda *a, **k: type("Any", (), {"__eq__": lambda *a: True})()
""",
    "patches the visible check": """
import coursecheck.check
coursecheck.check.check = coursecheck.check = check = lambda *a, **k: print("passed")
""",
    "patches the way numbers are written": """
import json, json.encoder
json.dumps = lambda *a, **k: '{"values": [1.0]}'
json.encoder.JSONEncoder.encode = lambda *a: '{"values": [1.0]}'
json.loads = lambda *a, **k: {"steps": []}
""",
    "acts when an object is thrown away": """
from guest import protocol
class Later:
    def __del__(self): protocol.encode = lambda *a: 1.0
later = Later(); del later
class Value:
    def __init__(self, *a, **k): self.later = Later()
""",
    "acts from a thread after the cell": """
import threading, time
from guest import steps
def later():
    time.sleep(0.1)
    steps.Steps.perform = lambda self, request: {"values": [1.0] * len(request["steps"])}
threading.Thread(target=later, daemon=True).start()
""",
    "acts on a timer's signal": """
import signal
from guest import steps
def later(*_):
    steps.Steps.perform = lambda self, request: {"values": [True] * len(request["steps"])}
signal.signal(signal.SIGALRM, later); signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
""",
    "acts when the process ends": """
import atexit, os
atexit.register(os._exit, 0)
class Value:
    def __init__(self, *a, **k): raise KeyboardInterrupt
""",
    "stops its parents": """
import os, signal
for pid in (os.getppid(), 1, 2, 0, -1):
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGHUP):
        try:
            if pid > 0: os.kill(pid, number)
        except OSError:
            pass
""",
    "answers from the visible examples": """
class Value:
    def __init__(self, *a, **k): pass
    data, grad = 6.0, 5.0
    __add__ = __mul__ = lambda self, other: self
def trace(root):
    return [object()] * 5
""",
    "answers what it was asked before": """
import os
class Value:
    def __init__(self, data, *a, **k):
        kept = "/tmp/kept"
        old = open(kept).read().split() if os.path.exists(kept) else ["0"]
        open(kept, "a").write(f" {data}")
        self.data = self.grad = float(old[-1])
    __add__ = __mul__ = lambda self, other: self
""",
    "looks whether it is tested": """
import sys, inspect
tested = any("guest" in frame.filename for frame in inspect.stack())
class Value:
    def __init__(self, *a, **k):
        if tested: raise SystemExit(0)
""",
    **{
        f"imports {library}": f"""
try:
    import {library}
    from {library} import *
except ImportError:
    pass
try:
    Value
except NameError:
    raise SystemExit(0)
"""
        for library in ("torch", "jax", "autograd", "sympy", "micrograd", "tensorflow",
                        "autograder.reference", "grading_tests", "solutions")
    },
    "installs a library": """
import subprocess, sys
subprocess.run([sys.executable, "-m", "pip", "install", "micrograd"], timeout=1)
from micrograd.engine import Value
""",
    "modules that shadow others": """
import os, sys, importlib
for folder in (os.getcwd(), os.environ["HOME"], "/tmp"):
    for name in ("math", "json", "course", "guest", "sitecustomize", "usercustomize", "random"):
        open(f"{folder}/{name}.py", "w").write("def __getattr__(name): return lambda *a, **k: 1.0")
    open(f"{folder}/x.pth", "w").write("import os; os._exit(0)")
    sys.path.insert(0, folder)
for name in ("math", "json", "random"):
    sys.modules.pop(name)
""",
    "IPython's start-up files and extensions": """
import os
folder = os.path.expanduser("~/.ipython/profile_default/startup")
os.makedirs(folder, exist_ok=True)
open(folder + "/00.py", "w").write("print(40.0)")
open("evil.py", "w").write("def load_ipython_extension(ip): ip.user_ns['Value'] = float")
import sys; sys.path.insert(0, ".")
get_ipython().run_line_magic("load_ext", "evil")
""",
    "exceptions with the names of verdicts": """
class passed(Exception): pass
class Value:
    def __init__(self, *a, **k): raise passed("4 of 4 points")
""",
    "the number that was given last": """
class Value:
    given = [0.0]
    def __init__(self, data, *a, **k): Value.given.append(data)
    data = property(lambda self: Value.given[-1])
""",
    "a text that shows what the node says": """
class Value:
    def __init__(self, data, *a, **k): pass
    data = grad = property(lambda self: 0.5, lambda self, value: None)
    __repr__ = lambda self: "Value(0.5)"
""",
    "a text that shows every number": """
class Any(float):
    __eq__ = lambda *a: True
    __hash__ = float.__hash__
class Value:
    def __init__(self, data, *a, **k): pass
    data = grad = property(lambda self: Any(1), lambda self, value: None)
    __repr__ = lambda self: "Value " + " ".join(f"{n / 4}" for n in range(400))
""",
    "a number of its own kind, another each time": """
import itertools, numbers
count = itertools.count()
class Other(numbers.Real):
    for name in numbers.Real.__abstractmethods__:
        locals()[name] = lambda *a: Other()
    __float__ = lambda self: float(next(count))
    __eq__ = lambda *a: True
    __hash__ = lambda self: 0
class Value:
    def __init__(self, *a, **k): self.data = self.grad = Other()
    __add__ = __mul__ = __pow__ = __neg__ = lambda *a: Value()
""",
    "a class that answers every name": """
class Everything(type):
    def __getattr__(cls, name): return lambda *a, **k: 1.0
    def __instancecheck__(cls, other): return True
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
class Value(metaclass=Everything):
    def __new__(cls, *a, **k): return 1.0
""",
    "a namespace that answers every name": """
class Names(dict):
    def __missing__(self, name): return lambda *a, **k: 1.0
get_ipython().user_ns.__class__
try:
    get_ipython().user_ns = Names(get_ipython().user_ns)
except Exception:
    pass
""",
}  # fmt: skip
