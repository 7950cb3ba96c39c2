"""Reads the settings of nbgrader's own steps from a course's `nbgrader_config.py`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from ..caching import cached_by_text
from ..errors import CourseError
from ..texts import command

NAME = "nbgrader_config.py"
_STEPS = ("IncludeHeaderFooter", "ClearSolutions", "ClearHiddenTests", "ClearMarkScheme")
Marks = tuple[str, str]
"""The texts in the first and in the last line of a region in a cell."""


@dataclass(frozen=True)
class NbgraderSettings:
    """The settings by which nbgrader makes a release from a source notebook.

    Attributes:
        around: the notebooks whose cells stand before and after those of each source notebook, as
            paths; None for none.
        solution: the marks around an answer.
        hidden_tests: the marks around the part of a test cell that students do not get.
        mark_scheme: the marks around the part of a task that students do not get.
    """

    around: tuple[Path | None, Path | None]
    solution: Marks
    hidden_tests: Marks
    mark_scheme: Marks

    def visible_part(self, source: str) -> str:
        """Return a cell's source without hidden tests and mark schemes."""
        return without(without(source, *self.hidden_tests), *self.mark_scheme)


@cached_by_text(2_000_000)
def without(source: str, begin: str, end: str) -> str:
    """Return a cell's source without the regions between two marks; one without an end is left out
    as well."""
    kept, hidden = [], False
    for line in source.split("\n"):
        if begin in line:
            hidden = True
        elif end in line:
            hidden = False
        elif not hidden:
            kept.append(line)
    return "\n".join(kept)


def nbgrader_config(course: Path) -> Config:
    """Return the configuration in the course folder.

    Raises `CourseError` if there is none, or it cannot be run.
    """
    if not (course / NAME).exists():
        raise CourseError(
            f"{course}/{NAME} is missing: run {command('autograder', 'adopt', course)}"
        )
    if (place := str(course.resolve())) not in sys.path:
        sys.path.append(place)  # The configuration may name modules beside it, as in nbgrader.
    try:
        return Config(PyFileConfigLoader(NAME, path=str(course)).load_config())
    except Exception as error:
        raise CourseError(
            f"{NAME}: cannot be run ({type(error).__name__}: {error}). Mend it there."
        ) from error


def settings_of_steps(course: Path) -> str:
    """Return a configuration that holds these settings alone, and no database's password."""
    config = nbgrader_config(course)
    given = [(step, *pair) for step in _STEPS for pair in config[step].items()]
    return "\n".join(
        ["c = get_config()", *(f"c.{step}.{key} = {value!r}" for step, key, value in given), ""]
    )


def nbgrader_settings(course: Path) -> NbgraderSettings:
    """Return these settings of a course; nbgrader's defaults if it has no configuration."""
    path = course / NAME
    return _settings(course, path.stat().st_mtime_ns if path.exists() else None)


@lru_cache
def _settings(course: Path, stamp: int | None) -> NbgraderSettings:
    # Imported late: the import takes longer than most commands.
    from nbgrader.preprocessors import (
        ClearHiddenTests,
        ClearMarkScheme,
        ClearSolutions,
        IncludeHeaderFooter,
    )

    config = nbgrader_config(course) if stamp else Config()
    solution, tests = ClearSolutions(config=config), ClearHiddenTests(config=config)
    scheme, around = ClearMarkScheme(config=config), IncludeHeaderFooter(config=config)
    return NbgraderSettings(
        (
            course / around.header if around.header else None,
            course / around.footer if around.footer else None,
        ),
        (solution.begin_solution_delimeter, solution.end_solution_delimeter),
        (tests.begin_test_delimeter, tests.end_test_delimeter),
        (scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter),
    )
