"""Kills the grading of a class, or one of its student processes, and looks for damaged data.

    python kills.py KILLS SEED

The moment of a kill is drawn: some seconds after the start, the time when the next notebook is
finished, when a notebook or the gradebook is being written, or when a student process exists. After
each kill every file on the disk must be complete. After the grading that then runs to its end,
everything must be as without kills. The last line of the output is JSON: the number of kills and
the faults.

With one worker the command is forked from this program, which has imported all modules already.
Otherwise most kills would happen during imports.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import psutil
from nbgrader.api import Gradebook
from schools import append, released, solutions

from autograder.authoring.release import run_nbgrader
from autograder.commands import main as cli
from autograder.commands.demo import hand_in, hand_in_unreadable
from autograder.course_folder.course import Course

# Imported, though unused here, so that a forked command finds them loaded.
from autograder.pipeline import (
    workers,  # noqa: F401
)

POLICY = "\nc.LatePolicy.percent_a_day = 10\n"
DUE = datetime(2030, 3, 1, 12, 0)
LATE = "late"
KINDS = ["seconds", "notebook", "being written", "gradebook", "other grader", "student"]
_BECOMES_PARENT = 36  # PR_SET_CHILD_SUBREAPER


def make_class(folder: Path) -> None:
    """Make a course with ungraded submissions of every kind."""
    released(folder)
    append(folder / "nbgrader_config.py", POLICY)
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("value", duedate=DUE)
    assignment = Course(folder).assignment("value")
    right = solutions("value")
    wrong = {**right, "mul": assignment.exercises["mul"].mistakes[0].source}
    ended = {**right, "trace": "import os\nos._exit(0)\n"}
    students = {"right": right, "wrong": wrong, LATE: right, "ended": ended, "empty": {}}
    hand_in(Course(folder), assignment, students)
    hand_in_unreadable(Course(folder), assignment)
    (folder / "submitted" / LATE / "value/timestamp.txt").write_text("2030-03-02 13:00:00 UTC\n")


@dataclass
class State:
    """The files and rows that a grading has left.

    Attributes:
        files: the contents of the files in `autograded`, by path.
        marks: by student and cell: the mark; None if there is none yet.
        penalties: by student: the late penalty.
        record: by student: the entries in the record of gradings, without number and time.
        ill: the result of the database's integrity check if it found an error, else "".
    """

    files: dict[str, bytes]
    marks: dict[tuple[str, str], float | None]
    penalties: dict[str, float | None]
    record: dict[str, list[tuple[str, ...]]]
    ill: list[str]


def state_of(course: Path) -> State:
    graded = course / "autograded"
    files = {
        str(path.relative_to(graded)): path.read_bytes()
        for path in sorted(graded.rglob("*"))
        if path.is_file()
    }
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        ask = gradebook.execute
        marks = {
            (student, cell): mark
            for student, cell, mark in ask(
                "select student_id, base_cell.name, auto_score from grade"
                " join base_cell on base_cell.id = grade.cell_id"
                " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
                " join submitted_assignment"
                "   on submitted_assignment.id = submitted_notebook.assignment_id"
            )
        }
        penalties = dict(
            ask(
                "select student_id, late_submission_penalty from submitted_notebook"
                " join submitted_assignment"
                "   on submitted_assignment.id = submitted_notebook.assignment_id"
            ).fetchall()
        )
        record: dict[str, list[tuple[str, ...]]] = {}
        if ask("select 1 from sqlite_master where name = 'autograder_grading'").fetchone():
            for student, *line in ask(
                "select student, assignment, submission, seed, versions, verdicts"
                " from autograder_grading order by id"
            ):
                record.setdefault(student, []).append(tuple(line))
        ill = [row[0] for row in ask("pragma integrity_check") if row[0] != "ok"]
    return State(files, marks, penalties, record, ill)


@dataclass
class Campaign:
    """The results of the kills.

    Attributes:
        moments: by kind of moment: the number of kills at it.
        faults: a message for each missing, doubled, partly written, left over or different piece of
            data, with the number of the kill.
    """

    kills: int = 0
    rounds: int = 0
    submissions: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        moments = ", ".join(f"{kind} {count}" for kind, count in sorted(self.moments.items()))
        lines = [f"kills: {self.kills} ({moments}) in {self.rounds} gradings of "
                 f"{self.submissions} submissions; faults: {len(self.faults)}"]  # fmt: skip
        return "\n".join([*lines, *(f"  {fault}" for fault in self.faults)])


class Grading:
    """A running `autograder grade`, in a process group of its own."""

    def __init__(self, course: Path, scratch: Path, count: int) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (read at the end)
        arguments = ["grade", "value", "--workers", str(count)]
        if count == 1:
            forks = multiprocessing.get_context("fork")
            forked = forks.Process(target=self._begin, args=(course, scratch, arguments))
            forked.start()
            self.pid, self._wait = forked.pid, forked.join
            self._status: Callable[[], int | None] = lambda: forked.exitcode
        else:
            started = subprocess.Popen(
                [sys.executable, "-m", "autograder", *arguments],
                cwd=course,
                env={**os.environ, "TMPDIR": str(scratch)},
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
            self.pid, self._wait, self._status = started.pid, started.wait, started.poll

    def _begin(self, course: Path, scratch: Path, arguments: list[str]) -> None:
        os.setsid()
        os.chdir(course)
        os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
        os.dup2(self._log.fileno(), 1)
        os.dup2(self._log.fileno(), 2)
        cli.main(arguments)

    def is_running(self) -> bool:
        return self._status() is None

    def kill(self, whole_group: bool) -> None:
        # The grading may not have a process group yet.
        with suppress(ProcessLookupError):
            (os.killpg if whole_group else os.kill)(self.pid, signal.SIGKILL)
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> tuple[int | None, str]:
        """Wait for the end of the process; return its exit status and output."""
        self._wait(300)
        self._log.seek(0)
        return self._status(), self._log.read().decode(errors="replace")


def student_processes(grading: psutil.Process) -> Iterator[int]:
    """Yield the pids of the student processes: they have a filter of system calls that their
    parents do not have."""
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


class Driver:
    """Grades a class, kills the gradings, and compares what they leave.

    Args:
        folder: an empty folder to work in.
        seed: the seed of everything that is drawn.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._rng = random.Random(seed)
        self._fresh = folder / "fresh"
        self._course = folder / "course"
        self._scratch = folder / "scratch"
        self._scratch.mkdir()
        make_class(self._fresh)
        # A process that survives a killed grader becomes a child of this process, and is found.
        ctypes.CDLL(None).prctl(_BECOMES_PARENT, 1, 0, 0, 0)
        self.found = Campaign(submissions=len(list((self._fresh / "submitted").iterdir())))
        self._again()
        started = time.monotonic()
        output = self._grade(1).wait()
        self._seconds = time.monotonic() - started
        self.undisturbed = state_of(self._course)
        assert len(self.undisturbed.record) == self.found.submissions, output
        self.undisturbed_pages = self._pages()

    def run(self, kills: int) -> Campaign:
        """Kill gradings until `kills` is reached; let each class be graded to its end in
        between."""
        while self.found.kills < kills:
            self._again()
            self.found.rounds += 1
            while self.found.kills < kills and self._disturb():
                self._look(state_of(self._course), "after a kill")
            status, output = self._grade(1).wait()
            if status not in (0, 1):
                self._fault(f"the grading did not come to its end: {output[-500:]}")
            self._look_at_the_end()
            print(f"{self.found.kills} kills, {len(self.found.faults)} faults", flush=True)
        if self._pages() != self.undisturbed_pages:
            self._fault("feedback pages differ")
        return self.found

    def _again(self) -> None:
        shutil.rmtree(self._course, ignore_errors=True)
        shutil.copytree(self._fresh, self._course)

    def _grade(self, count: int) -> Grading:
        return Grading(self._course, self._scratch, count)

    def _disturb(self) -> bool:
        """Start a grading and kill it; return False if it ended before it could be killed."""
        rng = self._rng
        kind = rng.choice(KINDS)
        if kind == "student":
            return self._disturb_a_student()
        moment = self._moment(kind)
        grader = self._grade(2 if rng.random() < 0.15 else 1)
        other = self._grade(1) if kind == "other grader" else None
        whole_group = rng.random() < 0.5
        while grader.is_running() and not moment():
            time.sleep(0.0005)
        killed = grader.is_running()
        if killed:
            self.found.kills += 1
            self.found.moments[kind] += 1
            grader.kill(whole_group)
        grader.wait()
        if other is not None:
            other.wait()
        self._expect_no_process()
        return killed

    def _disturb_a_student(self) -> bool:
        """Kill one student process, as the kernel does when memory runs out."""
        seconds = self._rng.uniform(0.2, 1.0) * self._seconds
        started, killed = time.monotonic(), False
        grader = self._grade(self._rng.randint(1, 2))
        while grader.is_running() and not killed:
            time.sleep(0.005)
            if time.monotonic() - started > seconds:
                with suppress(psutil.NoSuchProcess, ProcessLookupError):
                    for pid in student_processes(psutil.Process(grader.pid)):
                        os.kill(pid, signal.SIGKILL)
                        killed = True
                        break
        _, printed = grader.wait()
        if "Traceback" in printed:
            self._fault(f"after a student's process: {printed}")
        for student in self.undisturbed.record.keys() - state_of(self._course).record.keys():
            if student not in printed:
                self._fault(f"nothing is printed of {student}, who was not graded")
        self.found.kills += killed
        self.found.moments["student"] += killed
        self._expect_no_process()
        return killed

    def _moment(self, kind: str) -> Callable[[], bool]:
        rng, started = self._rng, time.monotonic()
        graded = self._course / "autograded"

        def notebooks(pattern: str = "*/value/value.ipynb") -> int:
            return sum(1 for _ in graded.glob(pattern))

        if kind in ("seconds", "other grader"):
            seconds = rng.uniform(0.2, 1.1) * self._seconds
            return lambda: time.monotonic() - started > seconds
        if kind == "being written":
            return lambda: notebooks("*/value/.*.new") > 0
        if kind == "gradebook":
            count, seen = rng.randint(1, 12), [0]
            journal = self._course / "gradebook.db-journal"

            def written() -> bool:
                seen[0] += journal.exists()
                return seen[0] >= count

            return written
        before, delay, reached = notebooks(), rng.uniform(0, 0.03), [0.0]

        def after_the_next() -> bool:
            if not reached[0] and notebooks() > before:
                reached[0] = time.monotonic()
            return bool(reached[0]) and time.monotonic() - reached[0] > delay

        return after_the_next

    def _expect_no_process(self) -> None:
        # Processes that are about to end may do so.
        _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=300)
        for process in alive:
            self._fault(f"left running: {process}")
            process.kill()

    def _look(self, state: State, when: str) -> None:
        """Record a fault for each damaged file, and for each student whose marks and record do not
        agree."""
        wanted = self.undisturbed
        if state.ill:
            self._fault(f"{when}: the gradebook is damaged: {state.ill[:3]}")
        for path, content in state.files.items():
            if not path.endswith(".new") and wanted.files.get(path) != content:
                self._fault(f"{when}: {path} is half written or differs")
        for student, lines in state.record.items():
            if lines != wanted.record[student]:
                self._fault(f"{when}: {student} is in the record {len(lines)} times, or otherwise")
        for (student, cell), mark in state.marks.items():
            expected = wanted.marks[student, cell] if student in state.record else None
            if mark != expected:
                self._fault(f"{when}: {student} has {mark} in {cell}, not {expected}")
        for student in state.record:
            if f"{student}/value/value.ipynb" not in state.files:
                self._fault(f"{when}: {student} has marks and no notebook")

    def _look_at_the_end(self) -> None:
        state = state_of(self._course)
        self._look(state, "at the end")
        for name in ("files", "marks", "penalties", "record"):
            now, wanted = getattr(state, name), getattr(self.undisturbed, name)
            if now != wanted:
                differ = {key for key in now.keys() | wanted.keys()
                          if now.get(key) != wanted.get(key)}  # fmt: skip
                self._fault(f"at the end: {name} differ: {sorted(map(str, differ))[:5]}")
        left = [path.name for path in self._scratch.iterdir()]
        if left:
            self._fault(f"left behind: {left[:5]}")

    def _pages(self) -> dict[str, bytes]:
        run_nbgrader(self._course, "generate_feedback", "value", "--force")
        pages = (self._course / "feedback").rglob("*")
        return {str(path.relative_to(self._course)): path.read_bytes()
                for path in pages if path.is_file()}  # fmt: skip

    def _fault(self, what: str) -> None:
        self.found.faults.append(f"kill {self.found.kills}: {what}")


def main() -> None:
    kills, seed = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        found = Driver(Path(folder), seed).run(kills)
    print(found)
    print(json.dumps({"kills": found.kills, "isolation": found.faults}))


if __name__ == "__main__":
    main()
