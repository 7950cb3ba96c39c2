"""Refuses addresses of the formgrader that hold script.

nbgrader 0.9.6 writes parts of an address into a script on the page, as they are: a link that the
instructor follows could run any code in the instructor's name. No page of the formgrader has an
address with such a character.
"""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError, RequestHandler

_SCRIPT = r"(?i).*/formgrader/.*(?:%(?:22|26|27|3c|3e|5c)|[\"&'<>\\]).*"


class Refused(RequestHandler):
    """Answers that there is no such page."""

    def prepare(self) -> None:
        raise HTTPError(404)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Register the refusal before the formgrader's pages: extensions are loaded in the order of
    their names."""
    server.web_app.add_handlers(".*$", [(_SCRIPT, Refused)])
