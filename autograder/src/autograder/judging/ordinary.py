"""Runs an ordinary nbgrader notebook, one without a suite in `grading_tests/`, in the sandbox.

The notebook's test cells can only run in the student's own process, which may forge their outcome.
So their outputs are shown, and a person gives the points. The parts of test cells that nbgrader
hides are left out, since student code could read them.
"""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from hashlib import blake2b
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import find_all_files, is_grade, is_solution

from ..course_folder.course import Course
from ..records import UNJUDGED, Cell
from ..sandbox import ForkServer
from ..sandbox.time_budget import TimeBudget
from .course_sessions import server_of
from .notebook_session import NotebookSession

# nbgrader reads the plain text of the first result as the points.
_NO_VERDICT = {
    "output_type": "execute_result",
    "data": {
        "text/plain": "0.0",
        "text/html": "<p>This test ran together with the submitted code, which can make it show "
        "anything: it gives no points by itself. A person gives them.</p>",
    },
    "metadata": {},
    "execution_count": None,
}


def copy_own_files(source: Path, target: Path, ignored: list[str]) -> None:
    """Copy the files beside the source notebooks, such as the pictures that they show, and replace
    files of the same name.

    Args:
        source: the instructor's folder of the assignment.
        target: the folder that was made from a submission.
        ignored: glob patterns of the names that are not copied.
    """
    for path in map(Path, find_all_files(str(source), ignored)):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copy(path, copy)


def run_ordinary(course: Course, notebook: NotebookNode, name: str = "") -> list[str]:
    """Run all code cells in the sandbox, and store their outputs in `notebook`.

    Args:
        name: the assignment's name; its data files are put beside the notebook.

    Returns:
        The grade ids of the test cells. Each test cell is marked with `UNJUDGED` in its metadata.

    Raises `SandboxUnavailable` if student code cannot be confined here and nothing was run.
    """
    places = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tests = [cell for cell in places if is_grade(cell) and not is_solution(cell)]
    visible_part = course.nbgrader.visible_part
    cells = [Cell(visible_part(cell.source)) for cell in places]
    digest = blake2b(digest_size=6)
    for cell in cells:
        digest.update(cell.source.encode("utf-8", "surrogatepass") + b"\0")
    seed = int.from_bytes(digest.digest())
    budget = TimeBudget(course.settings.submission_seconds)
    session = NotebookSession(_server(course), cells, seed, budget, assignment=name)
    session.run_all()
    for place, ran in zip(places, session.ran, strict=True):
        place.outputs = nbformat.from_dict(ran.outputs)
        place.execution_count = ran.execution_count
    for cell in tests:
        cell.metadata[UNJUDGED] = True
        cell.outputs.insert(0, nbformat.from_dict(_NO_VERDICT))
    return [cell.metadata.nbgrader.grade_id for cell in tests]


@cache
def _server(course: Course) -> ForkServer:
    """Return a started fork server for all notebooks of a course; it ends with this process."""
    server = server_of(course)
    server.start()
    atexit.register(server.close)
    return server
