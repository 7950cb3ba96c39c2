"""Packs the zip with which Gradescope grades an assignment; on Gradescope, grades a submission.

Gradescope unpacks the zip into /autograder/source and runs its `setup.sh` once. For each submission
it runs `run_autograder`, which reads /autograder/submission and writes
/autograder/results/results.json (https://gradescope-autograders.readthedocs.io/en/latest/specs/).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..authoring.release import copy_course
from ..course_folder.course import Course
from ..course_folder.key import NAME as KEY
from ..course_folder.release import current_release
from ..errors import UnreadableNotebook
from ..judging.grader import Grader
from ..notebook.intake import find_notebook
from ..packages import module_folder
from ..pipeline.one_submission import grade_file
from ..records import ExerciseResult, Report, Status
from ..sandbox.visible import OWN_MODULES, OWN_PACKAGES, requirements

_ROOT = Path("/autograder")
_ABOUT = "about.json"
_PACKAGE = Path(__file__).parents[1]
_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

_SETUP = f"""#!/bin/sh
# Gradescope runs this once, when it builds the image.
set -e
root="${{AUTOGRADER_ROOT:-/autograder}}"
apt-get update -qq
apt-get install -y -qq {_PYTHON} {_PYTHON}-venv graphviz fonts-dejavu-core
{_PYTHON} -m venv "$root/python"
"$root/python/bin/pip" install --quiet -r "$root/source/requirements.txt"
"""
_RUN = """#!/bin/sh
# Gradescope runs this for each submission.
root="${AUTOGRADER_ROOT:-/autograder}"
export PYTHONPATH="$root/source/packages" PYTHONDONTWRITEBYTECODE=1
exec "$root/python/bin/python" -m autograder.publishing.gradescope "$root"
"""


def package(course: Course, name: str, output: Path, visibility: str) -> Path:
    """Write the zip for Gradescope, and return its path.

    The zip is secret, since it holds hidden tests, key and solutions.

    Args:
        name: the assignment.
        output: the path of the zip.
        visibility: when students see the verdicts: a value of Gradescope's setting `visibility`.

    Raises `CourseError` if the assignment cannot be loaded, if its release is not the one that its
    source gives, or if a package that it needs is not installed.
    """
    course.assignment(name)
    current_release(course, course.notebook_path(name).folder)
    settings = course.settings
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy_course(course, folder / "course")
        (folder / "course" / KEY).write_text(course.key.hex())
        modules = {each: module_folder(each) for each in {*OWN_MODULES, *settings.visible.modules}}
        for module, path in {"autograder": _PACKAGE, **modules}.items():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(path, folder / "packages" / module, ignore=ignored)
        pinned = requirements(("oneway-autograder", *OWN_PACKAGES, *settings.visible.packages))
        (folder / "requirements.txt").write_text("".join(f"{line}\n" for line in pinned))
        about = {"assignment": name, "visibility": visibility}
        (folder / _ABOUT).write_text(json.dumps(about))
        for script, text in (("setup.sh", _SETUP), ("run_autograder", _RUN)):
            (folder / script).write_text(text)
            (folder / script).chmod(0o755)
        archive = shutil.make_archive(str(folder.with_suffix("")), "zip", folder)
        output.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(archive, output))


def grade(root: Path) -> None:
    """Grade the submission in Gradescope's folders, and write results.json.

    An error of the grader itself is raised: Gradescope then reports a failed autograder, and gives
    no points.

    Args:
        root: Gradescope's folder, with `source`, `submission` and `results`.
    """
    about = json.loads((root / "source" / _ABOUT).read_text())
    course, name = Course(root / "source" / "course"), about["assignment"]
    try:
        notebook = find_notebook(root / "submission", course.notebook_path(name).notebook)
        with Grader(course, course.key) as grader:
            _, report = grade_file(grader, notebook, name)
        results = as_results(report, about["visibility"])
    except UnreadableNotebook as error:
        results = {"score": 0.0, "output": str(error), "stdout_visibility": "hidden"}
    (root / "results").mkdir(exist_ok=True)
    (root / "results" / "results.json").write_text(json.dumps(results))


def as_results(report: Report, visibility: str) -> dict[str, Any]:
    """Return a report as the content of Gradescope's results.json, without the tests' seed.

    Args:
        visibility: when students see the verdicts: a value of Gradescope's setting `visibility`.
    """
    return {
        "score": report.score,
        "output": "\n".join(report.notes),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "extra_data": {"sandbox": report.sandbox},
        "tests": [
            _test(number, result, visibility)
            for number, result in enumerate(report.exercises, start=1)
        ],
    }


def _test(number: int, result: ExerciseResult, visibility: str) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": result.title,
        "number": str(number),
        "max_score": result.max_points,
        "output": "\n\n".join(part for part in (result.message, result.note) if part),
        "output_format": "text",
        "visibility": visibility,
        "extra_data": {
            "id": result.id,
            "status": result.status,
            "misconception": result.misconception,
        },
    }
    if result.points is not None:  # None: a person gives the points
        test["score"] = result.points
        test["status"] = "passed" if result.status == Status.PASSED else "failed"
    return test


if __name__ == "__main__":
    grade(Path(sys.argv[1]) if sys.argv[1:] else _ROOT)
