"""All attacks, submitted by one class together with honest submissions.

No attack earns a point, brings a canary into an output, changes the report on another student, or
leaves a process or a file behind. The time and memory for grading each are limited. The class is
graded by a copy of course and grader in which everything secret contains a canary.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attacks.breaking import BOMBS, DISPLAYS
from attacks.cells import CELLS
from attacks.damage import DAMAGE
from attacks.folders import FOLDERS
from attacks.forging import CHANGES, FORGERIES
from attacks.leaking import CONTROL, LEAKS, LEAKY
from campaigns import drawn, size
from canaries import CANARY, paths, run, secret_copy
from programs import run_program
from tested_course import COURSE

from autograder.commands.demo import filled_notebook, hand_in
from autograder.course_folder.course import Course

pytestmark = [pytest.mark.subprocess, pytest.mark.full, pytest.mark.sized]

VALUE = COURSE.assignment("value")
RIGHT = {exercise.id: exercise.solution for exercise in VALUE.exercises.values()}
FULL = sum(exercise.max_points for exercise in VALUE.exercises.values())
LAST = "trace"
WITHOUT_LAST = FULL - VALUE.exercises[LAST].max_points
NEIGHBOURS = {
    "neighbour_a": RIGHT,
    "neighbour_m": {**RIGHT, "mul": VALUE.exercises["mul"].mistakes[0].source},
    "neighbour_z": {name: RIGHT[name] for name in list(RIGHT)[:2]},
}
SECONDS, MEMORY = 30, 600  # for one submission: of processor time, and megabytes of the grader

GRADE = """
import ctypes, json, resource, sys
import psutil
from pathlib import Path
from autograder.course_folder.course import find_course
from autograder.pipeline.classroom import Classroom
from autograder.judging import grader as judging
from autograder.judging.grader import Grader
from autograder.records import Limits
from autograder.pipeline.workers import OneProcess
from autograder.sandbox import time_budget

# Whatever goes wrong, no file that a mistake of ours copies may fill the disk.
resource.setrlimit(resource.RLIMIT_FSIZE, (300 << 20, 300 << 20))
# What outlives the sandbox becomes a child of this process, and is found below.
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
course = find_course(Path.cwd())
limits = Limits(
    seconds=2.0, training_seconds=5.0, cell_seconds=4.0, memory=700 << 20, max_slowdown=5.0
)
time_budget.SLOWEST = 10.0  # so that no submission ends by the clock on a busy machine
budgets = []

class KeptBudget(time_budget.TimeBudget):
    def __init__(self, *given):
        super().__init__(*given)
        budgets.append(self)

judging.TimeBudget = KeptBudget
outcomes = {}
with Grader(course, course.key, limits, submission_seconds=20.0) as grader:
    with Classroom(course, OneProcess(grader)) as room:
        for outcome in room.grade([("value", each) for each in room.submissions("value")]):
            report = outcome.report
            outcomes[outcome.student] = {
                "error": outcome.error, "seconds": budgets[-1].used,
                "report": report and report.as_json(), "notes": report and report.notes,
            }
# What is about to end may do so.
_, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=300)
left = [repr(each) for each in alive]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"outcomes": outcomes, "left": left, "megabytes": peak}))
"""


def _with_cell(source: str) -> str:
    notebook = json.loads(filled_notebook(COURSE, "value", RIGHT))
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": source,
                              "outputs": [], "execution_count": None})  # fmt: skip
    return json.dumps(notebook)


def _changed(change: Any, answers: dict[str, str]) -> str:
    notebook = json.loads(filled_notebook(COURSE, "value", answers))
    change(notebook)
    return json.dumps(notebook)


def _last(source: str) -> str:
    return filled_notebook(COURSE, "value", {**RIGHT, LAST: source})


class Bounds(NamedTuple):
    """A notebook and the expected result: the least and the greatest number of points, the
    exercises without points, and the exercises with all points."""

    notebook: str
    least: float = 0
    most: float = 0
    lost: Sequence[str] = ()
    kept: Sequence[str] = ()


def attacks(course: Path) -> dict[str, Bounds]:
    """Return all attacks, except those that consist of a folder."""
    found: dict[str, Bounds] = {}
    for name, source in FORGERIES.items():
        found[f"forging: {name}"] = Bounds(
            filled_notebook(Course(course), "value", {"node": source})
        )
    for name, change in CHANGES.items():
        found[f"forging: {name}"] = Bounds(_changed(change, {}))
        found[f"forging: {name}, solved"] = Bounds(_changed(change, RIGHT), FULL, FULL)
    for name, source in LEAKS.items():
        placed = source.replace("COURSE", str(course))
        found[f"leaking: {name}"] = Bounds(_with_cell(placed), 0, FULL)
    leaky = filled_notebook(Course(course), "value", LEAKY)
    found["leaking: tells hidden numbers"] = Bounds(leaky, 0, 3)
    # In each run `test_sandbox` tries the others, in processes of their own.
    cells = {name: attack.code for name, attack in CELLS.items()} if size(0, 1) else {}
    for name, source in {**DISPLAYS, **cells}.items():
        notebook = _last(textwrap.dedent(source))
        found[f"breaking: {name}"] = Bounds(notebook, WITHOUT_LAST, WITHOUT_LAST)
    wrong = ("add", "mul")
    for name, source in BOMBS.items():
        for before in ("", "try:\n    pass\nfinally:\n    pass\n"):
            answers = {**RIGHT, **dict.fromkeys(wrong, "pass\n"), LAST: before + source}
            notebook = filled_notebook(Course(course), "value", answers)
            found[f"breaking: {before[:3]} {name}"] = Bounds(notebook, 3, FULL, (*wrong, LAST))
    others = [name for name in RIGHT if name != "add"]
    for name, source in DAMAGE.items():
        if size(0, 1) or not drawn(name, 2):
            notebook = filled_notebook(
                Course(course), "value", {**RIGHT, "add": f"{RIGHT['add']}\n\n{source}"}
            )
            found[f"damage: {name}"] = Bounds(notebook, 0, FULL, kept=others)
    return found


def _folder(course: Path, student: str) -> Path:
    folder = course / "submitted" / student / "value"
    folder.mkdir(parents=True)
    return folder


def _grade(course: Path, scratch: Path) -> dict[str, Any]:
    scratch.mkdir()
    environment = {**os.environ, "PYTHONPATH": paths(course), "PYTHONDONTWRITEBYTECODE": "1",
                   "TMPDIR": str(scratch)}  # fmt: skip
    done = run_program([sys.executable, "-c", GRADE], timeout=3600, cwd=course, env=environment)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    result["log"] = done.stdout + done.stderr
    result["scratch"] = sorted(map(str, scratch.rglob("*")))
    return result


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the released course with canaries, with only the honest submissions."""
    course = secret_copy(tmp_path_factory.mktemp("attacks") / "course")
    run(course, "-m", "nbgrader", "generate_assignment", "value", "--force")
    shutil.rmtree(course / "submitted" / "other")
    hand_in(Course(course), Course(course).assignment("value"), NEIGHBOURS)
    return course


@pytest.fixture(scope="module")
def undisturbed(alone: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    course = tmp_path_factory.mktemp("undisturbed") / "course"
    shutil.copytree(alone, course)
    return _grade(course, course.parent / "scratch")


@pytest.fixture(scope="module")
def students(alone: Path) -> dict[str, str]:
    """Return every attack's name by its student's id."""
    names = [*attacks(alone), *(f"folder: {name}" for name in FOLDERS)]
    return {f"p{number:03}": name for number, name in enumerate(names)}


@pytest.fixture(scope="module")
def attacked(alone: Path, undisturbed: dict[str, Any], students: dict[str, str]) -> dict[str, Any]:
    """Grade the honest submissions and all attacks."""
    notebooks = attacks(alone)
    honest = filled_notebook(Course(alone), "value", RIGHT)
    for student, name in students.items():
        folder = _folder(alone, student)
        if name in notebooks:
            text = notebooks[name].notebook
            (folder / "value.ipynb").write_bytes(text.encode("utf-8", "backslashreplace"))
        else:
            FOLDERS[name.removeprefix("folder: ")][0](folder, honest, alone)
    before = {path: path.read_bytes() for path in _course_files(alone)}
    result = _grade(alone, alone.parent / "scratch")
    result["changed"] = [
        str(path) for path in _course_files(alone) if before.get(path) != path.read_bytes()
    ]
    return result


def _course_files(course: Path) -> list[Path]:
    """Return the files of the course that a grading must not read or change."""
    names = ("source", "release", "solutions", "grading_tests", "autograder")
    return sorted(
        path
        for name in names
        for path in (course / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    )


def _points(outcome: dict[str, Any]) -> float:
    return sum(exercise["points"] or 0 for exercise in outcome["report"]["exercises"])


def test_no_attack_earns_a_point(alone, students, attacked):
    bounds = attacks(alone)
    wrong = {}
    for student, name in students.items():
        outcome = attacked["outcomes"][student]
        assert outcome["report"]["max_score"] == FULL
        _, least, most, lost, kept = bounds.get(name, Bounds("", 0, FULL))
        each = {e["id"]: e["points"] for e in outcome["report"]["exercises"]}
        if (
            not least <= _points(outcome) <= most
            or any(each[exercise] for exercise in lost)
            or any(each[exercise] != VALUE.exercises[exercise].max_points for exercise in kept)
        ):
            wrong[name] = (_points(outcome), (least, most), each)
    assert wrong == {}


def test_a_folder_that_is_no_submission_is_refused_with_a_message(students, attacked):
    wrong = {}
    for student, name in students.items():
        if not name.startswith("folder: "):
            continue
        outcome, says = attacked["outcomes"][student], FOLDERS[name.removeprefix("folder: ")][1]
        if says:
            reported = outcome["error"] and says in outcome["error"] and student in outcome["error"]
            fine = reported and _points(outcome) == 0
        else:
            fine = outcome["error"] is None and _points(outcome) == FULL
        if not fine:
            wrong[name] = (outcome["error"], _points(outcome), outcome["notes"])
    assert wrong == {}


def test_other_students_get_the_same_reports_as_without_attacks(undisturbed, attacked, measured):
    before, now = undisturbed["outcomes"], attacked["outcomes"]
    lost = [each for each in NEIGHBOURS if now[each]["report"] != before[each]["report"]]
    measured("lost", len(lost))
    assert lost == []


def test_no_attack_brings_a_secret_into_an_output_or_the_log(alone, students, attacked, measured):
    leaks = {"log": set(CANARY.findall(attacked["log"])) - {CONTROL}}
    hidden = set()
    for cell in json.loads((alone / "source/value/value.ipynb").read_text())["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            hidden |= set(CANARY.findall("".join(cell["source"])))
    assert hidden
    searched = 0
    for student, name in students.items():
        graded = (alone / "autograded" / student / "value" / "value.ipynb").read_text()
        # Only cells there hold hidden tests, and no other secret.
        notebook = json.loads(graded)
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade"):
                cell["source"] = ""
        found = set(CANARY.findall(json.dumps(notebook)))
        leaks[name] = found - {CONTROL}
        searched += CONTROL in found
    measured("leaks", sum(map(len, leaks.values())))
    assert not any(leaks.values()), leaks
    assert searched >= 3, "the searches did not even find what they had planted"


def test_attacks_leave_no_process_and_no_file(alone, students, attacked):
    assert attacked["left"] == []
    assert attacked["scratch"] == []
    assert attacked["changed"] == []
    written = {path.name for path in (alone / "autograded").rglob("*") if path.is_file()}
    assert written <= {"value.ipynb", "timestamp.txt"}
    assert not Path("/tmp/written-by-an-attack").exists()


def test_grading_an_attack_takes_bounded_time_and_memory(students, attacked):
    slow = {
        students.get(student, student): round(outcome["seconds"])
        for student, outcome in attacked["outcomes"].items()
        if outcome["seconds"] > SECONDS
    }
    assert slow == {}
    assert attacked["megabytes"] < MEMORY


def test_no_attack_brings_a_secret_into_feedback(alone, students, attacked, measured):
    """Try nbgrader's own way as well, which copies files from folder to folder.

    A forgery searches for nothing, and has its page made in a campaign.
    """
    leaking = [s for s, name in students.items() if "leaking" in name or "beside" in name]
    for student in leaking:
        if (alone / "submitted" / student / "value" / "secret.txt").exists():
            run(alone, "-m", "nbgrader", "autograde", "value", "--force", "--student", student,
                "--log-level=ERROR")  # fmt: skip
    spared = [] if size(0, 1) else [s for s, name in students.items() if "forging" in name]
    run(alone, "-m", "nbgrader", "generate_feedback", "value", "--force", "--log-level=ERROR",
        f"--CourseDirectory.student_id_exclude={','.join(spared)}")  # fmt: skip
    shown: dict[Path, set[str]] = {}
    for page in (alone / "feedback").rglob("*"):
        if page.is_file():
            text = page.read_text("utf-8", "replace")
            shown[page] = set(CANARY.findall(text)) - {CONTROL}
            assert "HIDDEN TESTS" not in text, page
            if page.parts[-3] in NEIGHBOURS:
                assert not re.search("run_hidden_tests|autograder/|grading_tests", text), page
            assert page.suffix == ".html" or page.name == "timestamp.txt"
    measured("leaks", sum(map(len, shown.values())))
    assert shown
    assert not any(shown.values()), shown


def test_the_number_of_attacks_is_reported(students, attacked, measured, capsys):
    """Report how many attacks there were."""
    kinds = ("forging", "leaking", "breaking", "damage", "folder")
    counts = {kind: sum(name.startswith(kind) for name in students.values()) for kind in kinds}
    longest = max(outcome["seconds"] for outcome in attacked["outcomes"].values())
    text = (f"attacks: {len(students)} ({', '.join(f'{k} {n}' for k, n in counts.items())}); "
            f"longest {longest:.0f} s; grader's memory {attacked['megabytes']:.0f} MB")  # fmt: skip
    measured("attacks", len(students))
    with capsys.disabled():
        print(f"\n{text}")
    assert len(students) >= 100
