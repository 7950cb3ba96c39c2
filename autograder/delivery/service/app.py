"""The service's web application: its addresses, its files, and its state for monitoring."""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest
from tornado.web import Application, RequestHandler

from .base_page import Page, Shared
from .class_pages import Class, ClassLive, History
from .student_pages import Entry, Feedback, Own, OwnLive, Upload

_log = logging.getLogger(__name__)

_STUCK_SECONDS = 120
"""Seconds without a pass of the grading loop after which the service reports itself as stuck."""


class HealthPage(Page):
    """Reports the state of the service, for monitoring."""

    def get(self) -> None:
        health, attempts = self.shared.grading.health, self.shared.attempts
        is_well = not health.trouble and time.time() - health.looked < _STUCK_SECONDS
        if not is_well:
            self.set_status(503)
        self.finish(
            {
                "well": is_well,
                "waiting": attempts.waiting(),
                "oldest_wait_seconds": round(attempts.oldest_wait(), 1),
            }
        )


class MetricsPage(Page):
    def get(self) -> None:
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(generate_latest(self.shared.grading.metrics.registry))


class File(Page):
    """One of the two files that the pages load."""

    def get(self, name: str) -> None:
        content = (Path(__file__).parent / name).read_bytes()
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Etag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.finish(content)


def application(shared: Shared, prefix: str, guard: type | None = None) -> Application:
    """Return the web application.

    Args:
        prefix: the beginning of all its addresses, `/` at both ends.
        guard: a class that authenticates visitors in place of a link; `hub.py` has one.
    """

    def guarded(page: type[Page]) -> type:
        return page if guard is None else type(page.__name__, (guard, page), {})

    given = {"shared": shared}
    routes: list[Any] = [
        ("", guarded(Own), given),
        ("live", guarded(OwnLive), given),
        # The form names the visitor that it was shown to: after a change of login it is refused.
        (r"upload(?:/([^/]*))?", guarded(Upload), given),
        (r"feedback/(\d{1,12})", guarded(Feedback), given),
        ("class", guarded(Class), given),
        ("class/live", guarded(ClassLive), given),
        ("class/history", guarded(History), given),
        ("health", HealthPage, given),
        ("metrics", MetricsPage, given),
        (r"(live\.js|style\.css)", File, given),
    ]
    if guard is None:
        # The address holds the secret once; from then on a cookie does.
        routes.append((r"link/([\w-]{20,100})", Entry, given))
    return Application(
        [(prefix + route[0], *route[1:]) for route in routes],
        prefix=prefix,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Lax", "path": prefix},
        log_function=_log_request,
    )


def _log_request(handler: RequestHandler) -> None:
    """Log a failed request, without its address, since that of a link is a secret."""
    if handler.get_status() >= 500:
        _log.error("%s: %d", type(handler).__name__, handler.get_status())
