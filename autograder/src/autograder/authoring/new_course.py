"""Creates a course, or a new assignment in a course, that can be released and graded at once.

The files of a new course are copied from `template/`, beside this module.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

import nbformat

from ..course_folder.course import Course, refuse_inner_course
from ..errors import CourseError, SandboxUnavailable
from ..judging.check_tables import write_table
from .cookbook import add_recipe, cells_of
from .new_exercise import cell, marks
from .release import copy_beside, write

_TEMPLATE = Path(__file__).with_name("template")
_SAMPLE = ("words", "test_words.py", "conftest.py")
_WITH_NAMES = ("course.toml", "nbgrader_config.py", "README.md")
_KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_TESTS = '''\
"""The hidden tests of `{name}`.

Each test's docstring is what a student reads when it fails.
"""

from __future__ import annotations

from autograder.testing import close, exercise
'''


def make_course(folder: Path, title: str, like: str = "") -> Path:
    """Create a course in an empty or new folder; return the folder.

    Args:
        title: the course's title.
        like: the recipe for the assignment, one of `cookbook.RECIPES`; "" for the sample assignment
            `words`.

    Raises `CourseError` if the folder is not empty or lies in another course, or the release or the
    table of the visible checks cannot be made.
    """
    recipe = cells_of(like)[0] if like else None
    refuse_inner_course(folder.resolve())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(
            f"{folder} is not empty, and nothing was changed in it: name a folder that is not "
            "there yet"
        )
    unwanted = ("__pycache__", *(_SAMPLE if like else ()))
    shutil.copytree(_TEMPLATE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*unwanted))
    (folder / "gitignore").rename(folder / ".gitignore")
    words = {
        "COURSE_ID": re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
        or "course",
        "COURSE_TITLE": json.dumps(title, ensure_ascii=False),
        "COURSE_HEADING": title,
        "ASSIGNMENT": like or "words",
    }
    for name in _WITH_NAMES:
        text = (folder / name).read_text("utf-8")
        for mark, word in words.items():
            text = text.replace(mark, word)
        (folder / name).write_text(text, "utf-8")
    course = Course(folder.resolve())
    if recipe:
        add_assignment(course, like, f"# {recipe.headers['title']}", recipe.source)
        add_recipe(course, like)
    for name in course.source_names():
        write(course, "release", name)
        with suppress(SandboxUnavailable):  # Without a table, the first grading makes it.
            write_table(course, name)
        copy_beside(course, name)
    return folder


def add_assignment(course: Course, name: str, heading: str = "", imports: str = "") -> list[Path]:
    """Write a source notebook without exercises and an empty test module; return their paths.

    Args:
        heading: the Markdown text of the first cell; by default the name and a line to replace.
        imports: code for the second cell, before the line that imports `check`.

    Raises `CourseError` if the name is taken or invalid.
    """
    if not name.isidentifier():
        raise CourseError(f"{name!r} cannot be a name: letters, digits and _ can")
    notebook = course.source / name / f"{name}.ipynb"
    tests = course.tests_of(name)
    for path in (notebook, tests):
        if path.exists():
            raise CourseError(f"{path} is there already: choose another name")
    # A course whose package holds the tables of the visible checks has its own `check` there.
    package = course.settings.tables.partition("/")[0] or "coursecheck"
    heading = heading or f"# {name.replace('_', ' ').capitalize()}\n\nSay here what this is about."
    setup = f"{imports}\nfrom {package} import check".lstrip()
    content = nbformat.v4.new_notebook(
        metadata=_KERNEL,
        cells=[
            cell("markdown", "title", heading),
            cell("code", "setup", setup, marks("setup", locked=True)),
        ],
    )
    texts = {notebook: nbformat.writes(content) + "\n", tests: _TESTS.format(name=name)}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return [notebook, tests]
