"""Mistakes are recognised in the same way on every Python from 3.11 to 3.14, despite different
error messages."""

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

from autograder.course_folder.course import find_course
from autograder.packages import module_folder

COURSE = find_course()
NAMES = COURSE.assignment_names()

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
from autograder.course_folder.course import Course
from autograder.judging.check_tables import table_text
from coursecheck.examples import play
from namespaces import namespace_at

course = Course(Path(sys.argv[1]))


class Here:
    # The examples run in this process, since the sandbox needs IPython.

    def __init__(self, assignment):
        self.assignment = assignment

    def observed(self, exercise, played, source=None):
        scope = namespace_at(self.assignment, exercise.id, source)
        return [play(example, scope) for example in played]


assignments = [course.assignment(name) for name in sys.argv[2:]]
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
from coursecheck.examples import play

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
        packages = [module_folder(name).parent for name in ("autograder", "coursecheck")]
        paths = os.pathsep.join(map(str, [COURSE.grading_tests, *packages]))
        environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        line = [found, "-c", program, *arguments]
        return run_program(line, input=given, env=environment, cwd=COURSE.root).stdout

    return run


@pytest.mark.external
@pytest.mark.campaign
def test_tables_are_the_same_on_every_version(other):
    texts = json.loads(other(TABLES, str(COURSE), *NAMES))
    for name in NAMES:
        assert texts[name] == COURSE.assignment(name).table.read_text("utf-8"), name


@pytest.mark.external
def test_an_error_has_the_same_subject_and_hint_on_every_version(other):
    """Hints are found by patterns, which have to match the messages of every Python version."""
    hints = COURSE.assignment(NAMES[0]).hints
    found = json.loads(other(PLAYED, given=json.dumps([SETUP, list(SLIPS), hints])))
    assert {slip: about for slip, (_, about, _) in found.items()} == SLIPS
    assert found == _here(hints)


@cache
def _here(hints):
    """Return the subjects and hints of the errors in the Python that runs this test."""
    given = json.dumps([SETUP, list(SLIPS), hints])
    return json.loads(run_program([sys.executable, "-c", PLAYED], input=given).stdout)


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_no_message(name):
    assert '"message"' not in COURSE.assignment(name).table.read_text("utf-8")
