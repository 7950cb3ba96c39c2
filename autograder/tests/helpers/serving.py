"""Starts and stops a JupyterLab on a course folder, with a home folder of its own."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services import free_port, wait_until_it_answers

STOP = 20  # seconds
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
    """Start JupyterLab in a course folder, with its settings and data in the folder `home`."""
    port = free_port()
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
        wait_until_it_answers(lab.address("api/status"), server, log)
        yield lab
    finally:
        server.terminate()  # it ends its kernels first
        try:
            server.wait(STOP)
        except subprocess.TimeoutExpired:
            server.kill()  # kernels end by themselves when their server is gone
            server.wait()


def _environment(home: Path) -> dict[str, str]:
    """Return this process's environment, with all of Jupyter's folders in `home`."""
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
