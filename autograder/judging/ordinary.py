"""Runs an ordinary nbgrader notebook, one that has no grading tests here, behind the wall.

Its test cells can only run in the student's own process, which may forge their outcome. So their
outputs are shown, and a person gives the points. Hidden tests are left out, since student code
could read them there.
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

from ..course_folder.nbgrader_settings import nbgrader_settings
from ..course_folder.settings import load_settings
from ..model import UNJUDGED, Cell
from ..wall import WarmServer
from ..wall.time_budget import TimeBudget
from .models import server_of
from .trunk import Trunk

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
    """Copy the files beside the source notebooks, such as the pictures that they show.

    Args:
        source: the assignment's folder, an instructor's.
        target: the folder made from a submission.
        ignored: patterns of names that are left out.
    """
    for path in map(Path, find_all_files(str(source), ignored)):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copy(path, copy)


def run_ordinary(course: Path, notebook: NotebookNode, name: str = "") -> list[str]:
    """Run all code cells in the sandbox and put their outputs in place.

    Args:
        name: the assignment, whose data files lie beside the notebook.

    Returns:
        The names of the test cells; each is marked with `UNJUDGED`.

    Raises `SandboxUnavailable` if student code cannot be confined here and nothing was run.
    """
    places = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tests = [cell for cell in places if is_grade(cell) and not is_solution(cell)]
    visible_part = nbgrader_settings(course).visible_part
    cells = [Cell(visible_part(cell.source)) for cell in places]
    digest = blake2b(digest_size=6)
    for cell in cells:
        digest.update(cell.source.encode("utf-8", "surrogatepass") + b"\0")
    seed = int.from_bytes(digest.digest())
    budget = TimeBudget(load_settings(course).submission_seconds)
    trunk = Trunk(_server(course), cells, seed, budget, assignment=name)
    trunk.run_all()
    for place, ran in zip(places, trunk.ran, strict=True):
        place.outputs = nbformat.from_dict(ran.outputs)
        place.execution_count = ran.execution_count
    for cell in tests:
        cell.metadata[UNJUDGED] = True
        cell.outputs.insert(0, nbformat.from_dict(_NO_VERDICT))
    return [cell.metadata.nbgrader.grade_id for cell in tests]


@cache
def _server(course: Path) -> WarmServer:
    """Return a sandbox for this and later notebooks; it ends with this process."""
    server = server_of(course)
    server.start()
    atexit.register(server.close)
    return server
