"""Runs the course's own cells in this process, for the lesson, pictures and the project's tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import chdir, nullcontext
from functools import lru_cache
from types import CodeType
from typing import Any

from autograder.course_folder.assignments import Assignment


def namespace(assignment: Assignment, **replaced: str) -> dict[str, Any]:
    """Return the names of the solution notebook, with some exercises' cells replaced."""
    return _defined(assignment, [*assignment.exercises], replaced)


def namespace_at(assignment: Assignment, exercise: str, source: str | None) -> dict[str, Any]:
    """Return the names of the solution notebook up to an exercise, whose cell may be replaced."""
    names = [*assignment.exercises]
    replaced = {} if source is None else {exercise: source}
    return _defined(assignment, names[: names.index(exercise) + 1], replaced)


def _defined(
    assignment: Assignment, names: Iterable[str], replaced: Mapping[str, str]
) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exercises = [assignment.exercises[name] for name in names]
    solved = [replaced.get(each.id, each.solution) for each in exercises if not each.manual]
    # Cells open their data files by name.
    with chdir(assignment.data_folder) if assignment.data_folder else nullcontext():
        for source in (*assignment.setup.values(), *solved):
            exec(_compiled(source), scope)
    return scope


@lru_cache(maxsize=2048)
def _compiled(source: str) -> CodeType:
    # A cell does not inherit this file's imports from `__future__`.
    return compile(source, "<cell of the course>", "exec", dont_inherit=True)
