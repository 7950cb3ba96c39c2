"""Faults that are nobody's mischief: a killed grader, a full disk, a clock that jumps."""

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
from kill_campaign import State, make_class, state_of

from autograder import history
from autograder.assignments import find_course, load_assignment
from autograder.classroom import Classroom
from autograder.demo import filled_notebook
from autograder.grading import Grader
from autograder.keys import course_key
from autograder.sandbox import Limits
from autograder.sandbox.bubblewrap import find_bubblewrap
from autograder.workers import OneProcess

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
KILLS = 8
LIMITS = Limits(cell_seconds=3.0, step_seconds=2.0, test_seconds=3.0)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that nobody has graded."""
    folder = tmp_path_factory.mktemp("class") / "course"
    make_class(folder, find_course(HERE))
    return folder


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> State:
    """What grading it leaves."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "course")
    grade(folder)
    return state_of(folder)


def grade(folder: Path) -> None:
    with (
        Grader(folder, course_key(folder), LIMITS) as grader,
        Classroom(folder, OneProcess(grader)) as room,
    ):
        list(room.grade([("value", each) for each in room.submissions("value")]))


def test_a_killed_grader_loses_and_doubles_nothing(measured, tmp_path):
    command = [
        sys.executable,
        HERE / "kill_campaign.py",
        "--kills",
        str(KILLS),
        "--seed",
        "11",
        "--json",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    harmful = {fault.partition(":")[0] for fault in found["faults"]}
    measured("kills", found["kills"])
    measured("kills survived", found["kills"] - len(harmful))
    measured("lost", len(found["faults"]))
    assert found["faults"] == []
    assert found["kills"] == KILLS
    assert done.returncode == 0, done.stderr


def test_on_a_full_disk_nothing_is_half_written_and_the_rest_is_graded_later(
    fresh, undisturbed, tmp_path
):
    disk, outcome = tmp_path / "disk", tmp_path / "outcome.json"
    disk.mkdir()
    used = sum(path.stat().st_size for path in fresh.rglob("*") if path.is_file())
    box = [find_bubblewrap(), "--dev-bind", "/", "/", "--size", str(used + 3_000_000)]
    done = subprocess.run(
        [*box, "--tmpfs", disk, "--", sys.executable, HERE / "full_disk.py", fresh, disk, outcome],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(outcome.read_text())
    *cramped, last = told["gradings"]
    full = [each for each in cramped if each["status"] == 2]
    assert len(full) >= 2, [(each["room"], each["status"]) for each in cramped]
    assert any(each["lines"] for each in full), "nothing was ever stored before the disk was full"
    for each in full:
        assert "Traceback" not in each["told"], each["told"]
        assert "full" in each["told"] or "No space left" in each["told"], each
    scores: dict[str, float] = {}
    for (student, _), mark in undisturbed.marks.items():
        scores[student] = scores.get(student, 0) + (mark or 0)
    for each in cramped:
        assert each["ill"] == []
        assert set(each["lines"].values()) <= {1}
        for student in each["lines"]:
            assert each["marks"][student] == each["notebooks"][student] == scores[student]
    assert last["status"] in (0, 1)  # 1 where the file that is cut off comes only now
    assert last["lines"] == dict.fromkeys(scores, 1)
    assert last["marks"] == scores
    assert {name: bytes.fromhex(text) for name, text in told["files"].items()} == undisturbed.files


def test_a_clock_that_jumps_changes_no_mark_date_or_time_limit(
    fresh, undisturbed, tmp_path, monkeypatch
):
    folder = shutil.copytree(fresh, tmp_path / "course")
    jumps = itertools.cycle([timedelta(0), timedelta(days=9000), timedelta(days=-9000)])

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + next(jumps)

    monkeypatch.setattr(history, "datetime", Jumping)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps).total_seconds())
    monkeypatch.setattr(time, "time_ns", lambda: int(time.time() * 1e9))
    for years, path in enumerate(sorted((folder / "submitted").rglob("*.*"))):
        os.utime(path, (years * 1e8, 4e9 - years * 1e8))
    grade(folder)
    now = state_of(folder)
    assert now == undisturbed
    with Classroom(folder, OneProcess(None)) as room:
        kept = history.entries(room.gradebook, "value")
    assert [each.time for each in kept] != sorted(each.time for each in kept)
    assert [each.student for each in kept] == sorted(undisturbed.record)

    answers = {"node": load_assignment(folder, "value").exercises["node"].solution}
    loop = filled_notebook(folder, "value", {**answers, "add": "while True:\n    pass\n"})
    (folder / "submitted/right/value/value.ipynb").write_text(loop, "utf-8")
    started = time.monotonic()
    grade(folder)
    assert time.monotonic() - started < 60
    report = json.loads((folder / "autograded/right/value/value.ipynb").read_text())
    found = {
        each["id"]: each["status"]
        for each in report["metadata"]["autograder"]["report"]["exercises"]
    }
    assert (found["node"], found["add"]) == ("passed", "timeout")
