"""Every Python from 3.11 to 3.14 recognises mistakes alike, in spite of its own words for
errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from programs import run_program

from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from coursecheck.probes import failure

pytestmark = pytest.mark.slow

COURSE = find_course()
NAMES = assignment_names(COURSE)

# nbformat is made of packages that are built for one Python. A notebook is JSON as well.
TABLES = """
import json, sys, types
from pathlib import Path

class Node(dict):
    __getattr__ = dict.__getitem__

def read(path, as_version):
    notebook = json.loads(Path(path).read_text("utf-8"), object_hook=Node)
    for cell in notebook.cells:
        cell["source"] = "".join(cell["source"])
    return notebook

sys.modules["nbformat"] = types.SimpleNamespace(read=read)
from autograder.course_folder.assignments import load_assignment
from autograder.judging.check_tables import table_text
from coursecheck.probes import play
from namespaces import namespace_at

course = Path(sys.argv[1])


class Here:
    # The probes run in this process, since the sandbox needs IPython.

    def __init__(self, assignment):
        self.assignment = assignment

    def observed(self, exercise, played, source=None):
        scope = namespace_at(self.assignment, exercise.id, source)
        return [play(probe, scope) for probe in played]


assignments = [load_assignment(course, name) for name in sys.argv[2:]]
print(json.dumps({each.name: table_text(each, Here(each)) for each in assignments}))
"""

SETUP = """
import math

class Value:
    def __init__(self, data, label=""):
        self.data = data
    def two(self, other):
        pass

class Bare:
    pass

class Slots:
    __slots__ = ("filled",)

def local():
    count += 1

def free():
    def inner():
        return later
    inner()
    later = 1

value = Value(1.0)
numbers = [1, 2]
"""

# A slip, and its subject. Some versions have other words for many of these.
SLIPS = {
    "undefined": "undefined",
    "local()": "count",
    "free()": "later",
    "import nothing_there": "nothing_there",
    "from math import nothing": "math",
    "None.grad": "NoneType grad",
    "None.grad = 1": "NoneType grad",
    "(1.0).data = 2": "float data",
    "value.missing": "Value missing",
    "Value.missing": "Value missing",
    "math.squareroot(2)": "math squareroot",
    "Slots().other = 1": "Slots other",
    "{}.add(1)": "dict add",
    "None()": "NoneType callable",
    "value()": "Value callable",
    "value + 1": "+ Value int",
    "1 + value": "+ int Value",
    "value ** 2": "** pow Value int",
    "value ^ 2": "^ Value int",
    "value += 1": "+= Value int",
    "-value": "Value",
    "value < 1": "< Value int",
    "left, right = None": "NoneType",
    "for each in 3: pass": "int iterable",
    "1 in value": "Value iterable",
    "1 in None": "NoneType iterable",
    "value[0]": "Value subscriptable",
    "value[0] = 1": "Value assignment",
    "len(value)": "Value len",
    "sum([value, value])": "+ int Value",
    "{numbers: 1}": "list",
    "{numbers}": "list",
    "set([numbers])": "list",
    "{}[numbers]": "list",
    "math.exp(value)": "Value",
    "float(value)": "float Value",
    "float(numbers)": "float list",
    "numbers + 1": "int",
    "'two' + 2": "int",
    "range(2.0)": "float",
    "Value()": "__init__ 1 data",
    "Value(1, 2, 3)": "__init__ 2 3 4",
    "Value(1, dat=2)": "__init__ dat",
    "Value(1, data=2)": "__init__ data",
    "Bare(1)": "Bare",
    "value.two()": "two 1 other",
    "value.two(1, 2)": "two 2 3",
    "raise TypeError('own words for 1 reason')": None,
    "raise ValueError('own words')": None,
    "math.log(-1.0)": None,
    "left, right = 1, 2, 3": None,
    "1 / 0": None,
}
PLAYED = """
import json, sys, warnings
from coursecheck.messages import explain
from coursecheck.probes import play

warnings.simplefilter("ignore")
setup, slips, hints = json.load(sys.stdin)
scope = {}
exec(setup, scope)
found = {}
for slip in slips:
    [seen] = play({"code": slip, "observe": ["1"]}, scope)
    told = explain([{"observe": ["1"], "right": [1]}], [[seen]], hints).replace(seen["message"], "")
    found[slip] = [seen["error"], seen.get("about"), told]
print(json.dumps(found))
"""


@cache
def python(version: str) -> str:
    """Return a Python of this version on this machine; skip the test if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
    for place in filter(None, places):
        asked = [str(place), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.stdout.strip() == version:
            return str(place)
    return ""


@pytest.fixture(params=["3.11", "3.12", "3.13", "3.14"])
def other(request):
    """Return a function that runs a program in another Python, with its own library and this
    repository."""
    found = python(request.param)
    if not found:
        pytest.skip(f"there is no Python {request.param} on this machine")

    def run(program: str, *arguments: str, given: str = "") -> str:
        paths = os.pathsep.join(str(COURSE / each) for each in (".", "grading_tests"))
        environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        line = [found, "-c", program, *arguments]
        return run_program(line, input=given, env=environment, cwd=COURSE).stdout

    return run


@pytest.mark.campaign
def test_tables_are_the_same_on_every_version(other):
    texts = json.loads(other(TABLES, str(COURSE), *NAMES))
    for name in NAMES:
        assert texts[name] == load_assignment(COURSE, name).table.read_text("utf-8"), name


def test_an_error_has_the_same_subject_and_hint_on_every_version(other):
    """Hints are found by patterns, which have to match the messages of every Python version."""
    hints = load_assignment(COURSE, NAMES[0]).hints
    found = json.loads(other(PLAYED, given=json.dumps([SETUP, list(SLIPS), hints])))
    assert {slip: about for slip, (_, about, _) in found.items()} == SLIPS
    assert found == here(hints)


@cache
def here(hints):
    """Return the subjects and hints of the errors in the Python that runs this test."""
    given = json.dumps([SETUP, list(SLIPS), hints])
    return json.loads(run_program([sys.executable, "-c", PLAYED], input=given).stdout)


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_no_message(name):
    assert '"message"' not in load_assignment(COURSE, name).table.read_text("utf-8")


@pytest.mark.parametrize(
    ("error", "about"),
    [
        (TypeError("unhashable type: 'list'"), "list"),
        (TypeError("cannot use 'list' as a dict key (unhashable type: 'list')"), "list"),
        (TypeError("argument of type 'int' is not iterable"), "int iterable"),
        (TypeError("argument of type 'int' is not a container or iterable"), "int iterable"),
        (TypeError("f() got an unexpected keyword argument 'x'"), "f x"),
        (TypeError("f() got an unexpected keyword argument 'x'. Did you mean 'y'?"), "f x"),
        (AttributeError("'int' object has no attribute 'data'"), "int data"),
        (
            AttributeError(
                "'int' object has no attribute 'data' and no __dict__ for setting new attributes"
            ),
            "int data",
        ),
    ],
)
def test_the_first_and_the_last_version_give_equal_observations(error, about):
    with pytest.raises(type(error)) as raised:
        (each for each in ()).throw(error)  # as from Python itself: no line says `raise`
    assert failure(raised.value)["about"] == about


def test_the_message_of_a_raise_is_not_compared():
    with pytest.raises(TypeError) as raised:
        raise TypeError("'int' object is not callable")
    assert "about" not in failure(raised.value)
