"""Starts the service on a course, and uses it as students do."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from small_school import wait_for

from autograder.course_folder.course import Course
from autograder.service.attempts import Attempt, Attempts, Role

START = 300  # seconds, after which a program is taken to hang


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"it does not answer:\n{log.read_text()[-3000:]}")


@dataclass
class Service:
    """A running service."""

    course: Path
    port: int
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        line = [sys.executable, "-m", "autograder", "serve", "--port", str(self.port)]
        log = (self.course / "serve.log").open("ab")
        # A session of its own, so that all of it can be ended by its own id.
        self.process = subprocess.Popen(
            [*line, "--workers", "2"], cwd=self.course, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        log.close()
        wait_until_it_answers(f"{self.url}/health", self.process, self.course / "serve.log")

    def server(self) -> psutil.Process:
        """Return the serving process, a child of the supervisor; wait for the next one if it has
        ended."""
        return wait_for(lambda: psutil.Process(self.process.pid).children(), START)[0]

    def kill(self) -> None:
        """Kill the service and its workers by SIGKILL, as the kernel does for want of memory."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(START)

    def attempts(self) -> list[Attempt]:
        attempts = Attempts(Course(self.course))
        try:
            return attempts.all()
        finally:
            attempts.close()

    def visitor(self, name: str, role: Role = Role.STUDENT) -> Visitor:
        attempts = Attempts(Course(self.course))
        try:
            return Visitor(self.url, attempts.link(name, role))
        finally:
            attempts.close()


class Visitor:
    """A client of the service with a person's link and with cookies."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.page = ""
        if token:
            self.page = self.enter(token)[1]

    def get(self, path: str) -> tuple[int, str]:
        return self._ask(urllib.request.Request(f"{self.url}/{path}"))

    def enter(self, token: str) -> tuple[int, str]:
        """Open the link, and submit the confirmation if the page asks for one."""
        status, page = self.get(f"link/{token}")
        if (asked := re.search(r'name="_xsrf" value="([^"]*)"', page)) is None:
            return status, page
        body = urllib.parse.urlencode({"_xsrf": asked[1]}).encode()
        return self.send(body, "application/x-www-form-urlencoded", f"link/{token}")

    def headers(self, path: str) -> dict[str, str]:
        with self._opener.open(f"{self.url}/{path}", timeout=START) as answer:
            return dict(answer.headers)

    def hand_in(
        self, notebook: bytes, assignment: str = "value", xsrf: bool = True, name: str = "v.ipynb"
    ) -> tuple[int, str]:
        edge = "edge-of-parts"
        head = 'Content-Disposition: form-data; name="assignment"'
        parts = [f"--{edge}\r\n{head}\r\n\r\n{assignment}\r\n".encode()]
        head = f'Content-Disposition: form-data; name="notebook"; filename="{name}"'
        parts.append(f"--{edge}\r\n{head}\r\n\r\n".encode() + notebook + b"\r\n")
        body = b"".join(parts) + f"--{edge}--\r\n".encode()
        kind = f"multipart/form-data; boundary={edge}"
        return self.send(body, kind, path="" if xsrf else "upload")

    def send(self, body: bytes, kind: str, path: str = "") -> tuple[int, str]:
        """Post a form to `path`; by default to the address of the upload form on the page."""
        form = re.search(r'action="/(upload[^"]*)"', self.page)
        path = path or (form[1] if form else "upload")
        given = {"Content-Type": kind}
        return self._ask(urllib.request.Request(f"{self.url}/{path}", body, given))

    def events(self, path: str = "live") -> Generator[str, None, None]:
        """Yield the content of the page's element `live`, at first and after each change."""
        with self._opener.open(f"{self.url}/{path}", timeout=START) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield str(json.loads(line.removeprefix(b"data: ")))

    def first_event(self, path: str = "live") -> str:
        events = self.events(path)
        try:
            return next(events)
        finally:
            events.close()

    def _ask(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=START) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@contextmanager
def serving(course: Path) -> Iterator[Service]:
    """Start a service; at the end of the `with` block, end its process group."""
    service = Service(course, free_port())
    service.start()
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.kill()
