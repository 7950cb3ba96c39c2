"""Examines if a course's nbgrader configuration grades in the sandbox."""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbgrader.converters import Autograde
from traitlets import TraitError
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from .autograde import GradeBehindWall, RestoreCells, StoreMarks, SubmissionExporter

_OURS: dict[str, set[type[Any]]] = {
    "exporter_class": {SubmissionExporter},
    "sanitize_preprocessors": {RestoreCells},
    "autograde_preprocessors": {GradeBehindWall, StoreMarks},
}
"""Steps that `nbgrader autograde` needs, by the setting that names them."""


def unsafe_settings(config: Config) -> list[str]:
    """Return the settings by which `nbgrader autograde` would run student code outside the sandbox,
    or store marks without its verdicts."""
    converter = Autograde(config=config)
    return [f"c.Autograde.{name}" for name in _OURS if not _is_safe(converter, name)]


def _is_safe(converter: Autograde, name: str) -> bool:
    try:
        value: Any = getattr(converter, name)
        steps: list[Any] = value if isinstance(value, list) else [value]
        kinds: list[Any] = [import_item(each) if isinstance(each, str) else each for each in steps]
    except (ImportError, TraitError):
        return False
    is_safe = all(any(issubclass(kind, ours) for kind in kinds) for ours in _OURS[name])
    return is_safe and not any(issubclass(kind, ExecutePreprocessor) for kind in kinds)
