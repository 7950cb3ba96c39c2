"""Nothing secret reaches a student, and no point is had without solving an exercise."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder import suite
from autograder.assignments import find_course, load_assignment
from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.sandbox import Limits
from autograder.submissions import grade_file

REPOSITORY = find_course(Path(__file__).parent)
RIGHT = {e.id: e.solution for e in load_assignment(REPOSITORY, "value").exercises.values()}
CANARY = re.compile(r"canary-[0-9a-f]{16}")
CONTROL = "canary-" + "0" * 16


def plant(path: Path, *places: tuple[str, str]) -> None:
    """Put a canary before or after a text in a file: the text with {} in it says where."""
    text = path.read_text()
    for place, replacement in places:
        assert place in text, f"{path}: no {place!r}"
        text = text.replace(place, replacement.replace("{}", "canary-" + secrets.token_hex(8)), 1)
    path.write_text(text)


def run(folder: Path, *command: str) -> str:
    """Run Python in a copy of the repository, with that copy's own packages."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def secret_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with a canary in everything that is not for students."""
    folder = tmp_path_factory.mktemp("secret") / "repository"
    folder.mkdir()
    for name in ("course", "autograder", "grading_tests", "source", "release", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    for name in ("nbgrader_config.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(REPOSITORY / name, folder / name)
    package = folder / "autograder"
    plant(package / "reference.py", ("class Value:", "SECRET = '{}'\n\n\nclass Value:  # {}"))
    plant(package / "suite.py", ("class Suite:", "SECRET = '{}'\n\n\nclass Suite:"))
    plant(package / "engines.py", ("class Engine:", "SECRET = '{}'\n\n\nclass Engine:"))
    plant(package / "grading.py", ("class Grader:", "SECRET = '{}'\n\n\nclass Grader:"))
    plant(
        package / "misconceptions" / "value.py",
        ("self.data = int(data)", "self.data = int(data)  # {}\n        secret = '{}'"),
    )
    plant(
        folder / "grading_tests" / "test_value.py",
        ("class TestAdd:", "class TestAdd:\n    secret = '{}'  # {}\n"),
        ('@exercise("add")', 'SECRET = "{}"\n\n\n@exercise("add")'),
    )
    plant(
        folder / "source" / "value" / "value.ipynb",
        ('"### BEGIN HIDDEN TESTS\\n",', '"### BEGIN HIDDEN TESTS\\n", "# {}\\n",'),
        (
            '"    ### BEGIN SOLUTION\\n",',
            '"    ### BEGIN SOLUTION\\n", "    secret = \'{}\'  # {}\\n",',
        ),
    )  # fmt: skip
    plant(
        folder / "solutions" / "value" / "value.ipynb", ('"metadata": {', '"metadata": {"s": "{}",')
    )
    (folder / ".autograder_key").write_text(secrets.token_hex(32) + "\n")
    other = folder / "submitted" / "other" / "value"
    other.mkdir(parents=True)
    theirs = "import os\nprint('canary-' + os.urandom(8).hex())\nos.system('echo ' + _)"
    answers = {"node": f"# canary-{secrets.token_hex(8)}\n{theirs}"}
    (other / "value.ipynb").write_text(filled_notebook(folder, "value", answers))
    return folder


# What students receive.


@pytest.mark.slow
def test_the_wheel_is_made_of_course_alone(secret_course, tmp_path):
    run(secret_course, "-m", "build", "--wheel", "--outdir", str(tmp_path))
    [wheel] = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        assert {re.sub("-.*", "", top) for top in tops} == {"course", "autograd_course"}
        assert not any(name.endswith(".ipynb") for name in archive.namelist())
        for name in archive.namelist():
            content = archive.read(name).decode(errors="replace")
            assert not CANARY.search(content), name
            assert not re.search(r"^\s*(from|import) autograder", content, re.MULTILINE), name


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
open("/tmp/control", "w").write(control)
system = ("/usr", "/bin", "/lib", "/dev", sys.base_prefix)
for folder, folders, files in os.walk("/"):
    for name in files:
        path = os.path.join(folder, name)
        look("name", path)
        try:
            if not folder.startswith(system) and os.path.getsize(path) < 1 << 20:
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
def numerical_derivative(f, x, h=1e-5):
    look("function", repr([f, vars(f), f.__closure__, [c.cell_contents for c in f.__closure__],
                           f.__code__.co_consts, f.__doc__, f.__defaults__]))
    try:
        f("x" * 10)
    except Exception as error:
        trace = error.__traceback__
        look("error", repr(error) + repr(error.args) + repr(error.__context__))
        while trace:
            look("trace", repr(trace.tb_frame.f_locals))
            trace = trace.tb_next
    return 0.0
trace = push_gradients = lambda *a: spy("in a call")
"""
HOSTILE = {**RIGHT} | {
    name: f"{RIGHT[name]}\n{search}"
    for name, search in [
        ("node", SEARCH + FILES), ("add", PROCESS), ("mul", OBJECTS), ("pow", MEMORY)
    ]
}  # fmt: skip
WHILE_TESTED = """
import sys
from autograder.assignments import find_course, load_assignment
from autograder.engines import Engine, RemoteChannel
from autograder.grading import give
from autograder.sandbox import WarmServer
from autograder.suite import Suite

course = find_course()
assignment = load_assignment(course, "value")
with Suite(assignment.tests) as suite, WarmServer() as server, server.spawn(1) as student:
    for cell in CELLS:
        answer = student.request({"cell": cell}, 60)
        assert answer["error"] is None, answer
    give(Engine(RemoteChannel(student)), assignment.exercises["trace"].solution, [])
    for exercise in suite.exercises:
        for _ in suite.run(exercise, lambda: Engine(RemoteChannel(student)), b"seed"):
            pass
    last = "look('given', repr(trace) + repr(vars(trace)) + repr(gc.get_referents(trace)))"
    student.request({"cell": last + "\\nlook('check', control)"}, 60)
    print(student.request({"cell": OBJECTS_CELL}, 60)["outputs"][0]["text"])
    print(vars(sys.modules["autograder.reference"])["SECRET"])
"""


@pytest.fixture(scope="module")
def school(secret_course: Path) -> Path:
    """The secret course released, with submissions graded and feedback made by nbgrader."""
    run(secret_course, "-m", "nbgrader", "generate_assignment", "value", "--force")
    students = {
        "right": RIGHT,
        "wrong": {**RIGHT, "node": RIGHT["node"].replace("float(data)", "int(data)")},
        "hostile": HOSTILE,
        "leaky": LEAKY,
        "not_started": {},
    }
    for name, answers in students.items():
        folder = secret_course / "submitted" / name / "value"
        folder.mkdir(parents=True)
        (folder / "value.ipynb").write_text(filled_notebook(secret_course, "value", answers))
    run(secret_course, "-m", "nbgrader", "autograde", "value", "--log-level=ERROR")
    run(secret_course, "-m", "nbgrader", "generate_feedback", "value", "--log-level=ERROR")
    return secret_course


@pytest.mark.slow
def test_the_release_holds_nothing_secret(school):
    text = (school / "release/value/value.ipynb").read_text()
    assert not CANARY.search(text)
    assert "HIDDEN" not in text and "SOLUTION" not in text
    assert CANARY.search((school / "source/value/value.ipynb").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("student", ["right", "wrong", "hostile", "leaky", "not_started"])
def test_feedback_holds_nothing_secret(school, student):
    page = (school / "feedback" / student / "value" / "value.html").read_text()
    assert set(CANARY.findall(page)) <= {CONTROL}
    for text in ("HIDDEN TESTS", "run_hidden_tests", "autograder/", "grading_tests"):
        assert text not in page


@pytest.mark.slow
def test_searching_everything_within_reach_finds_nothing(school):
    """The search finds the control that it planted, so it does search; and nothing else."""
    notebook = nbformat.read(school / "autograded/hostile/value/value.ipynb", as_version=4)
    shown = {
        cell.metadata.nbgrader.grade_id: "".join(
            output.get("text", output.get("evalue", "")) for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    hidden_tests = planted_in_hidden_tests(school)
    assert set(CANARY.findall(json.dumps(notebook.cells))) - hidden_tests == {CONTROL}
    places = {"node": "file", "add": "environment", "mul": "object", "pow": "memory"}
    for cell, place in places.items():
        assert f"{place}: {CONTROL}" in shown[cell], shown


def planted_in_hidden_tests(school: Path) -> set[str]:
    """An autograded notebook, which only instructors see, holds the hidden regions themselves."""
    source = nbformat.read(school / "source/value/value.ipynb", as_version=4)
    return {
        token
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
        for token in CANARY.findall(cell.source)
    }


@pytest.mark.slow
def test_nothing_secret_is_in_reach_while_the_tests_run(school):
    cells = [SEARCH, SPY]
    script = WHILE_TESTED.replace("OBJECTS_CELL", repr(OBJECTS)).replace("CELLS", repr(cells))
    printed = run(school, "-c", script).split("\n")
    *found, secret = [line for line in printed if line]
    assert CANARY.fullmatch(secret), "the copy's own package was not the one that ran"
    assert {line.partition(": ")[2] for line in found} == {CONTROL}


# Hidden numbers.

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
def mul(self, other):
    raise ValueError(f"{self.data!r} {told}")
Value.__mul__ = mul
""",
    "pow": "def power(self, n):\n    return repr(self.data) + str(told)\nValue.__pow__ = power\n",
    "neg_sub": """
def neg(self):
    sys.exit(repr(self.data) + str(told))
Value.__neg__ = Value.__sub__ = neg
""",
    "div": """
def div(self, other):
    tell(self.data)
    os._exit(int(abs(self.data) * 1e3) % 256)
Value.__truediv__ = div
""",
    "trace": "def trace(root):\n    return told, [(root, repr(root))]\n",
    "numerical": """
def numerical_derivative(f, x, h=1e-5):
    exec(compile(f"raise ValueError('{x!r}')", f"<cell {x!r}>", "exec"))
""",
}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The digits of every number that hidden tests draw from now on."""
    digits: list[str] = []

    class Recording(random.Random):
        def uniform(self, a: float, b: float) -> float:
            number = super().uniform(a, b)
            digits.append(repr(number)[:14])
            return number

    monkeypatch.setattr(suite.random, "Random", Recording)
    return digits


@pytest.mark.slow
def test_hidden_numbers_do_not_reach_what_is_shown(school, drawn):
    submitted = school / "submitted/leaky/value/value.ipynb"
    with Grader(school, course_key(school)) as grader:
        notebook, report = grade_file(grader, submitted, "value")
    assert len(set(drawn)) > 50
    page = (school / "feedback/leaky/value/value.html").read_text()
    graded = (school / "autograded/leaky/value/value.ipynb").read_text()
    assert json.loads(graded)["metadata"].get("kernelspec") is not None
    for shown in (page, graded, json.dumps(notebook), json.dumps(report.as_json())):
        assert not [digits for digits in drawn if digits in shown]


# Points without solutions.


@pytest.fixture(scope="module")
def grader(course: Path) -> Iterator[Grader]:
    """A grader that waits for nobody long."""
    limits = Limits(cell_seconds=3.0, step_seconds=2.0, test_seconds=3.0)
    with Grader(course, bytes(range(32)), limits) as quick:
        yield quick


PATCH = """
from inside import objects, session, shell, wire
"""
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
trace = push_gradients = numerical_derivative = lambda *a: Equal(0.25)
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
Value = trace = push_gradients = numerical_derivative = Liar()
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
from inside.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection
for said in [{"outputs": [], "error": None}] + [{"value": 1.0}] * 500:
    body = json.dumps(said).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)
""",
    **{
        f"answers {answer}": PATCH + f"objects.Objects.perform = lambda self, steps: {answer}"
        for answer in (
            {"value": 0}, {"value": 0.0}, {"value": 1.0}, {"value": True}, {"value": None},
            {"value": ""}, {"value": {"list": []}}, {"value": {"object": 1}}, {"value": "Value"},
            {"value": {"float": "nan"}}, {"value": 1, "passed": True}, {"passed": True},
            {"error": []}, {"error": ["TypeError"]}, {"error": ["ValueError"]}, {},
        )
    },
    "answers what it was given": PATCH + """
def perform(self, steps):
    numbers = [a for step in steps for a in step[2:] if isinstance(a, float)]
    return {"value": numbers[-1] if numbers else 0.0}
objects.Objects.perform = perform
""",
    "a new number each time": PATCH + """
import itertools
count = itertools.count()
objects.Objects.perform = lambda self, steps: {"value": next(count)}
""",
    "patched encoding": PATCH + "wire.encode = lambda *a: 0.0",
    "patched session": PATCH + """
session.Session._answer = lambda self, request: {"value": True, "passed": True, "points": 4}
""",
}  # fmt: skip


@pytest.fixture
def forged(grader: Grader, course: Path, tmp_path: Path) -> Callable[..., Any]:
    """The report on a notebook with these answers alone, its JSON changed by `change`."""

    def grade(answers: dict[str, str], change: Callable[[Any], None] | None = None) -> Any:
        notebook = json.loads(filled_notebook(course, "value", answers))
        if change:
            change(notebook)
        path = tmp_path / "value.ipynb"
        path.write_text(json.dumps(notebook))
        return grade_file(grader, path, "value")[1]

    return grade


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_earns_nothing(forged, forgery):
    report = forged({"node": forgery})
    assert report.score == 0, [(r.id, r.points) for r in report.exercises if r.points]
    assert report.max_score == 40


def test_forging_does_not_spoil_what_was_solved(forged):
    """Only what is solved counts, whatever the last cell does to the cells before it."""
    last = "def numerical_derivative(f, x, h=0):\n    return 4.0\n"
    assert forged({**RIGHT, "numerical": last}).score == 38


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


@pytest.mark.parametrize("change", [raise_points, duplicate_tests, unlock_tests, make_up_exercises])
def test_changed_metadata_earns_nothing(forged, change):
    report = forged({}, change)
    assert (report.score, report.max_score) == (0, 40)
    assert forged(RIGHT, change).score == 40


# The grader itself.

BOMBS = {
    "a huge power": "class Bad:\n    data, _prev = 3, ()\nValue.__pow__(Bad(), 10**10)",
    "a huge text": """
class Bad:
    data, _prev = "x" * 999_999, ()
class Times:
    data, _prev = 10**9, ()
Value.__mul__(Bad(), Times())
""",
    "an endless graph": """
class Endless:
    _prev = property(lambda self: (Endless(),))
trace(Endless())
""",
    "calls without end": """
class Again:
    _prev = property(lambda self: trace(self)[0])
trace(Again())
""",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_working_versions_in_hostile_hands_do_not_hold_up_the_grader(forged, bomb):
    """After a failed exercise, the student's cells call the grader's own version of it."""
    wrong = {name: "pass\n" for name in ("mul", "pow", "trace")}
    answers = {**RIGHT, **wrong, "numerical": f"try:\n    pass\nfinally:\n    pass\n{bomb}"}
    points = {result.id: result.points for result in forged(answers).exercises}
    assert points["add"] == 4
    assert not any(points[name] for name in (*wrong, "numerical"))


@pytest.mark.parametrize(
    "output",
    [
        'b\'{"outputs":[{"output_type":"display_data","metadata":{},"data":{"text/plain":\''
        " + b'[' * 900 + b']' * 900 + b'}}]}'",
        '{"outputs": [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": 5}}]}',
        '{"outputs": [{"output_type": "stream", "name": "stdout", "text": "\\ud800"}]}',
        '{"outputs": [{"output_type": "execute_result", "metadata": {}, "execution_count": -5,'
        ' "data": {"image/png": {"a": 1}, "x": [1]}}], "execution_count": 10**30}',
        '{"outputs": 5, "execution_count": "x", "error": {"a": []}}',
        '''b'{"outputs": [{"output_type": "display_data", "metadata": {},'''
        '''"data": {"application/json": 1e999}}]}\'''',
    ],
    ids=["deep", "not a text", "half a character", "wrong types", "not outputs", "infinite"],
)  # fmt: skip
def test_forged_outputs_leave_a_notebook_that_can_be_written(grader, course, tmp_path, output):
    forge = """
import gc, json, struct
from inside.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection
body = OUTPUT
body = body if isinstance(body, bytes) else json.dumps(body).encode()
connection.sendall(struct.pack(">I", len(body)) + body)
""".replace("OUTPUT", output)
    path = tmp_path / "value.ipynb"
    path.write_text(filled_notebook(course, "value", {**RIGHT, "numerical": forge + "# \ud800"}
                                    ).encode("utf-8", "backslashreplace").decode())  # fmt: skip
    notebook, _ = grade_file(grader, path, "value")
    nbformat.validate(notebook)
    nbformat.writes(notebook, version=4).encode()
