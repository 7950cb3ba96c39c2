"""Reads rubrics: for each written answer, the items that a person ticks to mark it, and for an
exercise that tests mark, those that give points beside the tests'.

The rubrics of an assignment are in `grading_tests/rubrics/NAME.toml`, outside the notebook, so that
a changed item makes no grading out of date. They are never released.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import CourseError
from .course import Course
from .own_notebooks import exercises_of, read_cells


@dataclass(frozen=True)
class Item:
    """One item of a rubric.

    Attributes:
        id: the name under which the record of gradings keeps the item.
        points: what the item adds; 0 for a remark, less for a deduction.
        what: what an answer with the item has, as a sentence.
        otherwise: what a student reads whose answer lacks the item; "" if it adds no points.
    """

    id: str
    points: float
    what: str
    otherwise: str = ""


Rubric = tuple[Item, ...]
Rubrics = Mapping[str, Rubric]
"""Rubrics by exercise."""


def items_points(rubric: Rubric, given: Collection[str], most: float) -> float:
    """Return the points that the given items add up to, from 0 to `most`."""
    total = sum(item.points for item in rubric if item.id in given)
    return round(min(max(total, 0.0), most), 6)


def most_points(rubric: Rubric) -> float:
    """Return the points of an answer that has every item, and none with less than 0."""
    return sum(max(item.points, 0.0) for item in rubric)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (
        lambda value: isinstance(value, str) and bool(re.fullmatch(r"[\w-]+", value)),
        'a word of letters, digits, "-" and "_", such as "price"',
    ),
    "points": (
        lambda value: type(value) in (int, float) and math.isfinite(value),
        "a number: 0 for a remark, less for a deduction",
    ),
    "what": (_is_text, "a text in quotes: what an answer with this item has"),
    "else": (_is_text, "a text in quotes: what a student reads whose answer lacks the item"),
}
"""The keys of an item: whether a value is valid, and what it must be."""


def read_rubrics(path: Path) -> dict[str, Rubric]:
    """Return the rubrics in a file, by exercise; {} if it is missing. They are cached until the
    file changes.

    Raises `CourseError` with the file, the block and the remedy if the file is invalid.
    """
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}


@lru_cache
def _read(path: Path, stamp: int) -> dict[str, Rubric]:
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path}: {error}. Mend it there.") from error
    rubrics: dict[str, Rubric] = {}
    for exercise, blocks in values.items():
        if type(blocks) is not list or not all(type(each) is dict for each in blocks):
            raise CourseError(
                f"{path}: {exercise} must be blocks `[[{exercise}]]`, one for each item"
            )
        items: dict[str, Item] = {}
        for number, block in enumerate(blocks, 1):
            where = f"{path}: block {number} of [[{exercise}]]"
            item = _item(where, block)
            if item.id in items:
                raise CourseError(f'{where}: the id "{item.id}" is that of an earlier block')
            items[item.id] = item
        rubrics[exercise] = tuple(items.values())
    return rubrics


def _item(where: str, block: Mapping[str, Any]) -> Item:
    for key in block:
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise CourseError(
                f"{where}: {key} is not known here (known: {known}). Correct it, or delete it."
            )
    for key, (fits, wanted) in _KEYS.items():
        if key == "else" and block["points"] <= 0:
            if key in block:
                raise CourseError(
                    f"{where}: nobody reads the else of an item that adds no points: delete it"
                )
        elif key not in block:
            raise CourseError(f"{where} has no {key}: add it, {wanted}")
        elif not fits(block[key]):
            raise CourseError(f"{where}: {key} must be {wanted}")
    return Item(block["id"], float(block["points"]), block["what"], block.get("else", ""))


def rubrics_of(course: Course, name: str) -> dict[str, Rubric]:
    """Return the rubrics of an assignment or part, by exercise.

    Raises `CourseError` if the file is invalid, names an unknown exercise, or gives a written
    answer other points than the source notebook.
    """
    path = course.rubrics_of(name)
    rubrics = read_rubrics(path)
    if not rubrics:
        return {}
    cells = read_cells(*course.source_files(name))
    ids = exercises_of(cells)
    metadata = [cell.metadata.get("nbgrader") or {} for cell in cells]
    # Of an exercise that tests mark, the items are points beside theirs.
    all_points = {
        ids[each["grade_id"]]: each.get("points") if each.get("task") or each["solution"] else None
        for each in metadata
        if each.get("task") or each.get("grade")
    }
    for exercise, rubric in rubrics.items():
        if exercise not in all_points:
            raise CourseError(
                f"{path}: [[{exercise}]]: {name} has no such exercise (there are: "
                f"{', '.join(all_points)}). Correct the name, or delete the blocks."
            )
        total, points = most_points(rubric), all_points[exercise]
        # The cell of a bonus exercise has 0 points.
        if points and not math.isclose(total, points):
            raise CourseError(
                f"{path}: the items of [[{exercise}]] add up to {total:g} points, and the exercise "
                f"has {points:g} in {course.notebook_path(name).under(course.source)}: "
                "change the one or the other"
            )
    return rubrics
