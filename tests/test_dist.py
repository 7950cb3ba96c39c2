"""The wheel of this course holds only its package, and the installed wheels can grade.

`make dist` leaves the wheels in `artefacts/dist`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import venv
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from programs import run_program
from tested_course import COURSE
from wheels import UNPACKED, assert_metadata, build_wheel, files_in, files_of

from autograder.authoring.release import copy_course
from autograder.commands.main import main

pytestmark = pytest.mark.external

UNUSED = ("jupyterlab", "notebook")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of a clone in which people have worked."""
    target = tmp_path_factory.mktemp("dist")
    clone = target / "copy" / "course"
    for folder in ("course", "grading_tests", "source"):
        shutil.copytree(COURSE.root / folder, clone / folder, ignore=UNPACKED)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(COURSE.root / file, clone)
    return build_wheel(clone, target, "course")


def test_the_wheel_holds_the_package_and_no_secret(wheel):
    packed, there = files_in(wheel), files_of(COURSE.root / "course")

    assert packed <= there
    # Lesson, notebooks for reading and the like are no part of the package that students import.
    assert not [name for name in there - packed if name.endswith(".py")]


def test_the_wheel_has_the_metadata_of_the_course(wheel):
    assert_metadata(wheel, COURSE.root)


def test_the_systemd_units_and_the_compose_file_start_the_service():
    unit = ConfigParser(interpolation=None)
    unit.read(COURSE.root / "docs/autograder.service")
    address = ConfigParser()
    address.read(COURSE.root / "docs/autograder.socket")
    assert "autograder.socket" in unit["Unit"]["Requires"]
    image = (COURSE.root / "docs/grader.Containerfile").read_text()
    assert f"pip uninstall --quiet --yes {' '.join(UNUSED)}\n" in image
    for name in re.findall(r"^COPY (.+) /\S+$", image, re.MULTILINE):
        assert all((COURSE.root / each).exists() for each in name.split())
    compose = yaml.safe_load((COURSE.root / "docs/compose.yaml").read_text())
    [service] = compose["services"].values()
    assert (COURSE.root / "docs" / service["build"]["context"]).resolve() == COURSE.root
    assert service["build"]["dockerfile"] == "docs/grader.Containerfile"
    [command] = re.findall(r"^CMD (.+)$", image, re.MULTILINE)
    for line in (unit["Service"]["ExecStart"].split(), json.loads(command)):
        assert Path(line[0]).name == "autograder"
        serve = main.commands[line[1]]
        chosen = serve.make_context(line[1], line[2:]).params
        assert f":{chosen['port']}:" in service["ports"][0]
        assert address["Socket"]["ListenStream"] == f"127.0.0.1:{chosen['port']}"


@pytest.mark.campaign
def test_the_installed_wheels_grade_in_an_empty_environment(wheel, tmp_path):
    # The sandbox shows nothing that lies below /tmp.
    environment, course = COURSE.root / "artefacts/environment", tmp_path / "course"
    venv.create(environment, clear=True, with_pip=True)
    pip = [environment / "bin/python", "-m", "pip", "install", "--quiet"]
    grader = shutil.copytree(COURSE.root / "autograder", tmp_path / "autograder", ignore=UNPACKED)
    wheels = [
        wheel,
        *(build_wheel(each, tmp_path / "dist") for each in (grader / "coursecheck", grader)),
    ]
    files = [*wheels, *COURSE.settings.visible.packages]
    subprocess.run([*pip, "-c", COURSE.root / "constraints.txt", *files], check=True, timeout=1800)
    # As docs/grader.Containerfile does.
    subprocess.run([*pip[:3], "uninstall", "--quiet", "--yes", *UNUSED], check=True)
    copy_course(COURSE, course)
    done = run_program(
        [environment / "bin/autograder", "demo", "value", "--folder", tmp_path / "class"],
        cwd=course, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "COLUMNS": "200"},
        timeout=1800,
    )  # fmt: skip
    lines = {line.split()[1]: line.split() for line in done.stdout.splitlines() if "│" in line}
    assert lines["all_right"][3:6] == ["40", "/", "40"]
    assert lines["not_started"][3] == lines["empty_file"][3] == "0"
    assert (tmp_path / "class/feedback/all_right/value/value.html").exists()
    size = sum(path.lstat().st_size for path in environment.rglob("*"))
    print(f"{len([*environment.rglob('*.dist-info')])} packages, {size / 1e6:.0f} MB")
