"""Makes courses with a release and submissions, and runs commands in them."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader
from nbgrader.apps.nbgraderapp import NbGraderApp
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.key import NAME as KEY_FILE
from autograder.course_folder.key import course_key
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom, course_directory
from autograder.pipeline.workers import OneProcess
from autograder.records import SubmissionOutcome

KEY = bytes(range(32))


def released(folder: Path, *names: str) -> Path:
    """Copy the course, with these assignments released by nbgrader and their solution check
    done."""
    shutil.copytree(_released(names or ("value",)), folder, dirs_exist_ok=True)
    return folder


@cache
def _released(names: tuple[str, ...]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="released-"))
    atexit.register(shutil.rmtree, folder)
    copy_course(COURSE, folder)
    (folder / KEY_FILE).write_text(KEY.hex() + "\n")
    release(folder, *names)
    with Grader(Course(folder), KEY) as grader:
        assert [defect for name in names for defect in grader.check_solution(name)] == []
    return folder


def edited_course(folder: Path, file: str, old: str, new: str) -> Path:
    """Copy the course, create its key, and replace the first `old` in one of its files."""
    copy_course(COURSE, folder)
    (folder / KEY_FILE).write_text(KEY.hex() + "\n")
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), "utf-8")
    return folder


def append(path: Path, text: str) -> None:
    """Append a text to a file, such as a setting to a configuration."""
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def release(folder: Path, *names: str) -> None:
    """Release assignments by nbgrader, in this process."""
    folders = course_directory(Course(folder))
    api = NbGraderAPI(folders, config=folders.config)
    with chdir(folder):
        for name in names:
            done = api.generate_assignment(name)
            assert done["success"], done["log"] + done.get("error", "")


def solutions(name: str, course: Course = COURSE) -> dict[str, str]:
    """Return the right answers of an assignment, by exercise."""
    exercises = course.assignment(name).exercises.values()
    return {exercise.id: exercise.solution for exercise in exercises}


def grade(folder: Path, name: str = "value", force: bool = False) -> list[SubmissionOutcome]:
    """Grade all submissions for an assignment, in this process."""
    with (
        Grader(Course(folder), course_key(folder)) as grader,
        Classroom(Course(folder), OneProcess(grader), force) as room,
    ):
        return list(room.grade([(name, student) for student in room.submissions(name)]))


def scores(folder: Path, name: str = "value") -> dict[str, float]:
    """Return the points of an assignment in the gradebook, by student."""
    folders = course_directory(Course(folder))
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        return {each.student.id: each.score for each in gradebook.assignment_submissions(name)}


def run(folder: Path, program: str, *arguments: str, status: int = 0) -> str:
    """Run a command in a course folder, and return all that it printed.

    Commands run in this process, since a new process would spend most of its time on imports. The
    exceptions are commands of nbgrader that keep a grader until their process ends.
    """
    if program == "autograder":
        code, printed = _in_this_process(lambda: main(arguments), folder)
    elif arguments[0] in ("autograde", "validate"):
        line = [sys.executable, "-m", program, *arguments]
        ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300)
        code, printed = ended.returncode, ended.stdout + ended.stderr
    else:
        _forget(NbGrader)
        code, printed = _in_this_process(lambda: NbGraderApp.launch_instance([*arguments]), folder)
    assert code == status, printed
    return printed


def _forget(application: type[NbGrader]) -> None:
    """Remove the single instance of an nbgrader application, and those of its subclasses."""
    application.clear_instance()
    for each in application.__subclasses__():
        _forget(each)


def _in_this_process(command: Callable[[], object], folder: Path) -> tuple[int, str]:
    """Call a command; return its exit status, and all that it printed."""
    printed = StringIO()
    try:
        with chdir(folder), redirect_stdout(printed), redirect_stderr(printed):
            command()
    except SystemExit as ended:
        return int(ended.code or 0), printed.getvalue()
    return 0, printed.getvalue()
