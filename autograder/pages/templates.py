"""The templates of the pages that are written for people."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coursecheck.cards import marked_up


def templates(package: str) -> Environment:
    """The templates beside a package's modules.

    What is filled in is escaped, and a name that nothing is given for is an error. The filter
    `marked_up` sets `code` and *words* of a message.
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
