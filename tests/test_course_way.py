"""The core exercises come first, fit into the announced minutes, and need no extra exercise."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from answers import report_on
from schools import release, solutions

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Exercise
from autograder.course_folder.course import Course, find_course
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.pipeline.workers import grade_job
from autograder.records import Job
from course import check
from lesson_names import engine_lines

COURSE = find_course()
KEY = b"a key, as long as it must be, or longer"
NAMES = ["value", "backward", "checkpoint", "mlp"]
LINE = re.compile(
    r"^Difficulty [1-5] of 5 · about (?P<minutes>\d+) minutes?"
    r"(?: · (?P<points>\d+) (?P<bonus>bonus )?points?)? · (?P<weight>core|extra)$",
    re.MULTILINE,
)


def prose(name: str) -> str:
    cells = nbformat.read(COURSE.release / name / f"{name}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def steps(name: str) -> list[tuple[str, str, int]]:
    """Return heading, weight and minutes of each exercise and each extra part, in order."""
    found = re.findall(rf"^##+ (.+)\n\n({LINE.pattern[1:-1]})$", prose(name), re.MULTILINE)
    return [(each[0], each[5], int(each[2])) for each in found]


def minutes(name: str, weight: str) -> int:
    return sum(each for _, kind, each in steps(name) if kind == weight)


def core_until(*names: str, last: str) -> int:
    """Return the core minutes of these notebooks up to an exercise of the last one, which is
    included."""
    *before, here = names
    titles = [title for title, kind, _ in steps(here) if kind == "core"]
    [end] = [title for title in titles if title.endswith(f"· {last}")]
    until = [*takewhile(lambda step: step[0] != end, steps(here))]
    own = sum(each for title, kind, each in steps(here) if title == end)
    return (
        sum(minutes(name, "core") for name in before)
        + sum(each for _, kind, each in until if kind == "core")
        + own
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_is_marked_core_or_extra_and_core_comes_first(name: str) -> None:
    exercises = COURSE.assignment(name).exercises.values()
    marked = [step for step in steps(name) if "extra part" not in step[0]]
    assert [title.split(" · ")[1] for title, _, _ in marked] == [each.title for each in exercises]
    assert [kind == "extra" for _, kind, _ in marked] == [each.extra for each in exercises]
    kinds = [kind for _, kind, _ in steps(name)]
    if name != "checkpoint":  # the ids of checkpoint's questions are numbers
        assert kinds == sorted(kinds)


def test_core_exercises_lead_to_the_milestones_within_the_announced_minutes() -> None:
    assert core_until("value", last="Sending gradients back") <= 50
    assert core_until("value", "backward", last="Backward") <= 105
    assert core_until("value", "backward", "mlp", last="XOR") <= 240
    assert sum(minutes(name, "core") for name in NAMES) <= 360


@pytest.mark.parametrize("name", NAMES)
def test_announced_minutes_and_points_are_the_sums_of_those_in_the_headings(name: str) -> None:
    [seen] = [
        part for part in prose(name).split("\n\n") if "are **core**" in part or "**core**:" in part
    ]
    announced = [
        int(number) for number in re.findall(r"\b(\d+)(?: minutes|, in one sitting|; one)", seen)
    ]
    announced += [int(number) for number in re.findall(r"take about (\d+)\.", seen)]
    sums = {5 * round(minutes(name, kind) / 5) for kind in ("core", "extra")}
    assert set(announced) == sums, seen
    assignment = COURSE.assignment(name)
    total = sum(each.total_points for each in assignment.exercises.values())
    assert f"worth {total:g} points" in seen
    bonus = sum(each.max_points for each in assignment.exercises.values() if each.bonus)
    assert (f"{bonus:g} bonus points" in seen) == bool(bonus)


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_list_the_exercises_in_order_with_their_minutes(name: str) -> None:
    page = (COURSE.root / "docs" / "curriculum.md").read_text("utf-8")
    section = page.partition(f"\n## {name}: ")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \|", section, re.MULTILINE)
    own = [step for step in steps(name) if "extra part" not in step[0]]
    ids = [*COURSE.assignment(name).exercises]

    assert listed == [
        (each, kind, str(time)) for each, (_, kind, time) in zip(ids, own, strict=True)
    ]


def solved(name: str, extra: bool) -> Iterator[tuple[Exercise, dict[str, Any]]]:
    """Run the cells of a notebook, with the extra exercises and parts or without.

    Yields each exercise right after its cell, with the names that are there by then.
    """
    assignment = COURSE.assignment(name)
    scope: dict[str, Any] = {"__name__": "__main__"}
    for source in assignment.setup.values():
        exec(source, scope)
    for exercise in assignment.exercises.values():
        if (extra or not exercise.extra) and not exercise.manual:
            source = exercise.solution if extra else PLAIN.get(exercise.id, exercise.solution)
            exec(compile(source, exercise.id, "exec", dont_inherit=True), scope)
            yield exercise, scope


PLAIN = {
    "sgd": """
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr

    def step(self):
        for p in self.parameters:
            p.data -= self.lr * p.grad

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0.0
""",
    "train": """
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        epoch_loss = loss([model(x) for x in inputs], targets)
        optimizer.zero_grad()
        epoch_loss.backward()
        optimizer.step()
        losses.append(epoch_loss.data)
    return losses
""",
}
"""Answers without the extra parts."""


@pytest.mark.parametrize("name", [*NAMES[:-1], pytest.param(NAMES[-1], marks=pytest.mark.full)])
def test_the_core_exercises_pass_their_checks_without_the_extra_ones(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each check needs only cells above it."""
    count = 0
    for exercise, scope in solved(name, extra=False):
        check(exercise.id, scope)
        count += 1
    said = capsys.readouterr().out
    assert said.count("✓") + said.count("✎") == count > 3
    assert said.count("The extra part is open") == (2 if name == "mlp" else 0)


@pytest.mark.parametrize("name", ["value", "mlp"])
def test_the_check_of_an_extra_exercise_needs_only_cells_above_it(name: str) -> None:
    for exercise, scope in solved(name, extra=True):
        if exercise.extra:
            check(exercise.id, scope)


def core_only(course: Path, tmp_path: Path) -> Path:
    """Return the course of an instructor who grades the core alone."""
    mine = tmp_path / "course"
    copy_course(Course(course), mine)
    (mine / "gradebook.db").unlink(missing_ok=True)
    shutil.copytree(
        COURSE.root / "course", mine / "course", ignore=shutil.ignore_patterns("__pycache__")
    )
    text = (mine / "course.toml").read_text("utf-8")
    (mine / "course.toml").write_text(text.replace("[grading]\n", "[grading]\ncore_only = true\n"))
    return mine


@pytest.mark.full
@pytest.mark.subprocess
def test_an_instructor_can_leave_the_extra_exercises_ungraded(course: Path, tmp_path: Path) -> None:
    mine = core_only(course, tmp_path)
    release(mine, "mlp")
    assignment = Course(mine).assignment("mlp")
    core = {each.id: each for each in assignment.exercises.values() if not each.extra}
    # Trainings, which take seconds, are not begun.
    untouched = core.keys() & set(load_settings(mine).limits.trainings)
    answers = {each: core[each].solution for each in core.keys() - untouched}
    notebook = filled_notebook(Course(mine), "mlp", {**answers, **PLAIN}).encode()
    with Grader(Course(mine), KEY) as grader:
        graded = grade_job(grader, Job("mlp", "student", "mlp.ipynb", notebook))
    report = graded.report
    assert report is not None and report.max_score == 39
    assert report.score == 39 - sum(core[each].max_points for each in untouched)
    extra = [each for each in report.exercises if each.extra]
    assert len(extra) == 6 and {each.max_points for each in extra} == {0.0}
    released = json.loads((mine / "release" / "mlp" / "mlp.ipynb").read_text("utf-8"))
    points = [c["metadata"].get("nbgrader", {}).get("points", 0) for c in released["cells"]]
    assert sum(points) == 39
    assert graded.marks is not None and None not in graded.marks.points.values()


@pytest.mark.full
@pytest.mark.subprocess
def test_leaving_out_the_extra_parts_costs_only_their_share_of_the_points(grader: Grader) -> None:
    assignment = grader.course.assignment("mlp")
    # Trainings, which take seconds, are not begun.
    untouched = grader.course.settings.limits.trainings
    answers = {
        each.id: each.solution
        for each in assignment.exercises.values()
        if not each.extra and each.id not in untouched
    }
    report = report_on(grader, "mlp", {**answers, **PLAIN})
    results = {each.id: each for each in report.exercises}
    assert {each for each, result in results.items() if result.status == "partial"} == set(PLAIN)
    assert all(results[each].status == "passed" for each in set(answers) - set(PLAIN))
    assert results["sgd"].points >= 2 and results["train"].points >= 3


def test_bonus_points_are_added_to_the_maximum_of_the_core(grader: Grader) -> None:
    assignment = grader.course.assignment("backward")
    notebook = filled_notebook(grader.course, "backward", solutions("backward")).encode()
    graded = grade_job(grader, Job("backward", "student", "backward.ipynb", notebook))
    report = graded.report
    assert report is not None
    bonus = next(each for each in report.exercises if each.bonus)
    assert (bonus.id, bonus.points, bonus.max_points) == ("extra_ops", 3.0, 3.0)
    assert report.max_score == 50
    assert report.score == 50 - assignment.exercises["memory"].max_points + 3
    assert graded.error is None and graded.marks is not None
    assert graded.marks.points["test_extra_ops"] == 3.0 and graded.marks.points["memory"] is None
    assert sum(points or 0.0 for points in graded.marks.points.values()) == report.score


@pytest.mark.parametrize("name", NAMES)
def test_training_cells_outside_exercises_are_not_run_for_a_grade(name: str) -> None:
    """A cell that trains a network for the eye would run again in each process of a grading."""
    notebook = json.loads((COURSE.source / name / f"{name}.ipynb").read_text("utf-8"))
    untagged = [
        cell["id"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        and "nbgrader" not in cell["metadata"]
        and "demonstration" not in cell["metadata"].get("tags", [])
    ]
    assert untagged == []


def test_the_engine_has_the_number_of_lines_that_the_notebook_states() -> None:
    assert f"It is {engine_lines(COURSE)} lines long" in prose("mlp")
