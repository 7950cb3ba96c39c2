"""Builds release and solution notebooks from the source notebooks, as files for version control.

They are what `nbgrader generate_assignment` and `nbgrader generate_solution` make, normalised so
that the same source always gives the same bytes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory

from ..course_folder.course import Course
from ..course_folder.release import RELEASE, SOLUTIONS, build_from_source, leave_out_widgets
from ..course_folder.rubrics import rubrics_of
from ..course_folder.settings import NAME as SETTINGS
from ..errors import CourseError
from ..judging.ordinary import copy_own_files
from ..texts import command


def copy_course(course: Course, target: Path) -> Course:
    """Copy a course without students' work: course.toml, the modules beside it, the folders
    source/, release/ and grading_tests/, data elsewhere in the course folder, and nbgrader's header
    and footer notebooks. Return the copy."""
    target.mkdir(parents=True, exist_ok=True)
    for path in (course.root / SETTINGS, *course.root.glob("*.py")):
        shutil.copyfile(path, target / path.name)
    for name in ("source", "release", "grading_tests"):
        if not (course.root / name).is_dir():
            continue
        shutil.copytree(course.root / name, target / name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    data = (Path(path) for *_, path in course.settings.visible.data)
    for path in filter(None, (*course.nbgrader.around, *data)):
        if path.exists() and path.is_relative_to(course.root):
            copy = target / path.relative_to(course.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    return Course(target)


def build(course: Course, kind: str, name: str) -> NotebookNode:
    """Build and return the release notebook or the executed solution notebook of an assignment.

    Args:
        kind: `RELEASE` or `SOLUTIONS`.
        name: FOLDER or FOLDER/NOTEBOOK, as for `notebook_path`.

    Raises `CourseError` with nbgrader's message if the notebook cannot be built.
    """
    place = course.notebook_path(name)
    if kind == RELEASE:
        return build_from_source(course, kind, place.folder)[place.notebook]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        copy_course(course, scratch)
        options = [
            f"--CourseDirectory.{key}={value}"
            for key, value in scratch_directories(scratch).items()
        ]
        run_nbgrader(scratch, "generate_assignment", place.folder, "--force", *options)
        # The timeout is in seconds; nbgrader's 30 are too few for a training on a busy machine.
        options += ["--force", "--Execute.timeout=600"]
        run_nbgrader(scratch, "generate_solution", place.folder, *options)
        notebook: NotebookNode = nbformat.read(place.under(scratch / kind), as_version=4)
    _require_no_errors(notebook)
    leave_out_widgets(notebook)
    # Merge stream outputs: how a kernel splits them varies from run to run.
    notebook, _ = CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # timestamps, which vary as well
    return notebook


def _require_no_errors(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise CourseError(f"the cell {cell.id} raised {output.ename}: {output.evalue}")


def write(course: Course, kind: str, name: str) -> Path:
    """Build a notebook as `build` does and write it into the course folder; return its path.

    Raises `CourseError` if it cannot be built, or if a rubric does not fit its exercise.
    """
    place = course.notebook_path(name)
    rubrics_of(course, course.name_of(place.folder, place.notebook))
    path = place.under(course.root / kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(build(course, kind, name), version=4) + "\n", "utf-8")
    if kind == RELEASE:
        copy_beside(course, place.folder)
    return path


def scratch_directories(scratch: Path) -> dict[str, str]:
    """Return settings of `CourseDirectory` with which nbgrader writes only into a copy of a course,
    even if the course's own configuration names other paths.

    Args:
        scratch: the folder of the copy.
    """
    return {
        "root": str(scratch),
        "db_url": f"sqlite:///{scratch}/gradebook.db",
        "solution_directory": SOLUTIONS,
    }


def copy_beside(course: Course, name: str) -> None:
    """Copy the other files in the folder of the source notebook to the release, such as data and
    the table of the visible checks.

    Args:
        name: the assignment's folder.
    """
    ignored = [*CourseDirectory().ignore, "*.ipynb"]
    copy_own_files(course.source / name, course.release / name, ignored)


def run_nbgrader(folder: Path, *arguments: str) -> None:
    """Run an nbgrader command in a course folder.

    Raises `CourseError` with nbgrader's message if the command fails.
    """
    if said := _errors_of_nbgrader(folder, *arguments):
        raise _failed(arguments, said)


def _errors_of_nbgrader(folder: Path, *arguments: str) -> str:
    """Run an nbgrader command; return its log if it failed, else ""."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder, capture_output=True, text=True, errors="backslashreplace",
    )  # fmt: skip
    return (done.stderr or "no message") if done.returncode else ""


def run_nbgrader_for_each(folder: Path, *arguments: str) -> dict[str, str]:
    """Run an nbgrader command that processes one student after the other.

    Returns:
        By student for whom the command failed, the error message.

    Raises `CourseError` with nbgrader's message if the command ended before the last student.
    """
    if not (said := _errors_of_nbgrader(folder, *arguments)):
        return {}
    failed: dict[str, str] = {}
    _, *parts = _AT_ONE.split(said)
    for student, text in zip(parts[::2], parts[1::2], strict=True):
        # Split where lines of the log begin. The second piece has the error's traceback.
        _, traceback, *_ = [*_LOGGED.split(text, maxsplit=2), ""]
        raised = [match[1] or match[0] for match in _RAISED.finditer(traceback)]
        failed[student] = raised[-1] if raised else "nbgrader failed"
    # nbgrader prints this line only after the last student.
    if not failed or "for details on the specific errors" not in said:
        raise _failed(arguments, said)
    return failed


_AT_ONE = re.compile(r"There was an error processing assignment: .*?([^/\n]+)/[^/\n]+\n")
_LOGGED = re.compile(r"^\[\w+ \| .*?\] \w+ \| ", re.MULTILINE)
_RAISED = re.compile(r"^[\w.]+(?:: (.+))?$", re.MULTILINE)


def _failed(arguments: tuple[str, ...], said: str) -> CourseError:
    return CourseError(f"{command('nbgrader', *arguments)} failed:\n{said[-3000:]}")
