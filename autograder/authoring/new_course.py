"""Makes a course, or an assignment in one, that works from the start.

The files of a new course are copied from `template/`, beside this module.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

import nbformat

from ..course_folder.settings import load_settings
from ..errors import CourseError, SandboxUnavailable
from ..judging.check_tables import write_table
from .cookbook import add_recipe, cells_of
from .new_exercise import cell, marks
from .release import copy_beside, source_names, write

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
    """Make a course in an empty or new folder; return the folder.

    Args:
        like: the recipe of its assignment, one of `cookbook.RECIPES`; the sample `words` if empty.

    Raises `CourseError` if the folder is not empty, or the release or tables cannot be made.
    """
    recipe = cells_of(like)[0] if like else None
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
    course = folder.resolve()
    if recipe:
        add_assignment(course, like, f"# {recipe.headers['title']}", recipe.source)
        add_recipe(course, like)
    for name in source_names(course):
        write(course, "release", name)
        with suppress(SandboxUnavailable):  # The first grading makes the table, too.
            write_table(course, name)
        copy_beside(course, name)
    return folder


def add_assignment(course: Path, name: str, heading: str = "", imports: str = "") -> list[Path]:
    """Write a notebook without exercises and a module without tests; return their paths.

    Args:
        heading: the text of the first cell.
        imports: lines of the second cell, beside the import of `check`.

    Raises `CourseError` if the name is taken or invalid.
    """
    if not name.isidentifier():
        raise CourseError(f"{name!r} cannot be a name: letters, digits and _ can")
    notebook = course / "source" / name / f"{name}.ipynb"
    tests = course / "grading_tests" / f"test_{name}.py"
    for path in (notebook, tests):
        if path.exists():
            raise CourseError(f"{path} is there already: choose another name")
    # A table in another folder comes with a package, and so does its `check`.
    package = load_settings(course).tables.partition("/")[0] or "coursecheck"
    heading = heading or f"# {name.replace('_', ' ').capitalize()}\n\nSay here what this is about."
    setup = f"{imports}\nfrom {package} import check".lstrip()
    made = nbformat.v4.new_notebook(
        metadata=_KERNEL,
        cells=[
            cell("markdown", "title", heading),
            cell("code", "setup", setup, marks("setup", locked=True)),
        ],
    )
    texts = {notebook: nbformat.writes(made) + "\n", tests: _TESTS.format(name=name)}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return [notebook, tests]
