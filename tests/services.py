"""Starts the service on a course, and talks to it as students do."""

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
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autograder.delivery.service.attempts import Attempt, Attempts

START = 90  # seconds


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


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
        until = time.monotonic() + START
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError((self.course / "serve.log").read_text()[-3000:])

    def kill(self) -> None:
        """As for want of memory: no code of the service runs any more."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(60)

    def attempts(self) -> list[Attempt]:
        attempts = Attempts(self.course)
        try:
            return attempts.all()
        finally:
            attempts.close()

    def visitor(self, name: str, teaches: bool = False) -> Visitor:
        attempts = Attempts(self.course)
        try:
            return Visitor(self.url, attempts.link(name, teaches))
        finally:
            attempts.close()


class Visitor:
    """Somebody with a link, and a browser that keeps cookies."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self.page = self.get(f"link/{token}")[1] if token else ""

    def get(self, path: str) -> tuple[int, str]:
        return self._ask(urllib.request.Request(f"{self.url}/{path}"))

    def headers(self, path: str) -> dict[str, str]:
        with self._opener.open(f"{self.url}/{path}", timeout=30) as answer:
            return dict(answer.headers)

    def hand_in(
        self, notebook: bytes, assignment: str = "value", xsrf: bool = True, name: str = "v.ipynb"
    ) -> tuple[int, str]:
        form = re.search(r'name="_xsrf" value="([^"]+)"', self.page)
        fields = {"assignment": assignment, **({"_xsrf": form[1]} if xsrf and form else {})}
        edge = "edge-of-parts"
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in fields.items()
        ]
        head = f'Content-Disposition: form-data; name="notebook"; filename="{name}"'
        parts.append(f"--{edge}\r\n{head}\r\n\r\n".encode() + notebook + b"\r\n")
        body = b"".join(parts) + f"--{edge}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={edge}"}
        return self._ask(urllib.request.Request(f"{self.url}/upload", body, kind))

    def first_event(self, path: str = "live") -> str:
        with self._opener.open(f"{self.url}/{path}", timeout=30) as answer:
            return str(json.loads(answer.readline().removeprefix(b"data: ")))

    def _ask(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@contextmanager
def serving(course: Path) -> Iterator[Service]:
    """A service, ended at the end by its own process group."""
    service = Service(course, free_port())
    service.start()
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.kill()
