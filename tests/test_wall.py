"""Nothing secret reaches a student, and no point is had without solving an exercise."""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from attacks.breaking import BOMBS
from attacks.forging import CHANGES
from attacks.leaking import CONTROL, FILES, LEAKY, MEMORY, OBJECTS, PROCESS, SEARCH, SPY
from canaries import CANARY, REPOSITORY, run, secret_copy

from autograder import suite
from autograder.assignments import load_assignment
from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.sandbox import Limits
from autograder.submissions import grade_file

RIGHT = {e.id: e.solution for e in load_assignment(REPOSITORY, "value").exercises.values()}


@pytest.fixture(scope="module")
def secret_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return secret_copy(tmp_path_factory.mktemp("secret") / "repository")


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


HOSTILE = {**RIGHT} | {
    name: f"{RIGHT[name]}\n{search}"
    for name, search in [
        ("node", SEARCH + FILES), ("add", PROCESS), ("mul", OBJECTS), ("pow", MEMORY)
    ]
}  # fmt: skip
PATIENTLY = """
# To search all there is takes longer than a cell has, where the disk is slow or has much to do.
import json
from pathlib import Path
from autograder.assignments import find_course
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.sandbox import Limits
from autograder.submissions import grade_file

course = find_course()
with Grader(course, course_key(course), Limits(cell_seconds=90.0)) as grader:
    notebook, _ = grade_file(grader, Path("submitted/hostile/value/value.ipynb"), "value")
print(json.dumps(notebook.cells))
"""
WHILE_TESTED = """
import sys
from autograder.assignments import find_course, load_assignment
from autograder.channels import RemoteChannel
from autograder.engines import Engine
from autograder.lending import give
from autograder.sandbox import WarmServer
from autograder.suite import Suite

course = find_course()
assignment = load_assignment(course, "value")
with Suite(assignment.tests) as suite, WarmServer() as server, server.spawn(1) as student:
    for cell in CELLS:
        answer = student.request({"cell": cell}, 60)
        assert answer["error"] is None, answer
    for lent in ("trace", "numerical"):
        give(Engine(RemoteChannel(student)), assignment.exercises[lent].solution, [])
    for exercise in suite.exercises:
        for _ in suite.run(exercise, lambda: Engine(RemoteChannel(student)), b"seed"):
            pass
    last = "look('given', repr(trace) + repr(vars(trace)) + repr(gc.get_referents(trace)))"
    last += "\\nassert any(getattr(each, '__name__', '') == 'program' for each in gc.get_objects())"
    answer = student.request({"cell": last + "\\nlook('check', control)"}, 60)
    assert answer["error"] is None, answer
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
    graded = run(school, "-c", PATIENTLY)
    shown = {
        cell.metadata.nbgrader.grade_id: "".join(
            output.get("text", output.get("evalue", "")) for output in cell.outputs
        )
        for cell in nbformat.from_dict(json.loads(graded))
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    assert set(CANARY.findall(graded)) - planted_in_hidden_tests(school) == {CONTROL}
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


TELLS_THE_NEXT = """
import fcntl, os, struct
file, form = os.open("/usr/bin/env", os.O_RDONLY), "hhqqi4x"
def numerical_derivative(f, x, h=1e-5):
    try:
        asked = struct.pack(form, fcntl.F_WRLCK, 0, 0, 0, 0)
        kind, _, place, *_ = struct.unpack(form, fcntl.fcntl(file, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            return "it was asked for " + repr(struct.unpack("d", struct.pack("q", place))[0])
        [place] = struct.unpack("q", struct.pack("d", abs(x)))
        fcntl.fcntl(file, fcntl.F_SETLK, struct.pack(form, fcntl.F_RDLCK, 0, place, 1, 0))
    except OSError:
        pass
    return 0.0
"""


def test_a_process_that_was_tested_tells_the_one_that_is_shown_nothing(forged, drawn):
    """By locks on a file of the system's, which both may read."""
    report = forged({**RIGHT, "numerical": TELLS_THE_NEXT})
    assert report.score == 38 and drawn
    shown = json.dumps(report.as_json())
    assert "slope  is 0.0" in shown and "it was asked" not in shown


# Points without solutions.


@pytest.fixture(scope="module")
def grader(course: Path) -> Iterator[Grader]:
    """A grader that waits for nobody long."""
    limits = Limits(cell_seconds=3.0, step_seconds=2.0, test_seconds=3.0)
    with Grader(course, bytes(range(32)), limits) as quick:
        yield quick


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


def test_forging_does_not_spoil_what_was_solved(forged):
    """Only what is solved counts, whatever the last cell does to the cells before it."""
    last = "def numerical_derivative(f, x, h=0):\n    return 4.0\n"
    assert forged({**RIGHT, "numerical": last}).score == 38


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_metadata_takes_nothing_away(forged, change):
    """That it gives nothing is shown for every attack."""
    assert forged(RIGHT, change).score == 40


# The grader itself.


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
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection._socket
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
