"""The bundle of this course can be started without anything else, and contains no answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from bundles import contents, secrets, texts
from click.testing import CliRunner
from jupyter_server.services.config.manager import ConfigManager
from programs import run_program
from schools import solutions
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.hub.folders import _INSTRUCTORS_MENUS
from autograder.publishing.bundle.make import Bundle, publish
from autograder.publishing.contents import wheel_metadata
from course import check
from coursecheck.check import CheckFailed

pytestmark = pytest.mark.subprocess

FOLDER = "autograd-course"
NAMES = COURSE.assignment_names()
BROWSER = "https://courses.example.org/sums/"
NOTICES = "@jupyterlab/apputils-extension:notification"

RUN = """
import importlib.util, sys
import nbformat
from nbclient import NotebookClient
import course
assert importlib.util.find_spec("autograder") is None
notebook = nbformat.read("value/value.ipynb", as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
print(course.__file__)
"""


RUN_BARE = """
import importlib.util, json, sys
from IPython.core.interactiveshell import InteractiveShell
for name in ("ipykernel", "jupyterlab", "matplotlib", "numpy"):
    assert importlib.util.find_spec(name) is None, name
shell = InteractiveShell.instance()
for cell in json.load(open("value/value.ipynb"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Bundle:
    """Return the bundle of a copy of the course that has a browser edition, too."""
    folder = tmp_path_factory.mktemp("course")
    copy_course(COURSE, folder)
    text = (folder / "course.toml").read_text("utf-8")
    text = text.replace("[bundle]\n", f'[bundle]\nbrowser = "{BROWSER}"\n')
    (folder / "course.toml").write_text(text, "utf-8")
    return publish(Course(folder), (), tmp_path_factory.mktemp("out"))


def test_the_bundle_has_all_that_students_need(bundle):
    names = {name for name, _ in contents(bundle.archive.read_bytes())}
    assert {f"{FOLDER}/{name}/{name}.ipynb" for name in NAMES} <= names
    assert {f"{FOLDER}/{name}" for name in ("START.html", "start.py", "requirements.txt")} <= names
    assert any(name.endswith("!course/tables/value.json") for name in names)
    assert f"{FOLDER}/lesson/index.html" in names
    assert {f"{FOLDER}/extra/{name}.ipynb" for name in ("arrays", "digits", "gpt")} <= names


def test_the_lesson_leads_to_the_browser_edition(bundle):
    page = (bundle.folder / "lesson" / "index.html").read_text("utf-8")

    assert f'href="{BROWSER}"' in page


def test_no_file_of_the_bundle_has_a_hidden_test_a_mistake_or_a_solution(bundle):
    held, looked_for = texts(bundle.archive.read_bytes()), 0
    for name in NAMES:
        # A later notebook holds the answers to an earlier one, so that it stands alone.
        later = {f"{FOLDER}/{other}/{other}.ipynb" for other in NAMES if other != name}
        # These contain the engine, so they are published with the last notebook only.
        ends = {f"{FOLDER}/extra/{each}.ipynb" for each in ("digits", "gpt")}
        later |= ends if name in ("value", "backward") else set()
        elsewhere = {path: text for path, text in held.items() if path not in later}
        for secret in secrets(COURSE.root, name):
            looked_for += 1
            assert not [path for path, text in elsewhere.items() if secret in text], secret
    assert looked_for > 300


@pytest.fixture(scope="module")
def for_oneself(tmp_path_factory) -> Path:
    line = ["publish", "value", "checkpoint", "--self-study", "--course", str(COURSE), "--output"]
    output = tmp_path_factory.mktemp("self-study")
    done = CliRunner().invoke(main, [*line, str(output)])
    assert done.exit_code == 0, done.output
    return output / "autograd-self-study"


def test_the_self_study_edition_explains_right_and_wrong_answers(for_oneself, monkeypatch, capsys):
    monkeypatch.chdir(for_oneself / "checkpoint")
    for exercise in COURSE.assignment("checkpoint").exercises.values():
        if not exercise.form:
            continue
        scope: dict[str, object] = {}
        exec(exercise.solution, scope)
        check(exercise.id, scope)
        seen = capsys.readouterr().out
        assert "✓" in seen and "right." in seen
        for mistake in exercise.mistakes:
            assert mistake.says in seen
            exec(mistake.source, scope)
            with pytest.raises(CheckFailed) as caught:
                check(exercise.id, scope)
            assert mistake.says in str(caught.value)
    with pytest.raises(CheckFailed, match="123456 is not right"):
        check("q2", {"q2": 123456})
    with pytest.raises(CheckFailed, match="letters"):
        check("q3", {"q3": "e"})
    check("q13", {"q13": 0.50004})  # numbers are compared to three digits
    scope["q2"], scope["q13"] = 123456, 0.5
    check.all("checkpoint", scope)
    assert "○\xa0Multiply along, add over" in capsys.readouterr().out


def test_the_self_study_edition_has_the_solutions_beside_the_notebooks(for_oneself):
    start = (for_oneself / "START.html").read_text("utf-8")
    for name in ("value", "checkpoint"):
        assert f'href="solutions/{name}.html"' in start
        page = (for_oneself / "solutions" / f"{name}.html").read_text("utf-8")
        assert "What often goes wrong" in page
    # An assignment without questions has no answers to explain.
    assert not (for_oneself / "value" / "answers.json").exists()
    # An edition for a class is another folder, and no file of the course is changed.
    assert not list(COURSE.release.rglob("answers.json"))


@pytest.mark.external
def test_the_start_script_needs_nothing_but_the_bundle(bundle, tmp_path):
    """Install it by its own start script; other packages come from here, for want of a network."""
    with zipfile.ZipFile(bundle.archive) as packed:
        packed.extractall(tmp_path)
    folder = tmp_path / FOLDER
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_IGNORE_INSTALLED": "1",
    }

    def run(*command: object) -> str:
        return run_program(command, cwd=folder, env=environment).stdout

    assert "Installing" in run(sys.executable, "start.py", "--version")
    assert "Installing" not in run(sys.executable, "start.py", "--version")
    shown = folder / ".venv/etc/jupyter/labconfig/default_setting_overrides.json"
    assert json.loads(shown.read_text("utf-8"))[NOTICES] == {"fetchNews": "false"}
    solved = filled_notebook(COURSE, "value", solutions("value"))
    (folder / "value" / "value.ipynb").write_text(solved)
    used = run(folder / ".venv" / "bin" / "python", "-c", RUN).strip()
    assert Path(used).is_relative_to(folder / ".venv")


def test_the_bundle_requires_jupyterlab_and_the_wheel_alone_does_not(bundle):
    [coursecheck, course] = (bundle.folder / "requirements.txt").read_text().splitlines()
    assert coursecheck.endswith(".whl") and course.endswith(".whl[lab]")
    required = wheel_metadata(bundle.folder / course.removesuffix("[lab]")).get_all("Requires-Dist")
    heavy = [each for each in required if re.match("jupyterlab|ipykernel|matplotlib", each)]
    assert len(heavy) == 3 and all("extra == 'lab'" in re.sub('"', "'", each) for each in heavy)


@pytest.mark.external
def test_installing_the_two_wheels_is_enough_beside_ipython(bundle, tmp_path):
    """As in Colab or VS Code: only the wheels' own requirements are installed."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    wheels = sorted(bundle.folder.glob("*.whl"))
    subprocess.run([*pip, "-c", COURSE.root / "constraints.txt", *wheels], check=True, timeout=1800)
    answers = solutions("value")
    (tmp_path / "value").mkdir()
    (tmp_path / "value" / "value.ipynb").write_text(filled_notebook(COURSE, "value", answers))
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = run_program([python, "-c", RUN_BARE], cwd=tmp_path, env=bare)
    assert done.stdout.count("the public examples come out right.") == len(answers)
    assert "7 of 7 core, 3 of 3 extra" in done.stdout


def test_make_lab_starts_jupyterlab_without_news_and_without_menus_for_instructors(monkeypatch):
    settings = COURSE.root / "course" / "jupyter" / "lab"
    makefile = (COURSE.root / "Makefile").read_text("utf-8")
    assert f"JUPYTER_CONFIG_PATH=$(CURDIR)/{settings.relative_to(COURSE.root)} " in makefile
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    found = ConfigManager(config_dir_name="labconfig")
    assert found.get("default_setting_overrides")[NOTICES] == {"fetchNews": "false"}
    left_out = found.get("page_config")["disabledExtensions"]
    assert {f"@jupyter/nbgrader:{name}" for name in _INSTRUCTORS_MENUS} <= {*left_out}
