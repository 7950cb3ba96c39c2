"""The grader's memory and time stay within bounds for any file and any output.

Every flood of `attacks.floods` is graded by one process, as a class would be, and its feedback page
is made. The process's peak memory is read for each one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from attacks.floods import CELLS, FILES
from campaigns import size
from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course

pytestmark = [pytest.mark.subprocess, pytest.mark.full, pytest.mark.sized]

MEGABYTES = 300
SECONDS = 5.0
"""Seconds for a submission in these tests. It may take the grader three times as long."""
PAGE_MEGABYTES, PAGE_SECONDS = 50, 20
EVERY = size(6, 1)
"""One in this number of floods is tried."""
NAMES = [*FILES, *(f"shown: {name}" for name in CELLS)]
NAMES = [name for name in NAMES if crc32(name.encode()) % EVERY == 0]

GRADE = """
import json, sys
from pathlib import Path
from autograder.course_folder.course import Course
from autograder.pages.feedback.exporter import feedback_page
from autograder.judging.grader import Grader
from autograder.nbgrader_plugins.autograde import HideTests
from autograder.pipeline.workers import Job, grade_job
from time import process_time
import nbformat

def height():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

with Grader(Course(Path(sys.argv[1])), bytes(32), submission_seconds=float(sys.argv[2])) as grader:
    for line in sys.stdin:
        content = Path(line.strip()).read_bytes()
        Path("/proc/self/clear_refs").write_text("5")
        started = process_time()
        graded = grade_job(grader, Job("value", "student", "value.ipynb", content))
        found = {"seconds": process_time() - started, "megabytes": height(),
                "file": len(content) / 1e6, "notebook": len(graded.text) / 1e6,
                "score": graded.report and graded.report.score, "error": graded.error,
                "notes": graded.report and graded.report.notes[:3]}
        del content
        Path("/proc/self/clear_refs").write_text("5")
        started = process_time()
        notebook = nbformat.v4.reads(graded.text)
        del graded
        HideTests().preprocess(notebook, {})
        about = {"student": "s", "assignment": "value", "notebook": "value", "score": 0,
                 "max_score": 16, "late_penalty": 0}
        page = feedback_page(notebook, {"nbgrader": about})
        found |= {"page": len(page.encode()) / 1e6, "page_seconds": process_time() - started,
                 "page_megabytes": height()}
        del notebook, page
        print(json.dumps(found), flush=True)
"""


def file_of(name: str, honest: str) -> bytes:
    """Return the file that is handed in."""
    if name in FILES:
        return FILES[name]()(honest)
    notebook = json.loads(honest)
    notebook["cells"][:0] = [
        {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}
        for source in CELLS.get(name.removeprefix("shown: "), [])
    ]
    return json.dumps(notebook).encode()


def flood(course: Path, path: Path, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return the measurements of each, by its name, after an honest one for which everything is
    loaded."""
    honest, found = filled_notebook(Course(course), "value", solutions("value", Course(course))), {}
    line = [sys.executable, "-c", GRADE, str(course), str(SECONDS)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as grading:
        assert grading.stdin
        assert grading.stdout
        for name in ["honest", *names]:
            path.write_bytes(file_of(name, honest))
            print(path, file=grading.stdin, flush=True)
            found[name] = json.loads(grading.stdout.readline())
        grading.stdin.close()
    return found


@pytest.fixture(scope="module")
def flooded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return flood(course, tmp_path_factory.mktemp("floods") / "value.ipynb", NAMES)


def test_grading_a_flood_takes_bounded_memory(flooded):
    heights = {
        name: (found["megabytes"], found["page_megabytes"]) for name, found in flooded.items()
    }
    assert len(heights) == len(NAMES) + 1
    assert {name: each for name, each in heights.items() if max(each) > MEGABYTES} == {}


def test_grading_a_flood_takes_bounded_time(flooded):
    slow = {name: found["seconds"] for name, found in flooded.items()}
    assert {name: seconds for name, seconds in slow.items() if seconds > 3 * SECONDS} == {}


def test_the_feedback_page_of_a_flood_has_a_bounded_size(flooded):
    sizes = {name: (found["page"], found["page_seconds"]) for name, found in flooded.items()}
    assert {
        name: each
        for name, each in sizes.items()
        if each[0] > PAGE_MEGABYTES or each[1] > PAGE_SECONDS
    } == {}


def test_every_flood_is_graded_or_refused_with_a_message_that_names_the_file(flooded):
    for name, found in flooded.items():
        assert found["score"] is not None, name
        assert found["error"] is None or found["error"].startswith("value.ipynb: "), name
