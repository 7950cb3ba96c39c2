"""Creates an assignment from a recipe: a notebook, hidden tests, helper modules and data.

Each recipe is a folder in `recipes/`, beside this module. The recipe's `notebook.py`, in percent
format, has a cell with the assignment's title, packages and imports, and a cell for each exercise.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ..course_folder.course import Course
from ..course_folder.misconceptions import PercentCell, percent_cells
from ..course_folder.settings import NAME as SETTINGS
from ..errors import CourseError
from ..packages import module_folder
from .new_exercise import add_exercise, intro

_FOLDER = Path(__file__).with_name("recipes")
_BREAK = "\n\n"
RECIPES = sorted(path.parent.name for path in _FOLDER.glob("*/notebook.py"))


def add_recipe(course: Course, name: str) -> None:
    """Add a recipe's exercises to the empty assignment of the same name.

    Raises `CourseError` if a package that the recipe needs is not installed.
    """
    folder = _FOLDER / name
    first, *exercises = cells_of(name)
    packages = first.headers.get("packages", "").split()
    for package in packages:
        module_folder(package.replace("-", "_"))
    for cell in exercises:
        points = int(cell.headers.get("points", 2))
        head = intro(course, cell.headers["title"], points, 2, 10, False)
        head = f"{head.rpartition(_BREAK)[0]}{_BREAK}{cell.headers['text']}"
        add_exercise(course, name, cell.name, head, cell.source, points)
    shutil.copyfile(folder / f"test_{name}.py", course.grading_tests / f"test_{name}.py")
    if (folder / "remote").is_dir():
        shutil.copytree(folder / "remote", course.grading_tests / "remote",
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    data = sorted(path.name for path in folder.glob("*.*") if path.suffix != ".py")
    for each in data:
        shutil.copyfile(folder / each, course.source / name / each)
    with (course.root / SETTINGS).open("a", encoding="utf-8") as settings:
        if packages:
            preload = first.headers.get("preload", packages[0])
            settings.write(f"\n[student_code]\npackages = {json.dumps(['ipython', *packages])}\n")
            settings.write(f"preload = {json.dumps([preload])}\n")
        if data:
            settings.write(f"\n[assignments.{name}]\ndata = {json.dumps(data)}\n")


def cells_of(name: str) -> list[PercentCell]:
    """Return the cells of a recipe's `notebook.py`: first the one about the assignment, then one
    for each exercise.

    Raises `CourseError` if there is no such recipe.
    """
    if name not in RECIPES:
        raise CourseError(f"there is no recipe {name!r}: choose one of {', '.join(RECIPES)}")
    return percent_cells(_FOLDER / name / "notebook.py")
