"""The map of the course: no row is missing, no place is dangling, the page is current."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import pytest
from curriculum_map import DATA, PAGE, find_place, page_text, read_map

import course.datasets
import course.interactives
import course.plots
from autograder.course_folder.assignments import assignment_names, find_course, load_assignment
from autograder.errors import CourseError

COURSE = find_course(Path(__file__).parent)
SECTIONS = read_map(COURSE)
ROWS = [row for section in SECTIONS for row in section.rows]
PLACES = {(place.kind, place.name) for row in ROWS for place in row.places}


def test_the_page_is_current() -> None:
    assert (COURSE / PAGE).read_text("utf-8") == page_text(COURSE)


@pytest.mark.parametrize("name", assignment_names(COURSE))
def test_every_exercise_has_its_row_and_every_row_its_exercise(name: str) -> None:
    exercises = load_assignment(COURSE, name).exercises
    [section] = [s for s in SECTIONS if s.title.startswith("Assignment") and f" {name}:" in s.title]
    named = [
        row for row in section.rows if (word := row.asked.partition(":")[0]) and " " not in word
    ]
    assert [row.asked.partition(":")[0] for row in named] == list(exercises)
    for row in named:
        exercise = exercises[row.asked.partition(":")[0]]
        assert row.places[0].kind == name and row.places[0].name == exercise.id
        coded = not (exercise.manual or exercise.form)
        assert coded == any(place.kind == "tests" for place in row.places), exercise.id


def public(module: object, kind: type) -> set[str]:
    """The classes or functions that a module defines and offers."""
    return {
        f"{getattr(module, '__name__')}.{name}"  # noqa: B009
        for name, thing in vars(module).items()
        if isinstance(thing, kind) and not name.startswith("_")
        and inspect.getmodule(thing) is module
    }  # fmt: skip


def test_nothing_that_the_course_has_is_left_out() -> None:
    texts = {
        (kind, path.stem)
        for kind in ("lesson", "slides")
        for path in (COURSE / "course" / kind).glob("*.md")
    }
    function = type(test_the_page_is_current)
    code = {f"course.interactives.{name}" for name in course.interactives.__all__}
    code |= public(course.datasets, function) | public(course.plots, function)
    code |= {"course.plots.TrainingView", "course.draw.draw_graph"}
    assert len(texts) >= 15 and len(code) >= 10
    assert texts | {("code", name) for name in code} <= PLACES


def test_every_interactive_is_shown_in_a_notebook_that_a_row_leads_to() -> None:
    shown = {
        name
        for assignment in assignment_names(COURSE)
        for name in course.interactives.__all__
        for kind, place in PLACES
        if kind == assignment and leads_to(f"{kind}:{place} ~ {name}(")
    }
    assert shown == set(course.interactives.__all__)


def leads_to(place: str) -> bool:
    try:
        find_place(COURSE, place)
    except CourseError:
        return False
    return True


@pytest.mark.parametrize(
    "place",
    [
        "value:nothing", "nothing:add", "value:add ~ these words", "lesson:04-backward#nothing",
        "lesson:nothing", "slides:1-graph#nothing", "lesson:04-backward#topological-order ~ 22a",
        "tests:value.TestAdd.test_nothing", "tests:nothing.TestAdd", "code:course.draw.nothing",
        "code:nothing.at_all", "file:nothing.py",
    ],
)  # fmt: skip
def test_a_place_that_is_not_there_is_found_out(place: str) -> None:
    assert not leads_to(place)


def test_a_lost_row_or_place_is_found_out(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    for folder in ("source", "course", "grading_tests", "docs", "benchmarks", "tests/browser"):
        shutil.copytree(COURSE / folder, clone / folder)
    shutil.copy(COURSE / "tests" / "test_draw.py", clone / "tests")
    assert len(read_map(clone)) == len(SECTIONS)
    data = (clone / DATA).read_text("utf-8")
    line = next(line for line in data.splitlines() if line.startswith('"hinge:'))
    (clone / DATA).write_text(data.replace(line + "\n", ""), "utf-8")
    with pytest.raises(CourseError, match="shall have 23 rows and has 22"):
        read_map(clone)
    (clone / DATA).write_text(data.replace(line, f"{line.partition(' = ')[0]} = []"), "utf-8")
    with pytest.raises(CourseError, match="nowhere in the course: 'hinge"):
        read_map(clone)
