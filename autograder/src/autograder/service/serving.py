"""Runs the service, by itself or as a service of a JupyterHub, and shuts it down in order."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from nbgrader.api import Gradebook
from tornado.httpserver import HTTPServer

from ..course_folder.course import Course
from ..errors import CourseError
from ..judging.grader import Grader
from ..marking.answer_pages import Marking
from ..pipeline.classroom import course_directory
from ..sandbox.memory import fitting_workers
from ..terminal import echo, errors
from .app import application
from .attempts import Attempts, Role
from .base_page import ServiceState
from .changes import released
from .grading import Grading

STOPPED, CHANGED = "it was asked to end", "the course has changed"

MAX_FORM = 64_000
"""Greatest size in bytes of a request other than an upload."""

_UPLOAD_SECONDS, _IDLE_SECONDS = 120, 60
"""Timeouts in seconds: of receiving an upload, and of an idle connection."""

_LAST_UPLOADS_SECONDS = 10
"""Greatest number of seconds for which a service that ends waits for uploads in progress."""


def serve(
    course: Course,
    sockets: list[socket.socket],
    count: int,
    instructors: list[str],
    graders: list[str],
    on_hub: bool,
) -> str:
    """Serve until SIGTERM or Ctrl-C, or until files on which marks depend have changed.

    Args:
        sockets: the listening sockets. They stay open for the next process that serves.
        count: the number of attempts graded at the same time; fewer if the memory is too small.
        instructors: the instructors' names; JupyterHub user names on a hub.
        graders: the names of those who mark answers and see nothing else.
        on_hub: whether a JupyterHub started this process and authenticates visitors.

    Returns:
        The reason for the end: `STOPPED`, `CHANGED`, or "" after a failure.

    Raises `CourseError` if there is no assignment.
    """
    limits = course.settings.limits
    # An attempt is one notebook, so that assignments with several notebooks are left out.
    parts = {name: course.parts_of(name) for name in released(course)}
    names = [name for name, own in parts.items() if own == [name]]
    marked = [part for own in parts.values() for part in own]
    with Grader(course, course.key) as grader:
        for defect in (defect for name in names for defect in grader.check_solution(name)):
            echo(defect, "red", errors)
    everyone = [*instructors, *graders]
    people = {
        Role.INSTRUCTOR: frozenset(instructors),
        Role.GRADER: frozenset(graders) - {*instructors},
    }
    stack = ExitStack()
    why: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def on_signal() -> None:
            why.append(STOPPED)
            done.set()

        def wake(students: Iterable[str]) -> None:
            loop.call_soon_threadsafe(shared.news.wake, students)

        def on_grading_end() -> None:
            loop.call_soon_threadsafe(done.set)

        grading = Grading(course, names, count, wake, on_grading_end)
        grading.prepare(stack)
        shared = ServiceState(course, names, grading, Marking(course, marked, everyone))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal)
        server = _listen(shared, sockets, people, on_hub)
        grading.start()
        await done.wait()
        server.stop()
        grading.end()
        await asyncio.to_thread(grading.join)
        if grading.has_changed:
            why.append(CHANGED)
        for _ in range(_LAST_UPLOADS_SECONDS * 10):
            if not shared.uploading:
                break
            await asyncio.sleep(0.1)
        # Open pages' streams of updates do not end by themselves.
        with suppress(TimeoutError):
            await asyncio.wait_for(server.close_all_connections(), 5)

    with stack:
        count = fitting_workers(count, limits)
        asyncio.run(run())
    return why[0] if why else ""


def _listen(
    shared: ServiceState,
    sockets: list[socket.socket],
    people: dict[Role, frozenset[str]],
    on_hub: bool,
) -> HTTPServer:
    if on_hub:
        from jupyterhub.services.auth import HubOAuthCallbackHandler

        from .hub import HubGuard

        prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
        guard = type("Guard", (HubGuard,), {"people": people})
        app = application(shared, prefix, guard)
        # The hub redirects visitors here after login.
        app.add_handlers(".*", [(f"{prefix}oauth_callback", HubOAuthCallbackHandler)])
        app.settings["cookie_secret"] = os.urandom(32)
    else:
        app = application(shared, "/")
    server = HTTPServer(
        app, max_body_size=MAX_FORM, body_timeout=_UPLOAD_SECONDS,
        idle_connection_timeout=_IDLE_SECONDS, xheaders=False,
    )  # fmt: skip
    server.add_sockets(sockets)
    if not on_hub:
        url = _url(sockets[0])
        echo(f"The service: {url}")
        for role, names in people.items():
            does = "teaches" if role is Role.INSTRUCTOR else "marks"
            for name in sorted(names):
                echo(f"  {name}, who {does}: {url}/link/{shared.attempts.link(name, role)}")
        echo("`autograder links` prints each student's link.")
    return server


def _url(listening: socket.socket) -> str:
    """Return the address of a listening socket."""
    if listening.family == socket.AF_UNIX:
        return f"http://unix:{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def links(course: Course, url: str, renewed: list[str]) -> list[tuple[str, str, str]]:
    """Return each student's id, e-mail address ("" if unknown) and link.

    Args:
        url: the address of the service.
        renewed: ids of students, instructors or graders whose old link is revoked.

    Raises `CourseError` if one of `renewed` is not in the gradebook and has no link.
    """
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        students = {each.id: each.email or "" for each in gradebook.students}
    attempts = Attempts(course)
    try:
        known = {*students, *attempts.staff()}
        if unknown := [each for each in renewed if each not in known]:
            raise CourseError(f"the gradebook has no student {', '.join(unknown)}")
        for each in renewed:
            attempts.renew_link(each)
        base = url.rstrip("/")
        return [(each, students[each], f"{base}/link/{attempts.link(each)}") for each in students]
    finally:
        attempts.close()
