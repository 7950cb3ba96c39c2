"""Faults that nobody causes on purpose: a killed grader, a full disk, a clock that jumps."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from answers import report_on
from campaigns import seed, size
from kills import State, make_class, state_of
from programs import run_program

from autograder.course_folder.course import Course
from autograder.course_folder.key import course_key
from autograder.gradebook import history
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.workers import OneProcess
from autograder.records import Limits
from autograder.sandbox.bubblewrap import find_bubblewrap

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

HELPERS = Path(__file__).parent / "helpers"
LIMITS = Limits(seconds=0.3, training_seconds=3.0, cell_seconds=3.0)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an ungraded class."""
    folder = tmp_path_factory.mktemp("class") / "course"
    make_class(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> State:
    """Return the state after a grading of the class without faults."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "course")
    grade(folder)
    return state_of(folder)


def grade(folder: Path) -> None:
    with (
        Grader(Course(folder), course_key(folder), LIMITS) as grader,
        Classroom(Course(folder), OneProcess(grader)) as room,
    ):
        list(room.grade([("value", student) for student in room.submissions("value")]))


@pytest.mark.sized
def test_a_killed_command_loses_no_mark_and_doubles_none(measured, tmp_path):
    kills = size(6, 200)
    line = [sys.executable, HELPERS / "kills.py", str(kills), str(seed(11))]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = run_program(line, timeout=7200, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    harmful = {fault.partition(":")[0] for fault in found["isolation"]}
    measured("kills", found["kills"])
    measured("kills survived", found["kills"] - len(harmful))
    measured("lost", len(found["isolation"]))

    assert not found["isolation"], "\n".join(found["isolation"])
    assert found["kills"] == kills


def test_on_a_full_disk_no_partial_file_is_left_and_the_next_run_grades_the_rest(
    fresh, undisturbed, tmp_path
):
    disk, outcome = tmp_path / "disk", tmp_path / "outcome.json"
    disk.mkdir()
    used = sum(path.stat().st_size for path in fresh.rglob("*") if path.is_file())
    box = [find_bubblewrap(), "--dev-bind", "/", "/", "--size", str(used + 3_000_000)]
    program = [sys.executable, HELPERS / "full_disk.py", fresh, disk, outcome]
    run_program([*box, "--tmpfs", disk, "--", *program])
    found = json.loads(outcome.read_text())
    *cramped, last = found["gradings"]
    full = [grading for grading in cramped if grading["status"] == 2]

    assert len(full) >= 2, [(grading["room"], grading["status"]) for grading in cramped]
    assert any(grading["lines"] for grading in full), (
        "nothing was ever stored before the disk was full"
    )

    for grading in full:
        assert "Traceback" not in grading["output"], grading["output"]
        assert "full" in grading["output"] or "No space left" in grading["output"], grading
    scores: dict[str, float] = {}
    for (student, _), mark in undisturbed.marks.items():
        scores[student] = scores.get(student, 0) + (mark or 0)
    for each in cramped:
        assert each["ill"] == []
        assert set(each["lines"].values()) <= {1}
        for student in each["lines"]:
            assert each["marks"][student] == each["notebooks"][student] == scores[student]

    assert last["status"] in (0, 1)  # 1 if the file that is cut off comes only now
    assert last["lines"] == dict.fromkeys(scores, 1)
    assert last["marks"] == scores
    assert {name: bytes.fromhex(text) for name, text in found["files"].items()} == undisturbed.files


LOOP = "def add(self, other):\n    while True:\n        pass\n\n\nValue.__add__ = add\n"


@pytest.fixture
def jumping_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the clock jump by 25 years, back and forth."""
    jumps = itertools.cycle([timedelta(0), timedelta(days=9000), timedelta(days=-9000)])

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + next(jumps)

    monkeypatch.setattr(history, "datetime", Jumping)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps).total_seconds())
    monkeypatch.setattr(time, "time_ns", lambda: int(time.time() * 1e9))


@pytest.mark.usefixtures("jumping_clock")
def test_a_clock_that_jumps_changes_no_mark_and_no_date(fresh, undisturbed, tmp_path):
    folder = shutil.copytree(fresh, tmp_path / "course")
    for years, path in enumerate(sorted((folder / "submitted").rglob("*.*"))):
        os.utime(path, (years * 1e8, 4e9 - years * 1e8))
    grade(folder)

    assert state_of(folder) == undisturbed
    with Classroom(Course(folder), OneProcess(None)) as room:
        entries = history.entries(room.gradebook, "value")
    assert [entry.time for entry in entries] != sorted(entry.time for entry in entries)
    assert [entry.student for entry in entries] == sorted(undisturbed.record)


@pytest.mark.usefixtures("jumping_clock")
def test_a_clock_that_jumps_changes_no_time_limit(grader, assignment):
    answers = {"node": assignment.exercises["node"].solution, "add": LOOP}
    report = report_on(grader, "value", answers)
    status = {exercise.id: exercise.status for exercise in report.exercises}
    assert (status["node"], status["add"]) == ("passed", "timeout")


def command(folder: Path, *line: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    return run_program([sys.executable, "-m", *line], status, cwd=folder)


MOJIBAKE = os.fsdecode(b"M\xfcller")
REFUSED = {
    MOJIBAKE: (r"M\xfcller", "is not in UTF-8"),
    "two\nlines": (r"two\nlines", "holds a line break"),
    "\x1b[31mred": (r"\x1b[31mred", "another control character"),
    "[x]": ("[x]", "which nbgrader takes for a pattern"),
    "l" * 200: ("l" * 200, "has over 128 characters"),
}
FINE = {
    "Müller": "Müller",
    "o'brien & co": "o'brien & co",
    "{x} --force $HOME": "{x} --force $HOME",
    "\u202egnorw": r"\u202egnorw",
}


def test_a_folder_with_an_invalid_name_affects_no_other_student(fresh, tmp_path):
    folder = shutil.copytree(fresh, tmp_path / "course")
    submitted = folder / "submitted"
    for name in (*REFUSED, *FINE, ".hidden"):
        shutil.copytree(submitted / "right", submitted / name)
    for name in ("cut_off_file", "empty_file"):
        shutil.rmtree(submitted / name)

    done = command(folder, "autograder", "grade", "value", "--json", status=1)
    assert ".hidden/value: is not graded" in done.stderr.replace("\n", "")

    outcomes = {line["student"]: line for line in map(json.loads, done.stdout.splitlines())}
    refused = {name: line["error"] for name, line in outcomes.items() if line["error"]}

    assert refused.keys() == {shown for shown, _ in REFUSED.values()}

    for shown, why in REFUSED.values():
        assert why in refused[shown]
        assert "Rename the folder" in refused[shown]
    fine = outcomes.keys() - refused.keys()

    assert fine == {"right", "wrong", "late", "ended", "empty", *FINE.values()}
    assert {outcomes[name]["score"] for name in FINE.values()} == {16}

    again = command(folder, "autograder", "grade", "value", status=1)
    assert "Traceback" not in again.stderr
    assert again.stderr.count("graded before, unchanged") == len(fine)
    assert r"M\xfcller: the folder's name is not in UTF-8" in again.stderr
    assert "\u202e" not in again.stderr
    assert "\x1b[31m" not in again.stderr

    for line in (["regrade", "value", "--json"], ["report", "value"], ["export", "value"]):
        done = command(folder, "autograder", *line)
        assert "right" in done.stdout or line[0] == "report"
    done = command(folder, "autograder", "regrade", "value", "--student", MOJIBAKE, status=2)

    assert "is not in UTF-8" in done.stderr


def test_nbgrader_s_commands_report_a_folder_with_an_invalid_name_and_go_on(fresh, tmp_path):
    folder = shutil.copytree(fresh, tmp_path / "course")
    submitted = folder / "submitted"
    for student in ("cut_off_file", "empty_file", "ended", "late"):
        shutil.rmtree(submitted / student)
    for name in ("two\nlines", MOJIBAKE):
        shutil.copytree(submitted / "right", submitted / name)
    done = command(folder, "nbgrader", "autograde", "value", status=None)

    assert r"two\nlines/value: the folder's name holds a line break" in done.stderr

    graded = {path.name for path in (folder / "autograded").iterdir()}
    assert {"right", "wrong", "empty"} <= graded

    for name in ("two\nlines", MOJIBAKE):
        target = folder / "autograded" / name
        shutil.copytree(folder / "autograded/right", target, dirs_exist_ok=True)
    done = command(folder, "nbgrader", "generate_feedback", "value", status=None)

    assert r"two\nlines/value: the folder's name holds a line break" in done.stderr

    pages = {path.parent.parent.name for path in (folder / "feedback").glob("*/value/value.html")}
    assert pages == {"right", "wrong", "empty"}
