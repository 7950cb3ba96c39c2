"""Changes nbgrader's formgrader: prevents lost updates of marks, and HTML injection by names."""

from __future__ import annotations

import sys

from traitlets.config import Config

FILTERS = {"markdown2html": "autograder.pages.markdown.markdown2html"}
"""The setting `c.HTMLExporter.filters` that `extend` makes: nbconvert's filters by name."""


def extend(config: Config) -> None:
    """Set filters that sanitize Markdown, and patch the formgrader if this process has loaded it.

    A course's `nbgrader_config.py` calls this. The Jupyter server runs that file when the
    formgrader starts, so no extension has to be enabled.
    """
    config.HTMLExporter.filters = FILTERS
    if "nbgrader.server_extensions.formgrader.formgrader" in sys.modules:
        from .pages import change

        change()
