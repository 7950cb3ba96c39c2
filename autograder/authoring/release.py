"""Makes the release and solution notebooks that the clone carries, from the source notebooks.

Both are results of `nbgrader generate_assignment` and `nbgrader generate_solution`, with cell ids
and outputs kept stable, so that the same source makes the same files.
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

from ..course_folder.assignments import place_of
from ..course_folder.nbgrader_settings import nbgrader_settings
from ..course_folder.settings import NAME as SETTINGS
from ..errors import CourseError
from ..judging.ordinary import copy_own_files
from ..texts import command


def copy_course(course: Path, target: Path) -> None:
    """Copy the parts of a course: configuration with the modules beside it, notebooks and tests,
    without students' work."""
    target.mkdir(parents=True, exist_ok=True)
    for path in (course / SETTINGS, *course.glob("*.py")):
        shutil.copyfile(path, target / path.name)
    for name in ("source", "release", "grading_tests"):
        if not (course / name).is_dir():
            continue
        shutil.copytree(course / name, target / name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    for path in filter(None, nbgrader_settings(course).around):
        if path.exists() and path.is_relative_to(course):
            (target / path.relative_to(course)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.relative_to(course))


def made(course: Path, kind: str, name: str) -> NotebookNode:
    """Return the "release" or "solutions" notebook of an assignment, made in a scratch folder.

    Raises `CourseError` with nbgrader's message if it fails.
    """
    place = place_of(course, name)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        copy_course(course, scratch)
        where = [f"--CourseDirectory.{key}={value}" for key, value in inside(scratch).items()]
        run_nbgrader(scratch, "generate_assignment", place.folder, "--force", *where)
        if kind == "solutions":
            # nbgrader gives a cell half a minute, which is little for training on a busy machine.
            more = ("--force", "--Execute.timeout=600", *where)
            run_nbgrader(scratch, "generate_solution", place.folder, *more)
        notebook: NotebookNode = nbformat.read(place.inside(scratch / kind), as_version=4)
    _require_no_errors(notebook)
    _leave_out_widgets(notebook)
    # The pieces in which a kernel sends a text differ as well.
    notebook, _ = CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the time when it was run, which differs every time
    return notebook


def _require_no_errors(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise CourseError(f"the cell {cell.id} raised {output.ename}: {output.evalue}")


def _leave_out_widgets(notebook: NotebookNode) -> None:
    """Remove widgets and keep the pictures beside them: without its kernel a widget is shown as an
    error."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


def write(course: Path, kind: str, name: str) -> Path:
    """Make the notebook and put it into the clone; return its path."""
    place = place_of(course, name)
    path = place.inside(course / kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(made(course, kind, name), version=4) + "\n", "utf-8")
    if kind == "release":
        copy_beside(course, place.folder)
    return path


def inside(scratch: Path) -> dict[str, str]:
    """Return nbgrader's folders and gradebook in a copy of a course, whatever the course's own
    configuration names."""
    return {
        "root": str(scratch),
        "db_url": f"sqlite:///{scratch}/gradebook.db",
        "solution_directory": "solutions",
    }


def copy_beside(course: Path, name: str) -> None:
    """Copy the files beside the source notebook, such as data and a table, beside the release."""
    ignored = [*CourseDirectory().ignore, "*.ipynb"]
    copy_own_files(course / "source" / name, course / "release" / name, ignored)


def run_nbgrader(folder: Path, *arguments: str) -> None:
    """Run an nbgrader command in a course. Raises `CourseError` with its message if it fails."""
    if said := _errors_of_nbgrader(folder, *arguments):
        raise _failed(arguments, said)


def _errors_of_nbgrader(folder: Path, *arguments: str) -> str:
    """Run an nbgrader command; return its log if it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder, capture_output=True, text=True, errors="backslashreplace",
    )  # fmt: skip
    return (done.stderr or "no message") if done.returncode else ""


def run_nbgrader_for_each(folder: Path, *arguments: str) -> dict[str, str]:
    """Run an nbgrader command that treats one student after the other.

    Returns:
        The error of each student for whom the command failed.

    Raises `CourseError` with nbgrader's message if the command did not reach the last student.
    """
    if not (said := _errors_of_nbgrader(folder, *arguments)):
        return {}
    failed: dict[str, str] = {}
    _, *parts = _AT_ONE.split(said)
    for student, text in zip(parts[::2], parts[1::2], strict=True):
        # The rest of this line of the log, and the next one, which is the traceback.
        _, traceback, *_ = [*_LOGGED.split(text, maxsplit=2), ""]
        raised = [match[1] or match[0] for match in _RAISED.finditer(traceback)]
        failed[student] = raised[-1] if raised else "nbgrader failed"
    # nbgrader prints this only when it has gone through all.
    if not failed or "for details on the specific errors" not in said:
        raise _failed(arguments, said)
    return failed


_AT_ONE = re.compile(r"There was an error processing assignment: .*?([^/\n]+)/[^/\n]+\n")
_LOGGED = re.compile(r"^\[\w+ \| .*?\] \w+ \| ", re.MULTILINE)
_RAISED = re.compile(r"^[\w.]+(?:: (.+))?$", re.MULTILINE)


def _failed(arguments: tuple[str, ...], said: str) -> CourseError:
    return CourseError(f"{command('nbgrader', *arguments)} failed:\n{said[-3000:]}")


def source_names(course: Path) -> list[str]:
    """Return the assignments that the course has source notebooks for."""
    return sorted({path.parent.name for path in (course / "source").glob("*/*.ipynb")})
