"""Kills student processes from outside while a class is graded, and looks for marks that changed.

    python tests/killed_students.py --students 400 --kills 60 --seed 1

It is what the kernel does where memory runs out, and an operator by mistake. The class is graded
once undisturbed and once while processes are killed, then again for what could not be graded.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from kill_campaign import KEY, State, state_of

from autograder.authoring.release import copy_course, run_nbgrader
from autograder.commands.demo import hand_in
from autograder.course_folder.assignments import find_course, load_assignment

COMMAND = [sys.executable, "-m", "autograder", "grade", "value", "--workers", "2"]


@dataclass
class Found:
    """What came of the kills.

    Attributes:
        kills: how many processes were killed.
        told: the submissions that the disturbed grading told it could not grade.
        faults: the marks, notebooks and lines of the record that differ in the end, or that were
            stored while they were disturbed.
    """

    kills: int
    told: list[str]
    faults: list[str]


def make_class(folder: Path, students: int, rng: random.Random) -> None:
    """A course with submissions of which each differs, with none to three mistakes."""
    copy_course(find_course(Path(__file__).parent), folder)
    (folder / ".autograder_key").write_text(KEY.hex() + "\n")
    run_nbgrader(folder, "generate_assignment", "value", "--force")
    assignment = load_assignment(folder, "value")
    right = {key: exercise.solution for key, exercise in assignment.exercises.items()}
    handed_in = {}
    for number in range(students):
        answers = {name: f"{source}\n# {rng.random()}\n" for name, source in right.items()}
        for name in rng.sample(sorted(right), rng.randint(0, 3)):
            answers[name] = rng.choice(assignment.exercises[name].mistakes).source
        handed_in[f"s{number:03}"] = answers
    hand_in(folder, assignment, handed_in)


def grade(course: Path) -> str:
    """Grade in peace; returns what the command said."""
    return subprocess.run(COMMAND, cwd=course, capture_output=True, text=True, timeout=3000).stdout


def student_processes(grading: psutil.Process) -> Iterator[int]:
    """The pids of those that have a filter of system calls which what started them has not."""
    for process in grading.children(recursive=True):
        with suppress(OSError, psutil.NoSuchProcess):
            if _filters(process.pid) > _filters(process.ppid()):
                yield process.pid


def _filters(pid: int) -> int:
    [line] = [
        line
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("Seccomp_filters:")
    ]
    return int(line.split()[1])


def disturb(course: Path, kills: int, seconds: float, rng: random.Random) -> tuple[int, str]:
    """Grade, and kill some student processes meanwhile, one every so often.

    Returns:
        How many were killed, and what the command said.
    """
    done = 0
    with tempfile.TemporaryFile("w+") as log:
        started = subprocess.Popen(COMMAND, cwd=course, stdout=log, stderr=log)
        grading = psutil.Process(started.pid)
        while started.poll() is None:
            time.sleep(rng.uniform(0, 2 * seconds / (kills + 1)))
            with suppress(psutil.NoSuchProcess):
                alive = list(student_processes(grading))
                if alive and done < kills:
                    with suppress(ProcessLookupError):
                        os.kill(rng.choice(alive), signal.SIGKILL)
                        done += 1
        log.seek(0)
        return done, log.read()


def differences(found: State, wanted: State) -> list[str]:
    faults = []
    for name in ("files", "marks", "record"):
        now, then = getattr(found, name), getattr(wanted, name)
        faults += [f"{name}: {key}" for key in now.keys() | then.keys()
                   if now.get(key) != then.get(key)]  # fmt: skip
    return sorted(map(str, faults))


def run(folder: Path, students: int, kills: int, seed: int) -> Found:
    rng = random.Random(seed)
    calm, course = folder / "calm", folder / "course"
    make_class(calm, students, rng)
    shutil.copytree(calm, course)
    started = time.monotonic()
    said = grade(calm)
    seconds = time.monotonic() - started
    wanted = state_of(calm)
    assert len(wanted.record) == students, said
    done, said = disturb(course, kills, seconds, rng)
    faults = [f"Traceback: {said}"] if "Traceback" in said else []
    stored = state_of(course)
    for student, lines in stored.record.items():
        if lines != wanted.record[student]:
            faults.append(f"stored while disturbed: {student}")
    ungraded = sorted(wanted.record.keys() - stored.record.keys())
    faults += [f"not told: {student}" for student in ungraded if f"{student}: " not in said]
    grade(course)
    return Found(done, ungraded, faults + differences(state_of(course), wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=400)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), options.students, options.kills, options.seed)
    print(json.dumps(vars(found), indent=1))
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    main()
