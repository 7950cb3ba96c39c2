"""The certificate in the guide for large classes keeps other computers out of a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path

import dask
import pytest
from clusters import scheduling, start_grading, worker
from distributed import Security
from small_school import KEY, alone, school, stored
from tested_course import COURSE

from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.pipeline.cluster import Cluster

pytestmark = pytest.mark.external


assert alone and school  # fixtures of tests here


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the certificate that the guide makes."""
    home = tmp_path_factory.mktemp("home")
    guide = (COURSE.root / "docs" / "large-classes.md").read_text()
    start, end = "    mkdir -m 700 ~/autograder-cluster", "    rm key.pem cert.pem\n"
    recipe = textwrap.dedent(guide[guide.index(start) : guide.index(end) + len(end)])
    subprocess.run(["sh", "-ec", recipe], env={**os.environ, "HOME": str(home)}, check=True)
    [file] = (home / "autograder-cluster").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    return file.parent


def test_a_cluster_with_a_certificate_grades_and_refuses_connections_without_it(
    school, alone, tmp_path, certificate, monkeypatch
):
    monkeypatch.setenv("DASK_CONFIG", str(certificate))
    (school / ".autograder_key").write_text(KEY.hex() + "\n")
    with scheduling(tmp_path) as (address, _), worker(tmp_path, address):
        assert address.startswith("tls://")
        command = start_grading(school, "--force", "--scheduler", address, folder=certificate)
        lines, complaints = command.communicate(timeout=300)
        assert command.returncode == 1, complaints  # One file is cut off.
        assert {json.loads(line)["student"] for line in lines.splitlines()} == alone.keys()
        for student, before in alone.items():
            assert stored(school, student) == before["marks"]
        with pytest.raises(CourseError, match="needs certificates"):
            Cluster(Course(school), KEY, address)
        with pytest.raises(CourseError, match="no Dask scheduler answers"):
            Cluster(Course(school), KEY, address.replace("tls:", "tcp:"))
        with dask.config.set(stranger()), pytest.raises(CourseError, match="no Dask scheduler"):
            Cluster(Course(school), KEY, address)


def stranger() -> dict[str, str]:
    """Return Dask's settings with an unknown certificate."""
    own = Security.temporary()
    names = {"ca-file": own.tls_ca_file, "client.cert": own.tls_client_cert,
             "client.key": own.tls_client_key}  # fmt: skip
    return {f"distributed.comm.tls.{name}": value for name, value in names.items()}
