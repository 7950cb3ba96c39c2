"""Loads the templates of pages."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coursecheck.cards import marked_up


def templates(package: str) -> Environment:
    """Return the templates beside a package's modules.

    Their values are escaped, and a name without a value is an error. The filter `marked_up` renders
    `code` and *words* of a message.
    """
    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked_up"] = lambda text: Markup(marked_up(text))
    return environment
