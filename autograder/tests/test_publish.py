"""The bundle for students holds the released files, and no file for instructors."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from bundles import contents, secrets, squeezed, texts
from schools import append
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.publishing.bundle.make import Bundle, nbgitpuller_link, publish

pytestmark = pytest.mark.subprocess

FOLDER = "numbers-course"
NAMES = COURSE.assignment_names()
CANARY = "canary-7f3a91"


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
    return publish(
        Course(planted), (), tmp_path_factory.mktemp("out"), "https://hub.example.org/?a=1&b=2"
    )


def test_the_bundle_has_all_that_students_need(bundle):
    names = {name for name, _ in contents(bundle.archive.read_bytes())}

    assert {f"{FOLDER}/{name}/{name}.ipynb" for name in NAMES} <= names
    assert {f"{FOLDER}/{name}" for name in ("START.html", "start.py", "requirements.txt")} <= names
    assert any(name.endswith("!coursecheck/check.py") for name in names)


def test_the_bundle_has_no_file_of_the_instructor(bundle):
    held = texts(bundle.archive.read_bytes())
    hidden = [secret for name in NAMES for secret in secrets(COURSE.root, name)]

    assert not [name for name in held if re.search("autograder|grading_tests|solutions", name)]
    for word in (CANARY, "run_hidden_tests", "BEGINSOLUTION", "HIDDENTESTS", *hidden):
        assert not [name for name, text in held.items() if word in text], word
    assert len(hidden) > 20


def test_the_bundle_for_a_class_has_no_right_answer_and_no_explanation_of_a_wrong_one(bundle):
    held = texts(bundle.archive.read_bytes())
    exercises = COURSE.assignment("checkpoint").exercises.values()
    explained = [mistake for each in exercises if each.form for mistake in each.mistakes]

    assert not [name for name in held if name.endswith("answers.json")]
    for mistake in explained:
        assert not [name for name, text in held.items() if squeezed(mistake.says) in text]
    assert len(explained) == 4
    assert "Self-study" not in (bundle.folder / "START.html").read_text("utf-8")


def test_publishing_the_same_course_twice_gives_the_same_bytes(planted, bundle, tmp_path):
    again = publish(Course(planted), (), tmp_path, "https://hub.example.org/?a=1&b=2")
    assert again.archive.read_bytes() == bundle.archive.read_bytes()


def test_publishing_again_replaces_the_bundle_and_links_the_browser_edition(
    planted, bundle, tmp_path
):
    shutil.copytree(bundle.folder.parent, tmp_path, dirs_exist_ok=True)
    text = (planted / "course.toml").read_text("utf-8")
    address = "https://courses.example.org/sums/"
    append(planted / "course.toml", f'[bundle]\nbrowser = "{address}"\n')
    try:
        made = publish(Course(planted), ("value",), tmp_path)
    finally:
        (planted / "course.toml").write_text(text, "utf-8")

    assert f'href="{address}"' in (made.folder / "START.html").read_text("utf-8")
    assert sorted(path.parent.name for path in made.folder.glob("*/*.ipynb")) == ["value"]
    assert {path.name for path in tmp_path.iterdir()} == {FOLDER, f"{FOLDER}.zip"}


def test_the_notebooks_have_the_order_of_course_toml_and_the_first_one_opens(bundle):
    page = (bundle.folder / "START.html").read_text("utf-8")
    ordered = [name for name, _ in COURSE.settings.assignments]
    assert re.findall(r"<li><code>(\w+)/\1\.ipynb</code></li>", page) == ordered
    assert sorted(ordered) == NAMES
    starter = (bundle.folder / "start.py").read_text("utf-8")
    assert f'FIRST = "{ordered[0]}/{ordered[0]}.ipynb"' in starter


def test_the_start_page_shows_two_commands_that_start_the_course(bundle):
    page = (bundle.folder / "START.html").read_text("utf-8")
    for lines in (f"cd {FOLDER}\npython3 start.py<", f"cd {FOLDER}\npy start.py<"):
        assert f"<pre>{lines}" in page

    assert 'href="https://hub.example.org/?a=1&amp;b=2"' in page
    assert "src=" not in page
    assert all(name in page for name in NAMES)


def test_publishing_an_invalid_release_is_refused(planted, tmp_path):
    (planted / "release" / "wrong").mkdir()
    path = planted / "release" / "wrong" / "wrong.ipynb"
    path.write_text((COURSE.source / "value" / "value.ipynb").read_text("utf-8"), "utf-8")
    try:
        with pytest.raises(CourseError, match="must not have"):
            publish(Course(planted), ("wrong",), tmp_path)
    finally:
        path.unlink()
        path.parent.rmdir()
    with pytest.raises(CourseError, match="is not released"):
        publish(Course(planted), ("wrong",), tmp_path)


def test_publishing_a_release_that_is_no_valid_json_is_refused(planted, tmp_path):
    path = planted / "release" / "value" / "value.ipynb"
    whole = path.read_bytes()
    path.write_bytes(b"<<<<<<< ours\n" + whole)
    try:
        with pytest.raises(CourseError, match=r"value\.ipynb is not a whole notebook \(.*line 1"):
            publish(Course(planted), ("value",), tmp_path)
    finally:
        path.write_bytes(whole)

    assert not list(tmp_path.iterdir())


def test_publishing_the_bundle_into_a_foreign_folder_is_refused(planted, tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "thesis.txt").write_text("mine")
    with pytest.raises(CourseError, match="is not a bundle"):
        publish(Course(planted), (), tmp_path)

    assert (tmp_path / FOLDER / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("names", "opened"),
    [((), "lab/tree/autograd"), (("value",), "lab/tree/autograd/value/value.ipynb")],
)
def test_the_link_for_nbgitpuller_opens_the_notebook(names, opened):
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
