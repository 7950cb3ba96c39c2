"""No secret reaches a student, and no point is earned without solving an exercise."""

from __future__ import annotations

import json
import random
import re
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from answers import report_on_right_but
from attacks.leaking import CONTROL, FILES, LEAKY, MEMORY, OBJECTS, PROCESS, SEARCH, SPY
from attacks.processes import CARRIED, FREAKS, HEAVY, TELLERS
from canaries import CANARY, LONG_NUMBERS, run, secret_copy
from schools import KEY, edited_course, solutions

from autograder.commands.demo import filled_notebook, hand_in
from autograder.course_folder.course import Course
from autograder.course_folder.key import course_key
from autograder.judging import hidden_tests as suite
from autograder.judging import one_notebook
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_file
from autograder.records import Limits, Report

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

RIGHT = solutions("value")
WITHOUT_LAST = 11


@pytest.fixture(scope="module")
def secret_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return secret_copy(tmp_path_factory.mktemp("secret") / "course")


# Data that students receive.


HOSTILE = {**RIGHT} | {
    name: f"{RIGHT[name]}\n{search}"
    for name, search in [
        ("node", SEARCH + FILES), ("add", PROCESS), ("mul", OBJECTS), ("trace", MEMORY)
    ]
}  # fmt: skip
GRADE = """
# To search all there is takes longer than a cell has, where the disk is slow or has much to do.
import json
from pathlib import Path
from autograder.course_folder.course import find_course
from autograder.judging.grader import Grader
from autograder.records import Limits
from autograder.pipeline.one_submission import grade_file

course = find_course()
with Grader(course, course.key, Limits(seconds=90.0)) as grader:
    notebook, _ = grade_file(grader, Path("submitted/hostile/value/value.ipynb"), "value")
print(json.dumps(notebook.cells))
"""
WHILE_TESTED = """
from autograder.course_folder.course import find_course
from autograder.judging import hidden_tests
from autograder.judging.hidden_tests import Suite
from autograder.sandbox import ForkServer
from autograder.sandbox.targets import RemoteTarget

course = find_course()
visible = course.settings.visible
assignment = course.assignment("value")
sandbox = ForkServer(visible=visible)
with Suite(assignment.tests) as suite, sandbox as server, server.spawn(1) as student:
    for cell in CELLS:
        reply = student.request({"cell": cell}, 60)
        assert reply["error"] is None, reply
    target = RemoteTarget(student)
    for exercise in suite.exercises:
        for _ in suite.run(exercise, lambda _: target, b"seed"):
            pass
    reply = student.request({"cell": "look('check', control)"}, 60)
    assert reply["error"] is None, reply
    print(student.request({"cell": OBJECTS_CELL}, 60)["outputs"][0]["text"])
    print(hidden_tests.SECRET)
"""


@pytest.fixture(scope="module")
def school(secret_course: Path) -> Path:
    """Return the secret course released, with one submission graded and its feedback made by
    nbgrader."""
    run(secret_course, "-m", "nbgrader", "generate_assignment", "value", "--force")
    value = Course(secret_course).assignment("value")
    hand_in(Course(secret_course), value, {"hostile": HOSTILE, "leaky": LEAKY})
    for verb in ("autograde", "generate_feedback"):
        run(secret_course, "-m", "nbgrader", verb, "value", "--student=leaky", "--log-level=ERROR")
    return secret_course


def test_the_release_has_no_secret(school):
    text = (school / "release/value/value.ipynb").read_text()
    assert not CANARY.search(text)
    assert "HIDDEN" not in text
    assert "SOLUTION" not in text
    assert CANARY.search((school / "source/value/value.ipynb").read_text())


def test_a_search_of_all_reachable_data_finds_no_secret(school):
    """The search finds only the control that it planted, which proves that it searches."""
    graded = run(school, "-c", GRADE)
    shown = {
        cell.metadata.nbgrader.grade_id: "".join(
            output.get("text", output.get("evalue", "")) for output in cell.outputs
        )
        for cell in nbformat.from_dict(json.loads(graded))
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    assert set(CANARY.findall(graded)) - planted_in_hidden_tests(school) == {CONTROL}
    places = {"node": "file", "add": "environment", "mul": "object", "trace": "memory"}
    for cell, place in places.items():
        assert f"{place}: {CONTROL}" in shown[cell], shown


def planted_in_hidden_tests(school: Path) -> set[str]:
    """Return the hidden regions in an autograded notebook, which only instructors see."""
    source = nbformat.read(school / "source/value/value.ipynb", as_version=4)
    return {
        token
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
        for token in CANARY.findall(cell.source)
    }


def test_no_secret_is_reachable_while_the_tests_run(school):
    cells = [SEARCH, SPY]
    script = WHILE_TESTED.replace("OBJECTS_CELL", repr(OBJECTS)).replace("CELLS", repr(cells))
    printed = run(school, "-c", script).split("\n")
    *found, secret = [line for line in printed if line]
    assert CANARY.fullmatch(secret), "the copy's own package was not the one that ran"
    assert {line.partition(": ")[2] for line in found} == {CONTROL}


# Hidden numbers.


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the digits of every number that hidden tests draw."""
    digits: list[str] = []

    class Recording(random.Random):
        def uniform(self, a: float, b: float) -> float:
            number = super().uniform(a, b)
            if a < b:
                digits.append(repr(number)[:14])
            return number

    monkeypatch.setattr(suite.random, "Random", Recording)
    return digits


def test_texts_for_students_hold_no_hidden_number(school, drawn):
    submitted = school / "submitted/leaky/value/value.ipynb"
    with Grader(Course(school), course_key(school)) as grader:
        notebook, report = grade_file(grader, submitted, "value")
    assert len(set(drawn)) > 50
    page = (school / "feedback/leaky/value/value.html").read_text()
    graded = (school / "autograded/leaky/value/value.ipynb").read_text()
    assert json.loads(graded)["metadata"].get("kernelspec") is not None
    assert set(CANARY.findall(page)) <= {CONTROL}
    assert not re.search("HIDDEN TESTS|run_hidden_tests|autograder/|grading_tests", page)
    for shown in (page, graded, json.dumps(notebook), json.dumps(report.as_json())):
        assert not [digits for digits in drawn if digits in shown]


@pytest.mark.parametrize("way", TELLERS)
def test_a_process_that_was_tested_passes_no_message_to_the_process_whose_output_is_shown(
    forged, drawn, way
):
    """Try every channel that both processes can reach."""
    report = forged({"trace": TELLERS[way]})

    shown = json.dumps(report.as_json())
    assert report.score == WITHOUT_LAST
    assert drawn
    assert "len(found)" in shown
    assert "it was told" not in shown
    assert not [digits for digits in drawn if digits in shown]


RAISES_BITS = """
import builtins, struct
kinds = [e for e in vars(builtins).values() if isinstance(e, type) and issubclass(e, Exception)
         and not issubclass(e, (UnicodeError, BaseExceptionGroup))]
asked = []
right = trace
def trace(root):
    if root.data == round(root.data, 3):
        return right(root)
    asked.append(root.data)
    raise kinds[(struct.unpack("q", struct.pack("d", asked[0]))[0] >> 5 * len(asked)) % 32]
"""


def test_a_message_names_at_most_one_error_class_from_hidden_tests(forged):
    report = forged({"trace": RIGHT["trace"] + RAISES_BITS})
    last = report.exercises[-1]
    assert last.points == 0
    assert len(re.findall(r"[A-Z]\w*(?:Error|Exit|Iteration|Warning|Interrupt)", last.message)) <= 1


# Points without solutions.


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Return a grader with short time limits, and with hidden numbers of many digits."""
    folder = tmp_path_factory.mktemp("numbers")
    course = edited_course(folder, "grading_tests/conftest.py", *LONG_NUMBERS)
    limits = Limits(seconds=0.3, training_seconds=3.0, cell_seconds=3.0)
    with Grader(Course(course), KEY, limits) as quick:
        yield quick


@pytest.fixture
def forged(grader: Grader) -> Callable[[dict[str, str]], Report]:
    """Return a function for the report on a notebook that is right but for these answers."""
    return partial(report_on_right_but, grader, "value")


@pytest.mark.parametrize("way", CARRIED)
def test_a_solution_cannot_be_passed_to_the_process_that_is_tested(forged, way):
    """Let a process that holds the solution of `add` leave it for the process in which `add` is
    tested."""
    honest = {"add": "Value.__add__ = lambda self, other: None\n", "mul": "Value.__mul__ = 0\n"}
    least, found = (
        {each.id: each.points for each in forged(answers).exercises}
        for answers in (honest, CARRIED[way])
    )
    assert found["add"] <= least["add"]
    assert found["mul"] <= least["mul"]


REFLECTS = """
class Bent:
    def __getattr__(self, name): return "__class__"
Value.__add__ = lambda self, other: getattr(other, "__class__")
trace = lambda root: "__dir__"
"""


def test_text_of_a_student_is_never_used_as_an_attribute_name_in_the_grader(forged):
    report = forged({"trace": REFLECTS})

    assert report.exercises[-1].points == 0
    assert "Proxy" not in json.dumps(report.as_json())
    assert "_proxy_" not in str(report)


@pytest.mark.parametrize("answer", FREAKS)
def test_an_unexpected_answer_fails_only_its_own_exercise(forged, answer):
    """The answer blames no test, delays no other grading, and costs its own exercise only."""
    started = time.thread_time()
    report = forged({"trace": FREAKS[answer]})
    assert time.thread_time() - started < 5
    status = {each.id: each.status for each in report.exercises}
    assert status["trace"] not in ("passed", "ungraded")
    assert all(status[name] == "passed" for name in status if name != "trace")


def test_public_examples_run_before_any_process_has_seen_a_hidden_number(forged, monkeypatch):
    """So the kernel's counters can carry no hidden number into texts for the student."""
    events: list[str] = []
    run_one = suite.Suite._run_one
    read = one_notebook.read

    def observed(*arguments: Any) -> Any:
        events.append("told whole")
        return read(*arguments)

    def tested(*arguments: Any, **more: Any) -> Any:
        events.append("tested")
        return run_one(*arguments, **more)

    monkeypatch.setattr(one_notebook, "read", observed)
    monkeypatch.setattr(suite.Suite, "_run_one", tested)
    wrong = {"add": "Value.__add__ = lambda self, other: None\n", "mul": "Value.__mul__ = 0\n"}
    forged(wrong)
    first = events.index("tested")
    assert "told whole" in events[:first]
    assert "told whole" not in events[first:]


@pytest.mark.parametrize("reply", HEAVY)
def test_a_large_reply_takes_little_time_and_memory_of_the_grader(forged, reply):
    """Reading the reply takes little of the grader's time and memory."""
    memory, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.thread_time()
    report = forged({"trace": HEAVY[reply]})
    assert time.thread_time() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 150 << 10
    assert report.score <= WITHOUT_LAST


# The grader itself.


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
def test_a_notebook_with_forged_outputs_can_be_written(grader, course, tmp_path, output):
    forge = """
import gc, json, struct
from guest.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection._socket
body = OUTPUT
body = body if isinstance(body, bytes) else json.dumps(body).encode()
connection.sendall(struct.pack(">I", len(body)) + body)
""".replace("OUTPUT", output)
    path = tmp_path / "value.ipynb"
    path.write_text(filled_notebook(Course(course), "value", {**RIGHT, "trace": forge + "# \ud800"}
                                    ).encode("utf-8", "backslashreplace").decode())  # fmt: skip
    notebook, _ = grade_file(grader, path, "value")
    nbformat.validate(notebook)
    nbformat.writes(notebook, version=4).encode()
