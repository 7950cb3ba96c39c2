"""Starts the service, alone or as a JupyterHub's, and ends it in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

from nbgrader.api import Gradebook
from tornado.httpserver import HTTPServer

from ...course_folder.assignments import parts_of
from ...course_folder.key import course_key
from ...course_folder.settings import load_settings
from ...errors import CourseError
from ...judging.grader import Grader
from ...pipeline.classroom import course_directory
from ...terminal import errors, say
from ...wall.memory import fitting_workers
from .app import application
from .attempts import Attempts
from .base_page import Shared
from .changes import released
from .grading import Grading

STOPPED, CHANGED = "it was asked to end", "the course has changed"

MAX_FORM = 64_000
"""Greatest size in bytes of a request that is no upload."""

_UPLOAD_SECONDS, _IDLE_SECONDS = 120, 60
"""Seconds that an upload may take, and that a connection may be idle between two requests."""


def serve(
    course: Path, address: str, port: int, count: int, instructors: list[str], on_hub: bool
) -> str:
    """Serve until SIGTERM or Ctrl-C, or until files that marks depend on have changed.

    Args:
        count: how many attempts are graded at the same time, as far as there is memory.
        instructors: the names of those who see all; on a hub, of users.
        on_hub: whether a JupyterHub has started this and says who people are.

    Returns:
        Why it ended: `STOPPED`, `CHANGED`, or "" if it could not go on.

    Raises `CourseError` if there is no assignment, or the port is in use.
    """
    # An attempt is one file.
    names = [name for name in released(course) if parts_of(course, name) == [name]]
    with Grader(course, course_key(course)) as grader:
        for flaw in (flaw for name in names for flaw in grader.rehearse(name)):
            say(flaw, "red", errors)
    stack = ExitStack()
    why: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def ended() -> None:
            why.append(STOPPED)
            done.set()

        def wake(students: Iterable[str]) -> None:
            loop.call_soon_threadsafe(shared.news.wake, students)

        def stopped() -> None:
            loop.call_soon_threadsafe(done.set)

        grading = Grading(course, names, count, wake, stopped)
        grading.prepare(stack)
        shared = Shared(course, names, grading)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended)
        server = _listen(shared, address, port, instructors, on_hub)
        grading.start()
        await done.wait()
        server.stop()
        grading.end()
        await asyncio.to_thread(grading.join)
        if grading.has_changed:
            why.append(CHANGED)
        # Open pages would keep their connections.
        with suppress(TimeoutError):
            await asyncio.wait_for(server.close_all_connections(), 5)

    with stack:
        count = fitting_workers(count, load_settings(course).limits)
        asyncio.run(run())
    return why[0] if why else ""


def _listen(
    shared: Shared, address: str, port: int, instructors: list[str], on_hub: bool
) -> HTTPServer:
    if on_hub:
        from jupyterhub.services.auth import HubOAuthCallbackHandler

        from .hub import HubGuard

        prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
        guard = type("Guard", (HubGuard,), {"instructors": frozenset(instructors)})
        app = application(shared, prefix, guard)
        # The hub sends visitors back there.
        app.add_handlers(".*", [(f"{prefix}oauth_callback", HubOAuthCallbackHandler)])
        app.settings["cookie_secret"] = os.urandom(32)
        where = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
        address, port = where.hostname or address, where.port or port
    else:
        app = application(shared, "/")
    server = HTTPServer(
        app, max_body_size=MAX_FORM, body_timeout=_UPLOAD_SECONDS,
        idle_connection_timeout=_IDLE_SECONDS, xheaders=False,
    )  # fmt: skip
    try:
        server.listen(port, address)
    except OSError as error:
        raise CourseError(
            f"nothing can listen on {address}:{port} ({error.strerror}). Choose another --port."
        ) from error
    if not on_hub:
        url = f"http://{address}:{port}"
        say(f"The service: {url}")
        for name in instructors:
            link = f"{url}/link/{shared.attempts.link(name, teaches=True)}"
            say(f"  {name}, who teaches: {link}")
        say("`autograder links` prints each student's link.")
    return server


def links(course: Path, url: str, renewed: list[str]) -> list[tuple[str, str, str]]:
    """Return each student's id, e-mail address and link.

    Args:
        url: the address of the service.
        renewed: students, or instructors, whose old link becomes invalid.

    Raises `CourseError` if one of `renewed` is not in the gradebook and has no link.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        students = {each.id: each.email or "" for each in gradebook.students}
    attempts = Attempts(course)
    try:
        known = {*students, *attempts.instructors()}
        if unknown := [each for each in renewed if each not in known]:
            raise CourseError(f"the gradebook has no student {', '.join(unknown)}")
        for each in renewed:
            attempts.renew_link(each)
        base = url.rstrip("/")
        return [(each, students[each], f"{base}/link/{attempts.link(each)}") for each in students]
    finally:
        attempts.close()
