"""The service's web application: its routes, its static files, and its state for monitoring."""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest
from tornado.web import Application, RedirectHandler, RequestHandler

from ..marking.answer_pages import PAGES, Marking
from .attempts import Role
from .base_page import Page, ServiceState
from .class_pages import AttemptHistory, ClassPage, ClassUpdates
from .student_pages import AskPage, FeedbackPage, LinkPage, StudentPage, StudentUpdates, UploadPage

_log = logging.getLogger(__name__)

_STUCK_SECONDS = 120
"""Seconds without a pass of the grading loop after which the service reports itself as stuck."""


class HealthPage(Page):
    """Reports the state of the service, for monitoring."""

    def get(self) -> None:
        health, attempts = self.shared.grading.health, self.shared.attempts
        is_well = not health.trouble and time.time() - health.last_poll < _STUCK_SECONDS
        if not is_well:
            self.set_status(503)
        state: dict[str, Any] = {"well": is_well}
        # Only instructors see the queue: how long gradings take depends on the results, which may
        # be hidden from students.
        if (visitor := self.visitor()) and visitor.teaches:
            state["waiting"] = attempts.waiting()
            state["oldest_wait_seconds"] = round(attempts.oldest_wait(), 1)
        self.finish(state)


class MetricsPage(Page):
    """Serves the metrics to instructors, in Prometheus's text format."""

    def get(self) -> None:
        if self.instructor() is None:
            return
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(generate_latest(self.shared.grading.metrics.registry))


class GraderGuard(Page):
    """Mixin of a marking page: lets instructors and graders mark, each under their own name."""

    marking: Marking
    root = who = browser = ""

    def prepare(self) -> None:
        if (visitor := self.visitor_with(Role.INSTRUCTOR, Role.GRADER)) is not None:
            self.marking, self.root = self.shared.marking, f"{self.settings['prefix']}mark/"
            self.who = self.browser = visitor.name


class StaticFile(Page):
    """Serves one of the two static files that the pages load."""

    def get(self, name: str) -> None:
        content = (Path(__file__).parent / name).read_bytes()
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Etag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.finish(content)


def application(shared: ServiceState, prefix: str, guard: type | None = None) -> Application:
    """Return the web application.

    Args:
        prefix: the beginning of every URL's path, with `/` at both ends.
        guard: a mixin for the pages that authenticates visitors in another way than by a link, such
            as `hub.HubGuard`; None for links.
    """

    def guarded(*pages: type) -> type:
        guards = () if guard is None else (guard,)
        return type(pages[-1].__name__, (*guards, *pages), {})

    arguments = {"shared": shared}
    routes: list[Any] = [
        ("", guarded(StudentPage), arguments),
        ("live", guarded(StudentUpdates), arguments),
        # The path of an upload names the visitor for whom the form was rendered. So a form from
        # before a change of login is rejected, and cannot hand in for somebody else.
        (r"upload(?:/([^/]*))?", guarded(UploadPage), arguments),
        (r"feedback/(\d{1,12})", guarded(FeedbackPage), arguments),
        (r"ask/(\d{1,12})/([\w.-]+)", guarded(AskPage), arguments),
        ("class", guarded(ClassPage), arguments),
        ("class/live", guarded(ClassUpdates), arguments),
        ("class/history", guarded(AttemptHistory), arguments),
        ("health", guarded(HealthPage), arguments),
        ("metrics", guarded(MetricsPage), arguments),
        (r"(live\.js|style\.css)", StaticFile, arguments),
        ("mark", RedirectHandler, {"url": f"{prefix}mark/"}),
        *((f"mark/{path}", guarded(GraderGuard, page), arguments) for path, page in PAGES),
    ]
    if guard is None:
        # Only this first request has the secret in its URL; later ones have it in a cookie.
        routes.append((r"link/([\w-]{20,100})", LinkPage, arguments))
    return Application(
        [(prefix + route[0], *route[1:]) for route in routes],
        prefix=prefix,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Lax", "path": prefix},
        log_function=_log_request,
    )


def _log_request(handler: RequestHandler) -> None:
    """Log a server error (5xx) without the URL: a link's URL holds a secret."""
    if handler.get_status() >= 500:
        _log.error("%s: %d", type(handler).__name__, handler.get_status())
