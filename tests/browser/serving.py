"""Starts a real JupyterLab on a course folder, with a home of its own, and stops it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START, STOP = 60, 20  # seconds
NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab on `course`."""

    course: Path
    url: str
    token: str

    def address(self, path: str) -> str:
        return f"{self.url}/{path}?token={self.token}"


@contextmanager
def serve(course: Path, home: Path) -> Iterator[Lab]:
    """JupyterLab as a student or an instructor starts it; `home` takes what it writes."""
    port = _free_port()
    lab = Lab(course, f"http://127.0.0.1:{port}", secrets.token_hex(16))
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={course}",
        f"--IdentityProvider.token={lab.token}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    environment = _environment(home)
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=course, env=environment, stdout=output, stderr=output
        )
    try:
        _wait_until_it_answers(lab, server, log)
        yield lab
    finally:
        server.terminate()  # it ends its kernels first
        try:
            server.wait(STOP)
        except subprocess.TimeoutExpired:
            server.kill()  # kernels end by themselves when their server is gone
            server.wait(STOP)


def _environment(home: Path) -> dict[str, str]:
    """This process's environment, with every folder that Jupyter reads or writes in `home`."""
    settings = home / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(NO_NEWS))
    folders = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    return os.environ | {name: str(home / folder) for name, folder in folders.items()}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_until_it_answers(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(lab.address("api/status"), timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text()[-3000:]}")
