"""The zip for Gradescope grades in Gradescope's folders, with the rights of a container."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import as_in_a_container
import pytest
from campaigns import size
from click.testing import CliRunner
from programs import run_program
from tested_course import COURSE

from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.publishing.gradescope import as_results
from autograder.records import LANDLOCK, ExerciseResult, Report
from autograder.sandbox import kinds

VALUE = COURSE.assignment("value")
RIGHT = {exercise.id: exercise.solution for exercise in VALUE.exercises.values()}
LOOKS = """
import os
for folder in ("ROOT", "ROOT/source", "ROOT/source/course", "ROOT/results", "ROOT/submission"):
    try:
        print("seen", os.listdir(folder))
    except OSError:
        pass
for path in ("ROOT/results/results.json", "ROOT/source/about.json"):
    try:
        open(path, "w").write('{"score": 1000}')
    except OSError:
        pass
"""


pytestmark = [pytest.mark.external, pytest.mark.sized]
IS_WHOLE = bool(size(0, 1))
"""`setup.sh` installs into a fresh environment, which takes minutes."""

# Stand-ins for programs of the image, and for a Python into which all is installed already.
APT = '#!/bin/sh\necho "$@" >> "$AUTOGRADER_ROOT/apt"\n'
PYTHON = f"""#!/bin/sh
mkdir -p "$3/bin"
printf '#!/bin/sh\\nexec {sys.executable} "$@"\\n' > "$3/bin/python"
printf '#!/bin/sh\\necho "$@" > "$AUTOGRADER_ROOT/pip"\\n' > "$3/bin/pip"
chmod +x "$3/bin/python" "$3/bin/pip"
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return Gradescope's folders after `setup.sh` has run, with nothing else in them."""
    root = tmp_path_factory.mktemp("gradescope")
    archive = root / "value.zip"
    line = ["package", "gradescope", "value", "--visibility", "after_due_date"]
    done = CliRunner().invoke(main, [*line, "--output", str(archive), "--course", str(COURSE)])
    assert done.exit_code == 0, done.output
    for folder in ("source", "submission", "results", "image"):
        (root / folder).mkdir(parents=True)
    with zipfile.ZipFile(archive) as content:
        content.extractall(root / "source")
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program, text in {"apt-get": APT, **({} if IS_WHOLE else {name: PYTHON})}.items():
        (root / "image" / program).write_text(text)
        (root / "image" / program).chmod(0o755)
    python = Path(sys.executable).resolve().parent
    path = f"{root}/image:{python}:/usr/bin:/bin"
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "PATH": path}
    run_program(["sh", root / "source" / "setup.sh"], timeout=900, cwd="/", env=environment)
    assert name in (root / "apt").read_text()
    return root


def graded(root: Path, notebook: str) -> dict[str, object]:
    if why := kinds.KINDS[LANDLOCK].why_not():
        pytest.skip(f"landlock: {why}")
    (root / "submission" / "mine.ipynb").write_text(notebook)
    (root / "results" / "results.json").unlink(missing_ok=True)
    container = as_in_a_container.__file__
    environment = {"AUTOGRADER_ROOT": str(root), "PATH": "/usr/bin:/bin"}
    line = [sys.executable, container, "sh", root / "source" / "run_autograder"]
    run_program(line, cwd=root, env=environment)
    results: dict[str, object] = json.loads((root / "results" / "results.json").read_text())
    return results


def test_the_zip_has_gradescope_s_files_and_names_packages_by_version(root):
    source = root / "source"
    for script in ("setup.sh", "run_autograder"):
        assert (source / script).read_text().startswith("#!/bin/sh\n")
        run_program(["sh", "-n", source / script])
    lines = (source / "requirements.txt").read_text().splitlines()
    names = {line.split("==")[0].lower() for line in lines}
    assert {"nbgrader", "ipython", "pytest"} <= names
    assert not names & {"oneway-autograder", "coursecheck", "autograd-course"}
    assert all(line.count("==") == 1 and " " not in line for line in lines)
    assert (source / "course" / ".autograder_key").read_text().strip()
    if not IS_WHOLE:
        asked = (root / "pip").read_text().split()
        assert asked == ["install", "--quiet", "-r", str(source / "requirements.txt")]


def test_a_submission_is_graded_in_gradescope_s_folders(root):
    answers = {**RIGHT, "add": VALUE.exercises["add"].mistakes[0].source}
    answers["node"] += LOOKS.replace("ROOT", str(root))
    results = graded(root, filled_notebook(COURSE, "value", answers))
    assert_valid(results)
    tests = {test["extra_data"]["id"]: test for test in results["tests"]}
    assert results["extra_data"] == {"sandbox": "landlock"}
    assert (tests["add"]["status"], tests["mul"]["status"]) == ("failed", "passed")
    assert tests["add"]["extra_data"]["misconception"] == VALUE.exercises["add"].mistakes[0].id
    assert {test["visibility"] for test in tests.values()} == {"after_due_date"}
    full = sum(test["max_score"] for test in tests.values())
    assert 0 < results["score"] < full == sum(e.max_points for e in VALUE.exercises.values())
    assert json.loads((root / "source" / "about.json").read_text())["assignment"] == "value"


def test_unreadable_files_get_no_points_and_a_reason(root):
    results = graded(root, "no notebook")
    assert_valid(results)

    assert results["score"] == 0
    assert "mine.ipynb" in str(results["output"])


def test_answers_that_a_person_marks_have_no_score_and_the_seed_is_hidden():
    exercises = [
        ExerciseResult("a", "A", 2.0, None, "manual"),
        ExerciseResult("b", "B", 3.0, 3.0, "passed"),
    ]
    results = as_results(Report("x", exercises, ["a note"], seed="5eed"), "hidden")
    assert_valid(results)

    assert "score" not in results["tests"][0]
    assert results["tests"][1]["score"] == 3.0
    assert "5eed" not in json.dumps(results)


def assert_valid(results: dict[str, object]) -> None:
    """Assert that results.json has the format that Gradescope documents."""
    visibilities = {"hidden", "after_due_date", "after_published", "visible"}
    formats = {"text", "html", "simple_format", "md", "ansi"}
    known = {"score": (int, float), "execution_time": (int, float), "output": str,
             "output_format": str, "test_output_format": str, "test_name_format": str,
             "visibility": str, "stdout_visibility": str, "extra_data": dict, "tests": list,
             "leaderboard": list}  # fmt: skip
    for key, value in results.items():
        assert isinstance(value, known[key]), key
    assert "score" in results or "tests" in results
    assert results.get("stdout_visibility") == "hidden"
    of_tests = {"score": (int, float), "max_score": (int, float), "status": str, "name": str,
                "name_format": str, "number": str, "output": str, "output_format": str,
                "tags": list, "visibility": str, "extra_data": dict}  # fmt: skip
    for test in results.get("tests", []):
        for key, value in test.items():
            assert isinstance(value, of_tests[key]), key
        assert test.get("status", "passed") in {"passed", "failed"}
        assert test["visibility"] in visibilities
        assert test["output_format"] in formats
