"""Loads Jinja templates."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coursecheck.cards import marked_up


def templates(package: str) -> Environment:
    """Return a Jinja environment for the templates in the folder of a package.

    Values are escaped, and an undefined name is an error. The filter `marked_up` renders `code` and
    *emphasis* in a message, and `signed` a number with its sign.
    """
    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked_up"] = lambda text: Markup(marked_up(text))
    environment.filters["signed"] = lambda value: f"{value:+g}".replace("-", "−")
    return environment
