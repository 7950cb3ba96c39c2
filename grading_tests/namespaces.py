"""Runs the cells of solution notebooks in this process, for the lesson, pictures and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import chdir, nullcontext
from functools import lru_cache
from types import CodeType
from typing import Any

from autograder.course_folder.assignments import Assignment


def namespace(assignment: Assignment, **replaced: str) -> dict[str, Any]:
    """Run a solution notebook, with the cells of some exercises replaced, and return its
    namespace."""
    return _defined(assignment, [*assignment.exercises], replaced)


def namespace_at(assignment: Assignment, exercise: str, source: str | None) -> dict[str, Any]:
    """Run a solution notebook up to an exercise, whose cell may be replaced, and return its
    namespace."""
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
