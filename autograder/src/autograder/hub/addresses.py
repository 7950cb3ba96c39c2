"""Server extension that blocks formgrader URLs with characters that HTML or JavaScript escapes.

nbgrader 0.9.6 writes parts of the URL into a script on the page without escaping them (reflected
XSS). So a link that an instructor follows could run any code with the instructor's rights. No page
of the formgrader itself has a URL with one of these characters.
"""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError, RequestHandler

_SCRIPT = r"(?i).*/formgrader/.*(?:%(?:22|26|27|3c|3e|5c)|[\"&'<>\\]).*"


class NotFoundPage(RequestHandler):
    """Answers 404."""

    def prepare(self) -> None:
        raise HTTPError(404)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Add the handler before the formgrader's: extensions are loaded in alphabetical order."""
    server.web_app.add_handlers(".*$", [(_SCRIPT, NotFoundPage)])
