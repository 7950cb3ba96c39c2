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
Delimiters = tuple[str, str]
"""Delimiters of a region of a cell: a text in the region's first line and one in its last."""


@dataclass(frozen=True)
class NbgraderSettings:
    """The settings by which nbgrader makes a release from a source notebook.

    Attributes:
        around: the paths of the header notebook and the footer notebook, whose cells nbgrader puts
            before and after the cells of each source notebook; None for a missing one.
        solution: the delimiters of an answer in a solution cell.
        hidden_tests: the delimiters of the part of a test cell that students do not get.
        mark_scheme: the delimiters of the part of a task that students do not get.
    """

    around: tuple[Path | None, Path | None]
    solution: Delimiters
    hidden_tests: Delimiters
    mark_scheme: Delimiters

    def visible_part(self, source: str) -> str:
        """Return a cell's source without hidden tests and mark schemes."""
        return without(without(source, *self.hidden_tests), *self.mark_scheme)


@cached_by_text(2_000_000)
def without(source: str, begin: str, end: str) -> str:
    """Return a cell's source without the regions between two delimiters.

    A region without an end extends to the end of the cell.
    """
    kept, hidden = [], False
    for line in source.split("\n"):
        if begin in line:
            hidden = True
        elif end in line:
            hidden = False
        elif not hidden:
            kept.append(line)
    return "\n".join(kept)


def nbgrader_config(folder: Path) -> Config:
    """Return the configuration that the course's `nbgrader_config.py` sets when it is run.

    Raises `CourseError` if there is no such file, or it cannot be run.
    """
    if not (folder / NAME).exists():
        raise CourseError(
            f"{folder}/{NAME} is missing: run {command('autograder', 'adopt', folder)}"
        )
    # The configuration may name modules in the course folder, as nbgrader allows.
    if (importable := str(folder.resolve())) not in sys.path:
        sys.path.append(importable)
    try:
        return Config(PyFileConfigLoader(NAME, path=str(folder)).load_config())
    except Exception as error:  # The file is Python code of the course, and may raise anything.
        raise CourseError(
            f"{NAME}: cannot be run ({type(error).__name__}: {error}). Mend it there."
        ) from error


def settings_of_steps(folder: Path) -> str:
    """Return the text of an nbgrader configuration with only the settings of `_STEPS`.

    This text can be handed out; the course's own configuration may hold a database password.
    """
    config = nbgrader_config(folder)
    settings = [(step, *item) for step in _STEPS for item in config[step].items()]
    return "\n".join(
        ["c = get_config()", *(f"c.{step}.{key} = {value!r}" for step, key, value in settings), ""]
    )


def nbgrader_settings(folder: Path) -> NbgraderSettings:
    """Return a course's settings of nbgrader's steps; nbgrader's defaults if the course has no
    `nbgrader_config.py`."""
    path = folder / NAME
    return _settings(folder, path.stat().st_mtime_ns if path.exists() else None)


@lru_cache
def _settings(folder: Path, stamp: int | None) -> NbgraderSettings:
    # Imported late: the import takes longer than most commands.
    from nbgrader.preprocessors import (
        ClearHiddenTests,
        ClearMarkScheme,
        ClearSolutions,
        IncludeHeaderFooter,
    )

    config = nbgrader_config(folder) if stamp else Config()
    solution, tests = ClearSolutions(config=config), ClearHiddenTests(config=config)
    scheme, around = ClearMarkScheme(config=config), IncludeHeaderFooter(config=config)
    return NbgraderSettings(
        (
            folder / around.header if around.header else None,
            folder / around.footer if around.footer else None,
        ),
        (solution.begin_solution_delimeter, solution.end_solution_delimeter),
        (tests.begin_test_delimeter, tests.end_test_delimeter),
        (scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter),
    )
