"""The README's commands, in any order, change no tracked file, and hand out no solved cell, no
output and no hidden test."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from campaigns import seed, size
from nbformat.notebooknode import NotebookNode
from schools import run, solutions

from autograder.backup import _FRESH
from autograder.course_folder.course import Course, find_course
from autograder.course_folder.key import NAME as KEY
from autograder.files import LOCK
from autograder.lms.importing import FOLDER as IMPORTED
from autograder.pipeline.register import ASIDE
from autograder.publishing.browser import site
from autograder.publishing.bundle import make
from autograder.publishing.lab import update_lab
from autograder.publishing.lesson import site as lesson
from autograder.service.attempts import FOLDER as ATTEMPTS

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

COURSE = find_course(Path(__file__).parent)
NAME = "value"
ROUNDS, STEPS = size(1, 12), size(6, 13)


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    line = ["git", *who, *words]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the files of this clone."""
    folder = tmp_path_factory.mktemp("clone")
    for name in git(COURSE.root, "ls-files", "-co", "--exclude-standard", "-z").split("\0"):
        if (COURSE.root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(COURSE.root / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "The course")
    return folder


def solve(path: Path) -> None:
    """Work through a notebook as in JupyterLab: solve each exercise, and leave outputs."""
    made, answers = nbformat.read(path, as_version=4), solutions(NAME)
    for cell in made.cells:
        if cell.cell_type == "code":
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution"):
                cell.source = answers.get(marks["grade_id"], cell.source)
            cell.execution_count = 1
            cell.outputs = [nbformat.v4.new_output("stream", text="solved")]
    nbformat.write(made, path)


def try_the_course(clone: Path) -> None:
    lab = clone / "artefacts" / "lab"
    update_lab(Course(clone), lab)
    solve(lab / NAME / f"{NAME}.ipynb")
    (lab / NAME / "my_engine.py").write_text("solved = True\n")


def hand_in_and_grade(clone: Path) -> None:
    target = clone / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(clone / "release" / NAME / target.name, target)
    solve(target)
    run(clone, "nbgrader", "generate_assignment", NAME, "--force")
    run(clone, "autograder", "grade", NAME, "--workers", "1")
    run(clone, "nbgrader", "generate_feedback", NAME)
    run(clone, "autograder", "report", NAME)
    run(clone, "autograder", "export", NAME, "--format", "canvas", "--output", "marks.csv")


def command(*words: str) -> Callable[[Path], object]:
    return lambda clone: run(clone, *words)


COMMANDS: dict[str, Callable[[Path], object]] = {
    "lab": try_the_course,
    "release": command("autograder", "release", NAME),
    "generate_assignment": command("nbgrader", "generate_assignment", NAME, "--force"),
    "release_assignment": command("nbgrader", "release_assignment", NAME, "--force",
                                  "--Exchange.root=artefacts/exchange"),
    "publish": command("autograder", "publish", NAME),
    "publish all": command("autograder", "publish"),
    "browser": command("autograder", "publish", "--browser", NAME),
    "solutions": command("autograder", "publish", "--solutions", NAME),
    "gradescope": command("autograder", "package", "gradescope", NAME),
    "lesson": command("autograder", "lesson", "artefacts/lesson"),
    "tables": command("autograder", "tables", "checkpoint"),
    "demo": lambda clone: run(clone, "autograder", "demo", "checkpoint", "--folder",
                              str(clone.parent / "demo")),
    "grade": hand_in_and_grade,
}  # fmt: skip


def given_out(clone: Path) -> Iterator[tuple[str, NotebookNode]]:
    """Yield the path of each notebook that students get, with its content; the copy in which the
    course is tried is not one."""
    made = clone / "artefacts"
    for path in made.rglob("*.ipynb"):
        if not path.is_relative_to(made / "lab"):
            yield str(path), nbformat.read(path, as_version=4)
    # Of the zip for graders, the part that stands for students' copies.
    for archive, part in ("bundle/*.zip", ""), ("gradescope/*.zip", "course/release/"):
        for path in made.rglob(archive):
            packed = zipfile.ZipFile(path)
            for name in packed.namelist():
                if name.endswith(".ipynb") and name.startswith(part):
                    yield name, nbformat.read(io.BytesIO(packed.read(name)), as_version=4)


def assert_clean(clone: Path, done: list[str]) -> None:
    assert git(clone, "status", "--porcelain") == "", done
    for path, made in given_out(clone):
        name = Path(path).name
        extra = clone / "course" / "extra" / name
        stubs = extra if extra.exists() else COURSE.release / Path(path).stem / name
        expected = nbformat.read(stubs, as_version=4)
        assert made.cells == expected.cells, (path, done)
        for cell in made.cells:
            assert not cell.get("outputs") and not cell.get("execution_count"), (path, done)
            assert "HIDDEN TESTS" not in cell.source and "BEGIN SOLUTION" not in cell.source
    assert not [*(clone / "artefacts" / "bundle").rglob("my_engine.py")]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes long and holds no notebook: JupyterLite and Python in the site, wheels,
    and most of the lesson."""

    def runtime(folder: Path, *_: object) -> SimpleNamespace:
        folder.mkdir()
        return SimpleNamespace(packages=[], left_out=[])

    def lite(_: object, work: Path, *__: object) -> Path:
        shutil.copytree(work / "contents", work / "site" / "files")
        (work / "site" / "static").mkdir()
        (work / "site" / site.JUPYTERLITE_JSON).write_text("{}")
        return work / "site"

    texts = lesson._sources
    monkeypatch.setattr(lesson, "_sources", lambda *words: texts(*words)[:1])
    monkeypatch.setattr(make, "build_wheels", lambda *_: [])
    monkeypatch.setattr(site, "build_wheels", lambda *_: [])
    monkeypatch.setattr(site, "build_runtime", runtime)
    monkeypatch.setattr(site, "_build_lite", lite)
    monkeypatch.setattr(site, "_finish_lite", lambda *_: None)


@pytest.mark.sized
@pytest.mark.parametrize("number", range(ROUNDS))
def test_commands_in_any_order_change_no_tracked_file_and_hand_out_no_solution(
    clone, light, tmp_path, number
):
    drawn = random.Random(seed(7286) + number)
    order = drawn.sample([*COMMANDS], STEPS)
    print(f"seed {seed(7286)}, round {number}: {', '.join(order)}")
    folder = Path(shutil.copytree(clone, tmp_path / "clone", symlinks=True))
    for place, name in enumerate(order):
        COMMANDS[name](folder)
        assert_clean(folder, order[: place + 1])
    assert [*given_out(folder)]


PRIVATE = (KEY, LOCK, ".autograder_checked", "gradebook.db", "gradebook.db-wal",
           *(f"{name}/a" for name in ("submitted", "autograded", "feedback", "class_report",
                                      "artefacts", "replaced-20300301-120000-000000",
                                      _FRESH, ASIDE, ATTEMPTS, IMPORTED)))  # fmt: skip


@pytest.mark.parametrize(
    "rules",
    [".gitignore", "autograder/src/autograder/authoring/template/gitignore"],
    ids=["clone", "new course"],
)
def test_marks_and_submissions_are_never_tracked(tmp_path, rules):
    shutil.copy(COURSE.root / rules, tmp_path / ".gitignore")
    git(tmp_path, "init", "-q")
    assert git(tmp_path, "check-ignore", *PRIVATE).split() == [*PRIVATE]
