"""Checks whether a course's nbgrader configuration names the plugins for the sandbox and marks."""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbgrader.converters import Autograde
from traitlets import TraitError
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from .autograde import GradeInSandbox, RestoreCells, StoreMarks, SubmissionExporter
from .formgrader import FILTERS

_OURS: dict[str, set[type[Any]]] = {
    "exporter_class": {SubmissionExporter},
    "sanitize_preprocessors": {RestoreCells},
    "autograde_preprocessors": {GradeInSandbox, StoreMarks},
}
"""By setting of `Autograde`: the plugins without which `nbgrader autograde` is not safe."""


def unsafe_settings(config: Config) -> list[str]:
    """Return the names of settings that make `nbgrader autograde` unsafe.

    With these settings, it would run student code outside of the sandbox, or store marks without
    verdicts.
    """
    converter = Autograde(config=config)
    return [f"c.Autograde.{name}" for name in _OURS if not _is_safe(converter, name)]


def extends_formgrader(config: Config) -> bool:
    """Return whether the configuration calls `formgrader.extend`.

    That prevents lost updates of marks, and HTML injection by students' names.
    """
    return bool(config.HTMLExporter.filters == FILTERS)


def _is_safe(converter: Autograde, name: str) -> bool:
    try:
        value: Any = getattr(converter, name)
        steps: list[Any] = value if isinstance(value, list) else [value]
        kinds: list[Any] = [import_item(each) if isinstance(each, str) else each for each in steps]
    except (ImportError, TraitError):
        return False
    is_safe = all(any(issubclass(kind, ours) for kind in kinds) for ours in _OURS[name])
    return is_safe and not any(issubclass(kind, ExecutePreprocessor) for kind in kinds)
