"""The student's bundle needs no other file to start, and holds none of the instructor's files."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from jupyter_server.services.config.manager import ConfigManager
from programs import run_program
from schools import solutions

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.course_folder.settings import load_settings
from autograder.delivery.bundle.make import Bundle, nbgitpuller_link, publish
from autograder.delivery.contents import wheel_metadata
from autograder.delivery.hub.folders import _INSTRUCTORS_MENUS
from autograder.errors import CourseError
from course import check
from coursecheck.check import CheckFailed

COURSE = find_course(Path(__file__).parent)
FOLDER = "autograd-course"
NAMES = assignment_names(COURSE)
CANARY = "canary-7f3a91"
NOTICES = "@jupyterlab/apputils-extension:notification"

RUN = """
import importlib.util, sys
import nbformat
from nbclient import NotebookClient
import course
assert importlib.util.find_spec("autograder") is None
notebook = nbformat.read("value/value.ipynb", as_version=4)
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
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
def planted(tmp_path_factory) -> Path:
    """Return a course with a canary in all hidden files, and in those that editors leave."""
    folder = tmp_path_factory.mktemp("course")
    copy_course(COURSE, folder)
    for place in (
        "gradebook.db", ".autograder_key", "grading_tests/secret.py", "autograder/secret.py",
        "source/value/secret.txt", "solutions/value/secret.ipynb", "submitted/ada/value/a.txt",
        "release/secret.txt", "release/value/.ipynb_checkpoints/secret.ipynb",
        "release/value/__pycache__/secret.pyc", "release/value/.secret",
    ):  # fmt: skip
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(CANARY)
    (folder / "release" / "value" / "link.txt").symlink_to(folder / "gradebook.db")
    return folder


@pytest.fixture(scope="module")
def bundle(planted, tmp_path_factory) -> Bundle:
    return publish(planted, (), tmp_path_factory.mktemp("out"), "https://hub.example.org/?a=1&b=2")


def contents(archive: bytes, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every file of a zip as name and text, wheels unpacked."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        for name in packed.namelist():
            data = packed.read(name)
            if name.endswith(".whl"):
                yield from contents(data, f"{name}!")
            else:
                yield prefix + name, data.decode("utf-8", "replace")


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_the_bundle_has_all_that_students_need(bundle):
    names = {name for name, _ in contents(bundle.archive.read_bytes())}
    assert {f"{FOLDER}/{name}/{name}.ipynb" for name in NAMES} <= names
    assert {f"{FOLDER}/{name}" for name in ("START.html", "start.py", "requirements.txt")} <= names
    assert any(name.endswith("!course/tables/value.json") for name in names)
    assert f"{FOLDER}/lesson/index.html" in names
    assert {f"{FOLDER}/extra/{name}.ipynb" for name in ("arrays", "digits")} <= names


def test_the_bundle_has_no_file_of_the_instructor(bundle):
    files = dict(contents(bundle.archive.read_bytes()))
    assert not [name for name in files if re.search("autograder|grading_tests|solutions", name)]
    # Notebooks are JSON: their text is compared as it was before it was encoded.
    texts = {
        name: squeezed(
            "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            if name.endswith(".ipynb")
            else text
        )
        for name, text in files.items()
    }
    for word in (CANARY, "run_hidden_tests", "BEGINSOLUTION", "HIDDENTESTS"):
        assert not [name for name, text in texts.items() if word in text], word
    looked_for = 0
    for name in NAMES:
        # A later notebook holds the answers to an earlier one, so that it stands alone.
        later = {f"{FOLDER}/{other}/{other}.ipynb" for other in NAMES if other != name}
        # `digits` contains the engine, so it is published with the last notebook only.
        later |= {f"{FOLDER}/extra/digits.ipynb"} if name in ("value", "backward") else set()
        elsewhere = {path: text for path, text in texts.items() if path not in later}
        for secret in secrets(name):
            looked_for += 1
            assert not [path for path, text in elsewhere.items() if secret in text], secret
    assert looked_for > 300


def secrets(name: str) -> Iterator[str]:
    """Yield an assignment's secrets: hidden tests, solutions, mistakes."""
    assignment = load_assignment(COURSE, name)
    tests = assignment.tests.read_text("utf-8")
    yield from map(squeezed, re.findall(r"^def test_\w+\(student", tests, re.MULTILINE))
    for exercise in assignment.exercises.values():
        found = re.findall(
            r"BEGIN SOLUTION\n(.*?)\n[^\n]*END SOLUTION", exercise.solution, re.DOTALL
        )
        found += [mistake.source for mistake in exercise.mistakes]
        # An answer such as q1 = "b" is too short to be recognised in other text.
        yield from (squeezed(text) for text in found if len(squeezed(text)) > 60)


def test_a_class_gets_no_right_answer_and_no_explanation_of_a_wrong_one(bundle):
    files = dict(contents(bundle.archive.read_bytes()))
    assert not [name for name in files if name.endswith("answers.json")]
    texts = [squeezed(text) for text in files.values()]
    looked_for = 0
    for exercise in load_assignment(COURSE, "checkpoint").exercises.values():
        for mistake in exercise.mistakes if exercise.form else ():
            looked_for += 1
            assert not [text for text in texts if squeezed(mistake.says) in text], mistake.id
    assert looked_for > 50
    assert "Self-study" not in (bundle.folder / "START.html").read_text("utf-8")


@pytest.fixture(scope="module")
def for_oneself(tmp_path_factory) -> Path:
    line = ["publish", "value", "checkpoint", "--self-study", "--course", str(COURSE), "--output"]
    output = tmp_path_factory.mktemp("self-study")
    done = CliRunner().invoke(main, [*line, str(output)])
    assert done.exit_code == 0, done.output
    return output / "autograd-self-study"


def test_the_self_study_edition_explains_right_and_wrong_answers(for_oneself, monkeypatch, capsys):
    monkeypatch.chdir(for_oneself / "checkpoint")
    for exercise in load_assignment(COURSE, "checkpoint").exercises.values():
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
    assert "○ Multiply along, add over" in capsys.readouterr().out


def test_the_self_study_edition_has_the_solutions_beside_the_notebooks(for_oneself):
    start = (for_oneself / "START.html").read_text("utf-8")
    for name in ("value", "checkpoint"):
        assert f'href="solutions/{name}.html"' in start
        page = (for_oneself / "solutions" / f"{name}.html").read_text("utf-8")
        assert "What often goes wrong" in page
    # An assignment without questions has no answers to explain.
    assert not (for_oneself / "value" / "answers.json").exists()
    # An edition for a class is another folder, and no file of the course is changed.
    assert not list((COURSE / "release").rglob("answers.json"))


def test_the_same_course_gives_the_same_bytes(planted, bundle, tmp_path):
    again = publish(planted, (), tmp_path, "https://hub.example.org/?a=1&b=2")
    assert again.archive.read_bytes() == bundle.archive.read_bytes()


def test_the_course_starts_from_the_bundle_alone(bundle, tmp_path):
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


def test_the_bundle_asks_for_jupyterlab_and_the_wheel_by_itself_for_ipython_alone(bundle):
    [coursecheck, course] = (bundle.folder / "requirements.txt").read_text().splitlines()
    assert coursecheck.endswith(".whl") and course.endswith(".whl[lab]")
    required = wheel_metadata(bundle.folder / course.removesuffix("[lab]")).get_all("Requires-Dist")
    heavy = [each for each in required if re.match("jupyterlab|ipykernel|matplotlib", each)]
    assert len(heavy) == 3 and all("extra == 'lab'" in re.sub('"', "'", each) for each in heavy)


@pytest.mark.slow
def test_one_installation_of_the_wheels_is_enough_wherever_ipython_is(bundle, tmp_path):
    """As in Colab or VS Code: only the wheels' own requirements are installed."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    wheels = sorted(bundle.folder.glob("*.whl"))
    subprocess.run([*pip, "-c", COURSE / "constraints.txt", *wheels], check=True, timeout=300)
    answers = solutions("value")
    (tmp_path / "value").mkdir()
    (tmp_path / "value" / "value.ipynb").write_text(filled_notebook(COURSE, "value", answers))
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = run_program([python, "-c", RUN_BARE], cwd=tmp_path, env=bare)
    assert done.stdout.count("the public examples come out right.") == len(answers)
    assert "7 of 7 core, 3 of 3 extra" in done.stdout


def test_publishing_again_replaces_the_bundle_and_links_the_browser_edition(
    planted, bundle, tmp_path
):
    shutil.copytree(bundle.folder.parent, tmp_path, dirs_exist_ok=True)
    text = (planted / "course.toml").read_text("utf-8")
    address = "https://courses.example.org/sums/"
    (planted / "course.toml").write_text(
        text.replace("[bundle]\n", f'[bundle]\nbrowser = "{address}"\n'), "utf-8"
    )
    try:
        made = publish(planted, ("value",), tmp_path)
    finally:
        (planted / "course.toml").write_text(text, "utf-8")
    for page in ("START.html", "lesson/index.html"):
        assert f'href="{address}"' in (made.folder / page).read_text("utf-8")
    assert sorted(path.parent.name for path in made.folder.glob("*/*.ipynb")) == ["value"]
    assert {path.name for path in tmp_path.iterdir()} == {FOLDER, f"{FOLDER}.zip"}


def test_the_notebooks_have_the_order_of_course_toml_and_the_first_one_opens(bundle):
    page = (bundle.folder / "START.html").read_text("utf-8")
    ordered = [name for name, _ in load_settings(COURSE).assignments]
    assert re.findall(r"<li><code>(\w+)/\1\.ipynb</code></li>", page) == ordered
    assert sorted(ordered) == NAMES
    starter = (bundle.folder / "start.py").read_text("utf-8")
    assert f'FIRST = "{ordered[0]}/{ordered[0]}.ipynb"' in starter


def test_make_lab_asks_for_no_news_and_has_no_menus_of_instructors(monkeypatch):
    settings = COURSE / "course" / "jupyter" / "lab"
    makefile = (COURSE / "Makefile").read_text("utf-8")
    assert f"JUPYTER_CONFIG_PATH=$(CURDIR)/{settings.relative_to(COURSE)} " in makefile
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    found = ConfigManager(config_dir_name="labconfig")
    assert found.get("default_setting_overrides")[NOTICES] == {"fetchNews": "false"}
    left_out = found.get("page_config")["disabledExtensions"]
    assert {f"@jupyter/nbgrader:{name}" for name in _INSTRUCTORS_MENUS} <= {*left_out}


def test_the_start_page_explains_the_start_in_two_lines(bundle):
    page = (bundle.folder / "START.html").read_text("utf-8")
    for lines in (f"cd {FOLDER}\npython3 start.py<", f"cd {FOLDER}\npy start.py<"):
        assert f"<pre>{lines}" in page
    assert 'href="https://hub.example.org/?a=1&amp;b=2"' in page
    assert "src=" not in page and all(name in page for name in NAMES)


def test_an_invalid_release_is_refused(planted, tmp_path):
    (planted / "release" / "wrong").mkdir()
    path = planted / "release" / "wrong" / "wrong.ipynb"
    path.write_text((COURSE / "source" / "value" / "value.ipynb").read_text("utf-8"), "utf-8")
    try:
        with pytest.raises(CourseError, match="must not have"):
            publish(planted, ("wrong",), tmp_path)
    finally:
        path.unlink()
        path.parent.rmdir()
    with pytest.raises(CourseError, match="is not released"):
        publish(planted, ("wrong",), tmp_path)


def test_a_release_that_is_not_whole_is_refused(planted, tmp_path):
    path = planted / "release" / "value" / "value.ipynb"
    whole = path.read_bytes()
    path.write_bytes(b"<<<<<<< ours\n" + whole)
    try:
        with pytest.raises(CourseError, match=r"value\.ipynb is not a whole notebook \(.*line 1"):
            publish(planted, ("value",), tmp_path)
    finally:
        path.write_bytes(whole)
    assert not list(tmp_path.iterdir())


def test_an_existing_foreign_folder_is_left_alone(planted, tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "thesis.txt").write_text("mine")
    with pytest.raises(CourseError, match="is not a bundle"):
        publish(planted, (), tmp_path)
    assert (tmp_path / FOLDER / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("names", "opened"),
    [((), "lab/tree/autograd"), (("value",), "lab/tree/autograd/value/value.ipynb")],
)
def test_link(names, opened):
    link = nbgitpuller_link(
        "https://hub.example.org/base/", "https://git.example.org/a/autograd.git", "term 1", names
    )
    parts = urlsplit(link)
    assert parts.path == "/base/hub/user-redirect/git-pull"
    assert parse_qs(parts.query) == {
        "repo": ["https://git.example.org/a/autograd.git"],
        "branch": ["term 1"],
        "urlpath": [opened],
    }
